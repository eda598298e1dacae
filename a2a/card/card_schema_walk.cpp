#include "a2a/card/card_schema_walk.hpp"

#include "a2a/card/address.hpp"
#include "a2a/card/card_interfaces.hpp"

#include <algorithm>
#include <array>

namespace a2a {
namespace {

using core::json;
using enum problem_severity;

bool known(const object_rule& rule, std::string_view key)
{
    return std::ranges::any_of(rule.members, [&](const member_rule& member) { return same_name(member.name, key); });
}

bool all_strings(const json& value)
{
    return std::ranges::all_of(value, [](const json& item) { return item.is_string(); });
}

const object_rule& wrapped_scheme()
{
    return *find_member(card_since_1(), "securitySchemes")->of;
}

}  // namespace

schema_walk::schema_walk(card_generation generation, const std::vector<card_problem>& said, problem_list& problems)
    : generation_{generation},
      problems_{problems}
{
    for (const auto& each : said) {
        said_.insert(each.path);
    }
}

void schema_walk::object(const json& value, const object_rule& rule, const object_rule* other, const std::string& path)
{
    std::size_t present = 0;
    for (const auto& each : rule.members) {
        const auto here = dotted(path, each.name);
        const auto* found = find_spelled(value, each.name);
        if (found == nullptr || found->is_null()) {
            absent(each, found != nullptr, here);
            continue;
        }
        ++present;
        const auto* twin = other == nullptr ? nullptr : find_member(*other, each.name);
        member(*found, each, twin == nullptr ? nullptr : twin->of, here);
    }
    if (rule.one_of && present != 1) {
        add(path, present == 0 ? "has none of the forms of 1.0" : "has more than one form", error);
    }
    strangers(value, rule, other, path);
}

void schema_walk::add(const std::string& path, std::string_view complaint, problem_severity severity)
{
    if (said_.insert(path).second) {
        problems_.add(path, complaint, severity);
    }
}

void schema_walk::expect(bool holds, std::string_view complaint, const std::string& path)
{
    if (!holds) {
        add(path, complaint, error);
    }
}

void schema_walk::absent(const member_rule& rule, bool null, const std::string& path)
{
    if (rule.required) {
        // 0.1 had the URL of a provider as an option.
        add(path, "missing", generation_ == card_generation::v01 && path == "provider.url" ? note : error);
    } else if (null) {
        add(path, "null: leave it out", note);
    }
}

void schema_walk::member(const json& value, const member_rule& rule, const object_rule* other, const std::string& path)
{
    switch (rule.kind) {
        case value_kind::text:
        case value_kind::url:
            return text(value, rule, path);
        case value_kind::flag:
            return expect(value.is_boolean(), "not true or false", path);
        case value_kind::texts:
            return texts(value, rule, path);
        case value_kind::text_map:
            return expect(value.is_object() && all_strings(value), "not an object of strings", path);
        case value_kind::open:
            return expect(value.is_object(), "not an object", path);
        case value_kind::one:
            return one(value, *rule.of, other, path);
        case value_kind::list:
            return list(value, rule, other, path);
        case value_kind::map:
            return map(value, *rule.of, path);
        case value_kind::schemes:
            return schemes(value, path);
        case value_kind::demands:
            return demands(value, path);
    }
}

void schema_walk::text(const json& value, const member_rule& rule, const std::string& path)
{
    const auto* said = value.get_ptr<const std::string*>();
    if (said == nullptr) {
        add(path, "not a string", error);
    } else if (said->empty()) {
        add(path, "empty", rule.required ? error : note);
    } else if (rule.name == "iconUrl" && said->starts_with("data:")) {
        return;  // absolute, without an authority
    } else if (rule.kind == value_kind::url && !authority_of(*said)) {
        add(path, "not an absolute URL", error);
    }
}

void schema_walk::texts(const json& value, const member_rule& rule, const std::string& path)
{
    if (!value.is_array() || !all_strings(value)) {
        add(path, "not a list of strings", error);
        return;
    }
    if (!rule.name.ends_with("Modes")) {
        return;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i].get_ref<const std::string&>().find('/') == std::string::npos) {
            add(indexed(path, i), "not a media type", warning);
        }
    }
}

void schema_walk::one(const json& value, const object_rule& rule, const object_rule* other, const std::string& path)
{
    if (!value.is_object()) {
        add(path, "not an object", error);
        return;
    }
    object(value, rule, other, path);
}

void schema_walk::list(const json& value, const member_rule& rule, const object_rule* other, const std::string& path)
{
    if (!value.is_array()) {
        add(path, "not a list", error);
        return;
    }
    if (value.empty() && rule.required && generation_ >= card_generation::v1) {
        add(path, "empty, where 1.0 wants at least one", warning);
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
        one(value[i], *rule.of, other, indexed(path, i));
    }
}

void schema_walk::map(const json& value, const object_rule& rule, const std::string& path)
{
    if (!value.is_object()) {
        add(path, "not an object", error);
        return;
    }
    for (const auto& [key, item] : value.items()) {
        const auto* type = core::string_member(item, "type");
        one(item, rule, type == nullptr ? nullptr : typed_scheme(*type), dotted(path, key));
    }
}

void schema_walk::schemes(const json& value, const std::string& path)
{
    if (!value.is_object()) {
        add(path, "not an object", error);
        return;
    }
    for (const auto& [key, each] : value.items()) {
        scheme(each, dotted(path, key));
    }
}

// Checks the form before 1.0, which has a `type`; cards over gRPC and REST had the other one then already.
void schema_walk::scheme(const json& value, const std::string& path)
{
    if (!value.is_object()) {
        add(path, "not an object", error);
        return;
    }
    if (const auto* type = core::string_member(value, "type")) {
        if (const auto* rule = typed_scheme(*type)) {
            object(value, *rule, &wrapped_scheme(), path);
        } else {
            add(dotted(path, "type"), "no type of the specification", error);
        }
        return;
    }
    if (std::ranges::any_of(value.items(), [](const auto& item) { return known(wrapped_scheme(), item.key()); })) {
        add(path, "the ProtoJSON form: readers of JSON-RPC cards look for `type`", warning);
        object(value, wrapped_scheme(), nullptr, path);
        return;
    }
    add(dotted(path, "type"), "missing", error);
}

void schema_walk::demands(const json& value, const std::string& path)
{
    if (!value.is_array()) {
        add(path, "not a list", error);
        return;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto& demand = value[i];
        const bool plain = demand.is_object() && std::ranges::all_of(demand, [](const json& scopes) {
                               return scopes.is_array() && all_strings(scopes);
                           });
        if (plain) {
            continue;
        }
        const auto* inside = core::member(demand, "schemes");
        if (inside != nullptr && inside->is_object()) {
            add(indexed(path, i), "the ProtoJSON form: readers of JSON-RPC cards miss it", warning);
        } else {
            add(indexed(path, i), "not an object of lists of scopes", error);
        }
    }
}

void schema_walk::strangers(
    const json& value,
    const object_rule& rule,
    const object_rule* other,
    const std::string& path
)
{
    for (const auto& [key, item] : value.items()) {
        if (known(rule, key)) {
            continue;
        }
        if (other == nullptr || !known(*other, key)) {
            add(dotted(path, key), "not in the specification; most readers ignore it", note);
        } else if (generation_ != card_generation::hybrid) {
            const bool since_1 = generation_ == card_generation::v1;
            add(dotted(path, key), since_1 ? "1.0 does not have it any more" : "came with 1.0", warning);
        }
    }
}

}  // namespace a2a
