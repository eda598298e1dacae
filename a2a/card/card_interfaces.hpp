// The interfaces of a card: the positions that name where calls go, the endpoints that a card names, and the interfaces that callers are
// offered. The check of a rewritten card does not use this. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "a2a/dialect/dialect.hpp"
#include "core/json/json.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// One of the two lists of interfaces, and the member that names the binding there.
struct interface_list {
    std::string_view member;
    std::string_view binding;
    bool versioned;  // has a protocolVersion per interface
};

inline constexpr std::array<interface_list, 2> interface_lists{{
    {"additionalInterfaces", "transport", false},
    {"supportedInterfaces", "protocolBinding", true},
}};

// Equal but for case, '-' and '_': how Go's JSON decoder (case) and ProtoJSON readers (snake_case) take member names. Case
// is that of Unicode's simple folding, by which U+017F is an s and U+212A a k.
bool same_name(std::string_view a, std::string_view b) noexcept;

// The member of `object` in whatever such spelling, the known one first; null: there is none.
const core::json* find_spelled(const core::json& object, std::string_view name);

// The binding's name as the specification spells it, for the same name in another; else null.
const std::string_view* known_binding(std::string_view name) noexcept;

// The binding if the gateway serves it, in any such spelling, else null.
const served_binding* find_served(std::string_view name) noexcept;

// "1.0" of "1.0.1": what counts when versions are compared (specification 1.0.1 section 3.6).
std::string_view major_minor(std::string_view version) noexcept;

// Whether the version is 1.0 or later. Nothing if it does not start with a number.
std::optional<bool> one_or_later(std::string_view version) noexcept;

// The path of a card, below the base of its agent.
inline constexpr std::string_view card_suffix = "/.well-known/agent-card.json";

// A place where the card says that A2A is spoken. As it stands in the card: not to be believed.
struct card_endpoint {
    std::string path;  // "supportedInterfaces[0].url"
    std::string url;
    binding over = binding::jsonrpc;
    std::optional<generation> version;  // nothing: the card names none, or one of neither generation
    std::string tenant;                 // of 1.0; empty: none
};

// The preferred one first: the interfaces of 1.0, then `url`, then the interfaces of 0.3.
std::vector<card_endpoint> card_endpoints(const core::json& document);

// The path of an address in `served`, a card of any shape, that is not the gateway's; nothing: all are, or there is none.
std::optional<std::string> find_foreign_address(const core::json& served, const public_address& at);

// The generations that the gateway translates between, as interfaces name them. 1.0 first: several clients take the first
// interface of a binding, whatever its version.
inline constexpr std::array<std::string_view, 2> bridged_versions{"1.0", "0.3"};

// The address that offered interfaces lead to, and the authorities that must not be seen in them.
struct offer_target {
    const public_address& at;
    const std::vector<std::string>& hidden;
};

std::string url_of(const served_binding& binding, const public_address& at);

// Whether callers of this generation are offered the binding there.
bool is_offered(const served_binding& binding, const public_address& at, generation version) noexcept;

// An interface of 1.0 or of its form, at `at`. `tenant`: the agent's own; empty: none.
core::json made_interface(
    const served_binding& binding,
    const public_address& at,
    std::string_view version,
    std::string_view tenant = {}
);

// The binding of the card's `url`: the preferred one if the agent takes calls over it that callers of 0.3 are offered, else the first of
// `additionalInterfaces` of that kind, else JSONRPC.
const served_binding& main_binding(const core::json& card, const public_address& at);

// A list of interfaces as callers see it: those over bindings that the gateway serves, and with `to.at.bridged` those that the gateway
// translates for. Every element of `written` is an object. May be empty without `to.at.bridged`.
core::json::array_t
offered_interfaces(const core::json::array_t& written, const interface_list& list, const offer_target& to);

// The bindings that `card` names, where the gateway can reach none of them, as a list in English; empty: it reaches one, or
// none is named. A name that is neither one of the specification nor a URI tells nothing, so that it counts as JSONRPC.
std::string unreachable_bindings(const core::json& card);

}  // namespace a2a
