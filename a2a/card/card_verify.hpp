// The last look at a card before it is served. Shares no walk with the rewriting that it checks. Internal to a2a.
#pragma once

#include "a2a/card/card.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

inline constexpr std::string_view no_endpoint = "no endpoint";  // no path: a card without any address

// The authorities (address.hpp) that must not be seen: those of the registered and the card's URL and of every traffic
// URL in `original`; the gateway's own is never among them. Sorted.
std::vector<std::string>
hidden_authorities(const core::json& original, const public_address& at, const upstream_address& upstream);

// Whether any string in `value`, member names included, is an address with one of `authorities`.
bool mentions(const core::json& value, const std::vector<std::string>& authorities);

// The path of the first traffic position of `card` that is of a wrong type, is not an address of the gateway, or (in
// other members of an interface) names one of `hidden`; `no_endpoint` if there is none. Nothing: fit to be served.
std::optional<std::string>
find_leak(const core::json& card, const public_address& at, const std::vector<std::string>& hidden);

}  // namespace a2a
