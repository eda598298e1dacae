// Agents of A2A as members of a bundle: their tools and their tasks.
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/bundle_agents");

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view card =
    R"({"name":"Tasks","description":"Has tasks.","version":"3","supportedInterfaces":[{"url":"http://127.0.0.1:9/",)"
    R"("protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text"],)"
    R"("defaultOutputModes":["text"],"skills":[{"id":"s","name":"S","description":"Does it","tags":["t"]}]})";

// Its only task, `t1`, never ends.
script working_agent(const recorded_request& asked)
{
    const auto call = json::parse(asked.body, nullptr, /*allow_exceptions=*/false);
    if (!call.is_object()) {
        return answer_json(std::string{card});
    }
    const json task{{"id", "t1"}, {"contextId", "c"}, {"status", {{"state", "TASK_STATE_WORKING"}}}};
    const bool begins = call["method"] == "SendMessage";
    return answer_json(
        json{{"jsonrpc", "2.0"}, {"id", call["id"]}, {"result", begins ? json{{"task", task}} : task}}.dump()
    );
}

json ask(const relayed& x, std::string_view method, json params)
{
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]["io.modelcontextprotocol/tasks"] =
        json::object();
    field_list fields{
        {"Content-Type", "application/json"},
        {"MCP-Protocol-Version", "2026-07-28"},
        {"Mcp-Method", std::string{method}}
    };
    for (const auto* const name : {"name", "taskId"}) {
        if (params.contains(name)) {
            fields.emplace_back("Mcp-Name", params[name].get<std::string>());
        }
    }
    http_client caller{x.port()};
    const json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    caller.send(request_text("POST", "/mcp", with(usual_fields(), fields), body.dump()));
    const auto got = caller.read_response().body;
    const auto data = got.rfind("data: ");
    return json::parse(data == std::string::npos ? got : got.substr(data + 6, got.find('\n', data) - data - 6));
}

std::vector<std::string> tools_of(const relayed& x)
{
    std::vector<std::string> names;
    const auto listed = ask(x, "tools/list", json::object());
    for (const auto& each : listed["result"]["tools"]) {
        names.push_back(each["name"].get<std::string>());
    }
    return names;
}

core::mcp_bundle bundle_of(std::vector<core::bundle_member> members)
{
    core::mcp_bundle bundle;
    bundle.name = "default";
    bundle.agents = std::move(members);
    return bundle;
}

}  // namespace

TEST_CASE("A task goes to the member that has given it out, although another one has no prefix")
{
    scripted_agent other{working_agent};
    const relayed x{working_agent, [&other](config::settings& settings) {
                        settings.agents.push_back(a2a_agent("b", other.url("/")));
                        settings.mcp.bundles = {bundle_of({{"a", ""}, {"b", "bee"}})};
                    }};
    const auto asks_task = [](const recorded_request& each) { return each.body.find("GetTask") != std::string::npos; };
    const auto asked = [&](const scripted_agent& agent) { return std::ranges::count_if(agent.requests(), asks_task); };
    const auto begun = ask(x, "tools/call", {{"name", "bee__send_message"}, {"arguments", {{"message", "work"}}}});
    const auto id = begun["result"]["taskId"].get<std::string>();
    CHECK(id == "bee+t1");
    const auto of_x_before = asked(x.agent);
    const auto before = asked(other);
    CHECK(ask(x, "tasks/get", {{"taskId", id}})["result"]["taskId"] == id);
    CHECK(asked(other) == before + 1);
    CHECK(ask(x, "tasks/get", {{"taskId", "t1"}})["result"]["taskId"] == "t1");
    CHECK(asked(x.agent) == of_x_before + 1);
}

TEST_CASE("An agent that was away when its card was first wanted comes back without refreshing in the background")
{
    const auto here = std::make_shared<std::atomic<bool>>(false);
    const relayed x{
        [here](const recorded_request& asked) { return *here ? working_agent(asked) : answer(503, ""); },
        [](config::settings& settings) {
            settings.cards.background = 0;
            settings.cards.negative_ttl = 50ms;
            settings.mcp.bundles = {bundle_of({{"a"}})};
        }
    };
    CHECK(tools_of(x).empty());
    CHECK(ask(x, "tools/list", json::object())["result"]["_meta"]["cardea/unavailable"] == json{"a"});
    *here = true;
    const auto by = std::chrono::steady_clock::now() + patience;
    while (tools_of(x).empty() && std::chrono::steady_clock::now() < by) {
        std::this_thread::sleep_for(10ms);
    }
    CHECK_FALSE(tools_of(x).empty());
}

TEST_SUITE_END();
