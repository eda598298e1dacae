#include "mcp/protocol/list_page.hpp"

#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace mcp {
namespace {

struct list_words {
    std::string_view items;  // the member of a result
    std::string_view key;    // the member of an item
};

constexpr std::array<list_words, list_kinds> member_words{{
    {"tools", "name"},
    {"resources", "uri"},
    {"resourceTemplates", "uriTemplate"},
    {"prompts", "name"},
}};

list_page::items read_items(std::string_view raw, list_kind list, std::size_t most)
{
    list_page::items items;
    const auto elements = core::scan_elements(raw, most);
    if (!elements) {
        items.problem = elements.error();
        return items;
    }
    items.count = elements->count;
    items.read.reserve(elements->raw.size());
    for (const auto each : elements->raw) {
        items.read.push_back(read_list_item(each, list, /*with_headers=*/true));
    }
    return items;
}

using core::json;

constexpr std::string_view annotation = "x-mcp-header";

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) noexcept
{
    return std::ranges::find(words, word) != words.end();
}

// The content of a schema's keyword.
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

    // The problem of an annotation of `schema`; empty: none.
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

std::string_view member_of(list_kind list) noexcept
{
    return member_words[index_of(list)].items;
}

list_item read_list_item(std::string_view raw, list_kind list, bool with_headers)
{
    list_item item;
    item.bytes = raw.size();
    const auto members = raw_object::read(raw);
    if (!members) {
        item.problem = members.error().detail;
        return item;
    }
    item.key = members->text(member_words[index_of(list)].key);
    auto text = usable(raw, deepest_fact);
    if (item.key.empty()) {
        item.problem = "has no key";
    } else if (!text) {
        item.problem = text.error().detail;
    } else {
        item.raw = std::move(*text);
        if (with_headers && list == list_kind::tools) {
            item.headers = header_problem(members->find("inputSchema")).value_or(std::string{});
        }
    }
    return item;
}

list_page read_list_page(std::string_view result, std::size_t most_items)
{
    list_page page;
    const auto members = raw_object::read(result);
    if (!members) {
        page.problem = members.error();
        return page;
    }
    page.type = members->find("resultType");
    page.time_to_live = members->find("ttlMs");
    page.scope = members->find("cacheScope");
    page.cursor = members->find("nextCursor");
    for (std::size_t i = 0; i < list_kinds; ++i) {
        if (const auto items = members->find(member_words[i].items); is_array(items)) {
            page.lists[i] = read_items(items, static_cast<list_kind>(i), most_items);
        }
    }
    return page;
}

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
