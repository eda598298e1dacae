#include "mcp/pins/definition.hpp"

#include "core/json/canonical_json.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>
#include <vector>

namespace mcp {
namespace {

using core::json;

enum class texts : bool { without, with };

constexpr std::size_t longest_version = 64;  // that is taken over unseen

constexpr std::array<std::string_view, 2> text_members{"title", "description"};
constexpr std::array<std::string_view, 3> unordered_members{"required", "enum", "type"};

// Members of a schema whose members are named by the server, and are schemas.
constexpr std::array<std::string_view, 6>
    named_schemas{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"};

// Members of a schema that are a schema, or a list of schemas.
constexpr std::array<std::string_view, 18> schema_members{
    "items",
    "additionalItems",
    "prefixItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
    "contentSchema",
    "extends",
    "disallow"
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

bool is_blank(char c) noexcept
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Runs of white space are one blank, and there is none at either end.
std::string plain_text(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (!is_blank(c)) {
            out += c;
        } else if (!out.empty() && out.back() != ' ') {
            out += ' ';
        }
    }
    if (out.ends_with(' ')) {
        out.pop_back();
    }
    return out;
}

// The texts of the elements, sorted.
json sorted(const json& list)
{
    std::vector<std::pair<std::string, const json*>> all;
    all.reserve(list.size());
    for (const auto& each : list) {
        all.emplace_back(core::canonical_json(each), &each);
    }
    std::ranges::sort(all, {}, &std::pair<std::string, const json*>::first);
    auto out = json::array();
    for (const auto* each : all | std::views::values) {
        out.push_back(*each);
    }
    return out;
}

json counted_schema(const json& schema, texts how);

json counted_schemas(const json& list, texts how)
{
    auto out = json::array();
    for (const auto& each : list) {
        out.push_back(counted_schema(each, how));
    }
    return out;
}

json counted_named(const json& map, texts how)
{
    auto out = json::object();
    for (const auto& [name, value] : map.items()) {
        out[name] = counted_schema(value, how);
    }
    return out;
}

// Anything that is no object is data.
json counted_schema(const json& schema, texts how)
{
    if (!schema.is_object()) {
        return schema;
    }
    auto out = json::object();
    for (const auto& [name, value] : schema.items()) {
        if (is_one_of(text_members, name) && value.is_string()) {
            if (how == texts::with) {
                out[name] = plain_text(value.get_ref<const std::string&>());
            }
        } else if (is_one_of(unordered_members, name) && value.is_array()) {
            out[name] = sorted(value);
        } else if (is_one_of(named_schemas, name) && value.is_object()) {
            out[name] = counted_named(value, how);
        } else if (is_one_of(schema_members, name)) {
            out[name] = value.is_array() ? counted_schemas(value, how) : counted_schema(value, how);
        } else {
            out[name] = value;
        }
    }
    return out;
}

// `annotations` have a title too.
json counted_annotations(const json& annotations, texts how)
{
    auto out = annotations;
    if (const auto* title = core::string_member(annotations, "title")) {
        if (how == texts::with) {
            out["title"] = plain_text(*title);
        } else {
            out.erase("title");
        }
    }
    return out;
}

json counted(const json& tool, texts how)
{
    auto out = json::object();
    for (const auto& [name, value] : tool.items()) {
        if (value.is_null()) {
            continue;
        }
        if (is_one_of(text_members, name)) {
            if (!value.is_string()) {
                out[name] = value;
            } else if (how == texts::with) {
                out[name] = plain_text(value.get_ref<const std::string&>());
            }
        } else if (name == "inputSchema" || name == "outputSchema") {
            out[name] = counted_schema(value, how);
        } else if (name == "annotations") {
            out[name] = counted_annotations(value, how);
        } else if (name == "name" || name == "execution") {
            out[name] = value;
        } else if (const auto* ui = name == "_meta" ? core::member(value, "ui") : nullptr) {
            out[name] = {{"ui", *ui}};
        }
    }
    return out;
}

std::string print(const json& value)
{
    return jose::sha256_hex(core::canonical_json(value));
}

// RFC 8785, but that lists are sorted by the texts of their elements.
void append_unordered(std::string& out, const json& value)
{
    if (value.is_array()) {
        std::vector<std::string> all(value.size());
        for (std::size_t i = 0; i < value.size(); ++i) {
            append_unordered(all[i], value[i]);
        }
        std::ranges::sort(all);
        out += '[';
        for (const auto& each : all) {
            out.append(&each == &all.front() ? "" : ",").append(each);
        }
        out += ']';
    } else if (value.is_object()) {
        std::vector<std::pair<std::string_view, const json*>> all;
        for (const auto& [name, member] : value.items()) {
            all.emplace_back(name, &member);
        }
        std::ranges::sort(all, core::less_in_utf16, &std::pair<std::string_view, const json*>::first);
        out += '{';
        for (const auto& [name, member] : all) {
            out.append(name.data() == all.front().first.data() ? "" : ",").append(core::canonical_json(json(name)));
            out += ':';
            append_unordered(out, *member);
        }
        out += '}';
    } else {
        out += core::canonical_json(value);
    }
}

bool looks_like_version(const json& value)
{
    const auto* text = value.is_string() ? &value.get_ref<const std::string&>() : nullptr;
    return text != nullptr && text->size() <= longest_version && std::ranges::all_of(*text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view{".-+_"}.find(c) != std::string_view::npos;
           });
}

// The member, which is taken out; null: there is none.
json taken(json& card, const char* name)
{
    auto out = card.contains(name) ? card[name] : json{};
    card.erase(name);
    return out;
}

}  // namespace

core::json counted_tool(const core::json& tool)
{
    return tool.is_object() ? counted(tool, texts::with) : json{};
}

core::result<tool_print> print_of_tool(std::string_view raw)
{
    const auto tool = core::parse_json(raw, {.bytes = longest_definition, .depth = 64});
    if (!tool) {
        return tool.error();
    }
    if (!tool->is_object()) {
        return core::upstream_error(core::errc::parse_error, "a tool that is not an object");
    }
    return tool_print{print(counted(*tool, texts::without)), print(counted(*tool, texts::with))};
}

std::string print_of_words(std::string_view text)
{
    return print(json(plain_text(text)));
}

core::result<std::string> print_of_card(std::string_view text, std::size_t most)
{
    auto card = core::parse_json(text, {.bytes = most, .depth = 64});
    if (!card) {
        return std::move(card).error();
    }
    if (card->is_object()) {
        card->erase("version");
        card->erase("signatures");
    }
    std::string out;
    append_unordered(out, *card);
    return jose::sha256_hex(out);
}

bool may_replace_card(std::string_view approved, std::string_view next)
{
    if (approved == next) {
        return true;
    }
    auto before = core::parse_json(approved, {.bytes = approved.size()});
    auto after = core::parse_json(next, {.bytes = next.size()});
    if (!before || !after || !before->is_object() || !after->is_object()) {
        return false;
    }
    const auto version = taken(*after, "version");
    const auto signatures = taken(*after, "signatures");
    const bool has_good_version = taken(*before, "version") == version || looks_like_version(version);
    const auto signed_by = core::canonical_json(signatures);
    const bool has_good_signatures =
        taken(*before, "signatures") == signatures ||
        std::ranges::all_of(signed_by, [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
    return has_good_version && has_good_signatures && core::canonical_json(*before) == core::canonical_json(*after);
}

}  // namespace mcp
