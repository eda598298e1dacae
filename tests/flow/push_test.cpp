// Push notifications of agents that are mediated: what the agent gets of a configuration, what callers read of it, and what
// arrives at the caller's URL. over 400 lines: the cases share one rig.
#include "core/url.hpp"
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/push");

namespace {

using namespace flow;
using core::json;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::scripted_agent;

constexpr std::string_view task = R"({"kind":"task","id":"1","contextId":"c","status":{"state":"working"}})";

// Answers a call with its own params; a list of 1.0 has them as its only element, and one of 0.3 too.
test_support::script echo(const recorded_request& asked)
{
    if (asked.method != "POST") {
        return answer(404, "");  // a search for its card
    }
    const auto call = parsed(asked.body);
    const auto method = call["method"].get<std::string>();
    json result = call["params"];
    if (method == "ListTaskPushNotificationConfigs") {
        result = {{"configs", json::array({call["params"]})}};
    } else if (method == "tasks/pushNotificationConfig/list") {
        result = json::array({call["params"]});
    }
    return answer_json(json{{"jsonrpc", "2.0"}, {"id", call["id"]}, {"result", result}}.dump());
}

std::vector<std::string> calls_of(const scripted_agent& agent)
{
    std::vector<std::string> bodies;
    for (const auto& each : agent.requests()) {
        if (each.method == "POST") {
            bodies.push_back(each.body);
        }
    }
    return bodies;
}

std::string last_call_of(const scripted_agent& agent)
{
    const auto bodies = calls_of(agent);
    REQUIRE_FALSE(bodies.empty());
    return bodies.back();
}

struct mediated {
    explicit mediated(const relayed::adjustment& adjust = {})
        : x{echo, [&](config::settings& settings) {
                settings.agents[0].push = core::push_mode::mediate;
                settings.push_allow = {"127.0.0.0/8"};
                if (adjust) {
                    adjust(settings);
                }
            }}
    {
    }

    json call(std::string_view method, const json& params) const
    {
        const json body{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}};
        return parsed(flow::call(x.port(), body.dump()).body);
    }

    // Registers `config` with a method of 1.0; what the agent got of it.
    json registered(json config) const
    {
        config["taskId"] = "1";
        call("CreateTaskPushNotificationConfig", config);
        return parsed(last_call_of(x.agent))["params"];
    }

    test_support::http_response
    notify(const json& config, std::string_view body, const std::optional<std::string>& proof = std::nullopt) const
    {
        return request(
            x.port(),
            "POST",
            target_of(config),
            {{"Content-Type", "application/json"},
             {"X-A2A-Notification-Token", proof.value_or(config["token"].get<std::string>())}},
            body
        );
    }

    static std::string target_of(const json& config)
    {
        return core::http_url::parse(config["url"].get<std::string>()).value().path;
    }

    bool ended(std::string_view how) const
    {
        return x.gateway.wait_for_metric("cardea_push_attempts_total{outcome=\"" + std::string{how} + "\"}", 1);
    }

    scripted_agent receiver{[](const recorded_request&) { return answer(204, ""); }};
    relayed x;
};

// A gateway for which every name is 127.0.0.1.
struct looked_up {
    explicit looked_up(config::settings settings)
        : gateway{with_agent(std::move(settings), agent.url("/rpc")), [](const std::string&) {
                      return net::name_answer{{}, {boost::asio::ip::make_address("127.0.0.1")}};
                  }}
    {
    }

    static config::settings with_agent(config::settings settings, const std::string& url)
    {
        settings.agents.push_back(a2a_agent("a", url));
        settings.agents[0].push = core::push_mode::mediate;
        return settings;
    }

    // The answer to a notification for this URL.
    unsigned notified(const std::string& url)
    {
        const json config{{"taskId", "1"}, {"url", url}};
        const json body{
            {"jsonrpc", "2.0"},
            {"id", 7},
            {"method", "CreateTaskPushNotificationConfig"},
            {"params", config}
        };
        flow::call(gateway.port(), body.dump());
        const auto seen = parsed(last_call_of(agent))["params"];
        return request(
                   gateway.port(),
                   "POST",
                   mediated::target_of(seen),
                   {{"Content-Type", "application/json"}, {"X-A2A-Notification-Token", seen["token"].get<std::string>()}
                   },
                   task
        )
            .status;
    }

    scripted_agent agent{echo};
    running_gateway gateway;
};

}  // namespace

TEST_CASE("the agent gets an address of the gateway's, and callers read their own back, in both generations")
{
    const mediated it;
    const json of_1{
        {"taskId", "1"},
        {"id", "c"},
        {"url", "http://127.0.0.1:9/hook?x=1"},
        {"token", "t"},
        {"authentication", {{"scheme", "Basic"}, {"credentials", "abc"}}}
    };
    CHECK(it.call("CreateTaskPushNotificationConfig", of_1)["result"] == of_1);
    const auto seen = parsed(last_call_of(it.x.agent))["params"];
    CHECK(seen["url"].get<std::string>().starts_with(it.x.gateway.base() + "/agents/a/push/"));
    CHECK(seen["id"] == "c");
    CHECK(seen["token"] != "t");
    CHECK(seen["authentication"] == json{{"scheme", "Bearer"}, {"credentials", seen["token"]}});
    CHECK(last_call_of(it.x.agent).find("9/hook") == std::string::npos);
    // As an agent answers later: with what it was given.
    CHECK(it.call("GetTaskPushNotificationConfig", seen)["result"] == of_1);
    CHECK(it.call("ListTaskPushNotificationConfigs", seen)["result"]["configs"][0] == of_1);

    const json of_0{
        {"taskId", "1"},
        {"pushNotificationConfig",
         {{"url", "http://127.0.0.1:9/old"}, {"authentication", {{"schemes", {"Basic", "Bearer"}}}}}}
    };
    CHECK(it.call("tasks/pushNotificationConfig/set", of_0)["result"] == of_0);
    const auto old_seen = parsed(last_call_of(it.x.agent))["params"];
    CHECK(old_seen["pushNotificationConfig"]["authentication"]["schemes"] == json::array({"Bearer"}));
    CHECK(it.call("tasks/pushNotificationConfig/get", old_seen)["result"] == of_0);
    CHECK(it.call("tasks/pushNotificationConfig/list", old_seen)["result"][0] == of_0);
}

TEST_CASE("a configuration in a message is replaced, and all around it keeps its bytes")
{
    const mediated it;
    const std::string before =
        R"({"jsonrpc":"2.0", "id":1,"method":"message/send","params":{"message":{"n":1.0e5},"configuration":{"blocking":false,"pushNotificationConfig":)";
    flow::call(it.x.port(), before + R"({"url":"http://127.0.0.1:9/"}}}})");
    const auto body = last_call_of(it.x.agent);
    CHECK(body.starts_with(before + R"({"url":"http://)"));
    CHECK(body.ends_with("}}}}"));
    CHECK(body.find("127.0.0.1:9/") == std::string::npos);
    const auto plain = call_body();
    flow::call(it.x.port(), plain);
    CHECK(last_call_of(it.x.agent) == plain);
}

TEST_CASE(
    "a notification arrives at the caller's URL with its token, its authentication and the id that the agent was told"
)
{
    mediated it;
    const auto config = it.registered(
        {{"url", it.receiver.url("/hook?x=1")},
         {"token", "secret-token"},
         {"authentication", {{"scheme", "Basic"}, {"credentials", "abc"}}}}
    );
    const auto told = it.notify(config, R"({"task":{"id":"1","status":{"state":"TASK_STATE_WORKING"}}})");
    CHECK(told.status == 202);
    REQUIRE(it.receiver.wait_for_requests(1));
    const auto got = it.receiver.request(0);
    CHECK(got.method == "POST");
    CHECK(got.target == "/hook?x=1");
    CHECK(got.body == R"({"task":{"id":"1","status":{"state":"TASK_STATE_WORKING"}}})");
    CHECK(got.header("X-A2A-Notification-Token") == "secret-token");
    CHECK(got.header("A2A-Notification-Token") == "secret-token");
    CHECK(got.header("Authorization") == "Basic abc");
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.header("Cardea-Delivery").size() == 22);
    CHECK(got.header("Cardea-Delivery") == told.header("Cardea-Delivery"));
    CHECK(it.ended("delivered"));
    CHECK(it.x.gateway.wait_for_metric("cardea_push_queue", 0));
    for (const auto& line : it.x.gateway.log().all()) {
        CHECK(line.find("secret-token") == std::string::npos);
    }
}

TEST_CASE("a caller of 1.0 gets its own form of what an agent of 0.3 sends")
{
    mediated it;
    const auto config = it.registered({{"url", it.receiver.url("/")}});
    CHECK(it.notify(config, task).status == 202);
    REQUIRE(it.receiver.wait_for_requests(1));
    CHECK(
        it.receiver.request(0).body == R"({"task":{"id":"1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})"
    );
}

TEST_CASE("only the agent that an address was made for can use it, and only with its proof")
{
    mediated it{[](config::settings& settings) { settings.agents.push_back(a2a_agent("b", settings.agents[0].url)); }};
    const auto config = it.registered({{"url", it.receiver.url("/")}});
    check_refusal(it.notify(config, task, "wrong"), 401, "unauthenticated", "a");
    check_refusal(it.notify(config, task, ""), 401, "unauthenticated", "a");
    const auto target = mediated::target_of(config);
    const test_support::field_list with_bearer{
        {"Content-Type", "application/json"},
        {"Authorization", "bearer " + config["token"].get<std::string>()}
    };
    CHECK(request(it.x.port(), "POST", target, with_bearer, task).status == 202);
    auto changed = target;
    changed[changed.size() - 30] = changed[changed.size() - 30] == 'A' ? 'B' : 'A';
    CHECK(request(it.x.port(), "POST", changed, with_bearer, task).status == 404);
    auto elsewhere = target;
    elsewhere.replace(elsewhere.find("/a/"), 3, "/b/");
    CHECK(request(it.x.port(), "POST", elsewhere, with_bearer, task).status == 404);
    CHECK(request(it.x.port(), "GET", target, with_bearer).status == 405);
    CHECK(request(it.x.port(), "POST", target, {{"Content-Type", "text/plain"}}, task).status == 401);
    CHECK(it.ended("delivered"));
    CHECK(it.receiver.request_count() == 1);
}

TEST_CASE("what is no notification is refused, and one as large as the limit is not")
{
    mediated it{[](config::settings& settings) { settings.limits.push_body = 2048; }};
    const auto config = it.registered({{"url", it.receiver.url("/")}});
    for (const std::string_view body : {"", "{}", "[]", "no json", R"({"task":1})"}) {
        CAPTURE(body);
        CHECK(it.notify(config, body).status == 400);
    }
    const auto sized = [](std::size_t size) {
        const std::string before = R"({"task":{"id":"1","status":{"state":"TASK_STATE_WORKING"},"metadata":{"x":")";
        const std::string after = R"("}}})";
        return before + std::string(size - before.size() - after.size(), 'x') + after;
    };
    CHECK(it.notify(config, sized(2047)).status == 202);
    CHECK(it.notify(config, sized(2048)).status == 202);
    CHECK(it.notify(config, sized(2049)).status == 413);
}

TEST_CASE("a receiver that fails gets the notification again, with the same id and before the next one of the task")
{
    mediated it;
    it.receiver.next(answer(503, "later"));
    const auto config = it.registered({{"url", it.receiver.url("/")}});
    const auto first = it.notify(config, task).header("Cardea-Delivery");
    REQUIRE(it.receiver.wait_for_requests(1));
    const auto second = it.notify(config, task).header("Cardea-Delivery");
    REQUIRE(it.receiver.wait_for_requests(3));
    CHECK(it.receiver.request(0).header("Cardea-Delivery") == first);
    CHECK(it.receiver.request(1).header("Cardea-Delivery") == first);
    CHECK(it.receiver.request(2).header("Cardea-Delivery") == second);
}

TEST_CASE("a receiver that is slow or closes gets the notification again")
{
    mediated it{[](config::settings& settings) { settings.timeouts.push = core::duration{200}; }};
    it.receiver.next(test_support::silence());
    it.receiver.next(test_support::close_unanswered());
    const auto config = it.registered({{"url", it.receiver.url("/")}});
    CHECK(it.notify(config, task).status == 202);
    CHECK(it.ended("delivered"));
    CHECK(it.receiver.request_count() == 3);
}

TEST_CASE("a redirect is not followed, a refusal is not repeated, and operators are told of both")
{
    for (const auto& [script, reason] : std::vector<std::pair<test_support::script, std::string>>{
             {test_support::redirect("http://127.0.0.1:9/elsewhere", 307), "redirected"},
             {answer(404, "no"), "rejected"},
         }) {
        CAPTURE(reason);
        mediated it;
        it.receiver.next(script);
        const auto config = it.registered({{"url", it.receiver.url("/")}});
        const auto id = it.notify(config, task).header("Cardea-Delivery");
        const auto line = it.x.gateway.log().wait_for([](std::string_view each) {
            return each.find(R"("event":"push_failed")") != std::string_view::npos;
        });
        REQUIRE(line.has_value());
        CHECK(line->find(R"("reason":")" + reason + '"') != std::string::npos);
        CHECK(line->find(id) != std::string::npos);
        CHECK(it.ended(reason));
        CHECK(it.receiver.request_count() == 1);
    }
}

TEST_CASE("a private address is refused when it is named, and when only the lookup of its name shows it")
{
    mediated it{[](config::settings& settings) { settings.push_allow.clear(); }};
    const auto objection =
        it.call("CreateTaskPushNotificationConfig", {{"taskId", "1"}, {"url", it.receiver.url("/")}});
    CHECK(objection["error"]["code"] == -32602);
    CHECK(calls_of(it.x.agent).empty());
    // 127.0.0.1 to whoever looks it up.
    const auto end = ':' + std::to_string(it.receiver.port()) + '/';
    const json number{{"taskId", "1"}, {"url", "http://2130706433" + end}};
    CHECK(it.call("CreateTaskPushNotificationConfig", number)["error"]["code"] == -32602);
    looked_up named{quick_settings()};
    CHECK(named.notified("http://receiver.test" + end) == 202);
    CHECK(named.gateway.wait_for_metric(R"(cardea_push_attempts_total{outcome="forbidden"})", 1));
    CHECK(it.receiver.accepted_connections() == 0);
}

TEST_CASE("A notification goes through the proxy to a name, and never to a private address")
{
    scripted_agent proxy{[](const recorded_request&) { return answer(204, ""); }};
    mediated it{[&](config::settings& settings) {
        settings.proxy = core::secret{proxy.url()};
        settings.push_allow = {};
    }};
    const auto config = it.registered({{"url", "http://receiver.test/hook"}, {"token", "t"}});
    CHECK(it.notify(config, task).status == 202);
    REQUIRE(proxy.wait_for_requests(1));
    CHECK(proxy.request(0).target == "http://receiver.test/hook");
    CHECK(it.ended("delivered"));
    const json named{{"taskId", "1"}, {"url", "http://10.0.0.1/hook"}, {"token", "t"}};
    CHECK(it.call("CreateTaskPushNotificationConfig", named)["error"]["code"] == -32602);
    // 10.0.0.1 to a proxy that looks it up.
    const json number{{"taskId", "1"}, {"url", "http://167772161/hook"}, {"token", "t"}};
    CHECK(it.call("CreateTaskPushNotificationConfig", number)["error"]["code"] == -32602);
    CHECK(proxy.request_count() == 1);
}

TEST_CASE("no URL of a caller leads to a listener of the gateway, although its address is allowed")
{
    const mediated it{[](config::settings& settings) {
        settings.push_allow = {"127.0.0.0/8", "::1", "0.0.0.0/8"};
        settings.metrics = {"127.0.0.1", 0};
    }};
    const auto& gateway = it.x.gateway;
    const auto reloads = gateway.metric(R"(cardea_config_reloads_total{outcome="refused"})");
    for (const auto port : {gateway.port(), gateway.admin_port(), gateway.metrics_port()}) {
        const auto end = ':' + std::to_string(port) + "/reload";
        for (const auto* host :
             {"127.0.0.1", "localhost", "LOCALHOST.", "x.localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"
             }) {
            CAPTURE(host);
            const json config{{"taskId", "1"}, {"url", "http://" + std::string{host} + end}};
            const auto objection = it.call("CreateTaskPushNotificationConfig", config);
            CHECK(objection["error"]["code"] == -32602);
        }
    }
    CHECK(calls_of(it.x.agent).empty());
    // Each is 127.0.0.1 to whoever looks it up.
    for (const auto* host : {"2130706433", "0x7f.1", "127.1", "0177.0.0.1", "0"}) {
        CAPTURE(host);
        const json config{{"taskId", "1"}, {"url", "http://" + std::string{host} + "/reload"}};
        CHECK(it.call("CreateTaskPushNotificationConfig", config)["error"]["code"] == -32602);
    }
    auto settings = quick_settings();
    settings.push_allow = {"127.0.0.0/8"};
    settings.metrics = {"127.0.0.1", 0};
    looked_up named{std::move(settings)};
    double sent = 0;
    for (const auto port : {named.gateway.port(), named.gateway.admin_port(), named.gateway.metrics_port()}) {
        CHECK(named.notified("http://receiver.test:" + std::to_string(port) + "/reload") == 202);
        CHECK(named.gateway.wait_for_metric(R"(cardea_push_attempts_total{outcome="forbidden"})", ++sent));
    }
    CHECK(gateway.metric(R"(cardea_config_reloads_total{outcome="refused"})") == reloads);
}

TEST_CASE("what some readers take for a configuration and others do not never reaches the agent")
{
    const mediated it;
    const json config{{"url", "http://127.0.0.1:9/"}};
    for (const auto& [method, params, code] : std::vector<std::tuple<std::string, json, int>>{
             {"SendMessage", {{"configuration", {{"task_push_notification_config", config}}}}, -32602},
             {"SendMessage", {{"configuration", {{"pushNotificationConfig", config}}}}, -32602},
             {"message/send", {{"Configuration", {{"pushNotificationConfig", config}}}}, -32602},
             {"CreateTaskPushNotificationConfig", {{"url", "ftp://h/"}}, -32602},
             {"tasks/pushNotification/set", {{"pushNotificationConfig", config}}, -32601},
         }) {
        CAPTURE(method);
        const auto answered = it.call(method, params);
        CHECK(answered["error"]["code"] == code);
        CHECK(answered["id"] == 7);
    }
    CHECK(calls_of(it.x.agent).empty());
}

TEST_CASE("an agent that is not mediated gets the caller's own URL, and answers with it")
{
    const mediated it{[](config::settings& settings) { settings.agents[0].push = core::push_mode::passthrough; }};
    const json config{{"taskId", "1"}, {"url", "http://10.0.0.1/hook"}, {"token", "t"}};
    CHECK(it.call("CreateTaskPushNotificationConfig", config)["result"] == config);
    CHECK(parsed(last_call_of(it.x.agent))["params"] == config);
}

TEST_CASE(
    "what was registered while an agent was mediated is the caller's own, and is delivered, when it is not any more"
)
{
    const auto keyed = [](config::settings& settings) {
        settings.mcp.session_keys = {core::secret{std::string(64, 'a')}};
    };
    const mediated before{keyed};
    mediated now{[&](config::settings& settings) {
        keyed(settings);
        settings.agents[0].push = core::push_mode::passthrough;
    }};
    const json own{{"taskId", "1"}, {"id", "c"}, {"url", now.receiver.url("/hook")}, {"token", "t"}};
    const auto kept = before.registered(own);
    REQUIRE(kept["url"] != own["url"]);
    CHECK(now.call("GetTaskPushNotificationConfig", kept)["result"] == own);
    CHECK(now.call("ListTaskPushNotificationConfigs", kept)["result"]["configs"] == json::array({own}));
    CHECK(now.notify(kept, task).status == 202);
    REQUIRE(now.receiver.wait_for_requests(1));
    CHECK(now.receiver.request(0).header("X-A2A-Notification-Token") == "t");
    // What it cannot read passes as it is.
    const json other{{"taskId", "1"}, {"id", "c"}, {"url", "http://10.0.0.1/agents/a/push/none"}};
    CHECK(now.call("GetTaskPushNotificationConfig", other)["result"] == other);
}

TEST_CASE("a queue that is full has the agent wait, and takes notifications again when there is room")
{
    mediated it{[](config::settings& settings) { settings.limits.push_queue_agent = 2; }};
    const test_support::gate held;
    it.receiver.otherwise([&held](const recorded_request&) {
        return test_support::script{test_support::pass_gate{held.shared()}, test_support::message{204, {}, ""}};
    });
    const auto config = it.registered({{"url", it.receiver.url("/")}});
    CHECK(it.notify(config, task).status == 202);
    CHECK(it.notify(config, task).status == 202);
    const auto full = it.notify(config, task);
    check_refusal(full, 503, "overloaded", "a");
    CHECK(full.count("Retry-After") == 1);
    CHECK(it.x.gateway.metric("cardea_push_queue") == 2);
    auto open = held;
    open.release(10);
    CHECK(it.x.gateway.wait_for_metric("cardea_push_queue", 0));
    CHECK(it.notify(config, task).status == 202);
}

TEST_CASE("an agent needs no credential of access.providers to notify, and its proof does not count as a failed one")
{
    scripted_agent agent_itself{echo};
    scripted_agent receiver{[](const recorded_request&) { return answer(200, ""); }};
    auto settings = guarded(agent_itself.url("/rpc"));
    settings.limits.failed_credentials = 1;
    settings.push = core::push_mode::mediate;
    settings.push_allow = {"127.0.0.0/8"};
    running_gateway gateway{std::move(settings)};
    const json body{
        {"jsonrpc", "2.0"},
        {"id", 7},
        {"method", "tasks/pushNotificationConfig/set"},
        {"params", {{"taskId", "1"}, {"pushNotificationConfig", {{"url", receiver.url("/")}}}}}
    };
    auto headers = ci;
    headers.emplace_back("Content-Type", "application/json");
    REQUIRE(request(gateway.port(), "POST", "/agents/secret", headers, body.dump()).status == 200);
    // Its card says 0.3: this is the method that it gets, also before the card is read. Other agents at this address are
    // asked for other things.
    const auto calls = calls_of(agent_itself);
    const auto made = std::ranges::find_if(calls, [](const std::string& each) {
        return each.find("tasks/pushNotificationConfig/set") != std::string::npos;
    });
    REQUIRE(made != calls.end());
    const auto config = parsed(*made)["params"]["pushNotificationConfig"];
    for (int i = 0; i < 3; ++i) {
        const auto told = request(
            gateway.port(),
            "POST",
            mediated::target_of(config),
            {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + config["token"].get<std::string>()}},
            task
        );
        CHECK(told.status == 202);
    }
    CHECK(receiver.wait_for_requests(3));
}

TEST_CASE("Notifications that wait when their agent is contained go out after the release")
{
    mediated x;
    x.receiver.next(answer(503, ""));  // it would be sent again after 1 s
    const auto config = x.registered({{"url", x.receiver.url("/hook")}});
    REQUIRE(x.notify(config, task).status / 100 == 2);
    REQUIRE(x.receiver.wait_for_requests(1));
    contain(x.x.gateway, "a");
    std::this_thread::sleep_for(std::chrono::milliseconds{2500});
    CHECK(x.receiver.request_count() == 1);
    CHECK(x.notify(config, task).status == 403);
    release(x.x.gateway, "a");
    CHECK(x.receiver.wait_for_requests(2));
    CHECK(x.ended("delivered"));
}

TEST_SUITE_END();
