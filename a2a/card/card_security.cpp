#include "a2a/card/card_security.hpp"

#include "a2a/card/card_repair.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
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

constexpr std::array<std::string_view, 3> key_places{"query", "header", "cookie"};

struct scheme {
    const scheme_form* form = nullptr;  // null: of no known kind
    json content;                       // without `type`; an API key's place is `location`
};

void rename_member(json& object, std::string_view from, std::string_view to)
{
    if (core::member(object, from) == nullptr) {
        return;
    }
    json::object_t renamed;
    renamed.reserve(object.size());
    for (auto& [key, value] : object.get_ref<json::object_t&>()) {
        if (key != to) {
            renamed.emplace_back(key == from ? std::string{to} : key, std::move(value));
        }
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

json object_of(std::string name, json value)
{
    json::object_t object;
    object.reserve(1);
    object.emplace_back(std::move(name), std::move(value));
    return object;
}

// Builds `securitySchemes` of 1.0. Members are appended: to look each name up among all others would cost its square.
class scheme_wrapper {
public:
    explicit scheme_wrapper(const json::object_t& written)
    {
        for (const auto& [name, value] : written) {
            taken_.insert(name);
        }
    }

    void add(const std::string& name, scheme read)
    {
        const std::string member{read.form->member};
        const auto flows = flows_of(read.content);
        if (flows.size() < 2) {
            made_.emplace_back(name, object_of(member, std::move(read.content)));
            return;
        }
        const auto all = std::exchange(read.content["flows"], json::object());
        auto& parts = split_[name];
        for (const auto flow : flows) {
            auto part = parts.empty() ? name : free_name(name + "__" + std::string{flow});
            auto content = read.content;
            content["flows"] = object_of(std::string{flow}, *core::member(all, flow));
            made_.emplace_back(part, object_of(member, std::move(content)));
            parts.push_back(std::move(part));
        }
    }

    void take(translated_schemes& out) &&
    {
        out.schemes = std::move(made_);
        out.split = std::move(split_);
    }

private:
    // A number keeps the name short, however many names the agent has taken: each requirement repeats it.
    std::string free_name(const std::string& wanted)
    {
        auto name = wanted;
        for (std::size_t number = 2; !taken_.insert(name).second; ++number) {
            name = wanted + '_' + std::to_string(number);
        }
        return name;
    }

    std::set<std::string> taken_;
    json::object_t made_;
    scheme_split split_;
};

json typed(scheme read, const std::string& path, std::vector<std::string>& lost)
{
    auto& content = read.content;
    if (read.form->type == "apiKey") {
        rename_member(content, "location", "in");
        const auto* place = core::string_member(content, "in");
        if (place == nullptr || std::ranges::find(key_places, *place) == key_places.end()) {
            content["in"] = "header";  // as the SDKs take a place that 0.3 does not know
        }
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
    json::object_t whole;
    whole.reserve(content.size() + 1);
    whole.emplace_back("type", std::string{read.form->type});
    for (auto& [key, value] : content.get_ref<json::object_t&>()) {
        if (key != "type") {
            whole.emplace_back(key, std::move(value));
        }
    }
    return whole;
}

// The scopes by scheme that a requirement of either form asks for; null: it is none.
json scopes_by_scheme(const json& demand)
{
    const auto* schemes = demanded_schemes(demand);
    if (schemes == nullptr) {
        return nullptr;
    }
    json::object_t scopes;
    scopes.reserve(schemes->size());
    for (const auto& [name, asked] : schemes->get_ref<const json::object_t&>()) {
        const auto* list = core::member(asked, "list");
        const auto& names = list == nullptr ? asked : *list;
        json::array_t kept;
        if (names.is_array()) {
            std::ranges::copy_if(names, std::back_inserter(kept), [](const json& scope) { return scope.is_string(); });
        }
        scopes.emplace_back(name, std::move(kept));
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

const json* demanded_schemes(const json& demand)
{
    const auto* wrapped = core::member(demand, "schemes");
    const auto& schemes = wrapped != nullptr && wrapped->is_object() ? *wrapped : demand;
    return schemes.is_object() ? &schemes : nullptr;
}

translated_schemes wrapped_schemes(const json& schemes)
{
    translated_schemes out;
    const auto* written = schemes.get_ptr<const json::object_t*>();
    if (written == nullptr) {
        out.lost.emplace_back("securitySchemes");
        return out;
    }
    scheme_wrapper wrapper{*written};
    for (const auto& [name, each] : *written) {
        auto read = read_scheme(each);
        if (read.form == nullptr) {
            out.lost.push_back(dotted("securitySchemes", name));
        } else {
            wrapper.add(name, std::move(read));
        }
    }
    std::move(wrapper).take(out);
    return out;
}

translated_schemes typed_schemes(const json& schemes)
{
    translated_schemes out;
    const auto* written = schemes.get_ptr<const json::object_t*>();
    if (written == nullptr) {
        out.lost.emplace_back("securitySchemes");
        return out;
    }
    json::object_t object;
    object.reserve(written->size());
    for (const auto& [name, each] : *written) {
        const auto path = dotted("securitySchemes", name);
        auto read = read_scheme(each);
        if (read.form == nullptr) {
            out.lost.push_back(path);
        } else {
            object.emplace_back(name, typed(std::move(read), path, out.lost));
        }
    }
    out.schemes = std::move(object);
    return out;
}

json demand_wrapper::wrapped(const json& demands)
{
    json::array_t list;
    each_demand(demands, [&](const json& scopes) {
        list.push_back(object_of("schemes", alternative(scopes, 0)));
        const auto count = alternatives_of(scopes);
        for (std::size_t i = 1; i < count; ++i) {
            auto added = object_of("schemes", alternative(scopes, i));
            const auto bytes = core::to_text(added).size();
            if (bytes > room_) {
                break;
            }
            room_ -= bytes;
            list.push_back(std::move(added));
        }
    });
    return list;
}

// How many alternatives a requirement has, as far as max_alternatives allows.
std::size_t demand_wrapper::alternatives_of(const json& scopes) const
{
    std::size_t count = 1;
    for (const auto& [name, asked] : scopes.items()) {
        const auto found = split_.find(name);
        count = std::min(max_alternatives, count * (found == split_.end() ? 1 : found->second.size()));
    }
    return count;
}

// The parts of the last scheme change fastest, as the last digit of a number does.
json demand_wrapper::alternative(const json& scopes, std::size_t index) const
{
    const auto& members = scopes.get_ref<const json::object_t&>();
    const std::span asked{members.data(), members.size()};
    std::vector<const std::string*> parts(asked.size());
    for (auto i = asked.size(); i-- > 0;) {
        const auto found = split_.find(asked[i].first);
        if (found == split_.end()) {
            parts[i] = &asked[i].first;
        } else {
            parts[i] = &found->second[index % found->second.size()];
            index /= found->second.size();
        }
    }
    json::object_t object;
    object.reserve(asked.size());
    std::set<std::string_view> named;  // a requirement may name what the part of another scheme is called
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (named.insert(*parts[i]).second) {
            object.emplace_back(*parts[i], object_of("list", asked[i].second));
        }
    }
    return object;
}

json plain_demands(const json& demands)
{
    json::array_t list;
    each_demand(demands, [&](json scopes) { list.push_back(std::move(scopes)); });
    return list;
}

}  // namespace a2a
