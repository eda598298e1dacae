// MCP clients at an agent of A2A that is ill, that says much, or that is gone.
#include "tests/flow/agent_tools_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/agent_tools");

using namespace flow;
using namespace flow::agent_tools;

TEST_CASE("What an agent that is ill does not do for its task is an error, and not that the task is unknown")
{
    for (const auto ill : {1, -32603, -32001, -32002}) {
        CAPTURE(ill);
        tools_gateway with{false};
        const auto port = with.x.port();
        const auto asked = call_tool(with, send_message("ask"));
        const json named{{"taskId", asked["structuredContent"]["taskId"]}};
        const auto waiting = ask(port, "tasks/get", named, tasks_extension);
        REQUIRE(waiting["status"] == "input_required");
        with.tasks->fall_ill(ill);
        auto answered = named;
        answered["inputResponses"][waiting["inputRequests"].begin().key()] = {
            {"action", "accept"},
            {"content", {{"answer", "the red"}}}
        };
        for (const auto* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
            CAPTURE(method);
            http_client caller{port};
            caller.send(
                modern_text(method, std::string_view{method} == "tasks/update" ? answered : named, tasks_extension)
            );
            const auto got = json::parse(caller.read_response().body);
            CHECK(got["id"] == 7);
            if (ill == -32002 && std::string_view{method} != "tasks/get") {
                CHECK(got["result"]["resultType"] == "complete");  // it has ended: there is nothing left to do
            } else {
                CHECK(got["error"]["code"] == (ill == -32001 ? -32602 : -32603));
            }
        }
    }
}

TEST_CASE("Long answers of an agent reach the client, as results and as tasks that are asked for again")
{
    constexpr std::size_t size = 3 * 1024 * 1024;
    tools_gateway with{false, [](config::settings& settings) {
                           settings.agents[0].tool_wait = std::chrono::milliseconds{300};
                       }};
    const auto handle = call_tool(with, send_message("work"), tasks_extension);
    REQUIRE(handle["resultType"] == "task");
    const auto id = handle["taskId"].get<std::string>();
    with.tasks->grow(size);
    const auto listed = call_tool(with, {{"name", "get_task"}, {"arguments", {{"taskId", id}}}});
    CHECK(listed["content"][0]["text"].get<std::string>().size() == size);
    CHECK(listed["isError"] == false);
    const std::string text(size, 'y');
    const auto said = call_tool(with, send_message(text));
    CHECK(said["content"][0]["text"] == "you said " + text);
    with.tasks->finish();
    with.tasks->grow(size);
    const auto done = ask(with.x.port(), "tasks/get", {{"taskId", id}}, tasks_extension);
    CHECK(done["status"] == "completed");
    CHECK(done["result"]["content"][0]["text"].get<std::string>().size() == size);
}

TEST_CASE("All listeners at an agent hear its end when it is gone, and those at others do not")
{
    const tools_gateway with{true};
    for (const auto* id : {"b", "c"}) {
        flow::manage(with.x.gateway, "agents/upsert", {{"agent", {{"id", id}, {"url", with.x.agent.url("/rpc")}}}});
    }
    const auto port = with.x.port();
    const auto text = modern_text("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}}, "{}");
    const auto at = [&text](std::string_view agent) {
        auto out = text;
        const std::string_view before = "/agents/a/";
        return out.replace(out.find(before), before.size(), "/agents/" + std::string{agent} + '/');
    };
    http_client other{port};
    other.send(at("c"));
    std::vector<std::unique_ptr<http_client>> listeners;
    for (int i = 0; i < 8; ++i) {
        listeners.push_back(std::make_unique<http_client>(port));
        listeners.back()->send(at("b"));
        listeners.back()->read_until("notifications/subscriptions/acknowledged");
    }
    other.read_until("notifications/subscriptions/acknowledged");
    flow::manage(with.x.gateway, "agents/delete", {{"id", "b"}});
    for (const auto& each : listeners) {
        CHECK(each->read_until(R"("resultType")").find(R"("id":7)") != std::string::npos);
    }
    // The other one still hears of its own agent.
    flow::manage(with.x.gateway, "agents/delete", {{"id", "c"}});
    CHECK(other.read_until(R"("resultType")").find(R"("id":7)") != std::string::npos);
}

TEST_SUITE_END();
