#include "mcp/bridge/a2a_message.hpp"

#include "a2a/dialect/enums.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <array>
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

}  // namespace mcp
