#include "jose/base64url.hpp"

#include <algorithm>
#include <cstdint>

namespace jose {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

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
            *out++ = alphabet[(held >> (bits - 6)) & 0x3FU];
        }
    }
    if (bits > 0) {
        *out = alphabet[(held << (6 - bits)) & 0x3FU];
    }
    return text;
}

std::optional<std::string> from_base64url(std::string_view text)
{
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char c : text) {
        const auto value = alphabet.find(c);
        if (value == std::string_view::npos) {
            return std::nullopt;
        }
        held = (held << 6U) | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>((held >> bits) & 0xFFU);
        }
    }
    const auto rest = held & ((1U << bits) - 1U);
    if (bits >= 6 || rest != 0) {
        return std::nullopt;
    }
    return bytes;
}

}  // namespace jose
