// Which version of the specification a card was written for.
#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_repair.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace a2a {
namespace {

using core::json;

// Members that only one side of the break at 1.0 has. `protocolVersions` and `supportsExtendedAgentCard` are those of
// the release candidate.
constexpr std::array<std::string_view, 6> members_before_1{
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "security",
    "supportsAuthenticatedExtendedCard",
    "authentication",
};

constexpr std::array<std::string_view, 3> members_since_1{
    "securityRequirements",
    "protocolVersions",
    "supportsExtendedAgentCard"
};

struct marks {
    bool before_1 = false;
    bool since_1 = false;
};

bool has_any(const json& card, std::span<const std::string_view> members)
{
    return std::ranges::any_of(members, [&](std::string_view member) { return card.contains(std::string{member}); });
}

void mark_schemes(const json& card, marks& found)
{
    const auto* schemes = core::member(card, "securitySchemes");
    if (schemes == nullptr || !schemes->is_object()) {
        return;
    }
    for (const auto& [name, scheme] : schemes->items()) {
        if (core::string_member(scheme, "type") != nullptr) {
            found.before_1 = true;
        } else if (scheme.is_object() && std::ranges::any_of(scheme.items(), [](const auto& item) {
                       return item.key().ends_with("SecurityScheme");
                   })) {
            found.since_1 = true;
        }
    }
}

marks marks_of(const json& card)
{
    marks found;
    found.before_1 = has_any(card, members_before_1);
    found.since_1 = has_any(card, members_since_1);
    mark_schemes(card, found);
    // An empty list beside a `url` is how some 0.3 cards say that they are not 1.0.
    if (const auto* interfaces = core::member(card, "supportedInterfaces");
        interfaces != nullptr && (!interfaces->empty() || !card.contains("url"))) {
        found.since_1 = true;
    }
    if (const auto* capabilities = core::member(card, "capabilities");
        capabilities != nullptr && core::member(*capabilities, "extendedAgentCard") != nullptr) {
        found.since_1 = true;
    }
    const auto* version = core::string_member(card, "protocolVersion");
    if (const auto modern = version == nullptr ? std::nullopt : one_or_later(*version)) {
        (*modern ? found.since_1 : found.before_1) = true;
    }
    return found;
}

card_generation old_generation(const json& card)
{
    const bool from_03 = card.contains("preferredTransport") && card.contains("signatures");
    const auto* version = core::string_member(card, "protocolVersion");
    if (version == nullptr || !one_or_later(*version).has_value()) {
        if (card.contains("authentication")) {
            return card_generation::v01;
        }
        const bool modern = card.contains("preferredTransport") || card.contains("additionalInterfaces");
        return modern ? card_generation::v03 : card_generation::v02;
    }
    const auto counts = major_minor(*version);
    if (counts == "0.1") {
        return card_generation::v01;
    }
    return (counts == "0.2" && !from_03) || counts == "0" ? card_generation::v02 : card_generation::v03;
}

}  // namespace

card_generation generation_of(const json& card)
{
    const auto found = marks_of(card);
    if (found.since_1) {
        return found.before_1 ? card_generation::hybrid : card_generation::v1;
    }
    return old_generation(card);
}

}  // namespace a2a
