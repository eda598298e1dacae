// Push notifications that are mediated, of calls whose callers and agents speak different dialects of A2A, and of HTTP+JSON.
#include "core/url.hpp"
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/push_bridge");

namespace {

using enum core::a2a_dialect;
using flow::bridged;
using flow::plain_json;
using flow::wire_request;
using test_support::recorded_request;
using test_support::scripted_agent;

// The object in `of` that has a url.
plain_json config_in(const plain_json& of)
{
    if (of.is_object() && of.contains("url")) {
        return of;
    }
    for (const auto& each : of) {
        if (each.is_structured()) {
            if (auto found = config_in(each); !found.is_null()) {
                return found;
            }
        }
    }
    return nullptr;
}

// Registers a configuration for the task `t`.
wire_request registering(core::a2a_dialect d, const std::string& url)
{
    const plain_json config{{"id", "c"}, {"url", url}, {"token", "told"}};
    if (d == v1_rest) {
        return {"POST", "/tasks/t/pushNotificationConfigs", config.dump()};
    }
    plain_json params{{"taskId", "t"}, {"pushNotificationConfig", config}};
    if (d == v1_jsonrpc) {
        params = config;
        params["taskId"] = "t";
    }
    const auto* method = d == v1_jsonrpc ? "CreateTaskPushNotificationConfig" : "tasks/pushNotificationConfig/set";
    const plain_json call{{"jsonrpc", "2.0"}, {"id", "q-1"}, {"method", method}, {"params", params}};
    return {"POST", "", call.dump()};
}

// A message with a configuration.
wire_request sending(core::a2a_dialect d, const std::string& url)
{
    auto wire = flow::request_in(d, flow::asked::send);
    auto body = plain_json::parse(wire.body);
    auto& params = flow::is_rest(d) ? body : body["params"];
    const auto* name = flow::is_1(d) ? "taskPushNotificationConfig" : "pushNotificationConfig";
    params["configuration"][name] = {{"url", url}, {"token", "told"}};
    wire.body = body.dump();
    return wire;
}

// Answers a configuration with itself, a question for the task with one that is done, and a message with a task.
test_support::handler keeping(core::a2a_dialect d)
{
    return [others = flow::speaking(d)](const recorded_request& seen) -> test_support::script {
        const auto body = plain_json::parse(seen.body, nullptr, /*allow_exceptions=*/false);
        const bool over_rpc = body.is_object() && body.contains("method");
        const bool is_set = over_rpc && (body["method"] == "CreateTaskPushNotificationConfig" ||
                                         body["method"] == "tasks/pushNotificationConfig/set");
        if (is_set) {
            const plain_json answered{{"jsonrpc", "2.0"}, {"id", body["id"]}, {"result", body["params"]}};
            return test_support::answer_json(answered.dump());
        }
        if (!over_rpc && seen.target.ends_with("/pushNotificationConfigs")) {
            return test_support::answer_json(seen.body);
        }
        return others(seen);
    };
}

struct mediated {
    explicit mediated(core::a2a_dialect agent)
        : to{agent,
             [](config::settings& settings) {
                 settings.agents[0].push = core::push_mode::mediate;
                 settings.push_allow = {"127.0.0.0/8"};
             },
             keeping(agent)}
    {
    }

    // What the agent has got of a configuration last.
    plain_json seen() const
    {
        const auto text = to.last().body;
        CHECK(text.find("/hook") == std::string::npos);
        CHECK(text.find("told") == std::string::npos);
        return config_in(plain_json::parse(text));
    }

    test_support::http_response notify(const plain_json& config, std::string_view body) const
    {
        const auto target = core::http_url::parse(config["url"].get<std::string>()).value().path;
        return test_support::request(
            to.x.port(),
            "POST",
            target,
            {{"Content-Type", "application/json"}, {"X-A2A-Notification-Token", config["token"].get<std::string>()}},
            body
        );
    }

    scripted_agent receiver{[](const recorded_request&) { return test_support::answer(204, ""); }};
    bridged to;
};

constexpr std::pair<core::a2a_dialect, core::a2a_dialect> pairs[] = {
    {v1_jsonrpc, v03_jsonrpc},
    {v03_jsonrpc, v1_jsonrpc},
    {v1_rest, v03_jsonrpc},
    {v1_rest, v1_rest},
};

}  // namespace

TEST_CASE("no agent gets the URL of a caller that speaks another dialect, and the caller reads its own back")
{
    for (const auto& [caller, agent] : pairs) {
        CAPTURE(core::name(caller));
        CAPTURE(core::name(agent));
        const mediated it{agent};
        const auto url = it.receiver.url("/hook?x=1");
        const auto registered = it.to.ask(caller, registering(caller, url));
        CHECK(registered.status == 200);
        const auto config = it.seen();
        REQUIRE(config.is_object());
        CHECK(config["url"].get<std::string>().starts_with(it.to.x.gateway.base() + "/agents/a/push/"));
        const auto read = config_in(plain_json::parse(registered.body));
        REQUIRE(read.is_object());
        CHECK(read["url"] == url);
        CHECK(read["token"] == "told");

        CHECK(it.to.ask(caller, sending(caller, url)).status == 200);
        CHECK(it.seen()["url"].get<std::string>().starts_with(it.to.x.gateway.base() + "/agents/a/push/"));
    }
}

TEST_CASE("a notification comes in the generation of the caller, whatever the agent's")
{
    for (const auto& [caller, agent] : pairs) {
        CAPTURE(core::name(caller));
        CAPTURE(core::name(agent));
        mediated it{agent};
        REQUIRE(it.to.ask(caller, registering(caller, it.receiver.url("/hook"))).status == 200);
        const std::string update =
            R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})";
        const auto body = flow::is_1(agent) ? update : flow::task_in(v03_jsonrpc, "working");
        CHECK(it.notify(it.seen(), body).status == 202);
        REQUIRE(it.receiver.wait_for_requests(1));
        const auto got = it.receiver.request(0);
        CHECK(got.header("X-A2A-Notification-Token") == "told");
        const auto told = plain_json::parse(got.body);
        if (!flow::is_1(caller)) {
            // Of an update 0.3 is told by the task, which the agent is asked for.
            CHECK(told == plain_json::parse(flow::task_in(v03_jsonrpc, "completed")));
        } else if (flow::is_1(agent)) {
            CHECK(told == plain_json::parse(update));
        } else {
            CHECK(told["task"]["status"]["state"] == "TASK_STATE_WORKING");
        }
    }
}

TEST_CASE("a configuration that is refused is refused in words of HTTP+JSON, and never reaches the agent")
{
    const mediated it{v03_jsonrpc};
    const auto refused = it.to.ask(v1_rest, registering(v1_rest, "ftp://h/hook"));
    CHECK(refused.status == 400);
    CHECK(plain_json::parse(refused.body)["error"]["code"] == 400);
    const wire_request no_json{"POST", "/tasks/t/pushNotificationConfigs", R"({"url":"http://127.0.0.1:9/hook")"};
    CHECK(it.to.ask(v1_rest, no_json).status == 400);
    for (const auto& each : it.to.x.agent.requests()) {
        CHECK(each.method == "GET");  // a search for its card
    }
}

TEST_SUITE_END();
