#include "a2a/card/address.hpp"

#include "core/ascii.hpp"

#include <algorithm>

namespace a2a {
namespace {

// Cleans as a WHATWG URL parser does: no blanks or controls at the ends, no tabs or line breaks at all, slashes forward.
std::string cleaned(std::string_view text)
{
    const auto blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
    while (!text.empty() && blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && blank(text.back())) {
        text.remove_suffix(1);
    }
    std::string out;
    for (const char c : text) {
        if (c != '\t' && c != '\r' && c != '\n') {
            out += c == '\\' ? '/' : core::lower(c);
        }
    }
    return out;
}

// The length of `scheme` if `text` begins with `scheme:` (RFC 3986 section 3.1), else 0.
std::size_t scheme_length(std::string_view text) noexcept
{
    if (text.empty() || !core::is_letter(text.front())) {
        return 0;
    }
    const auto end = std::ranges::find_if_not(text, [](char c) {
        return core::is_letter(c) || core::is_digit(c) || c == '+' || c == '-' || c == '.';
    });
    return end != text.end() && *end == ':' ? static_cast<std::size_t>(end - text.begin()) : 0;
}

std::string_view default_port(std::string_view scheme) noexcept
{
    if (scheme == "http" || scheme == "ws") {
        return "80";
    }
    if (scheme == "https" || scheme == "wss") {
        return "443";
    }
    return {};
}

std::optional<std::string> normal(std::string_view authority, std::string_view port_if_none)
{
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        authority.remove_prefix(at + 1);
    }
    const auto bracket = authority.rfind(']');
    const auto colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
    auto host = authority.substr(0, colon);
    auto port = colon == std::string_view::npos ? std::string_view{} : authority.substr(colon + 1);
    if (host.ends_with('.')) {
        host.remove_suffix(1);
    }
    if (host.empty()) {
        return std::nullopt;
    }
    if (port.empty()) {
        port = port_if_none;
    }
    std::string out{host};
    if (!port.empty()) {
        out.append(":").append(port);
    }
    return out;
}

// `host:port`, at most a path behind it.
bool host_and_port(std::string_view text) noexcept
{
    const auto authority = text.substr(0, text.find_first_of("/?#"));
    const auto colon = authority.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || authority.find_first_of(" ,\"<>") != std::string_view::npos) {
        return false;
    }
    const auto port = authority.substr(colon + 1);
    return !port.empty() && port.size() <= 5 && std::ranges::all_of(port, core::is_digit);
}

bool is_uri_character(char c) noexcept
{
    constexpr std::string_view marks = "-._~:/?#[]@!$&'()*+,;=%";
    return core::is_letter(c) || core::is_digit(c) || marks.find(c) != std::string_view::npos;
}

}  // namespace

bool is_uri(std::string_view text) noexcept
{
    const auto length = scheme_length(text);
    return length != 0 && length + 1 < text.size() && std::ranges::all_of(text, is_uri_character);
}

std::optional<std::string> authority_of(std::string_view text)
{
    const auto address = cleaned(text);
    std::string_view rest = address;
    std::string_view port;
    const auto length = scheme_length(rest);
    const auto scheme = rest.substr(0, length);
    if (length != 0 && (rest.substr(length + 1).starts_with("//") || !default_port(scheme).empty())) {
        port = default_port(scheme);
        rest.remove_prefix(length + 1);
        while (rest.starts_with('/')) {
            rest.remove_prefix(1);
        }
    } else if (rest.starts_with("//")) {
        rest.remove_prefix(
            rest.find_first_not_of('/') == std::string_view::npos ? rest.size() : rest.find_first_not_of('/')
        );
    } else if (!host_and_port(rest)) {
        return std::nullopt;
    }
    return normal(rest.substr(0, rest.find_first_of("/?#")), port);
}

}  // namespace a2a
