// What the new process knows after a hand-over: cards of agents that have gone meanwhile, and to whom tasks belong.
#include "tests/flow/handover_fixture.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/handover_state");

namespace {

using namespace std::chrono_literals;
using flow::becomes_true;
using flow::has_ended;
using flow::succession;
using test_support::answer_json;
using test_support::field_list;
using test_support::http_client;
using test_support::http_response;
using test_support::scripted_agent;

constexpr std::string_view card =
    R"({"name":"A","description":"d","version":"1","url":"http://127.0.0.1:9/","protocolVersion":"0.3.0",)"
    R"("capabilities":{},"defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[]})";

std::string task_json(const std::string& id)
{
    return R"({"jsonrpc":"2.0","id":7,"result":{"kind":"task","id":")" + id +
           R"(","contextId":"c","status":{"state":"working"}}})";
}

// Shows the task `t` in each answer, and `late` in streams.
test_support::script tasks(const test_support::recorded_request& asked)
{
    if (asked.body.empty()) {
        return answer_json(std::string{card});
    }
    return asked.body.find("message/stream") == std::string::npos ? answer_json(task_json("t"))
                                                                  : test_support::event_stream();
}

std::string with_two_callers(const std::string& store, const scripted_agent& agent)
{
    return store +
           "access:\n  providers:\n"
           "    - {type: static_token, name: alice, token: alice-token-0123456789}\n"
           "    - {type: static_token, name: bob, token: bob-token-0123456789}\n"
           "agents: {a: {url: \"" +
           agent.url("/") + "\", discover: authenticated, call: authenticated}}\n";
}

std::string text_of(const std::string& who, std::string_view method, const std::string& params)
{
    return test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + who + "-token-0123456789"}},
        R"({"jsonrpc":"2.0","id":7,"method":")" + std::string{method} + R"(","params":)" + params + "}"
    );
}

// Whether somebody may ask for the task.
bool is_shown(const succession& gateways, const std::string& who, const std::string& task)
{
    http_client caller{gateways.port()};
    caller.send(text_of(who, "tasks/get", R"({"id":")" + task + R"("})"));
    const auto answer = caller.read_response();
    CHECK(answer.status == 200);
    return answer.header("Cardea-Error") != "task_not_found";
}

}  // namespace

TEST_CASE("The card of an agent that is gone is served after a hand-over, from the store")
{
    auto agent = std::make_unique<scripted_agent>([](const auto&) { return answer_json(std::string{card}); });
    succession gateways{"cards: {ttl: 1h}\nagents: {a: {url: \"" + agent->url("/") + "\"}}\n"};
    const auto ask = [&] {
        return test_support::request(gateways.port(), "GET", "/agents/a/.well-known/agent-card.json");
    };
    const auto before = ask();
    REQUIRE(before.status == 200);
    agent.reset();
    for (int i = 0; i < 2; ++i) {
        gateways.hand_over();
        const auto after = ask();
        CHECK(after.status == 200);
        CHECK(after.body == before.body);
    }
}

TEST_CASE("A card is not passed to a configuration in which the agent lives elsewhere")
{
    auto agent = std::make_unique<scripted_agent>([](const auto&) { return answer_json(std::string{card}); });
    succession gateways{"agents: {a: {url: \"" + agent->url("/") + "\"}}\n"};
    REQUIRE(test_support::request(gateways.port(), "GET", "/agents/a/.well-known/agent-card.json").status == 200);
    gateways.configure("agents: {a: {url: \"http://127.0.0.1:1/\"}}\n");
    gateways.hand_over();
    CHECK(test_support::request(gateways.port(), "GET", "/agents/a/.well-known/agent-card.json").status == 502);
}

TEST_CASE("Tasks stay their owners' over a hand-over, from the first call on")
{
    scripted_agent agent{tasks};
    succession gateways{with_two_callers({}, agent)};
    http_client alice{gateways.port()};
    alice.send(text_of("alice", "message/send", R"({"message":{}})"));
    REQUIRE(alice.read_response().status == 200);
    gateways.hand_over();
    CHECK_FALSE(is_shown(gateways, "bob", "t"));
    CHECK(is_shown(gateways, "alice", "t"));
}

TEST_CASE("A task that the old process learns during its drain is known to the new one")
{
    scripted_agent agent{tasks};
    succession gateways{with_two_callers({}, agent)};
    http_client alice{gateways.port()};
    alice.send(text_of("alice", "message/stream", R"({"message":{}})"));
    REQUIRE(agent.wait_for_streams(1));
    const auto old = gateways.now();
    gateways.hand_over();
    agent.send_event(task_json("late"));
    alice.read_until("working");
    CHECK(becomes_true([&] { return !is_shown(gateways, "bob", "late"); }));
    agent.send_event(task_json("last"));
    alice.read_until("last");
    agent.end_streams();
    CHECK(becomes_true([&] { return has_ended(old); }));
    CHECK(becomes_true([&] { return !is_shown(gateways, "bob", "last"); }));
    CHECK(is_shown(gateways, "alice", "last"));
    gateways.hand_over();
    CHECK_FALSE(is_shown(gateways, "bob", "late"));
}

TEST_CASE("Session keys that change while the old process drains end none of its calls")
{
    scripted_agent agent{tasks};
    const test_support::scratch_directory folder;
    const auto key = [&](char digit) { test_support::write_whole(folder.file("key"), std::string(64, digit)); };
    key('a');
    const auto settings =
        "store: \"sqlite:" + folder.file("agents.db") + "\"\nmcp: {session_keys: [\"" + folder.file("key") + "\"]}\n";
    succession gateways{with_two_callers(settings, agent)};
    http_client alice{gateways.port()};
    alice.send(text_of("alice", "message/stream", R"({"message":{}})"));
    REQUIRE(agent.wait_for_streams(1));
    const auto old = gateways.now();
    gateways.hand_over();
    key('b');
    REQUIRE(::kill(old, SIGHUP) == 0);
    CHECK(gateways.logs(R"("event":"config_reloaded","trigger":"signal")"));
    agent.send_event(task_json("late"));
    alice.read_until("working");
    agent.end_streams();
    CHECK(becomes_true([&] { return has_ended(old); }));
}

TEST_CASE("What was learnt of tasks last is in the store before spans are sent, so that a silent collector costs none")
{
    scripted_agent agent{tasks};
    scripted_agent collector{[](const auto&) { return test_support::silence(); }};
    const test_support::scratch_directory place;
    succession gateways{
        "trace: {endpoint: \"" + collector.url() + "\", sample: 1}\ntimeouts: {drain_idle: 50ms}\n" +
        with_two_callers("store: \"sqlite:" + place.file("store.db") + "\"\n", agent)
    };
    http_client alice{gateways.port()};
    alice.send(text_of("alice", "message/stream", R"({"message":{}})"));
    REQUIRE(agent.wait_for_streams(1));
    const auto writes = [&gateways] {
        const auto page = gateways.metrics();
        const std::string name = "cardea_store_writes_total{outcome=\"ok\"} ";
        const auto at = page.find(name);
        return at == std::string::npos ? 0 : std::stod(page.substr(at + name.size()));
    };
    gateways.first().signal(SIGTERM);
    CHECK(gateways.logs(R"("event":"draining")"));
    auto before = writes();
    agent.send_event(task_json("first"));
    CHECK(becomes_true([&] { return writes() > before; }));
    // Nothing is written of its own accord for a second from here on.
    before = writes();
    agent.send_event(task_json("last"));
    alice.read_until("last");
    agent.end_streams();
    REQUIRE(collector.wait_for_requests(1));
    const auto begun = std::chrono::steady_clock::now();
    CHECK(becomes_true([&] { return writes() > before; }));
    CHECK(std::chrono::steady_clock::now() - begun < 500ms);
    CHECK(gateways.first().wait() == 0);
}

TEST_SUITE_END();
