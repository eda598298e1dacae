// MCP clients that call an agent of A2A 1.0 at /agents/<id>/mcp.
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

TEST_CASE("An agent is a server with its tools, and a call of one a call of A2A")
{
    for (const bool streams : {true, false}) {
        CAPTURE(streams);
        const tools_gateway with{streams};
        const auto port = with.x.port();
        const auto found = ask(port, "server/discover", json::object());
        CHECK(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "Tasks");
        CHECK(found["capabilities"]["tools"]["listChanged"] == true);
        const auto listed = ask(port, "tools/list", json::object());
        REQUIRE(listed["tools"].size() == 3);
        CHECK(listed["ttlMs"] == 0);
        const auto got = call_tool(with, send_message("hello"));
        CHECK(got["content"] == json::parse(R"([{"type":"text","text":"you said hello"}])"));
        CHECK(got["structuredContent"] == json::parse(R"({"state":"completed","taskId":"t1","contextId":"c"})"));
        CHECK(has_called(with, streams ? "SendStreamingMessage" : "SendMessage"));
        CHECK(call_tool(with, send_message("fail"))["isError"] == true);
        CHECK(call_tool(with, send_message("auth"))["isError"] == true);
        const auto asked = call_tool(with, send_message("ask"));
        CHECK(asked["structuredContent"]["state"] == "input-required");
        CHECK(asked["content"][0]["text"] == "Which one?");
        const auto task = asked["structuredContent"]["taskId"].get<std::string>();
        const auto answered = call_tool(with, send_message("the red", {{"taskId", task}, {"contextId", "c"}}));
        CHECK(answered["content"][0]["text"] == "you said the red");
        CHECK(call_tool(with, {{"name", "nothing"}, {"arguments", json::object()}})["code"] == -32602);
        CHECK(call_tool(with, {{"name", "send_message"}, {"arguments", json::object()}})["isError"] == true);
    }
}

TEST_CASE("Access lines name the bridge, the tool and the call that it became")
{
    const tools_gateway with{true};
    call_tool(with, send_message("hello"));
    const auto outer =
        with.x.gateway.log().wait_for([](auto line) { return line.find(R"("rpc":"tools/call")") != line.npos; });
    REQUIRE(outer.has_value());
    CHECK(outer->find(R"("bridge":"mcp_a2a")") != std::string::npos);
    CHECK(outer->find(R"("tool":"send_message")") != std::string::npos);
    const auto inner = with.x.gateway.log().wait_for([](auto line) {
        return line.find(R"("rpc":"SendStreamingMessage")") != line.npos;
    });
    REQUIRE(inner.has_value());
    CHECK(inner->find(R"("bridge":"mcp_a2a")") != std::string::npos);
}

TEST_CASE("After tool_wait a task that goes on is a result that says how to follow it")
{
    for (const bool streams : {true, false}) {
        for (const auto* text : {"work", "cut"}) {
            CAPTURE(streams);
            CAPTURE(text);
            tools_gateway with{streams, [](config::settings& settings) {
                                   settings.agents[0].tool_wait = std::chrono::milliseconds{300};
                               }};
            if (streams && std::string_view{text} == "work") {
                with.x.agent.next(answer_json(with.tasks->card()));  // the card is fetched first
            }
            http_client caller{with.x.port()};
            caller.send(modern_text("tools/call", send_message(text)));
            if (streams && std::string_view{text} == "work") {
                REQUIRE(with.x.agent.wait_for_streams(1));
                with.x.agent.send_event(
                    R"({"jsonrpc":"2.0","id":1,"result":{"task":)" + with.tasks->first().dump() + "}}"
                );
            }
            const auto got = result_of(caller.read_response());
            CHECK(got["structuredContent"]["state"] == "working");
            CHECK(got["content"].back()["text"].get<std::string>().find("get_task") != std::string::npos);
            const auto task = got["structuredContent"]["taskId"];
            with.tasks->finish();
            const auto done = call_tool(with, {{"name", "get_task"}, {"arguments", {{"taskId", task}}}});
            CHECK(done["content"][0]["text"] == "the result");
        }
    }
}

TEST_CASE("A call whose stream breaks off is followed, and not sent again")
{
    tools_gateway with{true};
    http_client caller{with.x.port()};
    caller.send(modern_text("tools/call", send_message("cut")));
    CHECK(has_called(with, "SubscribeToTask"));
    CHECK(has_called(with, "GetTask"));
    with.tasks->finish();
    const auto got = result_of(caller.read_response());
    CHECK(got["structuredContent"]["state"] == "completed");
    const auto all = with.x.agent.requests();
    CHECK(std::ranges::count_if(all, [](const auto& each) {
              return each.body.find("SendStreamingMessage") != std::string::npos;
          }) == 1);
}

TEST_CASE("A client that leaves ends the task")
{
    for (const auto* text : {"cut", "ask"}) {
        CAPTURE(text);
        tools_gateway with{true};
        {
            http_client caller{with.x.port()};
            caller.send(modern_text("tools/call", send_message(text)));
            if (std::string_view{text} == "ask") {
                CHECK(result_of(caller.read_response())["structuredContent"]["state"] == "input-required");
            } else {
                CHECK(has_called(with, "GetTask"));
            }
        }
        if (std::string_view{text} == "cut") {
            CHECK(has_called(with, "CancelTask"));
        }
        CHECK(call_tool(with, send_message("hello"))["isError"] == false);
        const auto all = with.x.agent.requests();
        const bool cancelled = std::ranges::any_of(all, [](const auto& each) {
            return each.body.find("CancelTask") != std::string::npos;
        });
        CHECK(cancelled == (std::string_view{text} == "cut"));
    }
}

TEST_CASE("A client of the tasks extension gets the task, and follows, answers and cancels it")
{
    tools_gateway with{false};
    const auto port = with.x.port();
    const auto handle = call_tool(with, send_message("work"), tasks_extension);
    CHECK(handle["resultType"] == "task");
    CHECK(handle["status"] == "working");
    const json named{{"taskId", handle["taskId"]}};
    CHECK(ask(port, "tasks/get", named, tasks_extension)["status"] == "working");
    CHECK(ask(port, "tasks/cancel", named, tasks_extension)["resultType"] == "complete");
    CHECK(ask(port, "tasks/get", named, tasks_extension)["status"] == "cancelled");
    CHECK(ask(port, "tasks/get", {{"taskId", "nobody's"}}, tasks_extension)["code"] == -32602);

    const auto other = call_tool(with, send_message("work"), tasks_extension);
    const json other_named{{"taskId", other["taskId"]}};
    with.tasks->finish();
    const auto done = ask(port, "tasks/get", other_named, tasks_extension);
    CHECK(done["status"] == "completed");
    CHECK(done["result"]["content"][0]["text"] == "the result");
}

TEST_CASE("A question of a task is answered with tasks/update, once and only for itself")
{
    tools_gateway with{false};
    const auto port = with.x.port();
    const auto asked = call_tool(with, send_message("ask"));
    const json named{{"taskId", asked["structuredContent"]["taskId"]}};
    const auto waiting = ask(port, "tasks/get", named, tasks_extension);
    REQUIRE(waiting["status"] == "input_required");
    const auto key = waiting["inputRequests"].begin().key();
    const auto answer = [&](const std::string& to) {
        auto params = named;
        params["inputResponses"][to] = {{"action", "accept"}, {"content", {{"answer", "the red"}}}};
        return ask(port, "tasks/update", params, tasks_extension);
    };
    CHECK(answer("another")["resultType"] == "complete");
    CHECK(ask(port, "tasks/get", named, tasks_extension)["status"] == "input_required");
    CHECK(answer(key)["resultType"] == "complete");
    const auto done = ask(port, "tasks/get", named, tasks_extension);
    CHECK(done["result"]["content"][0]["text"] == "you said the red");
    CHECK(answer(key)["resultType"] == "complete");
    const auto all = with.x.agent.requests();
    CHECK(std::ranges::count_if(all, [](const auto& each) {
              return each.body.find("the red") != std::string::npos;
          }) == 1);
}

TEST_CASE("A client that answers forms is asked, and a question that is declined ends the task")
{
    constexpr std::string_view forms = R"({"elicitation":{}})";
    for (const bool streams : {true, false}) {
        for (const bool accepts : {true, false}) {
            CAPTURE(streams);
            CAPTURE(accepts);
            tools_gateway with{streams};
            const auto asked = call_tool(with, send_message("ask"), forms);
            REQUIRE(asked["resultType"] == "input_required");
            const auto& requests = asked["inputRequests"];
            CHECK(requests.begin().value()["params"]["message"] == "Which one?");
            auto again = send_message("ask");
            again["requestState"] = asked["requestState"];
            again["inputResponses"][requests.begin().key()] =
                accepts ? json{{"action", "accept"}, {"content", {{"answer", "the red"}}}}
                        : json{{"action", "decline"}};
            const auto got = call_tool(with, again, forms);
            CHECK(got["structuredContent"]["state"] == (accepts ? "completed" : "canceled"));
            CHECK(with.tasks->first()["status"]["state"] == (accepts ? "TASK_STATE_COMPLETED" : "TASK_STATE_CANCELED"));
        }
    }
}

TEST_CASE("A client of the legacy era calls the tools in a session, and answers questions")
{
    tools_gateway with{false};
    const auto port = with.x.port();
    field_list fields{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
    const auto post = [&](const std::string& body) {
        http_client caller{port};
        caller.send(request_text("POST", "/agents/a/mcp", fields, body));
        return caller.read_response();
    };
    const auto begun = post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
                            R"("capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}})");
    REQUIRE(begun.status == 200);
    CHECK(json::parse(begun.body)["result"]["serverInfo"]["name"] == "Tasks");
    fields.emplace_back("Mcp-Session-Id", begun.header("Mcp-Session-Id"));
    fields.emplace_back("MCP-Protocol-Version", "2025-06-18");
    CHECK(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status == 202);
    CHECK(result_of(post(R"({"jsonrpc":"2.0","id":7,"method":"tools/list"})"))["tools"].size() == 3);
    const auto call = [](std::string_view text) {
        return R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":)" + send_message(text).dump() + "}";
    };
    CHECK(result_of(post(call("hello")))["content"][0]["text"] == "you said hello");

    http_client caller{port};
    caller.send(request_text("POST", "/agents/a/mcp", fields, call("ask")));
    const auto head = caller.read_head();
    CHECK(head.status == 200);
    const auto event = caller.read_until("elicitation/create");
    const auto rest = event + caller.read_until("\n\n");
    const auto from = rest.rfind("data: ") + 6;
    const auto question = json::parse(rest.substr(from, rest.find('\n', from) - from));
    CHECK(question["params"]["message"] == "Which one?");
    const json answered{
        {"jsonrpc", "2.0"},
        {"id", question["id"]},
        {"result", {{"action", "accept"}, {"content", {{"answer", "the red"}}}}}
    };
    CHECK(post(answered.dump()).status == 202);
    CHECK(caller.read_until("you said the red").find("structuredContent") == std::string::npos);
}

TEST_CASE("What nobody can call is not there: as_tools off, and a path that is relayed")
{
    const tools_gateway off{true, [](config::settings& settings) {
                                settings.agents[0].as_tools = core::tool_form::off;
                            }};
    http_client caller{off.x.port()};
    caller.send(modern_text("tools/list", json::object()));
    CHECK(caller.read_response().status == 404);
    const tools_gateway opaque{true, [](config::settings& settings) { settings.agents[0].relay_paths = {"/mcp"}; }};
    http_client other{opaque.x.port()};
    other.send(modern_text("tools/list", json::object()));
    CHECK(other.read_response().body == opaque.tasks->card());
}

TEST_CASE("Skills are tools of their own where the agent obeys them, and a changed card changes the list")
{
    tools_gateway with{true, [](config::settings& settings) {
                           settings.agents[0].as_tools = core::tool_form::skills;
                           settings.cards.ttl = std::chrono::milliseconds{200};
                           settings.cards.min_ttl = std::chrono::milliseconds{100};
                       }};
    const auto port = with.x.port();
    CHECK(ask(port, "tools/list", json::object())["tools"][0]["name"] == "s");
    CHECK(call_tool(with, {{"name", "s"}, {"arguments", {{"message", "hi"}}}})["isError"] == false);
    const auto sent = with.x.agent.requests();
    CHECK(std::ranges::any_of(sent, [](const auto& each) {
        return each.body.find(R"("skillId":"s")") != std::string::npos;
    }));
    http_client listener{port};
    listener.send(modern_text("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}}, "{}"));
    CHECK(listener.read_head().status == 200);
    listener.read_until("notifications/subscriptions/acknowledged");
    with.tasks->rename_skill("other");
    // The card is fetched again for whoever asks for it when it is stale.
    CHECK(becomes_true([port] {
        const auto card = request(port, "GET", "/agents/a/.well-known/agent-card.json");
        return card.status == 200 && json::parse(card.body)["skills"][0]["id"] == "other";
    }));
    CHECK(listener.read_until("notifications/tools/list_changed").find("\"error\"") == std::string::npos);
    CHECK(ask(port, "tools/list", json::object())["tools"][0]["name"] == "other");
}

TEST_CASE("Tasks belong to the principal that began them")
{
    const auto keeper = std::make_shared<task_keeper>(false);
    scripted_agent upstream{[keeper](const recorded_request& asked) { return (*keeper)(asked); }};
    auto settings = guarded(upstream.url("/rpc"));
    auto record = a2a_agent("a", upstream.url("/rpc"));
    record.discover = anyone;
    record.call = anyone;
    settings.agents = {record};
    const running_gateway gateway{std::move(settings)};
    const auto port = gateway.port();
    const auto of_ci = ask(port, "tools/call", send_message("ask"), tasks_extension, ci);
    REQUIRE(of_ci["resultType"] == "input_required");
    const auto task = keeper->first()["id"].get<std::string>();
    const auto get = [&](const field_list& who) {
        return ask(port, "tools/call", {{"name", "get_task"}, {"arguments", {{"taskId", task}}}}, "{}", who);
    };
    CHECK(get(ci)["structuredContent"]["state"] == "input-required");
    CHECK(get(mallory)["isError"] == true);
    CHECK(get(nobody)["isError"] == true);
    // Her state and her task's handle are good for nobody else.
    auto again = send_message("ask");
    again["requestState"] = of_ci["requestState"];
    again["inputResponses"][of_ci["inputRequests"].begin().key()] = {
        {"action", "accept"},
        {"content", {{"answer", "hers"}}}
    };
    http_client thief{port};
    thief.send(modern_text("tools/call", again, tasks_extension, mallory));
    CHECK(thief.read_response().body.find("you said") == std::string::npos);
    CHECK(ask(port, "tools/call", again, tasks_extension, ci)["content"][0]["text"] == "you said hers");
    const auto handle = ask(port, "tools/call", send_message("work"), tasks_extension, ci);
    REQUIRE(handle["resultType"] == "task");
    CHECK(ask(port, "tasks/get", {{"taskId", handle["taskId"]}}, tasks_extension, ci)["status"] == "working");
    http_client other{port};
    other.send(modern_text("tasks/get", {{"taskId", handle["taskId"]}}, tasks_extension, mallory));
    CHECK(other.read_response().body.find("\"error\"") != std::string::npos);
}

TEST_CASE("A call of a tool takes one place among the calls of its agent")
{
    const tools_gateway with{false, [](config::settings& settings) { settings.agents[0].most_in_flight = 1; }};
    CHECK(call_tool(with, send_message("hello"))["isError"] == false);
    CHECK(call_tool(with, send_message("again"))["isError"] == false);
}
