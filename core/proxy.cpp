#include "core/proxy.hpp"

#include "core/ascii.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

namespace core {
namespace {

error invalid(std::string_view why)
{
    return gateway_error(errc::config_invalid, std::string{why});
}

// Between the slashes of the scheme and the `@`; empty: there is none.
std::string_view user_of(std::string_view url)
{
    const auto slashes = url.find("//");
    if (slashes == url.npos) {
        return {};
    }
    const auto begin = slashes + 2;
    const auto authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
    const auto at = authority.rfind('@');
    return at == authority.npos ? std::string_view{} : authority.substr(0, at);
}

std::string_view without_root(std::string_view host) noexcept
{
    return host.substr(0, host.size() - (host.size() > 1 && host.ends_with('.') ? 1 : 0));
}

bool is_port(std::string_view text) noexcept
{
    return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, is_digit);
}

struct direct_host {
    std::string_view host;
    std::string_view port;  // empty: any
};

// `name:port`, `[v6]:port`, or without a port.
direct_host split(std::string_view text) noexcept
{
    if (text.starts_with('[')) {
        const auto end = std::min(text.find(']'), text.size());
        const auto rest = text.substr(std::min(end + 1, text.size()));
        return {text.substr(1, end - 1), rest.starts_with(':') ? rest.substr(1) : std::string_view{}};
    }
    const auto colon = text.find(':');
    if (colon == text.npos || text.find(':', colon + 1) != text.npos) {
        return {text, {}};  // an IPv6 address has several
    }
    return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_name_character(char c) noexcept
{
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
}

bool matches(std::string_view pattern, std::string_view host)
{
    if (pattern == "*") {
        return true;
    }
    if (const auto block = parse_ip_block(pattern)) {
        const auto address = address_in(host);
        return address && block->contains(*address);
    }
    pattern.remove_prefix(pattern.starts_with('*') ? 1 : 0);
    pattern.remove_prefix(pattern.starts_with('.') ? 1 : 0);
    const auto name = in_lower_case(without_root(pattern));
    const auto asked = in_lower_case(without_root(host));
    return !name.empty() && (asked == name || asked.ends_with('.' + name));
}

}  // namespace

result<proxy_address> proxy_address::parse(std::string_view text)
{
    constexpr std::size_t longest = 8 * 1024;
    if (text.empty()) {
        return invalid("is empty");
    }
    if (text.size() > longest) {
        return invalid("is longer than 8192 bytes");
    }
    const auto url = http_url::parse(text);
    if (!url) {
        return invalid("is not an http URL");
    }
    if (url->secure) {
        return invalid("is an https URL, and proxies are spoken to without TLS");
    }
    if (url->path != "/" || text.find_first_of("?#") != text.npos) {
        return invalid("has a path, a query or a fragment");
    }
    if (!is_plain_name(url->host) && !address_in(url->host)) {
        return invalid("has no valid host");
    }
    if (!is_port(url->port) || std::stoul(url->port) == 0 || std::stoul(url->port) > 65535) {
        return invalid("has no valid port (1 to 65535)");
    }
    auto user = decoded(user_of(text));
    if (std::ranges::any_of(user, is_control)) {
        return invalid("has a control character in its name or password");
    }
    if (!user.empty() && user.find(':') == user.npos) {
        user += ':';
    }
    return proxy_address{url->host, url->port, secret{std::move(user)}};
}

std::string shown_proxy(std::string_view text)
{
    if (text.find("//") == text.npos && text != proxy_of_environment && text != proxy_none) {
        return text.empty() ? "" : masked;  // nobody knows what it is
    }
    const auto user = user_of(text);
    if (user.empty()) {
        return std::string{text};
    }
    const auto begin = static_cast<std::size_t>(user.data() - text.data());
    return std::string{text.substr(0, begin)} + masked + std::string{text.substr(begin + user.size())};
}

proxy_rules proxy_rules::of_environment(const std::function<std::optional<std::string>(std::string_view)>& variables)
{
    const auto value = [&](std::string_view small, std::string_view capitals) {
        auto text = variables(small).value_or("");
        return text.empty() ? variables(capitals).value_or("") : text;
    };
    const auto proxy = [&](std::string_view small, std::string_view capitals) {
        auto text = value(small, capitals);
        const bool whole = text.empty() || text.find("://") != text.npos;
        return secret{whole ? std::move(text) : "http://" + text};
    };
    proxy_rules rules{
        .http = proxy("http_proxy", "HTTP_PROXY"),
        .https = proxy("https_proxy", "HTTPS_PROXY"),
        .direct = {}
    };
    const auto all = value("no_proxy", "NO_PROXY");
    for (std::string_view rest = all; !rest.empty();) {
        const auto end = std::min(rest.find(','), rest.size());
        if (const auto host = trim(rest.substr(0, end)); !host.empty()) {
            rules.direct.emplace_back(host);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return rules;
}

bool valid_direct_host(std::string_view text)
{
    if (text == "*" || parse_ip_block(text)) {
        return true;
    }
    const auto [host, port] = split(text);
    const bool has_port = text.ends_with(port) && host.size() < text.size() && !text.ends_with(']');
    auto name = host;
    name.remove_prefix(name.starts_with("*.") ? 1 : 0);
    name.remove_prefix(name.starts_with('.') ? 1 : 0);
    return (!has_port || is_port(port)) &&
           (parse_ip(host) || (!name.empty() && std::ranges::all_of(name, is_name_character)));
}

bool is_direct(const std::vector<std::string>& hosts, const http_url& url)
{
    return std::ranges::any_of(hosts, [&](std::string_view each) {
        const auto [host, port] = parse_ip_block(each) ? direct_host{each, {}} : split(each);
        return (port.empty() || port == url.port) && matches(host, url.host);
    });
}

std::optional<ip_address> address_in(std::string_view host)
{
    const std::string text{without_root(host)};
    if (auto address = parse_ip(text)) {
        return address;
    }
    ::in_addr v4{};
    if (text.empty() || !std::ranges::all_of(text, is_name_character) || ::inet_aton(text.c_str(), &v4) == 0) {
        return std::nullopt;
    }
    ip_address out{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0}};
    std::memcpy(out.bytes.data() + out.bytes.size() - sizeof v4, &v4, sizeof v4);
    return out;
}

bool is_own_machine(std::string_view host)
{
    const auto name = in_lower_case(without_root(host));
    if (name == "localhost" || name.ends_with(".localhost")) {
        return true;
    }
    const auto address = address_in(host);
    constexpr std::array<const char*, 4> own{"127.0.0.0/8", "::1", "0.0.0.0", "::"};
    return address && std::ranges::any_of(own, [&](const char* block) {
               return parse_ip_block(block)->contains(*address);  // NOLINT(bugprone-unchecked-optional-access)
           });
}

bool is_plain_name(std::string_view host) noexcept
{
    const auto name = without_root(host);
    const auto last = name.substr(name.rfind('.') + 1);
    const bool number = std::ranges::all_of(last, is_digit) || last.starts_with("0x") || last.starts_with("0X");
    return !name.empty() && std::ranges::all_of(name, is_name_character) && !number;
}

}  // namespace core
