#include "mcp/card/card_parts.hpp"

#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace mcp {
namespace {

using core::json;

// Members of a skill that A2A gives a meaning: a tool's own by these names would be taken for them.
constexpr std::array<std::string_view, 9> skill_members{
    "id",
    "name",
    "description",
    "tags",
    "examples",
    "inputmodes",
    "outputmodes",
    "security",
    "securityrequirements",
};

// Folds a name like readers that accept other spellings: case, '-' and '_' do not count.
std::string folded(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        if (c != '-' && c != '_') {
            out += core::lower(c);
        }
    }
    return out;
}

bool says(const raw_object& annotations, std::string_view hint)
{
    return annotations.find(hint) == "true";
}

// FastMCP puts a tool's tags into `_meta`: below `fastmcp`, below `_fastmcp` before 3.0.
void add_own_tags(const raw_object& tool, json& tags)
{
    constexpr std::size_t most = 64;
    const auto meta = members_of(tool.object("_meta"));
    for (const auto* owner : {"fastmcp", "_fastmcp"}) {
        const auto listed = core::scan_elements(members_of(meta.object(owner)).find("tags"), most);
        for (const auto each : listed ? listed->raw : decltype(listed->raw){}) {
            auto tag = text_of(each);
            const auto known = [&](const json& other) { return other == *tag; };
            if (tag && !tag->empty() && std::ranges::none_of(tags, known)) {
                tags.push_back(std::move(*tag));
            }
        }
    }
}

json tags_of(const raw_object& tool, const raw_object& annotations)
{
    auto tags = json::array({"mcp", "tool"});
    add_own_tags(tool, tags);
    const bool reads = says(annotations, "readOnlyHint");
    if (reads) {
        tags.push_back("read-only");
    }
    if (!reads && says(annotations, "destructiveHint")) {
        tags.push_back("destructive");
    }
    if (says(annotations, "idempotentHint")) {
        tags.push_back("idempotent");
    }
    if (says(annotations, "openWorldHint")) {
        tags.push_back("open-world");
    }
    return tags;
}

// A text is as good as arguments if there is one argument and it is a string.
bool takes_text(const raw_object& tool)
{
    const auto schema = members_of(tool.object("inputSchema"));
    const auto properties = members_of(schema.object("properties"));
    return properties.members().size() == 1 && members_of(properties.members().front().value).text("type") == "string";
}

constexpr std::size_t longest_url = 8 * 1024;
constexpr std::size_t most_icons = 64;  // of one item

bool is_url(std::string_view address, bool plain_too)
{
    if (address.size() > longest_url) {
        return false;
    }
    const auto read = boost::urls::parse_uri(boost::core::string_view{address.data(), address.size()});
    if (!read || !read->has_authority() || read->encoded_host().empty() || read->has_userinfo()) {
        return false;
    }
    const auto scheme = read->scheme_id();
    return scheme == boost::urls::scheme::https || (plain_too && scheme == boost::urls::scheme::http);
}

std::string safe_icons(std::string_view raw)
{
    std::string out{"["};
    const auto elements = core::scan_elements(raw, most_icons);
    if (elements) {
        for (const auto each : elements->raw) {
            if (const auto icon = raw_object::read(each); icon && is_icon(icon->text("src"))) {
                out.append(each).append(",");
            }
        }
    }
    close(out, ']');
    return out;
}

// The member's new value; nothing: it is left out.
std::optional<std::string> safe_value(const raw_member& member)
{
    if (core::equal_ignoring_case(member.name, "icons")) {
        return safe_icons(member.value);
    }
    if (core::equal_ignoring_case(member.name, "websiteurl") &&
        !is_page(text_of(member.value).value_or(std::string{}))) {
        return std::nullopt;
    }
    return std::string{member.value};
}

}  // namespace

bool means_something_else(std::string_view member)
{
    return std::ranges::find(skill_members, folded(member)) != skill_members.end();
}

std::string first_of(std::initializer_list<std::string> texts)
{
    const auto* const found = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
    return found == texts.end() ? std::string{} : *found;
}

json skill_of(const listed_item& item)
{
    const auto tool = members_of(item.raw);
    const auto annotations = members_of(tool.object("annotations"));
    json skill;
    skill["id"] = item.key;
    skill["name"] = first_of({tool.text("title"), annotations.text("title"), item.key});
    skill["description"] = first_of({tool.text("description"), item.key});
    skill["tags"] = tags_of(tool, annotations);
    skill["inputModes"] = json::array({"application/json"});
    if (takes_text(tool)) {
        skill["inputModes"].push_back("text/plain");
    }
    skill["outputModes"] = json::array({"text/plain"});
    if (!tool.object("outputSchema").empty()) {
        skill["outputModes"].push_back("application/json");
    }
    return skill;
}

std::string skill_text(const json& skill, const listed_item& tool)
{
    std::string out{"{"};
    for (const auto* key : {"id", "name", "description"}) {
        append_member(out, key, core::to_text(skill[key]));
    }
    const auto safe = with_safe_links(tool.raw);
    const auto read = members_of(safe);
    for (const auto& member : read.members()) {
        if (!means_something_else(member.name)) {
            append_member(out, member.name, member.value);
        }
    }
    for (const auto* key : {"tags", "inputModes", "outputModes"}) {
        append_member(out, key, core::to_text(skill[key]));
    }
    close(out, '}');
    return out;
}

bool is_page(std::string_view address)
{
    return is_url(address, true);
}

bool is_icon(std::string_view address)
{
    return address.starts_with("data:image/") || is_url(address, false);
}

bool holds_links(std::string_view member)
{
    return core::equal_ignoring_case(member, "icons") || core::equal_ignoring_case(member, "websiteurl");
}

std::string with_safe_links(std::string_view raw)
{
    const auto read = raw_object::read(raw);
    if (!read || std::ranges::none_of(read->members(), holds_links, &raw_member::name)) {
        return std::string{raw};
    }
    std::string out{"{"};
    for (const auto& member : read->members()) {
        if (const auto value = safe_value(member)) {
            append_member(out, member.name, *value);
        }
    }
    close(out, '}');
    return out;
}

}  // namespace mcp
