// How answers reach a caller to whom a server may hand something out: after a silence, and long ones.
#include "tests/flow/access_mcp_fixture.hpp"
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/access_mcp_answers");

using namespace flow;
using namespace flow::mcp_states;

TEST_CASE("A task that its server makes after a long silence is sealed in the event that the caller gets")
{
    for (const bool as_event : {false, true}) {
        CAPTURE(as_event);
        test_support::gate gate;
        test_support::scripted_agent agent{[&gate, as_event](const test_support::recorded_request& asked) {
            const std::string made = R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"task","taskId":"t1"}})";
            if (asked.body.find("tools/call") == std::string::npos) {
                return test_support::answer_json(R"({"jsonrpc":"2.0","id":7,"result":{"taskId":"t1"}})");
            }
            const field_list type{{"Content-Type", "text/event-stream"}};
            auto answer =
                as_event ? test_support::answer(200, "data: " + made + "\n\n", type) : test_support::answer_json(made);
            return then(test_support::script{test_support::pass_gate{gate.shared()}}, std::move(answer));
        }};
        auto settings = guarded(agent.url("/rpc"));
        auto record = mcp_agent("web", core::mcp_era::automatic);
        record.url = agent.url("/mcp");
        record.mcp->silent_call = std::chrono::milliseconds{1};
        settings.agents = {record};
        const running_gateway gateway{settings};
        const mcp_client a{gateway.port(), {"web", true}, ci};
        test_support::http_client caller{gateway.port()};
        caller.send(a.text_of("tools/call", {{"name", "task"}}));
        const auto head = caller.read_head();
        CHECK(head.header("Content-Type") == "text/event-stream");
        gate.release();
        const auto got = caller.read_until("0\r\n\r\n");
        CHECK(got.find(R"("t1")") == std::string::npos);
        constexpr std::string_view name = R"("taskId":")";
        const auto at = got.find(name);
        REQUIRE(at != std::string::npos);
        const auto task = got.substr(at + name.size(), got.find('"', at + name.size()) - at - name.size());
        CHECK(a.result("tasks/get", {{"taskId", task}})["taskId"] == task);
    }
}

TEST_CASE(
    "A list of tasks that comes as events is its caller's own, also behind the empty event that can be resumed from"
)
{
    test_support::scripted_agent agent{[](const test_support::recorded_request& asked) {
        const auto list = asked.body.find("tasks/list") != std::string::npos;
        if (asked.body.find("initialize") != std::string::npos) {
            return test_support::answer_json(
                R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tasks":{}},)"
                R"("serverInfo":{"name":"s","version":"1"}}})",
                {{"Mcp-Session-Id", "one"}}
            );
        }
        const std::string_view result =
            list ? R"({"tasks":[{"taskId":"t1"},{"taskId":"t2"}]})" : R"({"task":{"taskId":"t1"}})";
        return test_support::answer(
            200,
            "id: 1\ndata:\n\nid: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":" + std::string{result} + "}\n\n",
            {{"Content-Type", "text/event-stream"}}
        );
    }};
    auto settings = guarded(agent.url("/rpc"));
    auto record = mcp_agent("web", core::mcp_era::automatic);
    record.url = agent.url("/mcp");
    settings.agents = {record};
    const running_gateway gateway{settings};
    const mcp_client a{gateway.port(), {"web", false}, ci};
    const auto task = a.begin_task();
    const auto got = a.ask("tasks/list", json::object());
    CHECK(got.body.starts_with("id: 1\ndata:\n\nid: 2\n"));
    const auto listed = mcp_client::message_of(got)["result"]["tasks"];
    REQUIRE(listed.size() == 1);
    CHECK(listed[0]["taskId"] == task);
}

TEST_CASE(
    "A complete answer of the modern era passes as it comes, however long, and one that may hand something out has a "
    "limit"
)
{
    const std::string content = R"("content":[{"type":"text","text":")" + std::string(200'000, 'x') + R"("}])";
    const std::string type = R"("resultType":"complete")";
    for (const bool first : {true, false}) {
        CAPTURE(first);
        const auto answer =
            R"({"jsonrpc":"2.0","id":7,"result":{)" + (first ? type + "," + content : content + "," + type) + "}}";
        for (const bool chunked : {false, true}) {
            CAPTURE(chunked);
            test_support::scripted_agent agent{[&](const auto&) {
                const field_list json_type{{"Content-Type", "application/json"}};
                auto fields = json_type;
                fields.emplace_back("Transfer-Encoding", "chunked");
                return test_support::answer(200, answer, chunked ? fields : json_type);
            }};
            auto settings = guarded(agent.url("/rpc"));
            auto record = mcp_agent("web", core::mcp_era::automatic);
            record.url = agent.url("/mcp");
            record.mcp->max_message = first ? core::least_mcp_message : answer.size() - 1;
            settings.agents = {record};
            const running_gateway gateway{settings};
            const mcp_client a{gateway.port(), {"web", true}, ci};
            const auto got = a.ask("tools/call", {{"name", "x"}});
            if (first) {
                CHECK(got.status == 200);
                CHECK(got.body == answer);
            } else {
                CHECK(got.status == 502);
                CHECK(got.header("Cardea-Error") == "message_too_large");
            }
            record.mcp->max_message = answer.size();
            settings.agents = {record};
            const running_gateway roomy{settings};
            CHECK(mcp_client{roomy.port(), {"web", true}, ci}.ask("tools/call", {{"name", "x"}}).body == answer);
        }
    }
}

TEST_CASE("The state of a call that is translated for a client of the modern era is its principal's alone")
{
    const flow::mcp_programs::program_gateway x{[](config::settings& settings) {
        settings.access = guarded("http://127.0.0.1:9/").access;
        auto& record = settings.agents.front();
        record.discover = anyone;
        record.call = anyone;
        record.mcp->era = core::mcp_era::legacy;
    }};
    const auto ask = [&](const field_list& who, const json& more) {
        json params{{"name", "ask"}, {"arguments", json::object()}};
        params.update(more);
        params["_meta"] = {
            {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
            {"io.modelcontextprotocol/clientCapabilities", {{"roots", json::object()}}}
        };
        auto fields = who;
        fields.emplace_back("MCP-Protocol-Version", "2026-07-28");
        fields.emplace_back("Mcp-Method", "tools/call");
        fields.emplace_back("Mcp-Name", "ask");
        return parsed(
            x.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params.dump() + "}", fields).body
        );
    };
    const auto asked = ask(ci, json::object());
    REQUIRE(asked["result"]["resultType"] == "input_required");
    const json next{
        {"requestState", asked["result"]["requestState"]},
        {"inputResponses", {{"input-1", {{"roots", json::array()}}}}}
    };
    for (const auto& who : {mallory, nobody}) {
        CHECK(ask(who, next)["error"]["code"] == -32602);
    }
    CHECK(ask(ci, next)["result"]["resultType"] == "complete");
    CHECK(ask(ci, next)["error"]["code"] == -32602);
}

TEST_SUITE_END();
