// How callers name tasks and contexts that are not theirs, and when a context becomes a caller's.
#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

TEST_SUITE_BEGIN("flow/access_claims");

namespace {

using namespace flow;

// Answers a message with one that names no context, or with an error if the text says so, and everything else with a task.
test_support::script terse_agent(const test_support::recorded_request& asked)
{
    const auto call = core::parse_json(asked.body);
    if (asked.method != "POST" || !call) {
        return test_support::answer_json(std::string{words_card});
    }
    if (!call->contains("method")) {
        return test_support::answer_json(R"({"message":{"messageId":"n","role":"ROLE_AGENT","parts":[{"text":"x"}]}})");
    }
    const auto method = (*call)["method"].get<std::string>();
    const bool of_1 = method.front() >= 'A' && method.front() <= 'Z';
    const std::string message = of_1 ? R"({"message":{"messageId":"n","role":"ROLE_AGENT","parts":[{"text":"x"}]}})"
                                     : R"({"kind":"message","messageId":"n","role":"agent","parts":[]})";
    const std::string task = of_1 ? R"({"id":"t1","status":{"state":"TASK_STATE_WORKING"}})"
                                  : R"({"kind":"task","id":"t1","contextId":"d","status":{"state":"working"}})";
    const bool sends = asked.body.find("messageId") != std::string::npos;
    const bool fails = asked.body.find("fail") != std::string::npos;
    const auto body = R"({"jsonrpc":"2.0","id":7,)" + (fails ? R"("error":{"code":-32603,"message":"no"}})"
                                                             : "\"result\":" + (sends ? message : task) + "}");
    if (method == "message/stream" || method == "SendStreamingMessage") {
        return test_support::chunked_byte_by_byte("data: " + body + "\n\n", "text/event-stream");
    }
    return test_support::answer_json(body);
}

config::settings one_agent(const std::string& url)
{
    auto settings = guarded(url);
    settings.agents = {agent("a", url, anyone, anyone)};
    settings.agents[0].bridge = false;
    return settings;
}

struct claims_gateway {
    explicit claims_gateway(test_support::handler answers = terse_agent)
        : agent{std::move(answers)}
    {
    }

    core::json ask(field_list who, std::string_view method, const std::string& params)
    {
        who.emplace_back("Content-Type", "application/json");
        const auto body =
            R"({"jsonrpc":"2.0","id":7,"method":")" + std::string{method} + R"(","params":)" + params + "}";
        const auto got = request(gateway.port(), "POST", "/agents/a", who, body).body;
        constexpr std::string_view data = "data: ";
        return parsed(got.starts_with(data) ? got.substr(data.size(), got.find('\n') - data.size()) : got);
    }

    // The code of the error; 0: there is none.
    int code(const field_list& who, std::string_view method, const std::string& params)
    {
        const auto body = ask(who, method, params);
        return body.contains("error") ? body["error"]["code"].get<int>() : 0;
    }

    test_support::scripted_agent agent;
    running_gateway gateway{one_agent(agent.url("/rpc"))};
};

std::string message_in(const std::string& context, const std::string& text = "x")
{
    return R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":")" + text + R"("}],"contextId":")" +
           context + "\"}}";
}

}  // namespace

TEST_CASE("An id that is no text is refused with -32602 before the agent is asked, whatever method names it")
{
    claims_gateway x;
    REQUIRE(x.code(ci, "tasks/get", R"({"id":"t1"})") == 0);
    const auto asked = x.agent.request_count();
    const std::pair<const char*, const char*> places[] = {
        {"tasks/get", R"({"id":?})"},
        {"tasks/cancel", R"({"id":?})"},
        {"tasks/resubscribe", R"({"ID":?})"},
        {"tasks/pushNotificationConfig/set", R"({"taskId":?,"pushNotificationConfig":{"url":"http://127.0.0.1/"}})"},
        {"tasks/pushNotificationConfig/list", R"({"id":?})"},
        {"message/send", R"({"message":{"messageId":"m","parts":[],"taskId":?}})"},
        {"message/send", R"({"message":{"messageId":"m","parts":[],"contextId":?}})"},
        {"message/stream", R"({"message":{"messageId":"m","parts":[],"context_id":?}})"},
        {"message/send", R"({"message":{"messageId":"m","referenceTaskIds":["x",?]}})"},
        {"GetTask", R"({"id":?})"},
        {"SubscribeToTask", R"({"\u0069d":?})"},
        {"ListTasks", R"({"contextId":?})"},
        {"CreateTaskPushNotificationConfig", R"({"taskId":?,"id":"p","url":"http://127.0.0.1/"})"},
        {"SendMessage", R"({"configuration":{"taskPushNotificationConfig":{"taskId":?}},"message":{}})"},
        {"SendMessage", R"({"message":[[{"taskId":?}]]})"},
        {"GetTask", R"([{"id":?}])"},
        {"another/method", R"({"id":?})"},
    };
    for (const auto& [method, params] : places) {
        CAPTURE(method);
        CAPTURE(params);
        for (const std::string id : {"[\"t1\"]", "[[\"t1\"]]", "1.23e2", "123", "true", "{\"id\":\"t1\"}", "[]"}) {
            CAPTURE(id);
            auto written = std::string{params};
            written.replace(written.find('?'), 1, id);
            CHECK(x.code(mallory, method, written) == -32602);
        }
    }
    CHECK(x.agent.request_count() == asked);
    CHECK(
        x.code(ci, "message/send", R"({"message":{"messageId":"m","parts":[],"taskId":null,"contextId":null}})") == 0
    );
}

TEST_CASE("Over HTTP+JSON of both generations too an id that is no text, or that stands twice, does not reach the agent"
)
{
    using enum core::a2a_dialect;
    for (const auto speaks : {v03_jsonrpc, v03_rest, v1_jsonrpc, v1_rest}) {
        test_support::scripted_agent agent{terse_agent};
        auto settings = one_agent(agent.url("/rpc"));
        settings.agents[0].bridge = true;
        settings.agents[0].dialects = {speaks};
        running_gateway gateway{std::move(settings)};
        auto headers = mallory;
        headers.emplace_back("Content-Type", "application/json");
        const std::string padding(300'000, ' ');
        for (const std::string members : {
                 R"("taskId":["t1"])",
                 R"("task_id":[["t1"]])",
                 R"("contextId":1.23e2)",
                 R"("contextId":"c","context\u0049d":"d")",
                 R"("referenceTaskIds":[["t1"]])",
             }) {
            CAPTURE(members);
            const auto body = R"({"message":{"messageId":"m","role":"ROLE_USER",)" + members + "}}";
            for (const auto* path : {"/message:send", "/v1/message:send", "/message:stream", "/acme/message:send"}) {
                CAPTURE(path);
                for (const auto& text : {body, padding + body}) {
                    const auto got =
                        request(gateway.port(), "POST", "/agents/a/rest" + std::string{path}, headers, text);
                    CHECK(got.status == 400);
                    CHECK(got.header("Cardea-Error") == "invalid_params");
                }
            }
            if (!members.starts_with("\"reference")) {
                const auto path = "/agents/a/rest/tasks/x:cancel";
                CHECK(request(gateway.port(), "POST", path, headers, "{" + members + "}").status == 400);
            }
        }
        CHECK(agent.request_count() == 0);
    }
}

TEST_CASE("A member that names a task or a context stands once, else the call is refused with -32602")
{
    claims_gateway x;
    std::string flood = R"({"message":{"messageId":"m","parts":[])";
    for (int i = 0; i < 40'000; ++i) {
        flood += R"(,"contextId":"c)" + std::to_string(i) + '"';
    }
    for (const auto& params : {
             flood + "}}",
             std::string{R"({"message":{"messageId":"m","contextId":"c1","contextId":"c1"}})"},
             std::string{R"({"message":{"messageId":"m","contextId":"c1","context\u0049d":"c2"}})"},
             std::string{R"({"message":{"messageId":"m","contextId":"c1","context_id":"c2"}})"},
             std::string{R"({"message":{"messageId":"m","contextId":"c1","ContextID":"c2"}})"},
             std::string{R"({"message":{"messageId":"m","taskId":"c1","taskId":null}})"},
             std::string{R"({"message":{"messageId":"m","contextId":"c1"},"message":{"contextId":"c2"}})"},
         }) {
        CAPTURE(params.substr(0, 200));
        for (const auto* method : {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}) {
            CHECK(x.code(ci, method, params) == -32602);
        }
    }
    CHECK(x.code(ci, "tasks/get", R"({"id":"t1","id":"t1"})") == -32602);
    CHECK(x.agent.request_count() == 0);
    for (const auto* context : {"c1", "c2", "c39999"}) {
        CHECK(x.code(mallory, "message/send", message_in(context)) == 0);
    }
}

TEST_CASE("A context is the caller's once the agent has answered with success, and not before")
{
    claims_gateway x;
    for (const auto* method : {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}) {
        CAPTURE(method);
        const auto context = "context of " + std::string{method};
        CHECK(x.code(ci, method, message_in(context, "fail")) == -32603);
        CHECK(x.code(mallory, method, message_in(context)) == 0);
        CHECK(x.code(ci, method, message_in(context)) == -32602);
        CHECK(x.code(mallory, method, message_in(context)) == 0);
    }
}

TEST_CASE("While a message is under way, nobody else gets into the context that it names")
{
    test_support::gate gate;
    std::atomic<bool> fails = false;
    claims_gateway x{[&gate, &fails](const test_support::recorded_request& asked) {
        if (asked.body.find("slow") == std::string::npos) {
            return terse_agent(asked);
        }
        const std::string body =
            fails ? R"({"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"no"}})"
                  : R"({"jsonrpc":"2.0","id":7,"result":{"kind":"message","messageId":"n","role":"agent","parts":[]}})";
        return test_support::raw(
            {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
             "\r\n\r\n" + body},
            gate
        );
    }};
    for (const bool failing : {true, false}) {
        CAPTURE(failing);
        fails = failing;
        int slow = 0;
        {
            const std::jthread first{[&] { slow = x.code(ci, "message/send", message_in("c", "slow")); }};
            REQUIRE(gate.wait_until_reached(failing ? 1 : 2));
            CHECK(x.code(mallory, "message/send", message_in("c")) == -32602);
            CHECK(x.code(mallory, "SendStreamingMessage", message_in("c")) == -32602);
            CHECK(x.code(ci, "message/send", message_in("other")) == 0);
            gate.release();
        }
        CHECK(slow == (failing ? -32603 : 0));
    }
    CHECK(x.code(mallory, "message/send", message_in("c")) == -32602);
    CHECK(x.code(ci, "message/send", message_in("c")) == 0);
}

TEST_CASE("A stream makes its context the caller's with its first event, while it is open")
{
    claims_gateway x{[](const test_support::recorded_request& asked) {
        return asked.body.find("\"message/stream\"") != std::string::npos ? test_support::event_stream()
                                                                          : terse_agent(asked);
    }};
    const std::jthread stream{[&] { x.ask(ci, "message/stream", message_in("c")); }};
    REQUIRE(x.agent.wait_for_streams(1));
    CHECK(x.code(mallory, "message/send", message_in("c")) == -32602);
    x.agent.send_event(
        R"({"jsonrpc":"2.0","id":7,"result":{"kind":"message","messageId":"n","role":"agent","parts":[]}})"
    );
    CHECK(x.code(mallory, "message/send", message_in("c")) == -32602);
    x.agent.end_streams();
}

TEST_SUITE_END();
