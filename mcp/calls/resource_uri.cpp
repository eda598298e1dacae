#include "mcp/calls/resource_uri.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcp {
namespace {

bool is_capital(char c) noexcept
{
    return c >= 'A' && c <= 'Z';
}

bool is_plain(char c) noexcept
{
    return c > ' ' && c < '\x7f' && c != '\\' && c != '#';
}

// Escapes whose meaning nobody changes: of characters that have to be escaped, in capitals.
bool has_canonical_escapes(std::string_view text) noexcept
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            continue;
        }
        if (i + 2 >= text.size()) {
            return false;
        }
        const auto high = digits.find(text[i + 1]);
        const auto low = digits.find(text[i + 2]);
        if (high == std::string_view::npos || low == std::string_view::npos) {
            return false;
        }
        const auto c = static_cast<char>(high * 16 + low);
        if (core::is_letter(c) || core::is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
            return false;
        }
    }
    return true;
}

bool has_dots(std::string_view path) noexcept
{
    while (!path.empty()) {
        const auto segment = path.substr(0, path.find('/'));
        if (segment == "." || segment == "..") {
            return true;
        }
        path.remove_prefix(std::min(segment.size() + 1, path.size()));
    }
    return false;
}

// File systems skip or change these: an empty segment, and characters that become separators.
bool has_loose_path(std::string_view path) noexcept
{
    return path.find("//") != std::string_view::npos || path.ends_with('/') ||
           path.find("%2F") != std::string_view::npos || path.find("%5C") != std::string_view::npos ||
           path.find("%00") != std::string_view::npos;
}

// A scheme that browsers know: they rewrite its host and path.
bool is_special(std::string_view scheme) noexcept
{
    constexpr std::array<std::string_view, 6> all{"file", "ftp", "http", "https", "ws", "wss"};
    return std::ranges::find(all, scheme) != all.end();
}

}  // namespace

bool is_canonical_uri(std::string_view uri) noexcept
{
    const auto colon = uri.find(':');
    if (colon == std::string_view::npos || !std::ranges::all_of(uri, is_plain) || !has_canonical_escapes(uri)) {
        return false;
    }
    const auto scheme = uri.substr(0, colon);
    auto rest = uri.substr(colon + 1);
    if (scheme.empty() || std::ranges::any_of(scheme, is_capital)) {
        return false;
    }
    const auto query = rest.find('?');
    rest = rest.substr(0, query);
    const bool has_authority = rest.starts_with("//");
    if (is_special(scheme)) {
        const auto host = has_authority ? rest.substr(2, rest.find('/', 2) - 2) : std::string_view{};
        // `file:/a`, `http:a` and `http://h` have other spellings, and `file://localhost/a` is `file:///a`.
        if (!has_authority || rest.find('/', 2) == std::string_view::npos || std::ranges::any_of(host, is_capital) ||
            host.find_first_of("@:%") != std::string_view::npos || (scheme == "file" && !host.empty())) {
            return false;
        }
    }
    if (scheme == "file" && (query != std::string_view::npos || has_loose_path(rest.substr(2)))) {
        return false;
    }
    return !has_dots(has_authority ? rest.substr(2) : rest);
}

std::string_view unescaped_file(std::string_view uri, std::span<char> room) noexcept
{
    if (!uri.starts_with("file:") || uri.size() > room.size() || uri.find('%') == std::string_view::npos) {
        return uri;
    }
    std::size_t size = 0;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        const bool escapes = uri[i] == '%' && i + 2 < uri.size();
        const int high = escapes ? core::hex_value(uri[i + 1]) : -1;
        const int low = escapes ? core::hex_value(uri[i + 2]) : -1;
        const bool is_escape = high >= 0 && low >= 0;
        room[size++] = is_escape ? static_cast<char>(high * 16 + low) : uri[i];
        i += is_escape ? 2 : 0;
    }
    return {room.data(), size};
}

}  // namespace mcp
