#include "core/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace core {
namespace {

constexpr std::string_view url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(no_digit);
    for (std::size_t i = 0; i < url_alphabet.size(); ++i) {
        table[static_cast<unsigned char>(url_alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return table;
}();

}  // namespace

std::string base64(std::string_view bytes)
{
    auto text = base64url(bytes);
    std::ranges::replace(text, '-', '+');
    std::ranges::replace(text, '_', '/');
    return text.append((4 - text.size() % 4) % 4, '=');
}

std::string base64url(std::string_view bytes)
{
    std::string text((bytes.size() * 4 + 2) / 3, '\0');
    auto* out = text.data();
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char c : bytes) {
        held = (held << 8U) | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 6; bits -= 6) {
            *out++ = url_alphabet[(held >> (bits - 6)) & 0x3FU];
        }
    }
    if (bits > 0) {
        *out = url_alphabet[(held << (6 - bits)) & 0x3FU];
    }
    return text;
}

std::optional<std::string> from_base64url(std::string_view text)
{
    std::string bytes(text.size() * 3 / 4, '\0');
    const auto size = from_base64url(text, bytes);
    return size ? std::optional{std::move(bytes)} : std::nullopt;
}

std::optional<std::string> from_base64(std::string_view text)
{
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    if (padding > 0 && text.size() % 4 != 0) {
        return std::nullopt;
    }
    std::string digits{text.substr(0, text.size() - padding)};
    std::ranges::replace(digits, '+', '-');
    std::ranges::replace(digits, '/', '_');
    return from_base64url(digits);
}

std::optional<std::size_t> from_base64url(std::string_view text, std::span<char> out) noexcept
{
    if (text.size() * 3 / 4 > out.size()) {
        return std::nullopt;
    }
    std::size_t size = 0;
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char c : text) {
        const auto value = digit_values[static_cast<unsigned char>(c)];
        if (value == no_digit) {
            return std::nullopt;
        }
        held = (held << 6U) | value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[size++] = static_cast<char>((held >> bits) & 0xFFU);
        }
    }
    const auto rest = held & ((1U << bits) - 1U);
    if (bits >= 6 || rest != 0) {
        return std::nullopt;
    }
    return size;
}

}  // namespace core
