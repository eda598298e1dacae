#include "a2a/card/card_endpoints.hpp"
#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_verify.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace a2a {
namespace {

using core::json;

struct target {
    const public_address& at;
    const std::vector<std::string>& hidden;
};

std::string url_of(const served_binding& binding, const public_address& at)
{
    return at.base + std::string{binding.suffix};
}

json endpoint(const std::string& version, const public_address& at)
{
    const auto& binding = served_bindings.front();
    return json{
        {"url", url_of(binding, at)},
        {"protocolBinding", std::string{binding.name}},
        {"protocolVersion", version}
    };
}

bool plain_version(const std::string* version)
{
    return version != nullptr && one_or_later(*version).has_value() &&
           version->find_first_not_of("0123456789.") == std::string::npos;
}

// The version that a card of 1.0 shape speaks when none of its interfaces is left to say so.
std::string implied_version(const json& card, const json::array_t& interfaces)
{
    for (const auto& interface : interfaces) {
        if (const auto* version = core::string_member(interface, "protocolVersion"); plain_version(version)) {
            return *version;
        }
    }
    const auto* version = core::string_member(card, "protocolVersion");
    return plain_version(version) && one_or_later(*version).value_or(false) ? std::string{major_minor(*version)}
                                                                            : "1.0";
}

// What tells one endpoint from another once all of them share the gateway's address.
std::string identity(const json& interface, const served_binding& binding)
{
    const auto* version = core::string_member(interface, "protocolVersion");
    const auto* tenant = core::member(interface, "tenant");
    auto key = std::string{binding.name} + '\n';
    key += version == nullptr ? std::string_view{} : major_minor(*version);
    return key + '\n' + (tenant == nullptr ? std::string{} : core::to_text(*tenant));
}

// Other members of an interface survive unless they are one more way to the agent's address. A tenant is part of every
// call: without it the interface would not work, so it stays and the check at the end decides.
void hide_address(json& interface, const target& to)
{
    json::object_t kept;
    kept.reserve(interface.size());
    for (auto& [key, value] : interface.get_ref<json::object_t&>()) {
        if (key == "tenant" || key == "url" || !(mentions(json(key), to.hidden) || mentions(value, to.hidden))) {
            kept.emplace_back(key, std::move(value));
        }
    }
    interface.get_ref<json::object_t&>() = std::move(kept);
}

json::array_t served_interfaces(const json::array_t& interfaces, const interface_list& list, const target& to)
{
    json::array_t kept;
    std::set<std::string> seen;
    for (const auto& interface : interfaces) {
        const auto* named = core::string_member(interface, list.binding);
        const auto* binding = named == nullptr ? nullptr : find_served(*named);
        if (binding == nullptr) {
            continue;
        }
        auto copy = interface;
        hide_address(copy, to);
        copy["url"] = url_of(*binding, to.at);
        copy[std::string{list.binding}] = std::string{binding->name};
        if (list.versioned && !copy.contains("protocolVersion")) {
            copy["protocolVersion"] = "1.0";
        }
        if (seen.insert(identity(copy, *binding)).second) {
            kept.push_back(std::move(copy));
        }
    }
    return kept;
}

// Several SDKs take the first interface of a binding whatever its version.
void modern_first(json::array_t& interfaces)
{
    json::array_t ordered;
    json::array_t older;
    for (auto& interface : interfaces) {
        const auto* version = core::string_member(interface, "protocolVersion");
        const bool modern = version != nullptr && one_or_later(*version).value_or(false);
        (modern ? ordered : older).push_back(std::move(interface));
    }
    std::ranges::move(older, std::back_inserter(ordered));
    interfaces = std::move(ordered);
}

void rewrite_interfaces(json& card, const interface_list& list, const target& to)
{
    const auto found = card.find(std::string{list.member});
    if (found == card.end()) {
        return;
    }
    const auto& interfaces = found->get_ref<const json::array_t&>();
    auto kept = served_interfaces(interfaces, list, to);
    if (list.versioned) {
        // An empty list beside a `url` is how some 0.3 cards say that they are not 1.0.
        if (kept.empty() && (!interfaces.empty() || !card.contains("url"))) {
            kept.push_back(endpoint(implied_version(card, interfaces), to.at));
        }
        modern_first(kept);
    }
    *found = std::move(kept);
}

// What a document that wraps a card says of it may be where it is, not where calls go.
bool is_card_address(std::string_view url)
{
    const auto path = url.substr(0, url.find_first_of("?#"));
    return path.ends_with(".json") || path.find("/.well-known/") != std::string_view::npos;
}

void rewrite_traffic(json& card, const target& to, bool nested)
{
    // Every signature covers the URLs (specification 1.0.1 section 8.4.2).
    card.erase("signatures");
    if (card.contains("url") || card.contains("preferredTransport")) {
        const auto* preferred = core::string_member(card, "preferredTransport");
        const auto* binding = preferred == nullptr ? nullptr : find_served(*preferred);
        if (binding == nullptr) {
            binding = &served_bindings.front();
        }
        if (card.contains("url")) {
            const auto* written = core::string_member(card, "url");
            const bool of_card = nested && written != nullptr && is_card_address(*written);
            card["url"] = of_card ? to.at.base + std::string{card_suffix} : url_of(*binding, to.at);
        }
        if (preferred != nullptr) {
            card["preferredTransport"] = std::string{binding->name};
        }
    }
    for (const auto& list : interface_lists) {
        rewrite_interfaces(card, list, to);
    }
    if (const auto inner = card.find("agentCard"); inner != card.end()) {
        rewrite_traffic(*inner, to, /*nested=*/true);
    }
}

void ensure_endpoint(json& card, card_generation generation, const public_address& at)
{
    const auto* interfaces = core::member(card, "supportedInterfaces");
    if (card.contains("url") || (interfaces != nullptr && !interfaces->empty())) {
        return;
    }
    if (generation == card_generation::v1 || generation == card_generation::hybrid) {
        card["supportedInterfaces"] = json::array({endpoint(implied_version(card, {}), at)});
    } else {
        card["url"] = url_of(served_bindings.front(), at);
    }
}

// Clients that are told of an extended card ask for it before anything else, and some fail without it.
void set_extended_flags(json& card, bool value)
{
    const auto set = [&](json& in, std::string_view flag) {
        if (const auto found = in.find(flag); found != in.end()) {
            *found = value;
        }
    };
    set(card, "supportsAuthenticatedExtendedCard");
    set(card, "supportsExtendedAgentCard");
    if (const auto capabilities = card.find("capabilities"); capabilities != card.end() && capabilities->is_object()) {
        set(*capabilities, "extendedAgentCard");
    }
    if (const auto nested = card.find("agentCard"); nested != card.end() && nested->is_object()) {
        set_extended_flags(*nested, value);
    }
}

// In the words of every generation that the card is of.
void offer_extended(json& card, card_generation generation)
{
    if (generation != card_generation::v1) {
        card["supportsAuthenticatedExtendedCard"] = true;
    }
    if (generation == card_generation::v1 || generation == card_generation::hybrid) {
        card["capabilities"]["extendedAgentCard"] = true;
    }
}

// Callers of 0.2 look for the extended card at `{url}/../agent/authenticatedExtendedCard` (0.2.1 to 0.2.6), where the
// agent's id would be lost: with a slash at the end, the `..` takes away the empty segment behind it instead.
void keep_id_in_extended_path(json& card, card_generation generation)
{
    const auto flag = card.find("supportsAuthenticatedExtendedCard");
    const bool older = generation == card_generation::v01 || generation == card_generation::v02;
    if (!older || flag == card.end() || *flag != true || !card.contains("url")) {
        return;
    }
    card["url"].get_ref<std::string&>() += '/';
    if (const auto more = card.find("additionalInterfaces"); more != card.end()) {
        for (auto& interface : *more) {
            interface["url"].get_ref<std::string&>() += '/';
        }
    }
}

}  // namespace

core::result<json> rewrite_card(card source, const public_address& at, const upstream_address& upstream)
{
    if (!source.document.is_object()) {
        return core::upstream_error(core::errc::card_unrewritable, "not an object");
    }
    const auto hidden = hidden_authorities(source.document, at, upstream);
    auto served = std::move(source.document);
    // Not every card came through parse_card: what is synthesized gets the same treatment.
    problem_list already_known;
    repair_traffic(served, already_known);
    rewrite_traffic(served, {at, hidden}, /*nested=*/false);
    ensure_endpoint(served, source.generation, at);
    if (at.extended_card != extended_card_flag::as_written) {
        set_extended_flags(served, at.extended_card == extended_card_flag::yes);
    }
    if (at.extended_card == extended_card_flag::yes) {
        offer_extended(served, source.generation);
    }
    keep_id_in_extended_path(served, source.generation);
    if (const auto leak = find_leak(served, at, hidden)) {
        return core::upstream_error(core::errc::card_unrewritable, *leak);
    }
    return served;
}

}  // namespace a2a
