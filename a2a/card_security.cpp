#include "a2a/card_security.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace a2a {
namespace {

using core::json;

struct scheme_form {
    std::string_view type;
    std::string_view member;
};

constexpr std::array<scheme_form, 5> forms{{
    {"apiKey", "apiKeySecurityScheme"},
    {"http", "httpAuthSecurityScheme"},
    {"oauth2", "oauth2SecurityScheme"},
    {"openIdConnect", "openIdConnectSecurityScheme"},
    {"mutualTLS", "mtlsSecurityScheme"},
}};

// In the order in which clients prefer them.
constexpr std::array<std::string_view, 5> flow_names{
    "authorizationCode",
    "clientCredentials",
    "implicit",
    "password",
    "deviceCode",
};

// What one requirement may multiply to, when several of its schemes are split.
constexpr std::size_t max_alternatives = 25;

struct scheme {
    const scheme_form* form = nullptr;  // null: of no known kind
    json content;                       // without `type`; an API key's place is `location`
};

void rename_member(json& object, std::string_view from, std::string_view to)
{
    json::object_t renamed;
    for (auto& [key, value] : object.get_ref<json::object_t&>()) {
        renamed.emplace_back(key == from ? std::string{to} : key, std::move(value));
    }
    object.get_ref<json::object_t&>() = std::move(renamed);
}

scheme read_scheme(const json& written)
{
    scheme read;
    for (const auto& form : forms) {
        if (const auto* content = core::member(written, form.member); content != nullptr && content->is_object()) {
            return {&form, *content};
        }
    }
    const auto* type = core::string_member(written, "type");
    const auto known = type == nullptr ? forms.end() : std::ranges::find(forms, *type, &scheme_form::type);
    if (known == forms.end()) {
        return {};
    }
    read.form = &*known;
    read.content = written;
    read.content.erase("type");
    if (known->type == "apiKey") {
        rename_member(read.content, "in", "location");
    }
    return read;
}

std::vector<std::string_view> flows_of(const json& content)
{
    std::vector<std::string_view> present;
    const auto* flows = core::member(content, "flows");
    for (const auto name : flow_names) {
        if (flows != nullptr && core::member(*flows, name) != nullptr) {
            present.push_back(name);
        }
    }
    return present;
}

void add_wrapped(const std::string& name, const scheme& read, const json& taken, translated_schemes& out)
{
    const std::string member{read.form->member};
    const auto flows = flows_of(read.content);
    if (flows.size() < 2) {
        out.schemes[name] = json{{member, read.content}};
        return;
    }
    auto& parts = out.split[name];
    for (const auto flow : flows) {
        auto part = parts.empty() ? name : name + "__" + std::string{flow};
        while (!parts.empty() && (taken.contains(part) || out.schemes.contains(part))) {
            part += '_';
        }
        auto content = read.content;
        content["flows"] = json{{std::string{flow}, read.content["flows"][std::string{flow}]}};
        out.schemes[part] = json{{member, std::move(content)}};
        parts.push_back(std::move(part));
    }
}

json typed(const scheme& read, const std::string& path, std::vector<std::string>& lost)
{
    auto content = read.content;
    if (read.form->type == "apiKey") {
        rename_member(content, "location", "in");
    }
    if (const auto flows = content.find("flows"); flows != content.end() && flows->is_object()) {
        if (flows->erase("deviceCode") != 0) {
            lost.push_back(path + ".flows.deviceCode");
        }
        const auto code = flows->find("authorizationCode");
        if (code != flows->end() && code->is_object() && code->erase("pkceRequired") != 0) {
            lost.push_back(path + ".flows.authorizationCode.pkceRequired");
        }
    }
    json whole{{"type", std::string{read.form->type}}};
    whole.update(content);
    return whole;
}

// The scopes by scheme that a requirement of either form asks for; null: it is none.
json scopes_by_scheme(const json& demand)
{
    const auto* wrapped = core::member(demand, "schemes");
    const auto& schemes = wrapped != nullptr && wrapped->is_object() ? *wrapped : demand;
    if (!schemes.is_object()) {
        return nullptr;
    }
    auto scopes = json::object();
    for (const auto& [name, asked] : schemes.items()) {
        const auto* list = core::member(asked, "list");
        const auto& names = list == nullptr ? asked : *list;
        auto& kept = scopes[name] = json::array();
        if (names.is_array()) {
            std::ranges::copy_if(names, std::back_inserter(kept), [](const json& scope) { return scope.is_string(); });
        }
    }
    return scopes;
}

// Calls `take` with every requirement of the list that is one.
template <class Take>
void each_demand(const json& demands, Take take)
{
    if (!demands.is_array()) {
        return;
    }
    for (const auto& demand : demands) {
        if (auto scopes = scopes_by_scheme(demand); !scopes.is_null()) {
            take(std::move(scopes));
        }
    }
}

}  // namespace

translated_schemes wrapped_schemes(const json& schemes)
{
    translated_schemes out;
    if (!schemes.is_object()) {
        out.lost.emplace_back("securitySchemes");
        return out;
    }
    for (const auto& [name, written] : schemes.items()) {
        const auto read = read_scheme(written);
        if (read.form == nullptr) {
            out.lost.push_back("securitySchemes." + name);
        } else {
            add_wrapped(name, read, schemes, out);
        }
    }
    return out;
}

translated_schemes typed_schemes(const json& schemes)
{
    translated_schemes out;
    if (!schemes.is_object()) {
        out.lost.emplace_back("securitySchemes");
        return out;
    }
    for (const auto& [name, written] : schemes.items()) {
        const auto path = "securitySchemes." + name;
        const auto read = read_scheme(written);
        if (read.form == nullptr) {
            out.lost.push_back(path);
        } else {
            out.schemes[name] = typed(read, path, out.lost);
        }
    }
    return out;
}

json wrapped_demands(const json& demands, const scheme_split& split)
{
    auto list = json::array();
    each_demand(demands, [&](const json& scopes) {
        std::vector<json> alternatives{json::object()};
        for (const auto& [name, asked] : scopes.items()) {
            const auto found = split.find(name);
            const auto& names = found == split.end() ? std::vector<std::string>{name} : found->second;
            std::vector<json> extended;
            for (const auto& each : alternatives) {
                for (const auto& part : names) {
                    if (extended.size() < max_alternatives) {
                        extended.push_back(each);
                        extended.back()[part] = json{{"list", asked}};
                    }
                }
            }
            alternatives = std::move(extended);
        }
        for (auto& each : alternatives) {
            list.push_back(json{{"schemes", std::move(each)}});
        }
    });
    return list;
}

json plain_demands(const json& demands)
{
    auto list = json::array();
    each_demand(demands, [&](json scopes) { list.push_back(std::move(scopes)); });
    return list;
}

}  // namespace a2a
