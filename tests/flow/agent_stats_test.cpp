// Numbers of calls in the management API, and agents in the order of their trouble.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("flow/agent_stats");

namespace {

using namespace std::chrono_literals;
using core::json;
using flow::becomes_true;
using flow::manage;
using flow::running_gateway;

#ifdef CARDEA_FULL_VOLUME
constexpr int slowness = 1;
#else
constexpr int slowness = 10;  // of a build without optimization, or with a sanitizer
#endif

constexpr const char* some_call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";

// Agents `a` and `b`, of which `b` answers 503.
struct two_agents {
    two_agents()
    {
        const auto answering = [](unsigned status) {
            return [status](const auto&) {
                return test_support::answer(status, R"({"jsonrpc":"2.0","id":1,"result":{}})");
            };
        };
        well.otherwise(answering(200));
        ill.otherwise(answering(503));
        auto settings = flow::quick_settings();
        settings.workers = 2;
        settings.agents.push_back(flow::a2a_agent("a", well.url()));
        settings.agents.back().card = R"({"name":"A","version":"1","skills":[{"id":"Roll-Dice","name":"Würfeln"}]})";
        settings.agents.push_back(flow::a2a_agent("b", ill.url()));
        settings.agents.back().card = R"({"name":"B","version":"1"})";
        gateway = std::make_unique<running_gateway>(std::move(settings));
    }

    json stats(const json& params) const { return manage(*gateway, "agents/stats", params); }

    test_support::scripted_agent well;
    test_support::scripted_agent ill;
    std::unique_ptr<running_gateway> gateway;
};

json ids(const json& page)
{
    auto all = json::array();
    for (const auto& each : page["agents"]) {
        all.push_back(each["id"]);
    }
    return all;
}

// The most CPU time that the control loop spent between a probe and its answer, while `work` went on elsewhere: no turn is longer.
template <class Work>
std::chrono::nanoseconds longest_turn_during(running_gateway& gateway, const Work& work)
{
    std::atomic<bool> done{false};
    std::thread other{[&] {
        work();
        done = true;
    }};
    std::optional<test_support::http_client> prober;
    std::chrono::nanoseconds longest{0};
    for (int probes = 0; !done; ++probes) {
        if (probes % 500 == 0) {  // no connection has as many requests as it likes
            prober.emplace(gateway.admin_port());
        }
        const auto before = gateway.control_cpu_time();
        prober->send(test_support::request_text("GET", "/healthz"));  // NOLINT(*-optional-access): probe 0 has made it
        CHECK(prober->read_response().status == 200);                 // NOLINT(*-optional-access)
        longest = std::max(longest, gateway.control_cpu_time() - before);
    }
    other.join();
    return longest;
}

}  // namespace

TEST_CASE("agents/stats has the calls of an agent and of the gateway, by their outcome")
{
    const two_agents x;
    for (int i = 0; i < 3; ++i) {
        CHECK(flow::post_json(x.gateway->port(), "/agents/a", some_call).status == 200);
    }
    CHECK(flow::post_json(x.gateway->port(), "/agents/b", some_call).status == 503);
    CHECK(flow::post_json(x.gateway->port(), "/agents/a", "no JSON").status == 200);
    const auto calls_in = [&](const json& params) {
        json sum{{"calls", 0}, {"failed", 0}, {"caller_errors", 0}};
        const auto minutes = x.stats(params)["minutes"];
        for (const auto& each : minutes) {
            for (const auto* key : {"calls", "failed", "caller_errors"}) {
                sum[key] = sum[key].get<int>() + each[key].get<int>();
            }
        }
        return sum;
    };
    CHECK(becomes_true([&] {
        return calls_in(json::object()) == json{{"calls", 5}, {"failed", 1}, {"caller_errors", 1}};
    }));
    CHECK(calls_in({{"id", "a"}}) == json{{"calls", 4}, {"failed", 0}, {"caller_errors", 1}});
    CHECK(calls_in({{"id", "b"}}) == json{{"calls", 1}, {"failed", 1}, {"caller_errors", 0}});
    const auto of = x.stats({{"id", "a"}});
    CHECK(of["minutes"].size() == 60);
    CHECK(of["quarters"].size() == 96);
    CHECK(of["quarters"].back()["p50_ms"].is_number());
    CHECK(of["quarters"].front()["p50_ms"].is_null());
    CHECK(of["since"].is_string());
    CHECK(flow::error_of(*x.gateway, "agents/stats", R"({"id":"none"})")["data"]["code"] == "agent_not_found");
}

TEST_CASE("agents/health sorts by trouble and shows numbers of calls when asked")
{
    const two_agents x;
    for (int i = 0; i < 6; ++i) {
        CHECK(flow::post_json(x.gateway->port(), "/agents/b", some_call).status == 503);
    }
    CHECK(becomes_true([&] { return manage(*x.gateway, "agents/health", {{"id", "b"}})["status"] == "degraded"; }));
    CHECK(ids(manage(*x.gateway, "agents/health", json::object())) == json{"a", "b"});
    const auto page = manage(*x.gateway, "agents/health", {{"sort", "trouble"}, {"stats", true}, {"limit", 1}});
    CHECK(ids(page) == json{"b"});
    CHECK_FALSE(page.contains("next"));
    CHECK(page["summary"]["degraded"] == 1);
    CHECK(page["summary"]["unknown"] == 1);
    const auto& spark = page["agents"][0]["spark"];
    REQUIRE(spark.size() == 60);
    CHECK(spark[59].get<int>() + spark[58].get<int>() == 6);
    const auto one = manage(*x.gateway, "agents/health", {{"id", "a"}, {"stats", true}});
    CHECK(one["calls_per_minute"] == 0);
    CHECK(one["failed_ratio"].is_null());
    CHECK(flow::error_of(*x.gateway, "agents/health", R"({"sort":"worst"})")["data"]["code"] == "invalid_params");
    CHECK(flow::error_of(*x.gateway, "agents/health", R"({"sort":"calls","after":"a"})")["code"] == -32602);
}

TEST_CASE("Callers do not learn how much an agent is called")
{
    const two_agents x;
    for (const auto* params : {R"({"stats":true})", R"({"sort":"trouble"})", R"({"id":"a","stats":true})"}) {
        const auto answer = flow::post_json(x.gateway->port(), "/rpc", flow::managing("agents/health", params));
        CHECK(flow::parsed(answer.body)["error"]["data"]["code"] == "forbidden");
    }
    const auto answer = flow::post_json(x.gateway->port(), "/rpc", flow::managing("agents/stats", R"({"id":"a"})"));
    CHECK(flow::parsed(answer.body)["error"]["data"]["code"] == "admin_only");
}

TEST_CASE("A text finds agents by the names and ids of their skills")
{
    const two_agents x;
    for (const auto* text : {"roll-dice", "ROLL", "rfeln"}) {
        CHECK(becomes_true([&] { return ids(manage(*x.gateway, "agents/health", {{"text", text}})) == json{"a"}; }));
    }
    CHECK(ids(manage(*x.gateway, "agents/health", {{"text", "roll-dice-2"}})).empty());
}

TEST_CASE("10,000 agents are sorted by trouble with their numbers, and no turn of the control loop takes long")
{
    auto settings = flow::quick_settings();
    for (std::size_t i = 0; i < 10'000; ++i) {
        settings.agents.push_back(flow::a2a_agent("agent-" + std::to_string(i), "http://127.0.0.1:1/"));
        settings.agents.back().card = R"({"name":"A","version":"1"})";
    }
    running_gateway gateway{std::move(settings)};
    for (int i = 0; i < 500; ++i) {
        const auto target = "/agents/agent-" + std::to_string(20 * i);
        CHECK(flow::post_json(gateway.port(), target, some_call).status == 502);
    }
    auto shortest = std::chrono::nanoseconds::max();
    auto longest_turn = std::chrono::nanoseconds::max();
    json page;
    for (int i = 0; i < 5; ++i) {
        longest_turn =
            std::min(longest_turn, longest_turn_during(gateway, [&] {
                         const auto before = std::chrono::steady_clock::now();
                         page =
                             manage(gateway, "agents/health", {{"sort", "trouble"}, {"stats", true}, {"limit", 1000}});
                         shortest =
                             std::min<std::chrono::nanoseconds>(shortest, std::chrono::steady_clock::now() - before);
                     }));
    }
    CHECK(page["agents"].size() == 1000);
    CHECK(page["agents"][0]["spark"].size() == 60);
    MESSAGE("in all ", shortest / 1us, " us; longest turn ", longest_turn / 1us, " us");
    // A quiet machine needs less than 400 ms and 10 ms.
    CHECK(shortest <= 2s * slowness);
    CHECK(longest_turn <= 50ms * slowness);
}

TEST_SUITE_END();
