#include "gateway/management/agent_registration.hpp"

#include "core/agent.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <utility>

namespace gateway::management {
namespace {

using core::json;

constexpr std::size_t longest_id = 128;

// "http://Host:1/path" is at "http://host:1". A port that is the scheme's own and one that is not said are different: then
// too little is kept, never too much.
std::string origin_of(std::string_view url)
{
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) {
        return {};
    }
    return core::in_lower_case(url.substr(0, url.find_first_of("/?#", scheme + 3)));
}

// Characters that an id cannot hold become one hyphen.
std::string id_of(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        const bool dot_again = c == '.' && out.ends_with('.');
        if (core::valid_agent_id(std::string_view{&c, 1}) || (c == '.' && !dot_again)) {
            out += c;
        } else if (!out.ends_with('-')) {
            out += '-';
        }
    }
    out.resize(std::min(out.size(), longest_id));
    return std::string{core::trim(out, "-.")};
}

bool at_the_same_origins(const registration& asked, const json& stored)
{
    const auto url = core::text_member(stored, "url");
    const auto card_url = core::text_member(stored, "card_url");
    const auto card_origin = [](const std::string& card, const std::string& agent) {
        return origin_of(card.empty() ? agent : card);
    };
    return !url.empty() && origin_of(url) == origin_of(asked.url) &&
           card_origin(card_url, url) == card_origin(asked.card_url, asked.url);
}

void set_text(json& object, const char* key, const std::string& text)
{
    if (text.empty()) {
        object.erase(key);
    } else {
        object[key] = text;
    }
}

// Restrictions that an operator has written stay wherever the agent moves; its credentials and what it may show do not.
json restrictions_of(const json& stored)
{
    json kept = json::object();
    for (const auto* key :
         {"disabled", "discover", "call", "skills", "extended_card", "signatures", "trusted_keys", "key_set_origins"}) {
        if (const auto* value = core::member(stored, key)) {
            kept[key] = *value;
        }
    }
    return kept;
}

}  // namespace

registration read_registration(const json& body)
{
    registration out;
    const auto refuse = [&](const char* key, const char* predicate) {
        out.problems.push_back({{}, 1, 1, key, predicate});
    };
    const auto text = [&](const char* key, bool required) {
        const auto* value = core::member(body, key);
        const bool absent = value == nullptr || value->is_null();
        const auto* given = core::string_member(body, key);
        if (absent ? required : given == nullptr || (required && given->empty())) {
            refuse(
                key,
                absent  ? "is missing; expected text"
                : given ? "is empty; expected text"
                        : "is no text; expected text"
            );
        }
        return given == nullptr ? std::string{} : *given;
    };
    if (!body.is_object()) {
        refuse("body", "is no object; expected agent_url, name, version, agent_card_url and description");
        return out;
    }
    out.url = text("agent_url", /*required=*/true);
    out.name = text("name", /*required=*/true);
    out.version = text("version", /*required=*/false);
    out.card_url = text("agent_card_url", /*required=*/false);
    out.description = text("description", /*required=*/false);
    out.id = id_of(out.name);
    if (out.id.empty() && !out.name.empty()) {
        refuse("name", "has nothing that an id can be made of; expected letters or digits");
    }
    return out;
}

bool may_replace(const model::registrant& by, const json& stored)
{
    const auto* registered = core::member(stored, "registered");
    const bool is_registered = registered != nullptr && registered->is_boolean() && registered->get<bool>();
    return by.operates || (is_registered && core::text_member(stored, "registered_by") == by.owns_as);
}

json definition_of(const registration& asked, const json& stored, const model::registrant& by)
{
    json out = at_the_same_origins(asked, stored) ? stored : restrictions_of(stored);
    out["url"] = asked.url;
    if (!by.operates) {
        out["registered"] = true;
        set_text(out, "registered_by", by.owns_as);
    }
    set_text(out, "card_url", asked.card_url);
    set_text(out, "version", asked.version);
    auto& metadata = out["metadata"];
    if (!metadata.is_object()) {
        metadata = json::object();
    }
    metadata["name"] = asked.name;
    set_text(metadata, "description", asked.description);
    return out;
}

std::string registered_key(std::string_view key)
{
    constexpr std::string_view prefix = "agent.";
    key.remove_prefix(key.starts_with(prefix) ? prefix.size() : 0);
    if (key == "url" || key == "card_url") {
        return std::string{prefix.substr(0, prefix.size() - 1)} + "_" + std::string{key};
    }
    return std::string{key};
}

}  // namespace gateway::management
