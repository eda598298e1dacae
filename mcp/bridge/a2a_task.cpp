#include "mcp/bridge/a2a_task.hpp"

#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/input_questions.hpp"

#include <limits>
#include <utility>

namespace mcp {
namespace {

using a2a::body_shape;

constexpr std::string_view artifact_id = "result";

void append_text_if_any(std::string& out, std::string_view name, std::string_view text)
{
    if (!text.empty()) {
        append_text_member(out, name, text);
    }
}

std::string status_of_task(const a2a_task_view& task)
{
    std::string out{"{"};
    append_member(out, "state", spelled(task.state, body_shape::v1));
    if (!task.parts.empty()) {
        std::string message{"{"};
        append_text_member(message, "messageId", task.message_id);
        append_text_member(message, "contextId", task.context);
        append_text_member(message, "taskId", task.id);
        append_member(message, "role", spelled(a2a::role::agent, body_shape::v1));
        append_member(message, "parts", task.parts);
        close(message, '}');
        append_member(out, "message", message);
    }
    append_text_member(out, "timestamp", task.timestamp);
    close(out, '}');
    return out;
}

std::string artifact_of_task(const a2a_task_view& task)
{
    std::string out{"{"};
    append_text_member(out, "artifactId", artifact_id);
    append_member(out, "parts", task.artifact);
    close(out, '}');
    return out;
}

// An event of a task, under construction: `{"<kind>":{"taskId":…,"contextId":…,`.
std::string begin_event(std::string_view kind, const a2a_task_view& task)
{
    std::string out{R"({")"};
    out.append(kind).append(R"(":{)");
    append_text_member(out, "taskId", task.id);
    append_text_member(out, "contextId", task.context);
    return out;
}

std::string data_part(std::string_view raw)
{
    std::string out{"{"};
    append_member(out, "data", compact(raw));
    append_text_member(out, "mediaType", "application/json");
    close(out, '}');
    return out;
}

// A part whose content is the member `from` of the block, as it is. Empty: that is no string.
std::string content_part(const raw_object& block, std::string_view from, std::string_view to, std::string_view uri = {})
{
    const auto raw = block.find(from);
    if (!is_string(raw)) {
        return {};
    }
    std::string out{"{"};
    append_member(out, to, compact(raw));
    append_text_if_any(out, "mediaType", block.text("mimeType"));
    append_text_if_any(out, "filename", block.text("name"));
    if (!uri.empty()) {
        std::string metadata{"{"};
        append_text_member(metadata, "uri", uri);
        close(metadata, '}');
        append_member(out, "metadata", metadata);
    }
    close(out, '}');
    return out;
}

// One block of content (MCP 2026-07-28, `ContentBlock`).
std::string part_of_block(std::string_view raw)
{
    const auto block = members_of(raw);
    const auto type = block.text("type");
    std::string part;
    if (type == "text") {
        part = content_part(block, "text", "text");
    } else if (type == "image" || type == "audio") {
        part = content_part(block, "data", "raw");
    } else if (type == "resource_link") {
        part = content_part(block, "uri", "url");
    } else if (type == "resource") {
        const auto inside = members_of(block.object("resource"));
        part = content_part(inside, "text", "text", inside.text("uri"));
        part = part.empty() ? content_part(inside, "blob", "raw", inside.text("uri")) : std::move(part);
    }
    return part.empty() ? data_part(raw) : part;
}

// The name of the only property of a form, if that is a string; else empty.
std::string only_string(std::string_view schema)
{
    const auto properties = members_of(members_of(schema).object("properties"));
    const auto& all = properties.members();
    const bool fits = all.size() == 1 && members_of(all.front().value).text("type") == "string";
    return fits ? all.front().name : std::string{};
}

tool_outcome read_outcome(const message& answer)
{
    if (answer.kind == message_kind::failure) {
        const auto& why = answer.failure;
        return {true, text_parts(why.text.empty() ? "error " + std::to_string(why.code) : why.text)};
    }
    const auto result = members_of(answer.result);
    const auto type = result.text("resultType");
    const auto content = result.find("content");
    const auto blocks = core::scan_elements(content, std::numeric_limits<std::size_t>::max());
    const auto structured = result.find("structuredContent");
    const bool known = type.empty() || type == "complete";
    if (!known || (!blocks && structured.empty())) {
        return {true, text_parts("the server's answer is not the result of a tool")};
    }
    std::string parts;
    if (blocks) {
        for (const auto block : blocks->raw) {
            parts.append(part_of_block(block)) += ',';
        }
    }
    if (!structured.empty() && structured != "null") {
        parts.append(data_part(structured)) += ',';
    }
    tool_outcome out{.failed = result.find("isError") == "true", .parts = {}};
    if (!parts.empty()) {
        close(parts, ']');
        out.parts = '[' + parts;
    } else if (out.failed) {
        out.parts = text_parts("the tool failed and does not say why");
    }
    return out;
}

std::string progress_words(const message& notification)
{
    const auto params = members_of(notification.params);
    std::string words{params.find("progress")};
    if (const auto total = params.find("total"); !total.empty() && total != "null") {
        words.append("/").append(total);
    }
    if (const auto said = params.text("message"); !said.empty()) {
        words.append(words.empty() ? "" : " ").append(said);
    }
    return words;
}

}  // namespace

std::string task_text(const a2a_task_view& task, bool with_artifact)
{
    std::string out;
    out.reserve(384 + task.parts.size() + task.artifact.size());
    out += '{';
    append_text_member(out, "id", task.id);
    append_text_member(out, "contextId", task.context);
    append_member(out, "status", status_of_task(task));
    if (with_artifact && !task.artifact.empty()) {
        append_member(out, "artifacts", '[' + artifact_of_task(task) + ']');
    }
    close(out, '}');
    return out;
}

std::string task_event(const a2a_task_view& task)
{
    return R"({"task":)" + task_text(task) + '}';
}

std::string status_event(const a2a_task_view& task)
{
    auto out = begin_event("statusUpdate", task);
    append_member(out, "status", status_of_task(task));
    close(out, '}');
    return out + '}';
}

std::string artifact_event(const a2a_task_view& task)
{
    auto out = begin_event("artifactUpdate", task);
    append_member(out, "artifact", artifact_of_task(task));
    append_member(out, "lastChunk", "true");
    close(out, '}');
    return out + '}';
}

std::string message_text(std::string_view id, std::string_view context, std::string_view parts)
{
    std::string out{"{"};
    append_text_member(out, "messageId", id);
    append_text_if_any(out, "contextId", context);
    append_member(out, "role", spelled(a2a::role::agent, body_shape::v1));
    append_member(out, "parts", parts);
    close(out, '}');
    return out;
}

std::string text_parts(std::string_view text)
{
    std::string out{"[{"};
    append_text_member(out, "text", text);
    close(out, '}');
    return out + ']';
}

core::result<tool_question> tool_question::read(std::string_view params)
{
    const auto members = members_of(params);
    const auto mode = members.text("mode");
    const auto schema = members.object("requestedSchema");
    if ((!mode.empty() && mode != "form") || schema.empty()) {
        return core::upstream_error(core::errc::upstream_protocol, "the server asks for what is not a form");
    }
    tool_question out;
    out.message_ = members.text("message");
    out.schema_ = compact(schema);
    return out;
}

std::string tool_question::parts() const
{
    std::string data{"{"};
    append_text_member(data, "message", message_);
    append_member(data, "requestedSchema", schema_);
    close(data, '}');
    std::string out{"["};
    if (!message_.empty()) {
        out += '{';
        append_text_member(out, "text", message_);
        close(out, '}');
        out += ',';
    }
    return out.append(data_part(data)) + ']';
}

a2a::translation<std::string> tool_question::answer(std::string_view data, const std::string& text) const
{
    const auto unfit = [](std::string_view member, std::string_view why) {
        return a2a::refusal{a2a::rpc_code::invalid_params, std::string{member}, why};
    };
    std::string out{"{"};
    if (data.empty()) {
        const auto name = only_string(schema_);
        if (name.empty() || text.empty()) {
            return unfit("message.parts", R"(must answer the question with data {"action", "content"})");
        }
        std::string content{"{"};
        append_text_member(content, name, text);
        close(content, '}');
        append_text_member(out, "action", "accept");
        append_member(out, "content", content);
        close(out, '}');
        return out;
    }
    const auto members = members_of(data);
    const auto action = members.text("action");
    const auto content = members.find("content");
    if (action != "accept" && action != "decline" && action != "cancel") {
        return unfit("data.action", "must be accept, decline or cancel");
    }
    append_text_member(out, "action", action);
    if (action == "accept") {
        if (!content.empty() && !is_object(content)) {
            return unfit("data.content", "must be an object");
        }
        append_member(out, "content", content.empty() ? std::string_view{"{}"} : content);
    }
    close(out, '}');
    return out;
}

call_event read_call_event(std::string_view text, message_limits limits)
{
    call_event out;
    const auto fails = [&out](std::string_view why) {
        out.questions.clear();
        out.outcome = tool_outcome{true, text_parts(why)};
        return std::move(out);
    };
    const auto read = read_message(text, limits);
    if (!read) {
        return fails("the server's answer is not a message of MCP");
    }
    if (read->kind == message_kind::notification || read->kind == message_kind::request) {
        if (read->method == "notifications/progress") {
            out.progress = progress_words(*read);
        }
        return out;
    }
    const auto asked = read_asked_input(text);
    if (!asked) {
        return fails("the server asks for what cannot be read");
    }
    if (!*asked) {
        out.outcome = read_outcome(*read);
        return out;
    }
    out.state = (*asked)->state;
    for (const auto& each : (*asked)->requests) {
        auto question = tool_question::read(each.params);
        if (each.method != "elicitation/create" || !question) {
            return fails("the server asks for what callers of A2A are not asked for: " + each.method);
        }
        out.questions.push_back({each.key, std::move(*question)});
    }
    return out;
}

}  // namespace mcp
