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

// Of one that browsers know, whose host and path they rewrite.
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
    rest = rest.substr(0, rest.find('?'));
    const bool has_authority = rest.starts_with("//");
    if (is_special(scheme)) {
        const auto host = has_authority ? rest.substr(2, rest.find('/', 2) - 2) : std::string_view{};
        // `file:/a`, `http:a` and `http://h` have other spellings, and `file://localhost/a` is `file:///a`.
        if (!has_authority || rest.find('/', 2) == std::string_view::npos || std::ranges::any_of(host, is_capital) ||
            host.find_first_of("@:%") != std::string_view::npos || (scheme == "file" && !host.empty())) {
            return false;
        }
    }
    return !has_dots(has_authority ? rest.substr(2) : rest);
}

}  // namespace mcp
