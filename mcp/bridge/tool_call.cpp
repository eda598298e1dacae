#include "mcp/bridge/tool_call.hpp"

#include "a2a/dialect/enums.hpp"
#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/utf8.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/request_head.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace mcp {
namespace {

using a2a::refusal;
namespace rpc_code = a2a::rpc_code;

refusal unfit_member(std::string member, std::string_view why)
{
    return {rpc_code::invalid_params, std::move(member), why};
}

bool is_not_said(std::string_view raw) noexcept
{
    return raw.empty() || raw == "null";
}

// The text of a member that is absent, or a string of at most longest_a2a_id bytes. Nothing: it is neither.
std::optional<std::string> short_text(const raw_object& of, std::string_view name)
{
    const auto raw = of.find(name);
    if (is_not_said(raw)) {
        return std::string{};
    }
    auto text = text_of(raw);
    return text && text->size() <= longest_a2a_id ? text : std::nullopt;
}

// Adds the skill that these metadata name.
std::optional<refusal> take_skill(std::string_view metadata, const std::string& of, std::string& skill)
{
    if (is_not_said(metadata)) {
        return std::nullopt;
    }
    if (!is_object(metadata)) {
        return unfit_member(of, "must be an object");
    }
    const auto members = members_of(metadata);
    for (const std::string name : {"skillId", "skill"}) {
        const auto said = short_text(members, name);
        if (!said) {
            return unfit_member(of + '.' + name, "must be the id of a skill");
        }
        if (!skill.empty() && !said->empty() && *said != skill) {
            return unfit_member(of + '.' + name, "names another skill");
        }
        skill = skill.empty() ? *said : skill;
    }
    return std::nullopt;
}

std::optional<refusal> take_part(std::string_view raw, const std::string& path, a2a_message& into)
{
    constexpr std::array<std::string_view, 4> contents{"text", "data", "raw", "url"};
    const auto part = raw_object::read(raw);
    if (!part) {
        return unfit_member(path, "must be an object");
    }
    std::string_view kind;
    for (const auto name : contents) {
        const auto value = part->find(name);
        if (value.empty() || (value == "null" && name != "data")) {
            continue;
        }
        if (!kind.empty()) {
            return unfit_member(path, "has two contents");
        }
        kind = name;
    }
    if (kind.empty()) {
        return unfit_member(path, "has no content");
    }
    if (kind == "data") {
        if (!into.data.empty()) {
            return unfit_member(path, "is a second data part");
        }
        into.data = compact(part->find(kind));
        return std::nullopt;
    }
    if (kind != "text") {
        return unfit_member(path, "is a file, which no tool takes");
    }
    const auto text = text_of(part->find(kind));
    if (!text) {
        return unfit_member(path + ".text", "must be a string");
    }
    if (text->find_first_not_of(" \t\r\n") != std::string::npos) {
        into.text += into.text.empty() ? *text : '\n' + *text;
    }
    return std::nullopt;
}

std::optional<refusal> take_parts(std::string_view raw, a2a_message& into)
{
    const auto parts = core::scan_elements(raw, most_message_parts);
    if (!parts || parts->count == 0) {
        return unfit_member("message.parts", "must be an array of parts");
    }
    if (parts->count > most_message_parts) {
        return unfit_member("message.parts", "has too many parts");
    }
    for (std::size_t i = 0; i < parts->count; ++i) {
        if (auto why = take_part(parts->raw[i], "message.parts[" + std::to_string(i) + ']', into)) {
            return why;
        }
    }
    return std::nullopt;
}

std::optional<refusal> take_configuration(std::string_view raw, a2a_message& into)
{
    if (is_not_said(raw)) {
        return std::nullopt;
    }
    const auto members = raw_object::read(raw);
    if (!members) {
        return unfit_member("configuration", "must be an object");
    }
    for (const auto* name : {"taskPushNotificationConfig", "pushNotificationConfig"}) {
        if (!is_not_said(members->find(name))) {
            return refusal{
                rpc_code::push_not_supported,
                std::string{"configuration."} + name,
                "is not supported: the agent sends no push notifications"
            };
        }
    }
    const auto now = members->find("returnImmediately");
    if (!is_not_said(now) && now != "true" && now != "false") {
        return unfit_member("configuration.returnImmediately", "must be a boolean");
    }
    into.waits = now != "true";
    return std::nullopt;
}

// The skill and the arguments that a data part names. Both are empty for one that names no skill.
struct named_call {
    std::string skill;
    std::string arguments;  // raw; empty: absent
};

a2a::translation<named_call> read_named_call(std::string_view data)
{
    const auto members = members_of(data);
    named_call read;
    for (const auto* name : {"skill", "tool"}) {
        const auto raw = members.find(name);
        if (raw.empty()) {
            continue;
        }
        const auto text = text_of(raw);
        if (!text || text->empty()) {
            return unfit_member("data", "must name the skill as a string that is not empty");
        }
        if (!read.skill.empty() && *text != read.skill) {
            return unfit_member("data", "names two skills");
        }
        read.skill = *text;
    }
    if (!read.skill.empty()) {
        read.arguments = members.find("arguments");
        if (!read.arguments.empty() && !is_object(read.arguments)) {
            return unfit_member("data.arguments", "must be an object");
        }
    }
    return read;
}

// The name of the only argument that the tool requires, if that is a string; else empty.
std::string only_required_string(const listed_item& tool)
{
    const auto schema = members_of(members_of(tool.raw).object("inputSchema"));
    const auto required = core::scan_elements(schema.find("required"), 2);
    if (!required || required->count != 1) {
        return {};
    }
    auto name = text_of(required->raw.front()).value_or("");
    const auto property = members_of(members_of(schema.object("properties")).object(name));
    return property.text("type") == "string" ? name : std::string{};
}

// Sets the arguments for a message that has none as data. False: it does not say.
bool take_text(const std::string& text, const listed_item& tool, std::string& arguments)
{
    if (text.empty()) {
        return true;
    }
    const auto name = only_required_string(tool);
    if (name.empty()) {
        return false;
    }
    arguments = "{";
    append_text_member(arguments, name, text);
    close(arguments, '}');
    return true;
}

// The fields are read from the schema by the name that the server gives the tool. Most tools have none.
void add_fields(const listed_item& tool, tool_call& call)
{
    if (tool.raw.find("x-mcp-header") == std::string::npos) {
        return;
    }
    auto alone = std::make_shared<server_lists>();
    alone->lists[index_of(list_kind::tools)].push_back(tool);
    call.fields = parameter_fields{std::move(alone)}.of(tool.key, call.arguments);
}

std::string escaped_text(std::string_view text)
{
    std::string out;
    core::append_json_string(out, text);
    return out.substr(1, out.size() - 2);
}

std::string first_sentence(std::string_view text)
{
    constexpr std::size_t longest = 200;
    const auto begin = text.find_first_not_of(" \t\r\n");
    text = begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
    text = text.substr(0, text.find_first_of("\r\n"));
    const auto end = text.find(". ");
    text = text.substr(0, end == std::string_view::npos ? end : end + 1);
    return std::string{core::cut_utf8(text, longest)};
}

}  // namespace

a2a::translation<a2a_message> read_a2a_message(std::string_view params)
{
    const auto request = raw_object::read(params);
    if (!request) {
        return unfit_member("params", "must be an object");
    }
    const auto message = raw_object::read(request->find("message"));
    if (!message) {
        return unfit_member("message", "must be an object");
    }
    if (a2a::read_role(message->find("role")) != a2a::role::user) {
        return unfit_member("message.role", "must be ROLE_USER");
    }
    if (const auto id = text_of(message->find("messageId")); !id || id->empty()) {
        return unfit_member("message.messageId", "must be a string that is not empty");
    }
    a2a_message read;
    for (const auto& [name, into] : {std::pair{"contextId", &read.context}, {"taskId", &read.task}}) {
        auto text = short_text(*message, name);
        if (!text) {
            return unfit_member(std::string{"message."} + name, "must be a string of at most 256 bytes");
        }
        *into = std::move(*text);
    }
    if (auto why = take_parts(message->find("parts"), read)) {
        return std::move(*why);
    }
    if (auto why = take_configuration(request->find("configuration"), read)) {
        return std::move(*why);
    }
    auto why = take_skill(message->find("metadata"), "message.metadata", read.skill);
    std::string of_request;
    if (!why) {
        why = take_skill(request->find("metadata"), "metadata", of_request);
    }
    if (why) {
        return std::move(*why);
    }
    if (read.skill.empty()) {
        read.skill = std::move(of_request);
    }
    return read;
}

std::optional<visible_tool> visible_tools::shown(const listed_item& item) const
{
    const auto name =
        filters_ == nullptr ? std::optional<std::string_view>{item.key} : filters_->tools.exposed(item.key);
    if (!name || (filters_ != nullptr && !filters_->shows(list_kind::tools, *name, scopes_))) {
        return std::nullopt;
    }
    return visible_tool{std::string{*name}, &item};
}

std::optional<visible_tool> visible_tools::find(std::string_view name) const
{
    const auto original = filters_ == nullptr ? std::optional{name} : filters_->tools.original(name);
    if (!original) {
        return std::nullopt;
    }
    const auto& tools = lists_[list_kind::tools];
    const auto found = std::ranges::find(tools, *original, &listed_item::key);
    auto tool = found == tools.end() ? std::nullopt : shown(*found);
    return tool && tool->name == name ? tool : std::nullopt;
}

std::vector<visible_tool> visible_tools::first(std::size_t most) const
{
    std::vector<visible_tool> out;
    for (const auto& item : lists_[list_kind::tools]) {
        if (out.size() == most) {
            break;
        }
        if (auto tool = shown(item)) {
            out.push_back(std::move(*tool));
        }
    }
    return out;
}

std::optional<std::string> visible_tools::description(const visible_tool& of) const
{
    const auto said = filters_ == nullptr ? std::nullopt : filters_->tools.description(of.name);
    return said ? std::optional<std::string>{*said} : std::nullopt;
}

a2a::translation<std::optional<tool_call>> choose_tool(const a2a_message& said, const visible_tools& tools)
{
    named_call named;
    if (said.skill.empty()) {
        auto read = read_named_call(said.data);
        if (!read) {
            return std::move(read).error();
        }
        named = std::move(*read);
    }
    const bool in_data = !named.skill.empty();
    const auto& skill = in_data ? named.skill : said.skill;
    std::optional<visible_tool> tool;
    if (!skill.empty()) {
        tool = tools.find(skill);
        if (!tool) {
            return unfit_member(in_data ? "data" : "metadata.skillId", "names no skill of the agent");
        }
    } else if (auto all = tools.first(2); all.size() == 1) {
        tool = std::move(all.front());
    } else {
        return std::optional<tool_call>{};
    }
    tool_call call{.name = std::move(tool->name)};
    const auto& data = in_data ? named.arguments : said.data;
    if (!data.empty()) {
        if (!is_object(data)) {
            return unfit_member("data", "must be an object of arguments");
        }
        call.arguments = data;
    } else if (!take_text(said.text, *tool->item, call.arguments) && !in_data) {
        return std::optional<tool_call>{};
    }
    add_fields(*tool->item, call);
    return std::optional{std::move(call)};
}

std::string skills_parts(const visible_tools& tools)
{
    constexpr std::string_view how =
        "Which skill? Name it as `skillId` in the metadata of the message, with its arguments as a data part, or send "
        "a data part "
        R"({"skill": id, "arguments": {...}}.)";
    constexpr std::size_t around = 128;  // bytes of what stands around the two lists
    const auto all = tools.first(most_told_skills + 1);
    auto text = escaped_text(all.empty() ? "The agent has no skills." : how);
    std::string data;
    bool more = false;
    for (std::size_t i = 0; i < all.size() && !more; ++i) {
        const auto tool = members_of(all[i].item->raw);
        const auto sentence = first_sentence(tools.description(all[i]).value_or(tool.text("description")));
        const auto line = escaped_text("\n- " + all[i].name + (sentence.empty() ? "" : ": " + sentence));
        std::string skill{"{"};
        append_text_member(skill, "id", all[i].name);
        append_text_member(skill, "description", sentence);
        const auto schema = tool.object("inputSchema");
        const auto used = around + text.size() + data.size() + line.size() + skill.size();
        more = i == most_told_skills || used > most_told_bytes;
        if (more) {
            break;
        }
        // A long schema must not take the places of the skills behind it.
        if (!schema.empty() && schema.size() <= (most_told_bytes - used) / 4) {
            append_member(skill, "inputSchema", schema);
        }
        close(skill, '}');
        text += line;
        data.append(skill) += ',';
    }
    close(data, ']');
    return R"([{"text":")" + text + R"("},{"data":{"skills":[)" + data + R"(,"more":)" + (more ? "true" : "false") +
           R"(},"mediaType":"application/json"}])";
}

std::string tool_call_text(const tool_call& call, std::string_view client, const given_input& input)
{
    std::string meta;
    meta.reserve(512);
    meta += '{';
    append_text_member(meta, "io.modelcontextprotocol/protocolVersion", latest(era::modern));
    append_member(meta, "io.modelcontextprotocol/clientInfo", client);
    append_member(meta, "io.modelcontextprotocol/clientCapabilities", bridge_capabilities);
    append_member(meta, "progressToken", "1");
    close(meta, '}');
    std::string params;
    params.reserve(meta.size() + call.arguments.size() + input.responses.size() + input.state.size() + 128);
    params += '{';
    append_text_member(params, "name", call.name);
    append_member(params, "arguments", call.arguments);
    if (!input.responses.empty()) {
        append_member(params, "inputResponses", input.responses);
    }
    if (!input.state.empty()) {
        append_member(params, "requestState", input.state);
    }
    append_member(params, "_meta", meta);
    close(params, '}');
    std::string out;
    out.reserve(params.size() + 64);
    out += R"({"jsonrpc":"2.0","id":1,"method":"tools/call",)";
    append_member(out, "params", params);
    close(out, '}');
    return out;
}

}  // namespace mcp
