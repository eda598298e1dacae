#include "mcp/protocol/tool_headers.hpp"

#include "core/ascii.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace mcp {
namespace {

using core::json;

constexpr std::string_view annotation = "x-mcp-header";

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) noexcept
{
    return std::ranges::find(words, word) != words.end();
}

// What a keyword of a schema holds.
bool holds_values(std::string_view keyword) noexcept
{
    constexpr auto words = std::to_array<std::string_view>({"default", "const", "enum", "example", "examples"});
    return is_one_of(keyword, words);
}

bool holds_names(std::string_view keyword) noexcept
{
    constexpr auto words = std::to_array<std::string_view>(
        {"properties",
         "patternProperties",
         "$defs",
         "definitions",
         "dependentSchemas",
         "dependentRequired",
         "dependencies"}
    );
    return is_one_of(keyword, words);
}

class annotation_search {
public:
    // Every step leads to a part of what was read: it is nested no deeper than core::parse_json() allows.
    std::optional<std::string> in_schema(const json& schema, bool reachable)
    {
        if (schema.is_array()) {
            return in_each(schema);
        }
        if (!schema.is_object()) {
            return std::nullopt;
        }
        if (const auto* const found = core::member(schema, annotation)) {
            if (const auto why = judge(*found, schema, reachable && !path_.empty()); !why.empty()) {
                return told(why);
            }
        }
        for (const auto& [keyword, value] : schema.items()) {
            if (holds_values(keyword)) {
                continue;
            }
            const bool parameters = keyword == "properties";
            const step under{path_, keyword, !parameters};
            auto problem = value.is_object() && holds_names(keyword) ? in_names(value, reachable && parameters)
                                                                     : in_schema(value, false);
            if (problem) {
                return problem;
            }
        }
        return std::nullopt;
    }

private:
    // Where the search is, for as long as this lives.
    class step {
    public:
        step(std::vector<std::string_view>& path, std::string_view name, bool told = true)
            : path_{path},
              told_{told}
        {
            if (told_) {
                path_.push_back(name);
            }
        }
        ~step()
        {
            if (told_) {
                path_.pop_back();
            }
        }
        step(const step&) = delete;
        step& operator=(const step&) = delete;

    private:
        std::vector<std::string_view>& path_;
        bool told_;
    };

    std::optional<std::string> in_names(const json& named, bool reachable)
    {
        for (const auto& [name, schema] : named.items()) {
            const step under{path_, name};
            if (auto problem = in_schema(schema, reachable)) {
                return problem;
            }
        }
        return std::nullopt;
    }

    std::optional<std::string> in_each(const json& schemas)
    {
        for (const auto& each : schemas) {
            if (auto problem = in_schema(each, false)) {
                return problem;
            }
        }
        return std::nullopt;
    }

    // What is wrong with an annotation of `schema`; empty: nothing.
    std::string_view judge(const json& value, const json& schema, bool reachable)
    {
        if (!reachable) {
            return "stands where properties alone do not lead to";
        }
        const auto* const text = value.get_ptr<const std::string*>();
        if (text == nullptr) {
            return "is not a string";
        }
        if (!core::is_token(*text)) {
            return text->empty() ? "is empty" : "is not a token";
        }
        const auto* const type = core::string_member(schema, "type");
        if (type == nullptr || (*type != "integer" && *type != "string" && *type != "boolean")) {
            return "is not of an integer, a string or a boolean";
        }
        return seen_.insert(core::in_lower_case(*text)).second ? "" : "stands twice";
    }

    std::string told(std::string_view why) const
    {
        std::string place;
        for (const auto each : path_) {
            place.append(place.empty() ? "" : ".").append(each);
        }
        return (place.empty() ? "the schema" : place) + ": " + std::string{annotation} + " " + std::string{why};
    }

    std::vector<std::string_view> path_;
    std::set<std::string> seen_;
};

}  // namespace

std::optional<std::string> header_problem(std::string_view schema)
{
    // In an escaped spelling it needs this one escape.
    const bool maybe =
        schema.find(annotation) != std::string_view::npos || schema.find("\\u") != std::string_view::npos;
    if (!maybe) {
        return std::nullopt;
    }
    const auto read = core::parse_json(schema, {.bytes = schema.size()});
    return read ? annotation_search{}.in_schema(*read, true) : std::nullopt;
}

}  // namespace mcp
