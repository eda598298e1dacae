// A number as hexadecimal digits, all at once. Pure.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace core {
namespace detail {

// The digits of 32 bits as bytes, the first of them lowest: every half byte becomes a byte, and then its digit.
constexpr std::uint64_t hex_bytes(std::uint32_t number) noexcept
{
    constexpr std::uint64_t every = 0x0101010101010101;
    std::uint64_t halves = number;
    halves = (halves << 16U | halves) & 0x0000FFFF0000FFFF;
    halves = (halves << 8U | halves) & 0x00FF00FF00FF00FF;
    halves = (halves << 4U | halves) & 0x0F0F0F0F0F0F0F0F;
    const auto letters = (halves + every * 6) >> 4U & every;  // 1 for each from 10 on
    return __builtin_bswap64(halves + every * '0' + letters * ('a' - '0' - 10));
}

}  // namespace detail

// 16 of them, in lower case.
constexpr std::array<char, 16> hex_digits_of(std::uint64_t number) noexcept
{
    static_assert(std::endian::native == std::endian::little);
    return std::bit_cast<std::array<char, 16>>(std::array{
        detail::hex_bytes(static_cast<std::uint32_t>(number >> 32U)),
        detail::hex_bytes(static_cast<std::uint32_t>(number))
    });
}

}  // namespace core
