// The access matrix of MCP: what one principal gets of a server and others do not, for clients of both eras, over HTTP and with programs.
#include "tests/flow/access_mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/access_mcp");

namespace {

using namespace flow;
using namespace flow::mcp_states;

std::vector<std::string> methods_for_task(bool modern)
{
    return modern ? std::vector<std::string>{"tasks/get", "tasks/update", "tasks/cancel"}
                  : std::vector<std::string>{"tasks/get", "tasks/result", "tasks/cancel"};
}

std::set<std::string> tasks_in(const json& result)
{
    std::set<std::string> ids;
    for (const auto& each : result["tasks"]) {
        ids.insert(each["taskId"].get<std::string>());
    }
    return ids;
}

}  // namespace

TEST_CASE(
    "A task is its principal's alone, in both eras, over HTTP and with programs, and the server does not hear of "
    "others' tries"
)
{
    const mcp_servers servers;
    running_gateway gateway{servers.settings()};
    unsigned denied = 0;
    for (const auto& each : ways) {
        CAPTURE(each.agent);
        CAPTURE(each.modern);
        const mcp_client a{gateway.port(), each, ci};
        const auto task = a.begin_task();
        CHECK(task.size() > 40);
        for (const auto& who : {mallory, operators, nobody}) {
            const mcp_client b{gateway.port(), each, who};
            const auto before = servers.reached();
            for (const auto& method : methods_for_task(each.modern)) {
                CAPTURE(method);
                for (const json& id :
                     {json(task), json("t1"), json("t2"), json(task + "A"), json(""), json::array({task}), json(1)}) {
                    if (each.modern && (!id.is_string() || id == "")) {
                        continue;  // Mcp-Name has to repeat it
                    }
                    CHECK(b.result(method, {{"taskId", id}}) == nullptr);
                    ++denied;
                }
            }
            CHECK(servers.reached() == before);
            if (!each.modern) {
                CHECK(tasks_in(b.result("tasks/list", json::object())).empty());
            }
        }
        for (const auto& method : methods_for_task(each.modern)) {
            CAPTURE(method);
            const auto shown = a.result(method, {{"taskId", task}});
            if (method == "tasks/result" && each.agent == "web") {
                CHECK(shown["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] == task);
            } else {
                CHECK(shown["taskId"] == task);
                CHECK(shown["of"] == method);
            }
        }
        if (!each.modern) {
            const auto second = a.begin_task();
            CHECK(tasks_in(a.result("tasks/list", json::object())) == std::set<std::string>{task, second});
            // Another session of the same principal, and a request in none.
            const mcp_client again{gateway.port(), each, ci};
            CHECK(again.result("tasks/get", {{"taskId", task}})["taskId"] == task);
        }
    }
    CHECK(gateway.metric(R"(cardea_denied_total{reason="task"})") == denied);
}

TEST_CASE("In a shared session nobody reaches a task or a state of another principal")
{
    const mcp_servers servers;
    auto settings = servers.settings();
    for (auto& each : settings.agents) {
        each.mcp->sessions = core::mcp_sessions::shared;
        each.mcp->start = core::mcp_start::eager;
    }
    const running_gateway gateway{settings};
    for (const std::string agent : {"web", "old"}) {
        CAPTURE(agent);
        REQUIRE(becomes_true([&] { return mcp_client::begin(gateway.port(), agent, ci).status == 200; }));
        const mcp_client a{gateway.port(), {agent, false}, ci};
        const mcp_client b{gateway.port(), {agent, false}, mallory};
        const auto task = a.begin_task();
        CHECK(task.size() > 40);
        CHECK(a.result("tools/call", {{"name", "ask"}}).contains("requestState"));
        // The gateway's own session goes on meanwhile.
        const auto named = [&] { return servers.reached("\"tasks/") + servers.reached("\"requestState\""); };
        const auto before = named();
        for (const auto& id : {task, std::string{"t1"}, std::string{"s-1"}}) {
            CAPTURE(id);
            for (const auto* method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
                CHECK(mcp_client::message_of(b.ask(method, {{"taskId", id}})).contains("error"));
            }
            CHECK(b.result("tools/call", {{"name", "ask"}, {"requestState", id}}) == nullptr);
        }
        CHECK(named() == before);
    }
}

TEST_CASE("A requestState is its principal's alone, and the server gets it as it gave it")
{
    const mcp_servers servers;
    running_gateway gateway{servers.settings()};
    unsigned denied = 0;
    for (const auto& each : ways) {
        if (!each.modern) {
            continue;
        }
        CAPTURE(each.agent);
        const mcp_client a{gateway.port(), each, ci};
        const auto asked = a.result("tools/call", {{"name", "ask"}});
        const auto state = asked["requestState"].get<std::string>();
        CHECK(state != "s-1");
        CHECK(asked["inputRequests"] == json::object());
        const auto with_state = [](const json& which) { return json{{"name", "ask"}, {"requestState", which}}; };
        for (const auto& who : {mallory, operators, nobody}) {
            const mcp_client b{gateway.port(), each, who};
            const auto before = servers.reached();
            for (const json& which : {json(state), json("s-1"), json(""), json::array({state}), json(1)}) {
                CHECK(b.result("tools/call", with_state(which)) == nullptr);
                ++denied;
            }
            CHECK(servers.reached() == before);
        }
        CHECK(a.result("tools/call", with_state(state))["resultType"] == "complete");
        const auto other = a.begin_task();
        CHECK(a.result("tools/call", with_state(other)) == nullptr);
        ++denied;
        CHECK(a.result("tasks/get", {{"taskId", state}}) == nullptr);
        ++denied;
    }
    CHECK(gateway.metric(R"(cardea_denied_total{reason="task"})") == denied);
}

TEST_CASE("Events tell a client of its own tasks, under the ids that it knows, and of nobody else's")
{
    const mcp_servers servers;
    const running_gateway gateway{servers.settings()};
    const mcp_client a{gateway.port(), {"web", false}, ci};
    const mcp_client b{gateway.port(), {"web", false}, mallory};
    const auto of_a = a.begin_task();
    const auto of_b = b.begin_task();
    for (const auto& more : {field_list{}, field_list{{"Last-Event-ID", "e"}}}) {
        const auto heard = a.listen(more);
        CHECK(heard.status == 200);
        CHECK(heard.header("Content-Type") == "text/event-stream");
        CHECK(heard.body.find(R"("taskId":")" + of_a + '"') != std::string::npos);
        for (const auto& other : {of_b, std::string{R"("t1")"}, std::string{R"("t2")"}}) {
            CHECK(heard.body.find(other) == std::string::npos);
        }
        CHECK(b.listen(more).body.find(R"("taskId":")" + of_b + '"') != std::string::npos);
    }
    // A question during tasks/result is related to the task under the same id.
    const auto result = a.ask("tasks/result", {{"taskId", of_a}});
    CHECK(result.body.find("elicitation/create") != std::string::npos);
    CHECK(result.body.find(R"("t1")") == std::string::npos);
    const mcp_client modern{gateway.port(), {"web", true}, ci};
    const mcp_client stranger{gateway.port(), {"web", true}, mallory};
    const auto wanted = [](const std::vector<std::string>& ids) {
        return json{{"notifications", {{"toolsListChanged", true}, {"taskIds", ids}}}};
    };
    const auto heard = modern.ask("subscriptions/listen", wanted({of_a}));
    CHECK(heard.body.find(R"("taskIds":[")" + of_a + R"("])") != std::string::npos);
    CHECK(heard.body.find("notifications/tasks/status") != std::string::npos);
    CHECK(heard.body.find(of_b) == std::string::npos);
    CHECK(heard.body.find(R"("t2")") == std::string::npos);
    const auto before = servers.reached();
    for (const auto& ids :
         {std::vector<std::string>{of_a}, std::vector<std::string>{of_b, of_a}, std::vector<std::string>{"t1"}}) {
        CHECK(stranger.result("subscriptions/listen", wanted(ids)) == nullptr);
    }
    CHECK(servers.reached() == before);
}

TEST_CASE("A session and its events are its principal's alone")
{
    const mcp_servers servers;
    const running_gateway gateway{servers.settings()};
    for (const auto& each : ways) {
        if (each.modern) {
            continue;
        }
        CAPTURE(each.agent);
        const mcp_client a{gateway.port(), each, ci};
        std::string event = "e";
        if (each.agent == "old") {
            // After a second the call is a stream that its client can resume.
            test_support::http_client caller{gateway.port()};
            caller.send(a.text_of("tools/call", {{"name", "wait"}, {"task", json::object()}}));
            caller.read_until("id: ");
            event = caller.read_until("\n");
            event.pop_back();
            test_support::write_whole(servers.folder.file("go"), "x");
            caller.read_until("0\r\n\r\n");
        }
        for (const auto& who : {mallory, nobody}) {
            auto fields = who;
            fields.emplace_back("Mcp-Session-Id", a.session());
            fields.emplace_back("Last-Event-ID", event);
            fields.emplace_back("Accept", "application/json, text/event-stream");
            const auto target = "/agents/" + each.agent + "/mcp";
            CHECK(request(gateway.port(), "GET", target, fields).status == 404);
            CHECK(request(gateway.port(), "DELETE", target, fields).status == 404);
        }
        if (each.agent == "old") {
            // With a session of its own another's event is none.
            CHECK(mcp_client{gateway.port(), each, mallory}.listen({{"Last-Event-ID", event}}).status == 400);
            const auto resumed = a.listen({{"Last-Event-ID", event}});
            CHECK(resumed.status == 200);
            CHECK(resumed.body.find(R"("status":"working")") != std::string::npos);
            CHECK(resumed.body.find(R"("t1")") == std::string::npos);
        }
    }
}

TEST_CASE("What a server hands out passes as it is if the agent is not bound, and without providers")
{
    const mcp_servers servers;
    const running_gateway gateway{servers.settings()};
    auto open = servers.settings();
    open.access = {};
    const running_gateway without_providers{open};
    for (const auto* const to : {&gateway, &without_providers}) {
        const auto name = to == &gateway ? "free" : "web";
        for (const bool modern : {false, true}) {
            const mcp_client a{to->port(), {name, modern}, to == &gateway ? ci : nobody};
            const mcp_client b{to->port(), {name, modern}, to == &gateway ? mallory : nobody};
            const auto task = a.begin_task();
            CHECK(task.starts_with('t'));
            CHECK(b.result("tasks/get", {{"taskId", task}})["taskId"] == task);
        }
        const mcp_client a{to->port(), {name, true}, to == &gateway ? ci : nobody};
        CHECK(a.result("tools/call", {{"name", "ask"}})["requestState"] == "s-1");
    }
}

TEST_CASE("After a restart tasks and states are still their principal's, if the store is a file")
{
    const mcp_servers servers;
    const test_support::scratch_directory scratch;
    for (const bool file : {true, false}) {
        CAPTURE(file);
        auto settings = servers.settings();
        settings.store = file ? "sqlite:" + scratch.file("s.db") : "memory";
        std::string task;
        std::string state;
        const auto with_state = [&] { return json{{"name", "ask"}, {"requestState", state}}; };
        {
            const running_gateway first{settings};
            const mcp_client a{first.port(), {"web", true}, ci};
            task = a.begin_task();
            state = a.result("tools/call", {{"name", "ask"}})["requestState"].get<std::string>();
        }
        const running_gateway second{settings};
        const mcp_client a{second.port(), {"web", true}, ci};
        const mcp_client b{second.port(), {"web", true}, mallory};
        CHECK(b.result("tasks/get", {{"taskId", task}}) == nullptr);
        CHECK(b.result("tools/call", with_state()) == nullptr);
        CHECK((a.result("tasks/get", {{"taskId", task}}) != nullptr) == file);
        CHECK((a.result("tools/call", with_state()) != nullptr) == file);
        const mcp_client legacy{second.port(), {"web", false}, ci};
        CHECK(tasks_in(legacy.result("tasks/list", json::object())).contains(task) == file);
    }
}

TEST_CASE("Rules for skills hide tools and prompts from lists and calls of both eras, over HTTP and with programs")
{
    const mcp_servers servers;
    auto settings = servers.settings();
    for (auto& each : settings.agents) {
        each.skills = {
            {.id = "gold",
             .visibility = core::skill_visibility::extended,
             .required_scopes = {std::string{core::scope_read}}}
        };
    }
    running_gateway gateway{settings};
    unsigned denied = 0;
    struct row {
        std::string method;
        json params;
    };
    const std::vector<row> rows{
        {"tools/call", {{"name", "gold"}}},
        {"prompts/get", {{"name", "gold"}}},
        {"completion/complete", {{"ref", {{"type", "ref/prompt"}, {"name", "gold"}}}, {"argument", json::object()}}},
    };
    for (const auto& each : ways) {
        CAPTURE(each.agent);
        CAPTURE(each.modern);
        for (const auto& [who, sees] :
             {std::pair{reader, true}, std::pair{mallory, false}, std::pair{ci, false}, std::pair{nobody, false}}) {
            const mcp_client client{gateway.port(), each, who};
            for (const auto* list : {"tools", "prompts"}) {
                const auto shown = client.result(std::string{list} + "/list", json::object())[list].dump();
                CHECK(shown.find("plain") != std::string::npos);
                CHECK((shown.find("gold") != std::string::npos) == sees);
            }
            const auto before = servers.reached();
            for (const auto& [method, params] : rows) {
                CAPTURE(method);
                const auto got = client.ask(method, params);
                const auto message = mcp_client::message_of(got);
                CHECK(message.contains("result") == sees);
                if (!sees) {
                    ++denied;
                    CHECK(got.status == 200);
                    CHECK(message["error"]["code"] == -32602);
                    CHECK(got.header("Cardea-Error") == "invalid_params");
                }
            }
            CHECK((servers.reached() == before) == !sees);
            CHECK(client.result("tools/call", {{"name", "plain"}}) != nullptr);
        }
    }
    CHECK(gateway.metric(R"(cardea_denied_total{reason="forbidden"})") == denied);
}

TEST_CASE("A hidden tool is refused in the words of a tool that the filter hides")
{
    const mcp_servers servers;
    auto settings = servers.settings();
    auto& agent = settings.agents.front();
    agent.skills = {{.id = "gold", .visibility = core::skill_visibility::extended, .required_scopes = {"x"}}};
    agent.mcp->tools.deny = {"iron"};
    const running_gateway gateway{settings};
    const mcp_client client{gateway.port(), {"web", false}, ci};
    const auto hidden = client.ask("tools/call", {{"name", "gold"}});
    const auto denied = client.ask("tools/call", {{"name", "iron"}});
    CHECK(hidden.body == denied.body);
    CHECK(hidden.status == denied.status);
}

TEST_SUITE_END();
