// What callers get while the way to an agent is broken, and that calls succeed again within a second after it is whole.
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/fault_proxy.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using test_support::at_limit;
using test_support::direction_faults;
using test_support::http_client;
using test_support::on_accept;
using test_support::proxy_faults;

TEST_SUITE_BEGIN("flow/faults");

namespace {

const std::string agent_body = R"({"jsonrpc":"2.0","id":1,"result":{"kind":"message"}})";

// An agent behind a proxy that breaks, and the gateway in front of both.
struct behind_faults {
    explicit behind_faults(test_support::script always = test_support::answer_json(agent_body))
        : agent{[always = std::move(always)](const auto&) { return always; }},
          proxy{agent.port()},
          gateway{settings_for(proxy)}
    {
    }

    static config::settings settings_for(const test_support::fault_proxy& proxy)
    {
        auto settings = flow::quick_settings();
        settings.timeouts.upstream_head = 500ms;
        settings.timeouts.upstream_idle = 500ms;
        settings.agents.push_back(flow::a2a_agent("a", proxy.url("/rpc")));
        return settings;
    }

    test_support::http_response call() const { return flow::call(gateway.port(), flow::call_body()); }

    // How long it takes from now until a call succeeds; at most as long as tests wait.
    std::chrono::steady_clock::duration recovery() const
    {
        const auto start = std::chrono::steady_clock::now();
        auto now = start;
        bool works = false;
        while (!works && now < start + test_support::patience) {
            works = call().status == 200;
            now = std::chrono::steady_clock::now();
        }
        return now - start;
    }

    test_support::scripted_agent agent;
    test_support::fault_proxy proxy;
    flow::running_gateway gateway;
};

struct fault {
    std::string what;
    proxy_faults faults;
    std::optional<flow::error_answer> expected;  // nothing: the call succeeds
};

proxy_faults to_agent(const direction_faults& faults)
{
    return {.to_agent = faults};
}

proxy_faults to_caller(const direction_faults& faults)
{
    return {.to_caller = faults};
}

std::vector<fault> faults_before_an_answer()
{
    const auto late = flow::late;
    const auto cut = flow::cut_off;
    return {
        {"down", {.down = true}, flow::refused},
        {"accepted, then an end", {.accepts = on_accept::close}, cut},
        {"accepted, then silence", {.accepts = on_accept::silence}, late},
        {"accepted late", {.accept_delay = 50ms}, std::nullopt},
        {"latency", {.to_agent = {.latency = 20ms}, .to_caller = {.latency = 20ms}}, std::nullopt},
        {"jitter", to_caller({.latency = 20ms, .jitter = 20ms}), std::nullopt},
        {"more latency than time", to_caller({.latency = 2s}), late},
        {"little bandwidth", to_caller({.bytes_per_second = 5000}), std::nullopt},
        {"one byte a write", {.to_agent = {.slice = 1}, .to_caller = {.slice = 1}}, std::nullopt},
        {"an end before the request", to_agent({.limit = 0, .then = at_limit::close}), cut},
        {"an end in the request", to_agent({.limit = 40, .then = at_limit::close}), cut},
        {"a reset in the request", to_agent({.limit = 40}), cut},
        {"silence in the request", to_agent({.limit = 40, .then = at_limit::silence}), late},
        {"silence to the agent only", to_agent({.limit = 0, .then = at_limit::silence}), late},
        {"silence to the gateway only", to_caller({.limit = 0, .then = at_limit::silence}), late},
        {"an end before the answer", to_caller({.limit = 0, .then = at_limit::close}), cut},
        {"half a close before the answer", to_caller({.limit = 0, .then = at_limit::half_close}), cut},
        {"an end in the head", to_caller({.limit = 20, .then = at_limit::close}), cut},
        {"half a close in the head", to_caller({.limit = 20, .then = at_limit::half_close}), cut},
        {"silence in the head", to_caller({.limit = 20, .then = at_limit::silence}), late},
        {"the end of a connection comes late", to_caller({.end_delay = 200ms}), std::nullopt},
    };
}

}  // namespace

TEST_CASE("Each fault on the way to an agent has its code, and a call succeeds within a second after it ends")
{
    for (const auto& row : faults_before_an_answer()) {
        CAPTURE(row.what);
        behind_faults x;
        x.proxy.set(row.faults);
        for (int i = 0; i < 2; ++i) {
            const auto got = x.call();
            if (row.expected) {
                flow::check_jsonrpc_error(got, *row.expected, "1");
            } else {
                CHECK(got.status == 200);
                CHECK(got.body == agent_body);
            }
        }
        x.proxy.heal();
        CHECK(x.recovery() <= 1s);
        CHECK(x.call().body == agent_body);
    }
}

TEST_CASE("A reset of a connection that has just begun is refused or cut off, and the next call after it succeeds")
{
    behind_faults x;
    x.proxy.set({.accepts = on_accept::reset});
    const auto got = x.call();
    // Whether the reset comes before the connection is seen to be there is up to the kernel.
    const bool before = got.header("Cardea-Error") == "upstream_refused";
    flow::check_jsonrpc_error(got, before ? flow::refused : flow::cut_off, "1");
    x.proxy.heal();
    CHECK(x.recovery() <= 1s);
}

TEST_CASE("A call whose request reaches the agent in part is never processed, whatever ends it")
{
    for (const auto how : {at_limit::reset, at_limit::close, at_limit::half_close, at_limit::silence}) {
        behind_faults x;
        x.proxy.set(to_agent({.limit = 40, .then = how}));
        const auto got = x.call();
        CHECK(got.status >= 502);
        CHECK(got.status <= 504);
        CHECK(x.agent.request_count() == 0);
        x.proxy.heal();
        CHECK(x.recovery() <= 1s);
        CHECK(x.agent.request_count() >= 1);
    }
}

TEST_CASE("A cut after any byte of the answer never looks whole to the caller")
{
    const std::string answer =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(agent_body.size()) +
        "\r\n\r\n" + agent_body;
    behind_faults x{test_support::script{test_support::bytes{answer}}};
    const auto head = answer.size() - agent_body.size();
    for (std::uint64_t limit = 0; limit < answer.size(); ++limit) {
        CAPTURE(limit);
        x.proxy.set(to_caller({.limit = limit, .then = at_limit::close}));
        http_client caller{x.gateway.port()};
        caller.send(flow::call_text(flow::call_body()));
        const auto first = caller.read_head();
        if (first.status == 200) {
            CHECK(limit >= head);
            CHECK(first.header("Content-Length") == std::to_string(agent_body.size()));
            CHECK(caller.read_until_closed().size() < agent_body.size());
        } else {
            CHECK(limit <= head);  // where only the body is missing, both may come: the end may be seen with the head
            CHECK(first.header("Cardea-Error") == "upstream_reset");
        }
    }
    x.proxy.heal();
    CHECK(x.recovery() <= 1s);
}

TEST_CASE("A stream whose agent falls silent, resets or goes down is cut, and another one begins at once after it")
{
    for (const bool down : {false, true}) {
        CAPTURE(down);
        behind_faults x{test_support::event_stream()};
        http_client caller{x.gateway.port()};
        caller.send(flow::call_text(flow::call_body("1", "message/stream")));
        REQUIRE(caller.read_head().status == 200);
        REQUIRE(x.agent.wait_for_streams(1));
        x.agent.send_event("one");
        CHECK(caller.read_until("data: one\n\n").ends_with("data: one\n\n"));
        if (down) {
            x.proxy.set({.down = true});
        } else {
            x.proxy.set(to_caller({.limit = 0, .then = at_limit::silence}));
        }
        CHECK(caller.read_until_closed().find("\r\n0\r\n\r\n") == std::string::npos);
        x.proxy.heal();
        http_client next{x.gateway.port()};
        next.send(flow::call_text(flow::call_body("2", "message/stream")));
        CHECK(next.read_head().status == 200);
    }
}

TEST_CASE("A gateway whose agents all fail serves another agent as before")
{
    test_support::scripted_agent broken;
    const test_support::fault_proxy proxy{broken.port(), {.accepts = on_accept::silence}};
    test_support::scripted_agent good{[](const auto&) { return test_support::answer_json(agent_body); }};
    auto settings = behind_faults::settings_for(proxy);
    settings.agents.push_back(flow::a2a_agent("b", good.url("/rpc")));
    const flow::running_gateway gateway{std::move(settings)};
    std::vector<http_client> waiting;
    for (int i = 0; i < 50; ++i) {
        waiting.emplace_back(gateway.port());
        waiting.back().send(flow::call_text(flow::call_body()));
    }
    for (int i = 0; i < 100; ++i) {
        const auto got = test_support::request(
            gateway.port(),
            "POST",
            "/agents/b",
            {{"Content-Type", "application/json"}},
            flow::call_body()
        );
        CHECK(got.status == 200);
    }
    for (auto& caller : waiting) {
        flow::check_jsonrpc_error(caller.read_response(), flow::late, "1");
    }
}

TEST_SUITE_END();
