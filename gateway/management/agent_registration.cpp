#include "gateway/management/agent_registration.hpp"

#include "config/json_value.hpp"
#include "core/agent.hpp"

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
    std::string out{url.substr(0, url.find_first_of("/?#", scheme + 3))};
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return out;
}

// What an id cannot hold becomes one hyphen.
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
    constexpr std::string_view edges = "-.";
    const auto first = out.find_first_not_of(edges);
    if (first == std::string::npos) {
        return {};
    }
    return out.substr(first, out.find_last_not_of(edges) - first + 1);
}

class registration_reader {
public:
    registration_reader(const json& body, std::vector<config::problem>& problems)
        : body_{body},
          problems_{problems}
    {
    }

    std::string text(const char* key, bool required)
    {
        const auto* value = core::member(body_, key);
        if (value == nullptr || value->is_null()) {
            if (required) {
                refuse(key, "is missing; expected text");
            }
            return {};
        }
        if (!value->is_string() || (required && value->get_ref<const std::string&>().empty())) {
            refuse(key, value->is_string() ? "is empty; expected text" : "is no text; expected text");
            return {};
        }
        return value->get<std::string>();
    }

    void refuse(const char* key, const char* what) { problems_.push_back({{}, 1, 1, key, what}); }

private:
    const json& body_;
    std::vector<config::problem>& problems_;
};

std::string text_of(const json& object, const char* key)
{
    const auto* value = core::string_member(object, key);
    return value == nullptr ? std::string{} : *value;
}

bool at_the_same_origins(const registration& asked, const json& stored)
{
    const auto url = text_of(stored, "url");
    const auto card_url = text_of(stored, "card_url");
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

}  // namespace

registration read_registration(const json& body)
{
    registration out;
    registration_reader read{body, out.problems};
    if (!body.is_object()) {
        read.refuse("body", "is no object; expected agent_url, name, version, agent_card_url and description");
        return out;
    }
    out.url = read.text("agent_url", /*required=*/true);
    out.name = read.text("name", /*required=*/true);
    out.version = read.text("version", /*required=*/false);
    out.card_url = read.text("agent_card_url", /*required=*/false);
    out.description = read.text("description", /*required=*/false);
    out.id = id_of(out.name);
    if (out.id.empty() && !out.name.empty()) {
        read.refuse("name", "has nothing that an id can be made of; expected letters or digits");
    }
    return out;
}

json definition_of(const registration& asked, const json& stored)
{
    json out = at_the_same_origins(asked, stored) ? stored : json::object();
    out["url"] = asked.url;
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
