#include "gateway/cli/call_messages.hpp"

#include "core/ascii.hpp"
#include "gateway/cli/agent_tables.hpp"
#include "gateway/model/terminal_text.hpp"
#include "gateway/model/version.hpp"
#include "mcp/calls/incoming_check.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace gateway::cli {
namespace {

using core::json;

constexpr std::string_view modern = "2026-07-28";

std::string path_to(std::string_view agent, std::string_view below = {})
{
    return "/try/agents/" + std::string{agent} + std::string{below};  // ids have only letters, digits and `.`, `_`, `-`
}

std::string json_text(std::string_view text)
{
    return core::to_text(json(text));
}

// The parameters with what each request of the modern era has; `own` begins and separates.
std::string modern_params(std::string own)
{
    const json meta{
        {"progressToken", 1},
        {"io.modelcontextprotocol/protocolVersion", modern},
        {"io.modelcontextprotocol/clientCapabilities", json::object()},
        {"io.modelcontextprotocol/clientInfo", {{"name", "cardea"}, {"version", model::version()}}}
    };
    return std::move(own) + R"("_meta":)" + core::to_text(meta) + '}';
}

admin_request modern_request(std::string_view agent, std::string_view method, std::string params)
{
    return {
        "POST",
        path_to(agent, "/mcp"),
        {{"Content-Type", "application/json"},
         {"Accept", "application/json, text/event-stream"},
         {"MCP-Protocol-Version", std::string{modern}},
         {"Mcp-Method", std::string{method}}},
        R"({"jsonrpc":"2.0","id":1,"method":)" + json_text(method) + R"(,"params":)" + std::move(params) + '}'
    };
}

// Arguments that the schema wants repeated in the head (`x-mcp-header`), with all that are inside of objects.
void add_repeated(
    const json& schema,
    const json& given,
    std::vector<std::pair<std::string, std::string>>& to,
    int depth
)
{
    constexpr int deepest = 8;
    const auto* const properties = core::member(schema, "properties");
    if (properties == nullptr || !properties->is_object() || depth > deepest) {
        return;
    }
    for (const auto& [name, property] : properties->items()) {
        const auto* const value = core::member(given, name);
        const auto field = core::text_member(property, "x-mcp-header");
        if (value == nullptr || value->is_null()) {
            continue;
        }
        if (field.empty()) {
            add_repeated(property, *value, to, depth + 1);
        } else if (core::is_token(field) && (value->is_string() || value->is_boolean() || value->is_number_integer())) {
            const auto text = value->is_string() ? value->get<std::string>() : core::to_text(*value);
            to.emplace_back("Mcp-Param-" + field, ::mcp::header_value(text));
        }
    }
}

// `[photo.png]`, `[image/png]`: a part that is no text.
std::string name_of_part(const json& part)
{
    for (const auto* key : {"filename", "name", "uri", "mediaType", "mimeType", "type", "kind"}) {
        if (const auto name = shown_member(part, key); !name.empty()) {
            return "[" + name + "]";
        }
    }
    return "[file]";
}

std::string text_of_part(const json& part)
{
    if (const auto* text = core::string_member(part, "text")) {
        return *text;
    }
    if (const auto* resource = core::member(part, "resource")) {
        const auto* text = core::string_member(*resource, "text");
        return text == nullptr ? name_of_part(*resource) : *text;
    }
    if (const auto* file = core::member(part, "file")) {
        return name_of_part(*file);
    }
    const auto* data = core::member(part, "data");
    const bool encoded = part.is_object() && (part.contains("mimeType") || part.contains("filename"));
    return data == nullptr || encoded ? name_of_part(part) : core::to_text(*data);
}

void add_parts(std::string& to, const json* parts)
{
    for (std::size_t i = 0; parts != nullptr && parts->is_array() && i < parts->size(); ++i) {
        const auto text = text_of_part((*parts)[i]);
        to += (to.empty() || text.empty() ? "" : "\n") + text;
    }
}

// `TASK_STATE_INPUT_REQUIRED` as 0.3 has it.
std::string shown_state(std::string state)
{
    constexpr std::string_view prefix = "TASK_STATE_";
    if (state.starts_with(prefix)) {
        state.erase(0, prefix.size());
        std::ranges::transform(state, state.begin(), [](char c) { return c == '_' ? '-' : core::lower(c); });
    }
    return state;
}

heard read_a2a(const json& result)
{
    heard out{.result = true};
    const json* body = &result;
    for (const auto* key : {"task", "message", "statusUpdate", "artifactUpdate"}) {
        if (const auto* wrapped = core::member(result, key); wrapped != nullptr && wrapped->is_object()) {
            body = wrapped;
            break;
        }
    }
    const auto* const status = core::member(*body, "status");
    const auto* const artifact = core::member(*body, "artifact");
    const auto* const artifacts = core::member(*body, "artifacts");
    if (status != nullptr) {
        out.state = shown_state(core::text_member(*status, "state"));
        const auto* const message = core::member(*status, "message");
        add_parts(out.text, message == nullptr ? nullptr : core::member(*message, "parts"));
    }
    for (std::size_t i = 0; artifacts != nullptr && artifacts->is_array() && i < artifacts->size(); ++i) {
        add_parts(out.text, core::member((*artifacts)[i], "parts"));
    }
    if (artifact != nullptr) {
        add_parts(out.text, core::member(*artifact, "parts"));
        const auto* const append = core::member(*body, "append");
        out.goes_on = append != nullptr && *append == true;
    }
    add_parts(out.text, core::member(*body, "parts"));
    out.task = core::text_member(*body, status != nullptr && body->contains("id") ? "id" : "taskId");
    return out;
}

heard read_tool_result(const json& result)
{
    heard out{.result = true};
    if (core::text_member(result, "resultType") == "input_required") {
        out.failure = "the tool asks for input; try it in the console";
        return out;
    }
    add_parts(out.text, core::member(result, "content"));
    if (const auto* data = core::member(result, "structuredContent"); data != nullptr && out.text.empty()) {
        out.text = core::to_text(*data);
    }
    const auto* const bad = core::member(result, "isError");
    if (bad != nullptr && *bad == true) {
        out.failure = "the tool reports an error";
    }
    return out;
}

// The code of Cardea's own failures, the reason of an ErrorInfo of A2A 1.0, or the number of JSON-RPC.
std::string code_of_error(const json& error)
{
    if (const auto* data = core::member(error, "data")) {
        const auto& first = data->is_array() && !data->empty() ? data->front() : *data;
        for (const auto* key : {"code", "reason"}) {
            if (const auto* code = core::string_member(first, key)) {
                return *code;
            }
        }
    }
    return shown_member(error, "code");
}

std::string progress_of(const json& message)
{
    const auto* const params = core::member(message, "params");
    if (params == nullptr || core::text_member(message, "method") != "notifications/progress") {
        return {};
    }
    const auto total = shown_member(*params, "total");
    const auto words = shown_member(*params, "message");
    return shown_member(*params, "progress") + (total.empty() ? "" : " of " + total) +
           (words.empty() ? "" : ": " + words);
}

}  // namespace

admin_request request_of(const message_to_agent& what)
{
    const bool old = what.version.starts_with("0.");
    const auto part = [old](const char* kind, const std::string& value) {
        return '{' + (old ? R"("kind":")" + std::string{kind} + R"(",)" : "") + '"' + kind + R"(":)" + value + '}';
    };
    std::string parts;
    if (!what.text.empty()) {
        parts = part("text", json_text(what.text));
    }
    if (!what.document.empty()) {
        parts += (parts.empty() ? "" : ",") + part("data", what.document);
    }
    const std::array<std::string_view, 4> methods{
        "SendMessage",
        "SendStreamingMessage",
        "message/send",
        "message/stream"
    };
    return {
        "POST",
        path_to(what.agent),
        {{"Content-Type", "application/json"},
         {"Accept", what.stream ? "text/event-stream" : "application/json"},
         {"A2A-Version", what.version}},
        R"({"jsonrpc":"2.0","id":1,"method":)" + json_text(methods[(old ? 2U : 0U) + (what.stream ? 1U : 0U)]) +
            R"(,"params":{"message":{"messageId":)" + json_text(what.id) +
            (old ? R"(,"kind":"message","role":"user")" : R"(,"role":"ROLE_USER")") + R"(,"parts":[)" + parts + "]}}}"
    };
}

admin_request
tool_request(std::string_view agent, const std::string& tool, const std::string& arguments, const json& schema)
{
    auto params = modern_params(R"({"name":)" + json_text(tool) + R"(,"arguments":)" + arguments + ',');
    auto request = modern_request(agent, "tools/call", std::move(params));
    request.headers.emplace_back("Mcp-Name", ::mcp::header_value(tool));
    if (const auto given = core::parse_json(arguments)) {
        add_repeated(schema, *given, request.headers, 0);
    }
    return request;
}

admin_request tools_request(std::string_view agent, const std::string& cursor)
{
    auto params = modern_params(cursor.empty() ? "{" : R"({"cursor":)" + json_text(cursor) + ',');
    return modern_request(agent, "tools/list", std::move(params));
}

std::string_view version_for(const json& card)
{
    const auto* const interfaces = core::member(card, "supportedInterfaces");
    if (interfaces == nullptr || !interfaces->is_array() || interfaces->empty()) {
        return core::text_member(card, "protocolVersion").starts_with("0.") ? "0.3" : "1.0";
    }
    const bool is_new = std::ranges::any_of(*interfaces, [](const json& each) {
        return !core::text_member(each, "protocolVersion").starts_with("0.");
    });
    return is_new ? "1.0" : "0.3";
}

heard read_message(const json& message)
{
    if (const auto* error = core::member(message, "error"); error != nullptr && error->is_object()) {
        return {.failure = shown_member(*error, "message") + " (" + code_of_error(*error) + ")", .result = true};
    }
    if (const auto* result = core::member(message, "result"); result != nullptr && result->is_object()) {
        const bool of_tool = result->contains("resultType") || result->contains("content");
        return of_tool ? read_tool_result(*result) : read_a2a(*result);
    }
    return {.progress = progress_of(message)};
}

std::string_view failure_of(std::string_view state) noexcept
{
    return state == "failed"     ? "the task has failed"
           : state == "rejected" ? "the agent has rejected the task"
           : state == "canceled" ? "the task was canceled"
                                 : std::string_view{};
}

std::string tools_table(const json& tools)
{
    std::vector<std::vector<std::string>> rows{{"TOOL", "ARGUMENTS", "DESCRIPTION"}};
    for (const auto& each : tools) {
        const auto* const schema = core::member(each, "inputSchema");
        const auto* const given = schema == nullptr ? nullptr : core::member(*schema, "properties");
        const auto properties = given == nullptr ? json::object() : *given;
        std::string arguments;
        for (const auto& [name, property] : properties.items()) {
            arguments += (arguments.empty() ? "" : ", ") + name;
        }
        const auto words = shown_member(each, "description");
        rows.push_back({shown_member(each, "name"), arguments, words.substr(0, words.find('\n'))});
    }
    return model::shown_table(rows);
}

}  // namespace gateway::cli
