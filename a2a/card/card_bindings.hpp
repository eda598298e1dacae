// Which interfaces a card offers its callers: those of its agent over bindings that the gateway serves, and with bridging
// those that the gateway translates for. Pure; any thread. Internal to a2a.
#pragma once

#include "a2a/card/card.hpp"
#include "a2a/card/card_interfaces.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// The generations that the gateway translates between, as interfaces name them. 1.0 first: several clients take the first
// interface of a binding, whatever its version.
inline constexpr std::array<std::string_view, 2> bridged_versions{"1.0", "0.3"};

// What the interfaces lead to, and the authorities that must not be seen in them.
struct offer_target {
    const public_address& at;
    const std::vector<std::string>& hidden;
};

std::string url_of(const served_binding& binding, const public_address& at);

// The binding of the card's `url`: the preferred one if the gateway serves it, else the first of `additionalInterfaces` that
// it serves, else JSONRPC.
const served_binding& main_binding(const core::json& card);

// What callers see of a list of interfaces, every one an object. May be empty without `to.at.bridged`.
core::json::array_t
offered_interfaces(const core::json::array_t& written, const interface_list& list, const offer_target& to);

// The bindings that `card` names, where the gateway can reach none of them, as a list in English; empty: it reaches one, or
// none is named. A name that is neither one of the specification nor a URI tells nothing, so that it counts as JSONRPC.
std::string unreachable_bindings(const core::json& card);

}  // namespace a2a
