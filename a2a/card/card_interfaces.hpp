// The traffic positions of a card and the interfaces listed there; shared by reading and rewriting, not by the check
// after it. Internal to a2a.
#pragma once

#include "a2a/card/card.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace a2a
