// Names of hosts: which a DNS name may be, and the names that `agent_hosts` gives to agents. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace core {

inline constexpr std::size_t longest_host_name = 253;  // RFC 1035 section 2.3.4, without the root's dot

// Labels of letters, digits and hyphens, each of 1 to 63 bytes and without a hyphen at an end (RFC 1123 section 2.1). The last
// one is no number, because readers of URLs take such a host for an IPv4 address. Other scripts are written as xn--….
bool valid_host_name(std::string_view name) noexcept;

// `{id}.agents.example.com`: a name of at least two labels in lower case, with `{id}` once, in its first label.
bool valid_host_pattern(std::string_view pattern);

// The name that `pattern`, a valid one, gives to an agent with this id. Empty: the pattern is empty, or the id makes no label:
// it may have small letters, digits and hyphens, because names do not keep capitals, and the name may not begin with `xn--`.
std::string host_of_agent(std::string_view pattern, std::string_view id);

// The id in `name`, which is in lower case, by `pattern`; a view of `name`. Empty: it is no name of that pattern.
std::string_view agent_of_host(std::string_view pattern, std::string_view name) noexcept;

}  // namespace core
