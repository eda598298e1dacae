// Tasks of one principal and callers that are another: over both generations, in streams, in lists, and after a restart. over 400 lines:
// the cases share one agent.
#include "tests/flow/access_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

TEST_SUITE_BEGIN("flow/access_tasks");

namespace {

using namespace flow;

std::string named_in(const core::json& params)
{
    for (const auto* name : {"id", "taskId"}) {
        if (params.contains(name)) {
            return params[name].get<std::string>();
        }
    }
    const auto& message = params.contains("message") ? params["message"] : params;
    return message.contains("taskId") ? message["taskId"].get<std::string>() : std::string{};
}

// Knows every task, and whoever sends it a message without one gets a new one: t1, t2, and so on. What is cancelled is so, all else
// is working.
struct task_agent {
    std::shared_ptr<int> tasks = std::make_shared<int>(0);
    bool in_context = true;
    bool context_last = false;  // behind the status

    test_support::script operator()(const test_support::recorded_request& asked) const
    {
        const auto call = core::parse_json(asked.body);
        if (!call || !call->contains("method")) {
            return test_support::answer_json(std::string{words_card});
        }
        const auto method = (*call)["method"].get<std::string>();
        auto id = named_in((*call)["params"]);
        if (id.empty()) {
            id = "t" + std::to_string(++*tasks);
        }
        const bool is_of_1 = method.front() >= 'A' && method.front() <= 'Z';
        const bool cancels = method == "tasks/cancel" || method == "CancelTask";
        const std::string state = is_of_1   ? cancels ? "TASK_STATE_CANCELED" : "TASK_STATE_WORKING"
                                  : cancels ? "canceled"
                                            : "working";
        core::json task{{"id", id}};
        if (in_context && !context_last) {
            task["contextId"] = "c";
        }
        task["status"] = {{"state", state}};
        if (in_context && context_last) {
            task["contextId"] = "c";
        }
        if (!is_of_1) {
            task["kind"] = "task";
        }
        const bool wraps = is_of_1 && method.starts_with("Send");
        const core::json answer{
            {"jsonrpc", "2.0"},
            {"id", (*call)["id"]},
            {"result", wraps ? core::json{{"task", task}} : task}
        };
        if (method == "message/stream" || method == "SendStreamingMessage") {
            return test_support::chunked_byte_by_byte("data: " + answer.dump() + "\r\n\r\n", "text/event-stream");
        }
        return test_support::answer_json(answer.dump());
    }
};

config::settings two_agents(const std::string& url)
{
    auto settings = guarded(url);
    settings.agents = {agent("a", url, anyone, anyone), agent("b", url, anyone, anyone)};
    for (auto& each : settings.agents) {
        each.bridge = false;  // these agents know the methods of both generations
    }
    return settings;
}

struct tasks_gateway {
    tasks_gateway() = default;
    tasks_gateway(std::uint64_t most, task_agent answers)
        : most_tasks{most},
          agent{std::move(answers)}
    {
    }

    http_response ask(std::string_view who, field_list headers, std::string_view method, const std::string& params)
    {
        headers.emplace_back("Content-Type", "application/json");
        return request(
            gateway.port(),
            "POST",
            "/agents/" + std::string{who},
            headers,
            R"({"jsonrpc":"2.0","id":7,"method":")" + std::string{method} + R"(","params":)" + params + "}"
        );
    }

    // The id of the task that the agent answered with; "hidden": the gateway said that there is none, and the agent was not asked.
    std::string
    shown(std::string_view who, const field_list& headers, std::string_view method, const std::string& params)
    {
        const auto before = agent.request_count();
        const auto answer = ask(who, headers, method, params);
        CHECK(answer.status == 200);
        const auto body = parsed(answer.body);
        CHECK(body["id"] == 7);
        if (body.contains("error")) {
            CHECK(body["error"]["code"] == -32001);
            CHECK(body["error"]["message"] == "Task not found.");
            CHECK(answer.header("Cardea-Error") == "task_not_found");
            CHECK(agent.request_count() == before);
            return "hidden";
        }
        const auto& result = body["result"];
        return (result.contains("task") ? result["task"] : result)["id"].get<std::string>();
    }

    std::string get(const field_list& headers, const std::string& task, std::string_view who = "a")
    {
        return shown(who, headers, "tasks/get", R"({"id":")" + task + R"("})");
    }

    std::uint64_t most_tasks = 100'000;
    test_support::scripted_agent agent{task_agent{}};
    running_gateway gateway{[this] {
        auto settings = two_agents(agent.url("/rpc"));
        settings.limits.tasks = most_tasks;
        return settings;
    }()};
};

// Answers questions for a task in every dialect: with the task, which is working.
test_support::script bridged_agent(const test_support::recorded_request& asked)
{
    const auto call = core::parse_json(asked.body);
    const bool rpc = call && call->contains("method");
    std::string id = asked.target.substr(asked.target.rfind('/') + 1);
    if (rpc) {
        id = named_in((*call)["params"]);
    }
    const bool old = rpc && (*call)["method"] == "tasks/get";
    core::json task{{"id", id}, {"contextId", "c"}, {"status", {{"state", old ? "working" : "TASK_STATE_WORKING"}}}};
    if (old) {
        task["kind"] = "task";
    }
    if (!rpc) {
        return test_support::answer_json(task.dump());
    }
    return test_support::answer_json(core::json{{"jsonrpc", "2.0"}, {"id", (*call)["id"]}, {"result", task}}.dump());
}

constexpr const char* new_message = R"({"message":{"messageId":"m","parts":[]}})";

}  // namespace

TEST_CASE("A task of one principal is not found for another, whatever method names it, and the agent is not asked")
{
    tasks_gateway x;
    REQUIRE(x.shown("a", ci, "message/send", new_message) == "t1");
    REQUIRE(x.shown("a", mallory, "SendMessage", new_message) == "t2");
    const std::string long_text(300'000, 'x');
    const std::pair<const char*, std::string> calls[] = {
        {"tasks/get", R"({"id":"t1"})"},
        {"tasks/cancel", R"({"id":"t1"})"},
        {"tasks/resubscribe", R"({"id":"t1"})"},
        {"tasks/pushNotificationConfig/set", R"({"taskId":"t1","pushNotificationConfig":{"url":"http://127.0.0.1/"}})"},
        {"tasks/pushNotificationConfig/get", R"({"id":"t1"})"},
        {"tasks/pushNotificationConfig/list", R"({"id":"t1"})"},
        {"tasks/pushNotificationConfig/delete", R"({"id":"t1","pushNotificationConfigId":"x"})"},
        {"message/send", R"({"message":{"messageId":"m","parts":[],"taskId":"t1"}})"},
        {"message/stream", R"({"message":{"messageId":"m","parts":[],"taskId":"t1"}})"},
        {"message/send", R"({"message":{"messageId":"m","referenceTaskIds":["t2","t1"]}})"},
        {"message/send", R"({"message":{"messageId":"m","parts":[{"text":")" + long_text + R"("}],"taskId":"t1"}})"},
        {"GetTask", R"({"id":"t1"})"},
        {"CancelTask", R"({"id":"t1"})"},
        {"SubscribeToTask", R"({"id":"t1"})"},
        {"CreateTaskPushNotificationConfig", R"({"taskId":"t1","id":"x","url":"http://127.0.0.1/"})"},
        {"GetTaskPushNotificationConfig", R"({"taskId":"t1","id":"x"})"},
        {"ListTaskPushNotificationConfigs", R"({"taskId":"t1"})"},
        {"DeleteTaskPushNotificationConfig", R"({"task_id":"t1","id":"x"})"},
        {"SendMessage", R"({"message":{"messageId":"m","task_id":"t1"}})"},
        {"SendStreamingMessage", R"({"message":{"messageId":"m","taskId":"\u00741"}})"},
        {"another/method", R"({"id":"t1"})"},
    };
    for (const auto& [method, params] : calls) {
        CAPTURE(method);
        CAPTURE(params.substr(0, 200));
        CHECK(x.shown("a", mallory, method, params) == "hidden");
    }
    CHECK(x.get(nobody, "t1") == "hidden");
    CHECK(x.get(ci, "t1") == "t1");
    CHECK(x.shown("a", ci, "SendMessage", R"({"message":{"messageId":"m","taskId":"t1"}})") == "t1");
    CHECK(x.get(mallory, "t2") == "t2");
    CHECK(x.get(mallory, "t1", "b") == "t1");  // of another agent
    CHECK(x.gateway.metric(R"(cardea_denied_total{reason="task"})") == std::size(calls) + 1);
}

TEST_CASE("A task is kept from others in every dialect, be it that of the agent or translated")
{
    test_support::scripted_agent rpc{bridged_agent};
    auto settings = two_agents(rpc.url("/base"));
    using enum core::a2a_dialect;
    const std::pair<const char*, core::a2a_dialect> agents[] = {
        {"old-rpc", v03_jsonrpc},
        {"old-rest", v03_rest},
        {"new-rpc", v1_jsonrpc},
        {"new-rest", v1_rest},
    };
    settings.agents.clear();
    for (const auto& [id, speaks] : agents) {
        settings.agents.push_back(agent(id, rpc.url("/base"), anyone, anyone));
        settings.agents.back().dialects = {speaks};
    }
    running_gateway gateway{std::move(settings)};
    const auto ask = [&gateway](
                         const std::string& id,
                         field_list who,
                         std::string_view verb,
                         const std::string& below,
                         const std::string& body = {}
                     ) {
        who.emplace_back("Content-Type", "application/json");
        return request(gateway.port(), verb, "/agents/" + id + below, who, body);
    };
    const std::string old_message = R"({"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}])";
    const std::string new_text = R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}])";
    const auto rpc_call = [](const std::string& method, const std::string& params) {
        return R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":)" + params + "}";
    };
    const std::string long_text(300'000, ' ');
    for (const auto& [id, speaks] : agents) {
        CAPTURE(id);
        // The task is the caller's that was shown it first, in whatever dialect.
        REQUIRE(ask(id, ci, "GET", "/rest/tasks/t1").status == 200);
        REQUIRE(ask(id, ci, "GET", "/rest/v1/tasks/t2").status == 200);
        REQUIRE(
            ask(id, ci, "POST", "", rpc_call("GetTask", R"({"id":"t3"})")).body.find("result") != std::string::npos
        );
        REQUIRE(parsed(ask(id, ci, "POST", "", rpc_call("tasks/get", R"({"id":"t4"})")).body).contains("result"));
        const auto before = rpc.request_count();
        for (const std::string task : {"t1", "t2", "t3", "t4"}) {
            CAPTURE(task);
            const auto encoded = "%74" + task.substr(1);
            const std::tuple<const char*, std::string, std::string> over_rest[] = {
                {"GET", "/tasks/" + task, ""},
                {"GET", "/tasks/" + encoded, ""},
                {"GET", "/v1/tasks/" + task, ""},
                {"GET", "/acme/tasks/" + task, ""},
                {"GET", "/tasks/mine?id=" + task, ""},
                {"POST", "/tasks/" + task + ":cancel", ""},
                {"POST", "/v1/tasks/" + task + ":cancel", "{}"},
                {"POST", "/tasks/" + task + ":subscribe", ""},
                {"GET", "/tasks/" + task + "/pushNotificationConfigs", ""},
                {"POST", "/v1/tasks/x/pushNotificationConfigs", R"({"config":{"name":"tasks/)" + task + "/\"}}"},
                {"POST", "/message:send", new_text + R"(,"taskId":")" + task + "\"}}"},
                {"POST", "/message:send", long_text + new_text + R"(,"taskId":")" + task + "\"}}"},
                {"POST", "/v1/message:send", old_message + R"(,"task_id":")" + task + "\"}}"},
                {"POST", "/message:stream", new_text + R"(,"referenceTaskIds":[")" + task + "\"]}}"},
            };
            for (const auto& [verb, below, body] : over_rest) {
                CAPTURE(below);
                const auto refused = ask(id, mallory, verb, "/rest" + below, body);
                CHECK(refused.status == 404);
                CHECK(refused.header("Cardea-Error") == "task_not_found");
            }
            for (const auto* method : {"GetTask", "tasks/get", "CancelTask", "tasks/cancel"}) {
                CAPTURE(method);
                const auto refused = ask(id, mallory, "POST", "", rpc_call(method, R"({"id":")" + task + "\"}"));
                CHECK(parsed(refused.body)["error"]["code"] == -32001);
                CHECK(refused.header("Cardea-Error") == "task_not_found");
            }
        }
        CHECK(rpc.request_count() == before);
        CHECK(ask(id, ci, "GET", "/rest/tasks/t4").status == 200);
    }
}

TEST_CASE("A task that a stream shows belongs to the principal that reads the stream, however it is cut")
{
    tasks_gateway x;
    for (const auto* method : {"message/stream", "SendStreamingMessage"}) {
        CAPTURE(method);
        const auto stream = x.ask("a", ci, method, new_message);
        REQUIRE(stream.status == 200);
        CHECK(stream.body.starts_with("data: "));
        CHECK(stream.body.ends_with("\r\n\r\n"));
    }
    for (const auto* task : {"t1", "t2"}) {
        CHECK(x.get(mallory, task) == "hidden");
        CHECK(x.get(ci, task) == task);
    }
}

TEST_CASE(
    "A call for a task that is not known passes to the agent, and the task is then that of the caller that was shown it"
)
{
    tasks_gateway x;
    CHECK(x.get(mallory, "old") == "old");
    CHECK(x.get(ci, "old") == "hidden");
    CHECK(x.get(mallory, "old") == "old");
}

TEST_CASE("Callers without a credential are one principal")
{
    tasks_gateway x;
    REQUIRE(x.shown("a", nobody, "message/send", new_message) == "t1");
    CHECK(x.get(nobody, "t1") == "t1");
    CHECK(x.get(ci, "t1") == "hidden");
}

TEST_CASE("At the limit of tasks all are kept from others, and one more makes the least recent forgotten")
{
    // A context would take a place too.
    tasks_gateway x{8, task_agent{.in_context = false}};
    for (int i = 1; i <= 9; ++i) {
        const auto task = "t" + std::to_string(i);
        REQUIRE(x.shown("a", ci, "message/send", new_message) == task);
        for (int known = i == 9 ? 2 : 1; known <= i; ++known) {
            CHECK(x.get(mallory, "t" + std::to_string(known)) == "hidden");
        }
    }
    CHECK(x.get(mallory, "t1") == "t1");
}

TEST_CASE("Without providers every caller reaches every task, and each new state of a task is counted once")
{
    test_support::scripted_agent agent{task_agent{}};
    auto settings = quick_settings();
    settings.agents = {a2a_agent("a", agent.url("/rpc"))};
    settings.agents[0].card = words_card;
    settings.agents[0].bridge = false;
    running_gateway gateway{std::move(settings)};
    const auto ask = [&gateway](std::string_view method, std::string_view params) {
        const auto answer = request(
            gateway.port(),
            "POST",
            "/agents/a",
            {{"Content-Type", "application/json"}, {"Accept-Encoding", "gzip"}},
            R"({"jsonrpc":"2.0","id":7,"method":")" + std::string{method} + R"(","params":)" + std::string{params} + "}"
        );
        CHECK(answer.status == 200);
        CHECK(parsed(answer.body).contains("result"));
    };
    ask("message/send", new_message);
    ask("tasks/get", R"({"id":"t1"})");
    ask("GetTask", R"({"id":"t1"})");
    CHECK(gateway.metric(R"(cardea_task_states_total{agent="a",state="working"})") == 1);
    ask("SendMessage", new_message);
    CHECK(gateway.metric(R"(cardea_task_states_total{agent="a",state="working"})") == 2);
    ask("tasks/cancel", R"({"id":"t1"})");
    ask("CancelTask", R"({"id":"t2"})");
    CHECK(gateway.metric(R"(cardea_task_states_total{agent="a",state="canceled"})") == 2);
    CHECK(gateway.metric(R"(cardea_task_states_total{agent="a",state="working"})") == 2);
    CHECK(agent.request(0).header("Accept-Encoding") == "gzip");
}

TEST_CASE("With providers an agent is asked for an answer in no coding where it may show a task")
{
    tasks_gateway x;
    auto headers = ci;
    headers.emplace_back("Accept-Encoding", "gzip");
    x.ask("a", headers, "message/send", new_message);
    x.ask("a", headers, "tasks/list", "{}");
    const auto requests = x.agent.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].header("Accept-Encoding") == "identity");
    CHECK(requests[1].header("Accept-Encoding") == "identity");
}

TEST_CASE("After a restart tasks belong to whom they did, if the store is a file")
{
    const test_support::scratch_directory scratch;
    for (const bool file : {true, false}) {
        CAPTURE(file);
        test_support::scripted_agent agent{task_agent{}};
        auto settings = two_agents(agent.url("/rpc"));
        settings.store = file ? "sqlite:" + scratch.file("s.db") : "memory";
        const auto get = [](const running_gateway& gateway, field_list headers) {
            headers.emplace_back("Content-Type", "application/json");
            const auto body = R"({"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"id":"t1"}})";
            return parsed(request(gateway.port(), "POST", "/agents/a", headers, body).body);
        };
        {
            running_gateway first{settings};
            auto headers = ci;
            headers.emplace_back("Content-Type", "application/json");
            const auto body = R"({"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{}}})";
            REQUIRE(request(first.port(), "POST", "/agents/a", headers, body).status == 200);
            CHECK(get(first, mallory)["error"]["code"] == -32001);
        }
        running_gateway second{settings};
        CHECK(get(second, mallory).contains("error") == file);
        CHECK(get(second, ci).contains("result") == file);
    }
}

TEST_CASE("A list shows a caller the tasks that are known as its own, whatever its dialect, and their number")
{
    const auto listing = [](const test_support::recorded_request& asked) {
        const bool lists = asked.method == "GET" || asked.body.find("ListTasks") != std::string::npos ||
                           asked.body.find("tasks/list") != std::string::npos;
        if (!lists || asked.target.find("/.well-known/") != std::string::npos) {
            return task_agent{}(asked);
        }
        const std::string all =
            R"({"tasks":[{"id":"t1","x":1.0},{"id":"t2"},{"id":"unknown"}],"nextPageToken":"","pageSize":50,"totalSize":3})";
        const auto call = core::parse_json(asked.body);
        return test_support::answer_json(
            call && call->contains("method") ? R"({"jsonrpc":"2.0","id":7,"result":)" + all + "}" : all
        );
    };
    using enum core::a2a_dialect;
    for (const auto speaks : {v1_jsonrpc, v1_rest}) {
        CAPTURE(core::name(speaks));
        test_support::scripted_agent agent{listing};
        auto settings = guarded(agent.url("/rpc"));
        settings.agents = {flow::agent("a", agent.url("/rpc"), anyone, anyone)};
        settings.agents[0].dialects = {v1_jsonrpc, v03_jsonrpc};
        settings.agents.push_back(flow::agent("b", agent.url("/rpc"), anyone, anyone));
        settings.agents[1].dialects = {speaks};
        running_gateway gateway{std::move(settings)};
        const auto send =
            [&](const std::string& id, field_list who, const std::string& method, const std::string& params) {
                who.emplace_back("Content-Type", "application/json");
                const auto body = R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":)" + params + "}";
                return request(gateway.port(), "POST", "/agents/" + id, who, body).body;
            };
        const std::string mine = R"({"tasks":[{"id":"t1","x":1.0}],"nextPageToken":"","pageSize":50,"totalSize":1})";
        const std::string none = R"({"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0})";
        const auto enveloped = [](const std::string& result) {
            return R"({"jsonrpc":"2.0","id":7,"result":)" + result + "}";
        };
        CHECK(send("a", ci, "ListTasks", "{}") == enveloped(none));
        REQUIRE(send("a", ci, "SendMessage", new_message).find("\"t1\"") != std::string::npos);
        CHECK(send("a", ci, "ListTasks", "{}") == enveloped(mine));
        CHECK(send("a", ci, "tasks/list", "{}") == enveloped(mine));
        CHECK(send("a", mallory, "ListTasks", "{}") == enveloped(none));
        CHECK(send("a", nobody, "ListTasks", R"({"contextId":"c"})") == enveloped(none));
        // In translation, or between equal dialects of HTTP+JSON.
        CHECK(parsed(request(gateway.port(), "GET", "/agents/b/rest/tasks", ci).body)["tasks"].empty());
    }
}

TEST_CASE("A context that an answer shows behind the status of its task belongs to the principal that was shown it")
{
    for (const auto* method : {"message/send", "SendMessage", "message/stream", "SendStreamingMessage"}) {
        CAPTURE(method);
        tasks_gateway x{100'000, task_agent{.context_last = true}};
        REQUIRE(x.ask("a", ci, method, new_message).body.find("contextId") != std::string::npos);
        const std::string to_context = R"({"message":{"messageId":"m","parts":[],"contextId":"c"}})";
        const auto refused = parsed(x.ask("a", mallory, "SendMessage", to_context).body);
        CHECK(refused.at("error").at("code") == -32602);
        CHECK(x.agent.request_count() == 1);
        CHECK(parsed(x.ask("a", ci, "SendMessage", to_context).body).contains("result"));
    }
}

TEST_CASE("A context belongs to the principal that had it first, and a message of another one to it is refused")
{
    tasks_gateway x;
    const auto to_context = [](const std::string& id) {
        return R"({"message":{"messageId":"m","parts":[],"contextId":")" + id + R"("}})";
    };
    const auto refused = [&x](const field_list& who, std::string_view method, const std::string& params) {
        const auto before = x.agent.request_count();
        const auto got = x.ask("a", who, method, params);
        const auto body = parsed(got.body);
        const bool said = body.contains("error") && body["error"]["code"] == -32602;
        CHECK((x.agent.request_count() == before) == said);
        return said;
    };
    // By a message that names it, and by an answer that shows it.
    CHECK_FALSE(refused(ci, "message/send", to_context("named")));
    CHECK_FALSE(refused(ci, "SendMessage", new_message));
    for (const auto* context : {"named", "c"}) {
        CAPTURE(context);
        for (const auto* method : {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}) {
            CHECK(refused(mallory, method, to_context(context)));
            CHECK(refused(nobody, method, to_context(context)));
        }
        CHECK_FALSE(refused(ci, "SendMessage", to_context(context)));
    }
    CHECK_FALSE(refused(mallory, "SendMessage", to_context("other")));
    CHECK(refused(ci, "message/send", to_context("other")));
}

TEST_SUITE_END();
