#include "a2a/card/card_shape.hpp"

#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_schema.hpp"
#include "a2a/card/card_security.hpp"
#include "a2a/card/card_verify.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace a2a {
namespace {

using core::json;

class projection {
public:
    explicit projection(std::vector<std::string>& lost)
        : lost_{lost}
    {
    }

    json object(json value, const object_rule& rule, const std::string& path)
    {
        json::object_t kept;
        kept.reserve(std::min(value.size(), rule.members.size()));
        for (auto& [key, each] : value.get_ref<json::object_t&>()) {
            const auto here = dotted(path, key);
            const auto* known = find_member(rule, key);
            auto fitting = known == nullptr ? json{} : member(std::move(each), *known, here);
            if (fitting.is_null()) {
                lost_.push_back(here);
            } else {
                kept.emplace_back(key, std::move(fitting));
            }
        }
        return kept;
    }

private:
    // Null: it does not fit.
    json member(json value, const member_rule& rule, const std::string& path)
    {
        switch (rule.kind) {
            case value_kind::text:
            case value_kind::url:
                return value.is_string() ? std::move(value) : json{};
            case value_kind::flag:
                return value.is_boolean() ? std::move(value) : json{};
            case value_kind::open:
                return value.is_object() ? std::move(value) : json{};
            case value_kind::texts:
                return strings(std::move(value));
            case value_kind::text_map:
                return value.is_object() ? strings(std::move(value)) : json{};
            case value_kind::one:
                return value.is_object() ? object(std::move(value), *rule.of, path) : json{};
            case value_kind::list:
                return list(std::move(value), *rule.of, path);
            case value_kind::map:
                return map(std::move(value), *rule.of, path);
            case value_kind::schemes:
            case value_kind::demands:
                return {};  // 1.0 has none of these
        }
        return {};
    }

    static json strings(json value)
    {
        const bool fits = (value.is_array() || value.is_object()) &&
                          std::ranges::all_of(value, [](const json& item) { return item.is_string(); });
        return fits ? std::move(value) : json{};
    }

    json list(json value, const object_rule& rule, const std::string& path)
    {
        if (!value.is_array()) {
            return {};
        }
        json::array_t kept;
        kept.reserve(value.size());
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (value[i].is_object()) {
                kept.push_back(object(std::move(value[i]), rule, indexed(path, i)));
            } else {
                lost_.push_back(indexed(path, i));
            }
        }
        return kept;
    }

    json map(json value, const object_rule& rule, const std::string& path)
    {
        if (!value.is_object()) {
            return {};
        }
        json::object_t kept;
        kept.reserve(value.size());
        for (auto& [key, each] : value.get_ref<json::object_t&>()) {
            if (each.is_object()) {
                kept.emplace_back(key, object(std::move(each), rule, dotted(path, key)));
            } else {
                lost_.push_back(dotted(path, key));
            }
        }
        return kept;
    }

    std::vector<std::string>& lost_;
};

// Reduces `value`, an object, to what `rule` allows; adds the paths of everything else to `lost`.
json projected(json value, const object_rule& rule, std::vector<std::string>& lost)
{
    return projection{lost}.object(std::move(value), rule, "");
}

constexpr std::string_view oldest_version = "0.3";  // JSON-RPC of 0.2.5 is that of 0.3

json* object_at(json& card, const std::string& member)
{
    const auto found = card.find(member);
    return found == card.end() || !found->is_object() ? nullptr : &*found;
}

std::string text_or(const json& object, std::string_view member, std::string_view otherwise)
{
    const auto* text = core::string_member(object, member);
    return text == nullptr ? std::string{otherwise} : *text;
}

bool has_interfaces(const json& card)
{
    const auto* interfaces = core::member(card, "supportedInterfaces");
    return interfaces != nullptr && interfaces->is_array() && !interfaces->empty();
}

std::string interface_version(const std::string* written)
{
    const auto modern = written == nullptr ? std::nullopt : one_or_later(*written);
    return std::string{modern.value_or(false) ? major_minor(*written) : oldest_version};
}

// Null if there was none.
json take_member(json& object, const std::string& member)
{
    const auto found = object.find(member);
    if (found == object.end()) {
        return nullptr;
    }
    auto value = std::move(*found);
    object.erase(member);
    return value;
}

// Sets the member unless `value` is null or the member exists.
void give_member(json& object, const std::string& member, json value)
{
    if (!value.is_null() && !object.contains(member)) {
        object[member] = std::move(value);
    }
}

// The versions that calls to the addresses of a card of 0.x may have.
std::vector<std::string> versions_of(const json& card, bool bridged)
{
    if (bridged) {
        return {bridged_versions.begin(), bridged_versions.end()};
    }
    return {interface_version(core::string_member(card, "protocolVersion"))};
}

// Whether callers of 0.3 cannot use an interface of this binding, because calls name the agent there.
bool needs_tenant(std::string_view binding, const public_address& at)
{
    const auto* served = find_served(binding);
    return served != nullptr && !is_offered(*served, at, generation::v03);
}

json interfaces_since_1(const json& card, const public_address& at)
{
    const bool bridged = at.bridged;
    auto list = json::array();
    if (has_interfaces(card)) {
        list = card["supportedInterfaces"];
        for (auto& each : list) {
            each["protocolVersion"] = interface_version(core::string_member(each, "protocolVersion"));
        }
        return list;
    }
    for (const auto& version : versions_of(card, bridged)) {
        const auto add = [&](const json& url, const std::string& binding) {
            json added{{"url", url}, {"protocolBinding", binding}, {"protocolVersion", version}};
            if (std::ranges::find(list, added) == list.end()) {
                list.push_back(std::move(added));
            }
        };
        if (const auto* url = core::member(card, "url")) {
            add(*url, text_or(card, "preferredTransport", "JSONRPC"));
        }
        if (const auto* more = core::member(card, "additionalInterfaces")) {
            for (const auto& each : *more) {
                add(each["url"], text_or(each, "transport", "JSONRPC"));
            }
        }
        for (const auto& binding : served_bindings) {
            if (bridged && version == bridged_versions.front() && needs_tenant(binding.name, at) &&
                is_offered(binding, at, generation::v1)) {
                list.push_back(made_interface(binding, at, version));
            }
        }
    }
    return list;
}

void security_since_1(json& object, demand_wrapper& wrapper)
{
    give_member(object, "securityRequirements", take_member(object, "security"));
    if (const auto found = object.find("securityRequirements"); found != object.end()) {
        *found = wrapper.wrapped(*found);
    }
}

shaped_card shape_v1(json card, const public_address& at)
{
    shaped_card out;
    auto interfaces = interfaces_since_1(card, at);
    for (const auto* member : {"url", "preferredTransport", "additionalInterfaces", "protocolVersion"}) {
        card.erase(member);
    }
    card["supportedInterfaces"] = std::move(interfaces);
    auto extended = take_member(card, "supportsAuthenticatedExtendedCard");
    auto extended_in_candidate = take_member(card, "supportsExtendedAgentCard");
    if (auto* capabilities = object_at(card, "capabilities")) {
        give_member(*capabilities, "extendedAgentCard", std::move(extended));
        give_member(*capabilities, "extendedAgentCard", std::move(extended_in_candidate));
        if (const auto found = capabilities->find("extensions"); found != capabilities->end() && found->is_array()) {
            for (auto& extension : *found) {
                if (extension.is_object() && !extension.contains("required")) {
                    extension["required"] = false;
                }
            }
        }
    }
    translated_schemes schemes;
    if (const auto found = card.find("securitySchemes"); found != card.end()) {
        schemes = wrapped_schemes(*found);
        *found = std::move(schemes.schemes);
        out.lost = std::move(schemes.lost);
    }
    demand_wrapper wrapper{schemes.split};
    security_since_1(card, wrapper);
    if (const auto skills = card.find("skills"); skills != card.end() && skills->is_array()) {
        for (auto& skill : *skills) {
            if (skill.is_object()) {
                security_since_1(skill, wrapper);
            }
        }
    }
    out.document = projected(std::move(card), card_since_1(), out.lost);
    return out;
}

void security_before_1(json& object)
{
    give_member(object, "security", take_member(object, "securityRequirements"));
    if (const auto found = object.find("security"); found != object.end()) {
        *found = plain_demands(*found);
    }
}

// The endpoint of a card that has only interfaces of 1.0: the first one of 0.x, else the first. What callers of 0.3 cannot use is left
// out where something else is.
void endpoint_before_1(json& card, const public_address& at)
{
    auto interfaces = card["supportedInterfaces"].get<json::array_t>();  // members that are added move the others
    const auto useless = [&](const json& each) { return needs_tenant(text_or(each, "protocolBinding", ""), at); };
    if (!std::ranges::all_of(interfaces, useless)) {
        std::erase_if(interfaces, useless);
    }
    const auto old = std::ranges::find_if(interfaces, [](const json& each) {
        return !one_or_later(text_or(each, "protocolVersion", oldest_version)).value_or(true);
    });
    const auto& first = old == interfaces.end() ? interfaces.front() : *old;
    card["url"] = first["url"];
    card["preferredTransport"] = text_or(first, "protocolBinding", "JSONRPC");
    auto more = json::array();
    for (const auto& each : interfaces) {
        json added{{"url", each["url"]}, {"transport", text_or(each, "protocolBinding", "JSONRPC")}};
        if (std::ranges::find(more, added) == more.end()) {
            more.push_back(std::move(added));
        }
    }
    card["additionalInterfaces"] = std::move(more);
}

void note_tenants(const json& card, const public_address& at, std::vector<std::string>& lost)
{
    const auto& interfaces = card["supportedInterfaces"];
    for (std::size_t i = 0; i < interfaces.size(); ++i) {
        const auto* tenant = core::member(interfaces[i], "tenant");
        const bool own = !needs_tenant(text_or(interfaces[i], "protocolBinding", ""), at);
        if (own && tenant != nullptr && *tenant != "") {  // an empty one is none
            lost.push_back(indexed("supportedInterfaces", i) + ".tenant");
        }
    }
}

// The version that calls to `url` have to be of. If calls are not translated, to claim 0.3 for an agent that speaks only 1.0
// would have its callers send what it does not know, while readers of 0.3 cards that speak 1.0 too go by this member.
std::string spoken_version(const json& card, bool bridged)
{
    constexpr std::string_view usual = "0.3.0";
    const auto* written = core::string_member(card, "protocolVersion");
    const auto modern = written == nullptr ? std::nullopt : one_or_later(*written);
    if (modern == false) {
        return *written;
    }
    if (bridged) {
        return std::string{usual};
    }
    std::string newer{modern == true ? std::string_view{*written} : usual};
    if (has_interfaces(card)) {
        for (const auto& each : card["supportedInterfaces"]) {
            if (!one_or_later(text_or(each, "protocolVersion", oldest_version)).value_or(true)) {
                return std::string{usual};
            }
        }
        newer = interface_version(core::string_member(card["supportedInterfaces"].front(), "protocolVersion"));
    }
    return newer;
}

shaped_card shape_v03(json card, const public_address& at)
{
    shaped_card out;
    if (has_interfaces(card)) {
        note_tenants(card, at, out.lost);
        if (!card.contains("url")) {
            endpoint_before_1(card, at);
        }
    }
    if (!card.contains("preferredTransport")) {
        card["preferredTransport"] = "JSONRPC";
    }
    card["protocolVersion"] = spoken_version(card, at.bridged);
    if (auto* capabilities = object_at(card, "capabilities")) {
        give_member(card, "supportsAuthenticatedExtendedCard", take_member(*capabilities, "extendedAgentCard"));
    }
    give_member(card, "supportsAuthenticatedExtendedCard", take_member(card, "supportsExtendedAgentCard"));
    if (const auto found = card.find("securitySchemes"); found != card.end()) {
        auto schemes = typed_schemes(*found);
        *found = std::move(schemes.schemes);
        std::ranges::move(schemes.lost, std::back_inserter(out.lost));
    }
    security_before_1(card);
    if (const auto skills = card.find("skills"); skills != card.end() && skills->is_array()) {
        for (auto& skill : *skills) {
            if (skill.is_object()) {
                security_before_1(skill);
            }
        }
    }
    card.erase("supportedInterfaces");
    out.document = std::move(card);
    return out;
}

json* member_of(json& object, const char* member)
{
    const auto found = object.is_object() ? object.find(member) : object.end();
    return found == object.end() ? nullptr : &*found;
}

// Moves the members of `from` that `to` lacks.
void add_members(json& to, json& from, std::initializer_list<const char*> members)
{
    for (const auto* member : members) {
        if (auto* value = member_of(from, member); value != nullptr && !to.contains(member)) {
            to[member] = std::move(*value);
        }
    }
}

// Gives each scheme its form of 1.0 beside the one before; what only `schemes` has is added.
void add_wrapped_schemes(json& card, const json& schemes)
{
    auto typed = typed_schemes(schemes);
    const auto& members = schemes.get_ref<const json::object_t&>();
    const std::span wrapped{members.data(), members.size()};
    auto* const added =
        typed.schemes.get_ref<json::object_t&>().data();  // for each of `wrapped`: all have a known form
    auto both = take_member(card, "securitySchemes");
    if (!both.is_object()) {
        both = json::object();
    }
    auto& all = both.get_ref<json::object_t&>();
    all.reserve(all.size() + wrapped.size());
    std::map<std::string_view, std::size_t> places;
    for (const auto& each : all) {
        places.emplace(each.first, places.size());
    }
    for (std::size_t i = 0; i < wrapped.size(); ++i) {
        const auto found = places.find(wrapped[i].first);
        if (found == places.end()) {
            all.emplace_back(wrapped[i].first, std::move(added[i].second)).second.update(wrapped[i].second);
        } else {
            all.data()[found->second].second.update(wrapped[i].second);
        }
    }
    card["securitySchemes"] = std::move(both);
}

shaped_card shape_hybrid(json card, const public_address& at)
{
    auto modern = shape_v1(card, at);
    auto out = shape_v03(std::move(card), at);
    auto& document = out.document;
    if (at.bridged && !document.contains("protocol")) {
        document["protocol"] = "a2a";  // beside the "mcp" of the cards of MCP servers
    }
    add_members(document, modern.document, {"supportedInterfaces", "securityRequirements", "skills"});
    auto* capabilities_since_1 = member_of(modern.document, "capabilities");
    if (auto* capabilities = object_at(document, "capabilities");
        capabilities != nullptr && capabilities_since_1 != nullptr) {
        add_members(*capabilities, *capabilities_since_1, {"extendedAgentCard", "extensions"});
    }
    if (const auto* schemes = core::member(modern.document, "securitySchemes")) {
        add_wrapped_schemes(document, *schemes);
    }
    auto* modern_skills = member_of(modern.document, "skills");
    if (const auto skills = document.find("skills"); skills != document.end() && modern_skills != nullptr) {
        for (std::size_t i = 0; i < std::min(modern_skills->size(), skills->size()); ++i) {
            add_members((*skills)[i], (*modern_skills)[i], {"securityRequirements"});
        }
    }
    // Only what neither half can say is lost.
    const std::set<std::string_view> lost_by_modern{modern.lost.begin(), modern.lost.end()};
    std::erase_if(out.lost, [&](const std::string& path) {
        return path.starts_with("supportedInterfaces") || !lost_by_modern.contains(path);
    });
    return out;
}

shaped_card shaped(json rewritten, core::card_shape shape, const public_address& at)
{
    switch (shape) {
        case core::card_shape::automatic:
            break;
        case core::card_shape::v1:
            return shape_v1(std::move(rewritten), at);
        case core::card_shape::v03:
            return shape_v03(std::move(rewritten), at);
        case core::card_shape::hybrid:
            return shape_hybrid(std::move(rewritten), at);
    }
    return {std::move(rewritten), {}};
}

}  // namespace

core::result<shaped_card> shape_card(json rewritten, core::card_shape shape, const public_address& at)
{
    auto out = shaped(std::move(rewritten), shape, at);
    if (auto checked = check_addresses(out.document, at); !checked) {
        return std::move(checked).error();
    }
    return out;
}

core::result<> check_addresses(const json& served, const public_address& at)
{
    if (const auto leak = find_leak(served, at, {})) {
        return core::upstream_error(core::errc::card_unrewritable, *leak);
    }
    return {};
}

}  // namespace a2a
