// Whether a value is as a JSON Schema says (draft 2020-12), for just the keywords that our own schemas use. A schema with another
// keyword is an exception, which fails the test. `properties` count only beside `additionalProperties`.
#pragma once

#include "core/json/json.hpp"

#include <algorithm>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

namespace test_support {

using core::json;

inline bool has_type(const json& value, const std::string& type)
{
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "null" && value.is_null()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.is_number_integer());
}

class validator {
public:
    explicit validator(json root)
        : root_{std::move(root)}
    {
    }

    bool takes(const json& value) const { return valid(root_, value); }

private:
    bool valid(const json& schema, const json& value) const
    {
        const auto& all = schema.items();
        return std::all_of(all.begin(), all.end(), [&](const auto& each) {
            return keyword(each.key(), each.value(), schema, value);
        });
    }

    bool any_of(const json& schemas, const json& value) const
    {
        return std::any_of(schemas.begin(), schemas.end(), [&](const json& each) { return valid(each, value); });
    }

    bool members(const json& schema, const json& value) const
    {
        const auto* properties = core::member(schema, "properties");
        const auto& other = schema["additionalProperties"];
        for (const auto& [key, member] : value.items()) {
            const auto* known = properties == nullptr ? nullptr : core::member(*properties, key);
            const bool good = known != nullptr     ? valid(*known, member)
                              : other.is_boolean() ? other.get<bool>()
                                                   : valid(other, member);
            if (!good) {
                return false;
            }
        }
        return true;
    }

    bool keyword(const std::string& name, const json& said, const json& schema, const json& value) const
    {
        if (name == "$schema" || name == "$id" || name == "$defs" || name == "title" || name == "description" ||
            name == "default" || name == "properties") {
            return true;
        }
        if (name == "$ref") {
            return valid(root_["$defs"][said.get<std::string>().substr(std::string{"#/$defs/"}.size())], value);
        }
        if (name == "type") {
            const auto types = said.is_array() ? said : json::array({said});
            return std::any_of(types.begin(), types.end(), [&](const json& each) {
                return has_type(value, each.get<std::string>());
            });
        }
        if (name == "anyOf") {
            return any_of(said, value);
        }
        if (name == "enum" || name == "const") {
            return name == "const" ? value == said : std::find(said.begin(), said.end(), value) != said.end();
        }
        if (name == "pattern") {
            return !value.is_string() ||
                   std::regex_search(value.get<std::string>(), std::regex{said.get<std::string>()});
        }
        if (name == "minimum" || name == "maximum") {
            return !value.is_number() || (name == "minimum" ? value >= said : value <= said);
        }
        if (name == "items") {
            return !value.is_array() ||
                   std::all_of(value.begin(), value.end(), [&](const json& v) { return valid(said, v); });
        }
        if (name == "minItems" || name == "maxItems") {
            const auto count = said.get<std::size_t>();
            return !value.is_array() || (name == "minItems" ? value.size() >= count : value.size() <= count);
        }
        if (name == "required") {
            return !value.is_object() || std::all_of(said.begin(), said.end(), [&](const json& k) {
                return value.contains(k.get<std::string>());
            });
        }
        if (name == "propertyNames") {
            return !value.is_object() || std::all_of(value.items().begin(), value.items().end(), [&](const auto& each) {
                return valid(said, json(each.key()));
            });
        }
        if (name == "additionalProperties") {
            return !value.is_object() || members(schema, value);
        }
        throw std::runtime_error{"the schema has a keyword that this validator does not know: " + name};
    }

    json root_;
};

}  // namespace test_support
