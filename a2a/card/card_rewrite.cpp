#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_verify.hpp"

#include <utility>

namespace a2a {
namespace {

using core::json;

json endpoint(const std::string& version, const public_address& at)
{
    return made_interface(served_bindings.front(), at, version);
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

void rewrite_interfaces(json& card, const interface_list& list, const offer_target& to)
{
    const auto found = card.find(std::string{list.member});
    if (found == card.end()) {
        return;
    }
    const auto& interfaces = found->get_ref<const json::array_t&>();
    // An empty list beside a `url` is how some 0.3 cards say that they are not 1.0.
    if (list.versioned && interfaces.empty() && card.contains("url")) {
        return;
    }
    auto offered = offered_interfaces(interfaces, list, to);
    if (list.versioned && offered.empty()) {
        offered.push_back(endpoint(implied_version(card, interfaces), to.at));
    }
    *found = std::move(offered);
}

bool looks_like_card(std::string_view url)
{
    const auto path = url.substr(0, url.find_first_of("?#"));
    return path.ends_with(".json") || path.find("/.well-known/") != std::string_view::npos;
}

// A document that wraps a card says where that is. Only a wrapped card that says how it is called means its `url` as 0.3 does.
bool is_card_address(const json& card)
{
    const auto* url = core::string_member(card, "url");
    return (url != nullptr && looks_like_card(*url)) ||
           !(card.contains("preferredTransport") || card.contains("additionalInterfaces"));
}

void rewrite_url(json& card, const offer_target& to, bool nested)
{
    const auto& binding = main_binding(card, to.at);
    if (card.contains("url")) {
        const bool of_card = nested && is_card_address(card);
        card["url"] = of_card ? to.at.base + std::string{card_suffix} : url_of(binding, to.at);
    }
    if (card.contains("preferredTransport")) {
        card["preferredTransport"] = std::string{binding.name};
    }
    if (to.at.bridged && !nested && card.contains("url") && !card.contains("additionalInterfaces")) {
        card["additionalInterfaces"] = json::array();
    }
}

void rewrite_traffic(json& card, const offer_target& to, bool nested)
{
    // Every signature covers the URLs (specification 1.0.1 section 8.4.2).
    card.erase("signatures");
    rewrite_url(card, to, nested);
    for (const auto& list : interface_lists) {
        rewrite_interfaces(card, list, to);
    }
    if (const auto inner = card.find("agentCard"); inner != card.end()) {
        rewrite_traffic(*inner, to, /*nested=*/true);
    }
}

void ensure_endpoint(json& card, card_generation generation, const offer_target& to)
{
    const auto* interfaces = core::member(card, "supportedInterfaces");
    if (card.contains("url") || (interfaces != nullptr && !interfaces->empty())) {
        return;
    }
    if (generation != card_generation::v1 && generation != card_generation::hybrid) {
        card["url"] = url_of(main_binding(card, to.at), to.at);
        if (to.at.bridged && !card.contains("additionalInterfaces")) {
            card["additionalInterfaces"] = offered_interfaces({}, interface_lists.front(), to);
        }
        return;
    }
    auto offered = offered_interfaces({}, interface_lists.back(), to);
    if (offered.empty()) {
        offered.push_back(endpoint(implied_version(card, {}), to.at));
    }
    card["supportedInterfaces"] = std::move(offered);
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
void keep_id_in_extended_path(json& card, card_generation generation, const public_address& at)
{
    const auto flag = card.find("supportsAuthenticatedExtendedCard");
    const bool older = generation == card_generation::v01 || generation == card_generation::v02;
    if (!older || flag == card.end() || *flag != true || !card.contains("url")) {
        return;
    }
    auto& url = card["url"].get_ref<std::string&>();
    if (url != at.base) {
        return;  // a segment behind the id keeps it as well
    }
    if (const auto more = card.find("additionalInterfaces"); more != card.end()) {
        for (auto& interface : *more) {
            if (auto& other = interface["url"].get_ref<std::string&>(); other == url) {
                other += '/';
            }
        }
    }
    url += '/';
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
    const auto beyond = upstream.reachable ? std::string{} : unreachable_bindings(served);
    if (!beyond.empty()) {
        return core::upstream_error(
            core::errc::card_unrewritable,
            "the card offers only " + beyond + ", which the gateway cannot reach"
        );
    }
    rewrite_traffic(served, {at, hidden}, /*nested=*/false);
    ensure_endpoint(served, source.generation, {at, hidden});
    if (at.extended_card != extended_card_flag::as_written) {
        set_extended_flags(served, at.extended_card == extended_card_flag::yes);
    }
    if (at.extended_card == extended_card_flag::yes) {
        offer_extended(served, source.generation);
    }
    keep_id_in_extended_path(served, source.generation, at);
    if (const auto leak = find_leak(served, at, hidden)) {
        return core::upstream_error(core::errc::card_unrewritable, *leak);
    }
    return served;
}

}  // namespace a2a
