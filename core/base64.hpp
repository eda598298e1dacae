// RFC 4648: base64, and base64url without padding as JOSE has it (RFC 7515 section 2). Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace core {

std::string base64(std::string_view bytes);     // section 4, with padding
std::string base64url(std::string_view bytes);  // section 5

// Nothing if the text holds anything else: padding, white space, another alphabet, bits left over that are not zero.
std::optional<std::string> from_base64url(std::string_view text);
// Takes both alphabets, and padding.
std::optional<std::string> from_base64(std::string_view text);

// Decodes into `out` and returns the number of bytes; nothing also if `out` is too small.
std::optional<std::size_t> from_base64url(std::string_view text, std::span<char> out) noexcept;

// How long the text of so many bytes is.
constexpr std::size_t base64_size(std::size_t bytes) noexcept
{
    return (bytes + 2) / 3 * 4;
}

// Writes base64() to `to`, which has room for base64_size(), and returns its end.
char* put_base64(char* to, std::string_view bytes) noexcept;

// Writes what a text of either alphabet says, with or without padding and whatever bits are left over, to `to`, which has room for three
// bytes in place of four letters, and returns its end. Null: it is none.
char* put_from_base64(char* to, std::string_view text) noexcept;

}  // namespace core
