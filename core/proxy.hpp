// HTTP proxies through which connections leave, and which hosts are connected to without one. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "core/ip.hpp"
#include "core/secret.hpp"
#include "core/url.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Instead of the URL of a proxy: those of the environment; and none.
inline constexpr std::string_view proxy_of_environment = "environment";
inline constexpr std::string_view proxy_none = "none";

struct proxy_address {
    std::string host;  // without brackets
    std::string port;
    secret user;  // `name:password` (RFC 7617), decoded; empty: none

    // Reads `http://name:password@host:port`, where the port may be missing: 80. Fails with config_invalid; the detail is a predicate that
    // never quotes the text.
    static result<proxy_address> parse(std::string_view text);
};

// The text that may be shown: without name and password.
std::string shown_proxy(std::string_view text);

// Which proxy a connection takes.
struct proxy_rules {
    secret http;                      // the URL of the proxy to servers of http; empty: none
    secret https;                     // to those of https
    std::vector<std::string> direct;  // hosts as valid_direct_host() has them, which take none

    // Reads http_proxy, https_proxy and no_proxy, in small letters or in capitals. A URL may lack `http://`.
    static proxy_rules of_environment(const std::function<std::optional<std::string>(std::string_view)>& variables);
};

// `*`, a name (which stands for the names below it too), an address or a block of addresses; but for a block, perhaps with a port.
bool valid_direct_host(std::string_view text);

// Whether one of these hosts is that of the URL.
bool is_direct(const std::vector<std::string>& hosts, const http_url& url);

// The address for which every reader takes a host, also by `127.1` or `0x7f000001`. Nothing: a name.
std::optional<ip_address> address_in(std::string_view host);

// The machine itself: `localhost` and the names below it, and addresses of loopback, or 0.0.0.0 and ::.
bool is_own_machine(std::string_view host);

// Whether a host can be looked up by somebody else only as the name that it is: letters, digits, '.', '-' and '_', not ending in a
// number.
bool is_plain_name(std::string_view host) noexcept;

}  // namespace core
