// What the tests of translated calls share: what each dialect of A2A writes, an agent that speaks one of them, and a caller
// that speaks another. Written out here, and not taken from a2a/dialect/.
#pragma once

#include "core/agent.hpp"
#include "core/json/json.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/unit/net/sse/sse_reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace flow {

using plain_json = nlohmann::json;  // whose members have no order

inline constexpr core::a2a_dialect dialects[] = {
    core::a2a_dialect::v03_jsonrpc,
    core::a2a_dialect::v03_rest,
    core::a2a_dialect::v1_jsonrpc,
    core::a2a_dialect::v1_rest,
};

inline bool is_rest(core::a2a_dialect d)
{
    return core::name(d).ends_with("rest");
}

inline bool is_1(core::a2a_dialect d)
{
    return core::name(d).starts_with("1.0");
}

enum class asked : std::uint8_t { send, stream, get, cancel, subscribe };

inline constexpr asked all_asked[] = {asked::send, asked::stream, asked::get, asked::cancel, asked::subscribe};

// How a dialect asks for it.
struct wire_request {
    std::string verb;
    std::string path;  // below the address
    std::string body;
};

inline std::string method_name(core::a2a_dialect d, asked what)
{
    static const char* const old_names[] =
        {"message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"};
    static const char* const new_names[] =
        {"SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "SubscribeToTask"};
    const auto index = static_cast<std::size_t>(what);
    return is_1(d) ? new_names[index] : old_names[index];
}

inline std::string message_in(core::a2a_dialect d)
{
    if (is_1(d)) {
        return R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]})";
    }
    return is_rest(d) ? R"({"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]})"
                      : R"({"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]})";
}

inline wire_request request_in(core::a2a_dialect d, asked what, std::string_view id = "\"q-1\"")
{
    const bool sends = what == asked::send || what == asked::stream;
    const std::string params = sends ? R"({"message":)" + message_in(d) + "}" : R"({"id":"t"})";
    if (!is_rest(d)) {
        return {
            "POST",
            "",
            R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":")" + method_name(d, what) + R"(","params":)" +
                params + "}"
        };
    }
    const std::string base = is_1(d) ? "" : "/v1";
    switch (what) {
        case asked::send:
            return {"POST", base + "/message:send", params};
        case asked::stream:
            return {"POST", base + "/message:stream", params};
        case asked::get:
            return {"GET", base + "/tasks/t", ""};
        case asked::cancel:
            return {"POST", base + "/tasks/t:cancel", ""};
        case asked::subscribe:
            break;
    }
    return {"POST", base + "/tasks/t:subscribe", ""};
}

// A task in this state: "completed", "working".
inline std::string task_in(core::a2a_dialect d, const std::string& state)
{
    if (d == core::a2a_dialect::v03_jsonrpc) {
        return R"({"kind":"task","id":"t","contextId":"c","status":{"state":")" + state + R"("}})";
    }
    const std::string name = state == "working" ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED";
    return R"({"id":"t","contextId":"c","status":{"state":")" + name + R"("}})";
}

inline std::string update_in(core::a2a_dialect d, const std::string& state)
{
    const std::string final = state == "completed" ? "true" : "false";
    if (d == core::a2a_dialect::v03_jsonrpc) {
        return R"({"kind":"status-update","taskId":"t","contextId":"c","status":{"state":")" + state +
               R"("},"final":)" + final + "}";
    }
    const std::string name = state == "working" ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED";
    const std::string said = is_1(d) ? "" : R"(,"final":)" + final;
    return R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":")" + name + R"("})" + said + "}}";
}

// In the envelope of JSON-RPC, or as it is.
inline std::string enveloped(core::a2a_dialect d, std::string_view id, const std::string& result)
{
    return is_rest(d) ? result : R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"result":)" + result + "}";
}

// What a unary call answers: a completed task.
inline std::string answer_in(core::a2a_dialect d, asked what, std::string_view id = "\"q-1\"")
{
    const auto task = task_in(d, "completed");
    const bool wrapped = what == asked::send && d != core::a2a_dialect::v03_jsonrpc;
    return enveloped(d, id, wrapped ? R"({"task":)" + task + "}" : task);
}

// A stream with a task that works and then is done.
inline std::string stream_in(core::a2a_dialect d, std::string_view id = "\"q-1\"")
{
    return ": hello\n\nid: 1\ndata: " + enveloped(d, id, update_in(d, "working")) +
           "\n\nid: 2\nevent: message\ndata: " + enveloped(d, id, update_in(d, "completed")) + "\n\n";
}

// The raw id of a JSON-RPC request, "1" of anything else.
inline std::string id_of(const test_support::recorded_request& request)
{
    const auto body = plain_json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    return body.is_object() && body.contains("id") && body.contains("jsonrpc") ? body["id"].dump() : "1";
}

// What the gateway adds when it asks HTTP+JSON of 0.3 for a task on its own account.
inline constexpr std::string_view whole_history = "?historyLength=2147483647";

// Answers each operation in its dialect, at `/base`. The task that the gateway asks for is still working.
inline test_support::handler speaking(core::a2a_dialect d)
{
    return [d](const test_support::recorded_request& seen) -> test_support::script {
        const auto id = id_of(seen);
        for (const auto what : all_asked) {
            const auto wire = request_in(d, what, id);
            const bool named = is_rest(d) || seen.body.find('"' + method_name(d, what) + '"') != std::string::npos;
            auto path = "/base" + wire.path;
            const bool meant = seen.target == path || (what == asked::get && seen.target == path.append(whole_history));
            if (seen.method != wire.verb || !meant || !named) {
                continue;
            }
            if (what == asked::stream || what == asked::subscribe) {
                return test_support::answer(200, stream_in(d, id), {{"Content-Type", "text/event-stream"}});
            }
            const bool follows =
                seen.target.ends_with(whole_history) || seen.body.find("2147483647") != std::string::npos;
            return test_support::answer_json(
                follows ? enveloped(d, id, task_in(d, "working")) : answer_in(d, what, id)
            );
        }
        return test_support::answer(404, "nothing here");
    };
}

// A gateway in front of an agent that speaks one dialect at `/base`.
struct bridged {
    explicit bridged(core::a2a_dialect speaks, const relayed::adjustment& adjust = {}, test_support::handler agent = {})
        : x{agent ? std::move(agent) : speaking(speaks), [&](config::settings& s) {
                s.agents[0].url = s.agents[0].url.substr(0, s.agents[0].url.rfind('/')) + "/base";
                s.agents[0].dialects = {speaks};
                if (adjust) {
                    adjust(s);
                }
            }}
    {
    }

    // As a caller of this dialect.
    test_support::http_response
    ask(core::a2a_dialect caller, const wire_request& what, const test_support::field_list& further = {}) const
    {
        test_support::field_list fields{{"Content-Type", "application/json"}};
        fields.insert(fields.end(), further.begin(), further.end());
        const std::string target = "/agents/a" + std::string{is_rest(caller) ? "/rest" : ""} + what.path;
        return test_support::request(x.port(), what.verb, target, fields, what.body);
    }

    test_support::http_response ask(core::a2a_dialect caller, asked what) const
    {
        return ask(caller, request_in(caller, what));
    }

    // What the agent got last.
    test_support::recorded_request last() const { return x.agent.request(x.agent.request_count() - 1); }

    relayed x;
};

// The error of an answer, whatever the dialect: "-32001 no".
inline std::string said_error(core::a2a_dialect caller, const std::string& body)
{
    auto said = plain_json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (said.is_object() && said.contains("error")) {
        said = said["error"];
    }
    if (!said.is_object() || !said.contains("code")) {
        return "no error: " + body;
    }
    const auto message = said.value("message", "");
    if (caller == core::a2a_dialect::v1_rest) {
        return said.value("status", "") + ' ' + said.at("details").at(0).value("reason", "") + ' ' + message;
    }
    return std::to_string(said["code"].get<int>()) + ' ' + message;
}

// "working", "completed final": what an event says, and that nothing of another generation is in it.
inline std::string told(core::a2a_dialect caller, const std::string& data)
{
    const auto said = plain_json::parse(data);
    if (!is_rest(caller)) {
        CHECK(said.at("id") == "q-1");
    }
    const auto& result = is_rest(caller) ? said : said.at("result");
    const auto& update = caller == core::a2a_dialect::v03_jsonrpc ? result : result.at("statusUpdate");
    CHECK((data.find("\"kind\"") != std::string::npos) == (caller == core::a2a_dialect::v03_jsonrpc));
    CHECK((data.find("\"final\"") == std::string::npos || !is_1(caller)));
    auto state = update.at("status").at("state").get<std::string>();
    const std::string prefix = "TASK_STATE_";
    CHECK(state.starts_with(prefix) == (caller != core::a2a_dialect::v03_jsonrpc));
    state = state.starts_with(prefix) ? state.substr(prefix.size()) : state;
    for (auto& c : state) {
        c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return state + (update.value("final", false) ? " final" : "");
}

inline std::string error_in(core::a2a_dialect agent, const std::string& id)
{
    const std::string info =
        R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"})";
    switch (agent) {
        case core::a2a_dialect::v03_jsonrpc:
            return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32001,"message":"no"}})";
        case core::a2a_dialect::v1_jsonrpc:
            return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32001,"message":"no","data":[)" + info +
                   "]}}";
        case core::a2a_dialect::v03_rest:
            return R"({"code":-32001,"message":"no"})";
        case core::a2a_dialect::v1_rest:
        case core::a2a_dialect::v03_grpc:  // the agents of this fixture speak JSON
        case core::a2a_dialect::v1_grpc:
            break;
    }
    return R"({"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[)" + info + "]}}";
}

inline std::string told_not_found(core::a2a_dialect caller)
{
    return caller == core::a2a_dialect::v1_rest ? "NOT_FOUND TASK_NOT_FOUND no" : "-32001 no";
}

inline std::vector<std::string> data_of(const std::string& stream)
{
    std::vector<std::string> all;
    for (const auto& each : ::tests::events_of(stream)) {
        all.push_back(each.substr(each.find('|', each.find('|') + 1) + 1));
    }
    return all;
}

}  // namespace flow
