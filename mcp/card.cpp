#include "mcp/card.hpp"

#include "a2a/card_shape.hpp"
#include "core/json.hpp"
#include "mcp/card_links.hpp"
#include "mcp/raw_json.hpp"

#include <algorithm>
#include <array>
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

constexpr std::array<std::string_view, list_kinds> list_members{"tools", "resources", "resourceTemplates", "prompts"};

// As readers fold names that take other spellings: case, '-' and '_' do not count.
std::string folded(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        if (c != '-' && c != '_') {
            out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
    }
    return out;
}

bool means_something_else(std::string_view member)
{
    return std::ranges::find(skill_members, folded(member)) != skill_members.end();
}

// The items of stored lists are objects: they were read when they came.
raw_object members_of(std::string_view raw)
{
    auto read = raw_object::read(raw);
    return read ? std::move(*read) : raw_object{};
}

std::string first_of(std::initializer_list<std::string> texts)
{
    const auto* const found = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
    return found == texts.end() ? std::string{} : *found;
}

// A heading or a sentence; empty: the text begins with more than that.
std::string first_line(std::string_view text)
{
    constexpr std::size_t longest = 500;
    const auto begin = text.find_first_not_of(" \t\r\n#");
    if (begin == std::string_view::npos) {
        return {};
    }
    auto line = text.substr(begin);
    line = line.substr(0, line.find_first_of("\r\n"));
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    return line.size() > longest ? std::string{} : std::string{line};
}

std::string icon_of(const server_facts& server)
{
    const auto found = std::ranges::find_if(server.icons, is_icon);
    return found == server.icons.end() ? std::string{} : *found;
}

bool says(const raw_object& annotations, std::string_view hint)
{
    return annotations.find(hint) == "true";
}

json tags_of(const raw_object& annotations)
{
    auto tags = json::array({"mcp", "tool"});
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

json skill_of(const listed_item& item)
{
    const auto tool = members_of(item.raw);
    const auto annotations = members_of(tool.object("annotations"));
    json skill;
    skill["id"] = item.key;
    skill["name"] = first_of({tool.text("title"), annotations.text("title"), item.key});
    skill["description"] = first_of({tool.text("description"), item.key});
    skill["tags"] = tags_of(annotations);
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

json interface_of(const a2a::public_address& at, std::string_view version)
{
    const auto& binding = a2a::served_bindings.front();
    return json{
        {"url", at.base + std::string{binding.suffix}},
        {"protocolBinding", std::string{binding.name}},
        {"protocolVersion", std::string{version}},
    };
}

// What A2A wants of a card, without anything of MCP.
json plain_card(const snapshot& from, const card_request& asked)
{
    const auto& server = from.server;
    json card;
    card["name"] = asked.agent_id;
    card["description"] =
        first_of({server.description, first_line(server.instructions), server.title, server.name, asked.agent_id});
    card["version"] = first_of({server.version, "0.0.0"});
    card["supportedInterfaces"] = json::array({interface_of(asked.at, "1.0"), interface_of(asked.at, "0.3")});
    card["capabilities"] = json{{"streaming", false}, {"pushNotifications", false}};
    card["defaultInputModes"] = json::array({"application/json", "text/plain"});
    card["defaultOutputModes"] = json::array({"text/plain", "application/json"});
    card["skills"] = json::array();
    for (const auto& tool : from[list_kind::tools]) {
        card["skills"].push_back(skill_of(tool));
    }
    if (auto icon = icon_of(server); !icon.empty()) {
        card["iconUrl"] = std::move(icon);
    }
    if (is_page(server.website)) {
        card["documentationUrl"] = server.website;
    }
    return card;
}

// A description that its skill has to the letter stands there only. One that is the tool's name stays: a skill is described
// by that too where the tool is not described at all.
std::string tool_text(const listed_item& tool)
{
    auto safe = with_safe_links(tool.raw);
    const auto read = members_of(safe);
    const auto said = read.text("description");
    if (said.empty() || said == tool.key) {
        return safe;
    }
    std::string out{"{"};
    for (const auto& member : read.members()) {
        if (member.name != "description") {
            append_member(out, member.name, member.value);
        }
    }
    close(out, '}');
    return out;
}

std::string list_text(const snapshot& from, std::size_t which)
{
    std::string out{"["};
    for (const auto& item : from.lists[which]) {
        out.append(which == index_of(list_kind::tools) ? tool_text(item) : with_safe_links(item.raw)).append(",");
    }
    close(out, ']');
    return out;
}

// The lists from `first` on that the server offers.
void append_lists(std::string& out, const snapshot& from, std::size_t first)
{
    for (auto i = first; i < list_kinds; ++i) {
        if (from.server.offers[i]) {
            append_member(out, list_members[i], list_text(from, i));
        }
    }
}

// What a member of the server's capabilities says, else null.
std::string_view offered(const raw_object& capabilities, std::string_view name)
{
    const auto raw = capabilities.object(name);
    return raw.empty() ? std::string_view{"null"} : raw;
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

std::string superset(const snapshot& from, const json& plain)
{
    const auto text_of_member = [&](const char* name) { return core::to_text(plain[name]); };
    std::string out{"{"};
    append_member(out, "name", text_of_member("name"));
    append_text_member(out, "protocol", "mcp");
    append_text_member(out, "protocolVersion", from.server.protocol_version);
    append_member(out, "description", text_of_member("description"));
    append_member(out, "version", text_of_member("version"));

    const auto capabilities = members_of(from.server.capabilities);
    std::string offers{"{"};
    for (const auto* name : {"tools", "resources", "prompts", "sampling"}) {
        append_member(offers, name, offered(capabilities, name));
    }
    append_member(offers, "streaming", "false");
    append_member(offers, "pushNotifications", "false");
    close(offers, '}');
    append_member(out, "capabilities", offers);

    const auto& tools = from[list_kind::tools];
    std::string skills{"["};
    for (std::size_t i = 0; i < tools.size(); ++i) {
        skills.append(skill_text(plain["skills"][i], tools[i])).append(",");
    }
    close(skills, ']');
    append_member(out, "skills", skills);
    append_lists(out, from, index_of(list_kind::resources));

    append_member(out, "url", core::to_text(plain["supportedInterfaces"][0]["url"]));
    append_member(out, "preferredTransport", core::to_text(plain["supportedInterfaces"][0]["protocolBinding"]));
    for (const auto* name :
         {"supportedInterfaces", "defaultInputModes", "defaultOutputModes", "iconUrl", "documentationUrl"}) {
        if (plain.contains(name)) {
            append_member(out, name, text_of_member(name));
        }
    }
    close(out, '}');
    return out;
}

std::string extension_text(const snapshot& from, const json& extension)
{
    std::string params{"{"};
    append_text_member(params, "era", name(from.server.speaks));
    append_text_member(params, "protocolVersion", from.server.protocol_version);
    append_member(params, "serverInfo", with_safe_links(from.server.info));
    append_member(params, "capabilities", from.server.capabilities);
    append_lists(params, from, 0);
    close(params, '}');
    std::string out{"{"};
    for (const auto& [key, value] : extension.items()) {
        append_member(out, key, core::to_text(value));
    }
    append_member(out, "params", params);
    close(out, '}');
    return out;
}

core::result<std::string> strict(const snapshot& from, json plain, const card_request& asked)
{
    plain["capabilities"]["extensions"] = json::array({json{
        {"uri", std::string{card_extension}},
        {"description", "The MCP server behind this agent: what it offers, in its own words"},
        {"required", false},
    }});
    const auto made = a2a::shape_card(std::move(plain), asked.shape, asked.at);
    if (!made) {
        return made.error();
    }
    std::string out{"{"};
    for (const auto& [key, value] : made->document.items()) {
        if (key != "capabilities") {
            append_member(out, key, core::to_text(value));
            continue;
        }
        std::string capabilities{"{"};
        for (const auto& [word, said] : value.items()) {
            const bool ours = word == "extensions";
            append_member(capabilities, word, ours ? "[" + extension_text(from, said[0]) + "]" : core::to_text(said));
        }
        close(capabilities, '}');
        append_member(out, key, capabilities);
    }
    close(out, '}');
    return out;
}

// Bytes of the lists that stand in a card of any shape as they are; not counted further than beyond `limit`.
std::size_t least_size(const snapshot& from, std::size_t limit)
{
    std::size_t sum = 0;
    for (std::size_t i = 0; i < list_kinds; ++i) {
        for (const auto& item : from.lists[i]) {
            const auto read = members_of(item.raw);
            for (const auto& member : read.members()) {
                const bool as_it_is = i != index_of(list_kind::tools) || !means_something_else(member.name);
                if (as_it_is && !holds_links(member.name)) {
                    sum += member.name.size() + std::string_view{R"("":)"}.size() + member.value.size();
                }
            }
            if (sum > limit) {
                return sum;
            }
        }
    }
    return sum;
}

// `how` reads " of 5 bytes".
core::error too_large(const snapshot& from, const card_request& asked, const std::string& how)
{
    auto detail = std::string{core::name(asked.shape)} + " card" + how + ":";
    for (std::size_t i = 0; i < list_kinds; ++i) {
        std::size_t bytes = 0;
        for (const auto& item : from.lists[i]) {
            bytes += item.raw.size();
        }
        detail += std::string{i == 0 ? " " : ", "} + std::to_string(from.lists[i].size()) + " " +
                  std::string{list_members[i]} + " of " + std::to_string(bytes);
    }
    return core::upstream_error(core::errc::card_too_large, std::move(detail));
}

}  // namespace

core::result<std::string> synthesize_card(const snapshot& from, const card_request& asked)
{
    // A card of many megabytes takes long to make, and whoever waits meanwhile waits for nothing.
    if (least_size(from, asked.limit) > asked.limit) {
        return too_large(from, asked, " of more than " + std::to_string(asked.limit) + " bytes");
    }
    auto plain = plain_card(from, asked);
    auto text = asked.shape == core::card_shape::automatic ? core::result<std::string>{superset(from, plain)}
                                                           : strict(from, std::move(plain), asked);
    if (!text) {
        return text;
    }
    if (text->size() > asked.limit) {
        return too_large(
            from,
            asked,
            " of " + std::to_string(text->size()) + " bytes, over " + std::to_string(asked.limit)
        );
    }
    // Nothing above should make a card that its readers refuse; this one is a reader that knows when it does.
    core::json_limits limits;
    limits.bytes = asked.limit;
    auto read = core::parse_json(*text, limits);
    if (!read) {
        return core::upstream_error(core::errc::card_invalid, read.error().detail);
    }
    if (auto checked = a2a::check_addresses(*read, asked.at); !checked) {
        return checked.error();
    }
    return text;
}

}  // namespace mcp
