#include "core/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace core {
namespace {

constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t no_letter = 0xFF;

constexpr std::array<std::uint8_t, 256> letter_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_letter);
    for (std::size_t i = 0; i < base64_letters.size(); ++i) {
        values[static_cast<unsigned char>(base64_letters[i])] = static_cast<std::uint8_t>(i);
    }
    values['-'] = 62;
    values['_'] = 63;
    return values;
}();

// For each of four letters, its bits where they stand in the three bytes, the first lowest; `bad_letter` for any other byte.
constexpr std::uint32_t bad_letter = 1U << 24U;

constexpr std::array<std::array<std::uint32_t, 256>, 4> bits_of_four = [] {
    std::array<std::array<std::uint32_t, 256>, 4> table{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        const std::uint32_t value = letter_values[byte];
        const bool good = value != no_letter;
        table[0][byte] = good ? value << 2U : bad_letter;
        table[1][byte] = good ? value >> 4U | (value & 0x0FU) << 12U : bad_letter;
        table[2][byte] = good ? value >> 2U << 8U | (value & 0x03U) << 22U : bad_letter;
        table[3][byte] = good ? value << 16U : bad_letter;
    }
    return table;
}();

// Two letters for each twelve bits: half of the steps.
constexpr std::array<std::array<char, 2>, 4096> letter_pairs = [] {
    std::array<std::array<char, 2>, 4096> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = {base64_letters[i >> 6U], base64_letters[i & 63U]};
    }
    return pairs;
}();

#if defined(__x86_64__)
const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;

// The base64 of twice twelve bytes at a time, as long as 28 can be read; `from` and `to` go on. A shuffle spreads the bytes, two
// multiplications cut them, and what a table has for each range of letters is added.
[[gnu::target("avx2")]] void
put_wide_base64(const unsigned char*& from_at, const unsigned char* end, char*& to_at) noexcept
{
    const auto* from = from_at;
    char* to = to_at;
    const auto spread = _mm256_broadcastsi128_si256(_mm_set_epi8(10, 11, 9, 10, 7, 8, 6, 7, 4, 5, 3, 4, 1, 2, 0, 1));
    const auto ranges =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(65, 71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 0, 0));
    for (; end - from >= 28; from += 24, to += 32) {
        const auto first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        const auto second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 12));
        const auto all = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), spread);
        const auto odd =
            _mm256_mulhi_epu16(_mm256_and_si256(all, _mm256_set1_epi32(0x0FC0FC00)), _mm256_set1_epi32(0x04000040));
        const auto even =
            _mm256_mullo_epi16(_mm256_and_si256(all, _mm256_set1_epi32(0x003F03F0)), _mm256_set1_epi32(0x01000010));
        const auto values = _mm256_or_si256(odd, even);
        const auto small = _mm256_cmpgt_epi8(values, _mm256_set1_epi8(25));  // -1 from the small letters on
        const auto range = _mm256_sub_epi8(_mm256_subs_epu8(values, _mm256_set1_epi8(51)), small);
        const auto out = _mm256_add_epi8(_mm256_shuffle_epi8(ranges, range), values);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), out);
    }
    from_at = from;
    to_at = to;
}
#endif

// The last letter's bits that no byte has are zero.
bool is_exact(std::string_view letters) noexcept
{
    const unsigned over = letters.size() % 4 == 2 ? 0x0FU : letters.size() % 4 == 3 ? 0x03U : 0;
    return over == 0 || (letter_values[static_cast<unsigned char>(letters.back())] & over) == 0;
}

}  // namespace

std::string base64(std::string_view bytes)
{
    std::string text(base64_size(bytes.size()), '\0');
    put_base64(text.data(), bytes);
    return text;
}

std::string base64url(std::string_view bytes)
{
    auto text = base64(bytes);
    text.resize((bytes.size() * 4 + 2) / 3);
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
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
    std::string bytes(text.size() * 3 / 4, '\0');
    const char* const end = put_from_base64(bytes.data(), text);
    if (end == nullptr || !is_exact(text.substr(0, text.find('=')))) {
        return std::nullopt;
    }
    bytes.resize(static_cast<std::size_t>(end - bytes.data()));
    return bytes;
}

std::optional<std::size_t> from_base64url(std::string_view text, std::span<char> out) noexcept
{
    if (text.size() * 3 / 4 > out.size() || text.find_first_of("+/=") != std::string_view::npos || !is_exact(text)) {
        return std::nullopt;
    }
    const char* const end = put_from_base64(out.data(), text);
    return end == nullptr ? std::nullopt : std::optional{static_cast<std::size_t>(end - out.data())};
}

char* put_base64(char* to, std::string_view bytes) noexcept
{
    const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto* const end = from + bytes.size();
#if defined(__x86_64__)
    if (has_avx2) {
        put_wide_base64(from, end, to);
    }
#endif
    const auto put = [&to](std::uint32_t twelve_bits) {
        std::memcpy(to, letter_pairs[twelve_bits & 0xFFFU].data(), 2);
        to += 2;
    };
    for (; end - from >= 3; from += 3) {
        put(static_cast<std::uint32_t>(from[0]) << 4U | from[1] >> 4U);
        put(static_cast<std::uint32_t>(from[1]) << 8U | from[2]);
    }
    if (bytes.size() % 3 == 2) {
        put(static_cast<std::uint32_t>(from[0]) << 4U | from[1] >> 4U);
        put(static_cast<std::uint32_t>(from[1]) << 8U);
        to[-1] = '=';
    } else if (bytes.size() % 3 == 1) {
        put(static_cast<std::uint32_t>(from[0]) << 4U);
        *to++ = '=';
        *to++ = '=';
    }
    return to;
}

char* put_from_base64(char* to, std::string_view text) noexcept
{
    // Padding makes the length a multiple of four; without it nothing does.
    if (text.ends_with('=')) {
        if (text.size() % 4 != 0) {
            return nullptr;
        }
        text.remove_suffix(text.ends_with("==") ? 2 : 1);
    }
    if (text.size() % 4 == 1) {
        return nullptr;
    }
    const auto* from = reinterpret_cast<const unsigned char*>(text.data());
    std::uint32_t all = 0;
    for (auto left = text.size() / 4; left > 0; --left, from += 4, to += 3) {
        const auto bytes = bits_of_four[0].data()[from[0]] | bits_of_four[1].data()[from[1]] |
                           bits_of_four[2].data()[from[2]] | bits_of_four[3].data()[from[3]];
        all |= bytes;
        to[0] = static_cast<char>(bytes);
        to[1] = static_cast<char>(bytes >> 8U);
        to[2] = static_cast<char>(bytes >> 16U);
    }
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < text.size() % 4; ++i) {
        const std::uint32_t value = letter_values[from[i]];
        all |= value == no_letter ? bad_letter : 0;
        bits = bits << 6U | value;
        if (i > 0) {
            *to++ = static_cast<char>(bits >> (6 - 2 * i));
        }
    }
    return (all & bad_letter) == 0 ? to : nullptr;
}

}  // namespace core
