#include "mcp/translation/request_head.hpp"

#include "core/ascii.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

namespace mcp {
namespace {

constexpr std::string_view annotation = "x-mcp-header";

// An integer may be spelled with a fraction or an exponent, which is repeated without.
std::string integer_text(std::string_view raw)
{
    if (integer_of<std::int64_t>(raw)) {
        return std::string{raw};
    }
    constexpr double most_exact = 9007199254740992.0;
    const auto number = integer_of<double>(raw);
    const bool whole = number && std::trunc(*number) == *number && std::abs(*number) <= most_exact;
    return whole ? std::to_string(static_cast<std::int64_t>(*number)) : std::string{};
}

std::optional<std::string> field_text(std::string_view raw)
{
    if (is_string(raw)) {
        return text_of(raw);
    }
    if (raw == "true" || raw == "false") {
        return std::string{raw};
    }
    auto number = integer_text(raw);
    return number.empty() ? std::nullopt : std::optional{std::move(number)};
}

std::string_view name_member(client_method method) noexcept
{
    switch (method) {
        case client_method::tools_call:
        case client_method::prompts_get:
            return "name";
        case client_method::resources_read:
            return "uri";
        case client_method::tasks_get:
        case client_method::tasks_update:
        case client_method::tasks_cancel:
            return "taskId";
        default:
            return {};
    }
}

}  // namespace

parameter_fields::parameter_fields(const server_lists& lists)
{
    for (const auto& tool : lists[list_kind::tools]) {
        const auto schema = tool.raw.find(annotation) == std::string::npos ? std::string_view{}
                                                                           : members_of(tool.raw).object("inputSchema");
        std::vector<std::string> path;
        std::vector<parameter> found;
        read(schema, path, found);
        if (!found.empty()) {
            tools_.emplace(tool.key, std::move(found));
        }
    }
}

// Each step leads to a part of what was read, which is nested 64 deep at most.
void parameter_fields::read(std::string_view schema, std::vector<std::string>& path, std::vector<parameter>& found)
{
    const auto members = members_of(schema);
    if (auto field = members.text(annotation); !path.empty() && core::is_token(field)) {
        found.push_back({path, "Mcp-Param-" + field});
    }
    const auto properties = members_of(members.object("properties"));
    for (const auto& each : properties.members()) {
        path.push_back(each.name);
        read(each.value, path, found);
        path.pop_back();
    }
}

std::vector<std::pair<std::string, std::string>> parameter_fields::of(std::string_view tool, std::string_view arguments)
    const
{
    std::vector<std::pair<std::string, std::string>> fields;
    const auto known = tools_.find(tool);
    if (known == tools_.end()) {
        return fields;
    }
    for (const auto& each : known->second) {
        auto value = arguments;
        for (const auto& name : each.path) {
            value = members_of(value).find(name);
        }
        if (auto text = field_text(value)) {
            fields.emplace_back(each.field, header_value(*text));
        }
    }
    return fields;
}

message_head head_of(const client_message& request, const parameter_fields* tools)
{
    message_head head;
    if (request.head != nullptr) {
        head = *request.head;
    }
    const auto member = name_member(client_method_of(request.method));
    if (member.empty()) {
        return head;
    }
    const auto params = members_of(request.params);
    head.name = params.text(member);
    if (tools != nullptr && request.method == "tools/call") {
        for (auto& each : tools->of(head.name, params.object("arguments"))) {
            head.fields.push_back(std::move(each));
        }
    }
    return head;
}

}  // namespace mcp
