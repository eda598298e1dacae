#include "examples/dialect.hpp"

#include <array>
#include <utility>

namespace examples {

namespace {

struct method_name {
    operation meant;
    std::string_view v0_3;  // empty: 0.3 has no such method
    std::string_view v1_0;
};

constexpr std::array method_names = {
    method_name{operation::send, "message/send", "SendMessage"},
    method_name{operation::stream, "message/stream", "SendStreamingMessage"},
    method_name{operation::get, "tasks/get", "GetTask"},
    method_name{operation::list, "", "ListTasks"},
    method_name{operation::cancel, "tasks/cancel", "CancelTask"},
    method_name{operation::subscribe, "tasks/resubscribe", "SubscribeToTask"},
    method_name{operation::push, "tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"},
    method_name{operation::push, "tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"},
    method_name{operation::push, "tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"},
    method_name{operation::push, "tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"},
    method_name{operation::extended_card, "agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"},
};

json skill(std::string_view id, std::string_view name, std::string_view does, std::string_view example)
{
    return {
        {"id", id},
        {"name", name},
        {"description", does},
        {"tags", json::array({"demo", id})},
        {"examples", json::array({example})},
        {"inputModes", json::array({"text/plain"})},
        {"outputModes", json::array({"text/plain"})},
    };
}

json text_part(generation spoken, const std::string& text)
{
    if (spoken == generation::v0_3) {
        return {{"kind", "text"}, {"text", text}};
    }
    return {{"text", text}};
}

json agent_message(generation spoken, const task& of, const std::string& text)
{
    json out = json::object();
    if (spoken == generation::v0_3) {
        out["kind"] = "message";
    }
    out["messageId"] = new_id();
    out["contextId"] = of.context_id;
    out["taskId"] = of.id;
    out["role"] = spoken == generation::v0_3 ? "agent" : "ROLE_AGENT";
    out["parts"] = json::array({text_part(spoken, text)});
    return out;
}

json status_json(generation spoken, const task& of, const task_event& event)
{
    json out{{"state", state_name(spoken, event.state)}};
    if (!event.text.empty()) {
        out["message"] = agent_message(spoken, of, event.text);
    }
    out["timestamp"] = event.at;
    return out;
}

json artifact_json(generation spoken, const task& of, const task_event& event)
{
    return {
        {"artifactId", of.id + "-result"},
        {"name", "result"},
        {"parts", json::array({text_part(spoken, event.text)})},
    };
}

// The reason of a google.rpc.ErrorInfo (A2A 1.0.1 section 9.5); empty where A2A defines none.
std::string_view reason(rpc_error code)
{
    switch (code) {
        case rpc_error::task_not_found:
            return "TASK_NOT_FOUND";
        case rpc_error::task_not_cancelable:
            return "TASK_NOT_CANCELABLE";
        case rpc_error::push_not_supported:
            return "PUSH_NOTIFICATION_NOT_SUPPORTED";
        case rpc_error::unsupported_operation:
            return "UNSUPPORTED_OPERATION";
        case rpc_error::content_type_not_supported:
            return "CONTENT_TYPE_NOT_SUPPORTED";
        case rpc_error::extended_card_not_configured:
            return "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
        case rpc_error::version_not_supported:
            return "VERSION_NOT_SUPPORTED";
        case rpc_error::parse_error:
        case rpc_error::invalid_request:
        case rpc_error::method_not_found:
        case rpc_error::invalid_params:
            return {};
    }
    return {};
}

}  // namespace

std::optional<operation> operation_named(generation spoken, std::string_view method)
{
    for (const auto& known : method_names) {
        const auto name = spoken == generation::v0_3 ? known.v0_3 : known.v1_0;
        if (!name.empty() && name == method) {
            return known.meant;
        }
    }
    return std::nullopt;
}

json card(generation spoken, const std::string& name, const std::string& url)
{
    json out = json::object();
    if (spoken == generation::v0_3) {
        out["protocolVersion"] = "0.3.0";
    }
    out["name"] = name;
    out["version"] = "1.0.0";
    if (spoken == generation::v0_3) {
        out["description"] = "Counts words, one after another. A demo agent that speaks A2A 0.3.";
        out["url"] = url;
        out["preferredTransport"] = "JSONRPC";
        out["additionalInterfaces"] = json::array({{{"url", url}, {"transport", "JSONRPC"}}});
        out["skills"] = {
            skill("count", "Count words", "Counts the words and bytes of a text", "the more the merrier"),
            skill("frequency", "Most frequent word", "Names the word a text uses most", "to be or not to be"),
        };
    } else {
        out["description"] = "Rolls dice, one after another. A demo agent that speaks A2A 1.0.";
        out["supportedInterfaces"] =
            json::array({{{"url", url}, {"protocolBinding", "JSONRPC"}, {"protocolVersion", "1.0"}}});
        out["skills"] = {
            skill("roll", "Roll dice", "Rolls up to 100 dice of 2 to 1000 sides", "2d6"),
            skill("sum", "Sum dice", "Adds up what the dice show", "10d20"),
        };
    }
    out["provider"] = {{"organization", "Cardea demo"}, {"url", "https://example.com/"}};
    out["documentationUrl"] = "https://example.com/docs";
    out["capabilities"] = {{"streaming", true}, {"pushNotifications", false}};
    out["defaultInputModes"] = json::array({"text/plain"});
    out["defaultOutputModes"] = json::array({"text/plain"});
    return out;
}

json task_json(generation spoken, const task& of, task_view view)
{
    json out = json::object();
    if (spoken == generation::v0_3) {
        out["kind"] = "task";
    }
    out["id"] = of.id;
    out["contextId"] = of.context_id;
    out["status"] = status_json(spoken, of, of.status());
    if (const auto* artifact = of.artifact(); artifact != nullptr && view.artifacts) {
        out["artifacts"] = json::array({artifact_json(spoken, of, *artifact)});
    }
    if (view.history) {
        out["history"] = json::array({of.message});
    }
    return out;
}

json task_result(generation spoken, const task& of)
{
    auto out = task_json(spoken, of);
    if (spoken == generation::v0_3) {
        return out;
    }
    return {{"task", std::move(out)}};
}

json event_json(generation spoken, const task& of, const task_event& event)
{
    json out = json::object();
    if (spoken == generation::v0_3) {
        out["kind"] = event.artifact ? "artifact-update" : "status-update";
    }
    out["taskId"] = of.id;
    out["contextId"] = of.context_id;
    if (event.artifact) {
        out["artifact"] = artifact_json(spoken, of, event);
        out["lastChunk"] = true;
    } else {
        out["status"] = status_json(spoken, of, event);
    }
    if (spoken == generation::v1_0) {
        return {{event.artifact ? "artifactUpdate" : "statusUpdate", std::move(out)}};
    }
    if (!event.artifact) {
        out["final"] = event.state == task_state::completed || event.state == task_state::canceled;
    }
    return out;
}

json response(const json& id, json result)
{
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json error_response(generation spoken, const json& id, rpc_error code, std::string_view message)
{
    json error{{"code", static_cast<int>(code)}, {"message", message}};
    if (spoken == generation::v1_0 && !reason(code).empty()) {
        error["data"] = json::array({{
            {"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
            {"reason", reason(code)},
            {"domain", "a2a-protocol.org"},
        }});
    }
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

std::string_view state_name(generation spoken, task_state state)
{
    const bool old = spoken == generation::v0_3;
    switch (state) {
        case task_state::submitted:
            return old ? "submitted" : "TASK_STATE_SUBMITTED";
        case task_state::working:
            return old ? "working" : "TASK_STATE_WORKING";
        case task_state::completed:
            return old ? "completed" : "TASK_STATE_COMPLETED";
        case task_state::canceled:
            return old ? "canceled" : "TASK_STATE_CANCELED";
    }
    return {};
}

}  // namespace examples
