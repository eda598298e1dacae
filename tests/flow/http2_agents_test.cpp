// Calls of callers over HTTP/1.1 to an agent over HTTP/2: which answers pass, which calls are sent again, and how a fault ends.
#include "tests/flow/http2_caller.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http2_agent.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/http2_agents");

namespace {

using namespace std::chrono_literals;
namespace h2 = test_support::h2;
using flow::call_body;
using flow::call_text;
using test_support::http2_agent;
using test_support::http2_agent_options;
using test_support::http_client;
using test_support::recorded_request;

constexpr std::uint32_t refused_stream = 7;
constexpr std::uint32_t cancel = 8;
constexpr const char* result = R"({"jsonrpc":"2.0","id":1,"result":{}})";

h2::script answer_call(const recorded_request&)
{
    return h2::answer(200, result, {{"content-type", "application/json"}});
}

h2::script begin_events(const recorded_request&)
{
    return {h2::head{{{":status", "200"}, {"content-type", "text/event-stream"}}}};
}

// A gateway before one agent, `a`, that speaks HTTP/2.
struct over_http2 {
    using adjustment = std::function<void(config::settings&)>;

    explicit over_http2(
        http2_agent::handler by_default,
        const adjustment& adjust = {},
        http2_agent_options options = {}
    )
        : agent{std::move(by_default), std::move(options)},
          gateway{settings_for(adjust)}
    {
    }

    config::settings settings_for(const adjustment& adjust) const
    {
        auto settings = flow::quick_settings();
        settings.agents.push_back(flow::a2a_agent("a", agent.url("/rpc")));
        settings.agents.back().http = core::http_version::v2;
        if (adjust) {
            adjust(settings);
        }
        return settings;
    }

    test_support::http_response call() const { return flow::call(gateway.port(), call_body()); }

    http2_agent agent;
    flow::running_gateway gateway;
};

http_client streaming_caller(const over_http2& x)
{
    http_client caller{x.gateway.port()};
    caller.send(call_text(call_body("1", "message/stream"), {{"Accept", "text/event-stream"}}));
    REQUIRE(caller.read_head().status == 200);
    return caller;
}

}  // namespace

TEST_CASE("A call over HTTP/1.1 reaches its agent over HTTP/2, and later ones over its connection")
{
    over_http2 x{answer_call};
    for (int i = 0; i < 20; ++i) {
        const auto got = x.call();
        CHECK(got.status == 200);
        CHECK(got.body == result);
        CHECK(got.header("Content-Type") == "application/json");
    }
    CHECK(x.agent.accepted_connections() == 1);
    const auto request = x.agent.request(0);
    CHECK(request.method == "POST");
    CHECK(request.target == "/rpc");
    CHECK(request.header(":scheme") == "http");
    CHECK(request.header(":authority") == "127.0.0.1:" + std::to_string(x.agent.port()));
    CHECK(request.header("content-type") == "application/json");
    CHECK(request.body == call_body());
    CHECK(x.agent.pings() == 0);
    CHECK(x.gateway.wait_for_metric(R"(cardea_http2_connections{side="agent"})", 1));
    CHECK(x.gateway.wait_for_metric(R"(cardea_http2_streams{side="agent"})", 0));
}

TEST_CASE("Over TLS the agent has to choose HTTP/2")
{
    test_support::test_ca ca;
    const auto identity = ca.issue(std::vector<std::string>{"127.0.0.1"});
    for (const bool chooses : {true, false}) {
        CAPTURE(chooses);
        over_http2 x{
            answer_call,
            [&](config::settings& settings) { settings.agents.back().ca_file = ca.ca_file(); },
            {.cert_file = identity.cert_file, .key_file = identity.key_file, .chooses_h2 = chooses}
        };
        const auto got = x.call();
        if (chooses) {
            CHECK(got.body == result);
            CHECK(x.agent.request(0).header(":scheme") == "https");
        } else {
            flow::check_jsonrpc_error(got, flow::tls_failed, "1");
        }
    }
}

TEST_CASE("Each event of a stream reaches the caller before the next one is sent")
{
    over_http2 x{begin_events};
    auto caller = streaming_caller(x);
    for (int i = 0; i < 20; ++i) {
        const auto event = "data: {\"n\":" + std::to_string(i) + "}\n\n";
        x.agent.say(0, {h2::data{event}});
        CHECK(caller.read_until(event + "\r\n").ends_with(event + "\r\n"));
    }
    x.agent.say(0, {h2::trailers{{{"checked", "yes"}}}});
    CHECK(caller.read_until("0\r\n\r\n") == "0\r\n\r\n");
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 0));
    CHECK(x.agent.resets().empty());
}

TEST_CASE("A call that the agent refuses is sent again, once")
{
    for (const int refusals : {1, 2}) {
        CAPTURE(refusals);
        std::atomic<int> calls{0};
        over_http2 x{[&](const recorded_request& request) {
            return ++calls <= refusals ? h2::script{h2::reset{refused_stream}} : answer_call(request);
        }};
        const auto got = x.call();
        CHECK(calls == 2);
        if (refusals == 1) {
            CHECK(got.body == result);
        } else {
            flow::check_jsonrpc_error(got, flow::cut_off, "1");
        }
    }
}

TEST_CASE("A call above the last stream of a GOAWAY is sent again on a new connection, and one below is not")
{
    for (const bool below : {false, true}) {
        CAPTURE(below);
        std::atomic<int> calls{0};
        over_http2 x{[&](const recorded_request& request) {
            return ++calls == 1 ? h2::script{h2::goaway{.last = below ? -1 : 0}, h2::close_now{}}
                                : answer_call(request);
        }};
        const auto got = x.call();
        if (below) {
            CHECK(calls == 1);
            flow::check_jsonrpc_error(got, flow::cut_off, "1");
        } else {
            CHECK(calls == 2);
            CHECK(got.body == result);
            CHECK(x.agent.accepted_connections() == 2);
        }
    }
}

TEST_CASE("A fault of the agent ends its call alone")
{
    struct row {
        h2::script said;
        flow::error_answer error;
    };
    const row rows[] = {
        {{h2::reset{2}}, flow::cut_off},
        {{h2::reset{0}}, flow::cut_off},
        {{h2::head{{{":status", "200"}, {"Upper", "x"}}}}, flow::not_http},
        {{h2::head{{{":status", "200"}, {"connection", "close"}}}}, flow::not_http},
        {{h2::head{{{":status", "101"}}}}, flow::not_http},
        {{h2::head{{{":status", "200"}, {":path", "/"}}}}, flow::not_http},
    };
    for (const auto& each : rows) {
        over_http2 x{[&](const recorded_request& request) {
            return request.body == call_body() ? each.said : answer_call(request);
        }};
        http_client beside{x.gateway.port()};
        beside.send(call_text(call_body("2")));
        CHECK(beside.read_response().body == result);
        flow::check_jsonrpc_error(x.call(), each.error, "1");
        beside.send(call_text(call_body("2")));
        CHECK(beside.read_response().body == result);
        CHECK(x.agent.accepted_connections() == 1);
    }
}

TEST_CASE("An answer that is longer than its length is an error or a cut, whatever of it came first")
{
    over_http2 x{[&](const recorded_request&) { return h2::answer(200, "abc", {{"content-length", "2"}}); }};
    http_client caller{x.gateway.port()};
    caller.send(call_text(call_body()));
    try {
        flow::check_jsonrpc_error(caller.read_response(), flow::not_http, "1");
    } catch (const std::runtime_error& cut) {
        CHECK(std::string{cut.what()} == flow::cut_answer);
    }
}

TEST_CASE("An answer that the agent breaks off does not look whole")
{
    for (const h2::step& end : {h2::step{h2::reset{2}}, h2::step{h2::close_now{}}, h2::step{h2::break_now{}}}) {
        over_http2 x{[&](const recorded_request&) {
            return h2::script{
                h2::head{{{":status", "200"}, {"content-type", "application/json"}}},
                h2::data{"{\"half"},
                end
            };
        }};
        http_client caller{x.gateway.port()};
        caller.send(call_text(call_body()));
        try {
            flow::check_jsonrpc_error(caller.read_response(), flow::cut_off, "1");
        } catch (const std::runtime_error& cut) {
            CHECK(std::string{cut.what()} == flow::cut_answer);
        }
    }
}

TEST_CASE("A caller that leaves ends its stream with CANCEL within 100 ms, and the connection goes on")
{
    over_http2 x{begin_events};
    std::vector<std::uint32_t> resets;
    CHECK(flow::once_within(100ms, [&] {
        streaming_caller(x).close();
        resets.push_back(cancel);
        REQUIRE(x.agent.wait_for_resets(resets.size()));
    }));
    CHECK(x.agent.resets() == resets);
    auto other = streaming_caller(x);
    CHECK(x.agent.accepted_connections() == 1);
}

TEST_CASE("A caller that does not read stalls its own call alone")
{
    constexpr std::size_t size = 8 * 1024 * 1024;
    over_http2 x{[](const recorded_request& request) {
        return request.body.find("large") != std::string::npos ? h2::answer(200, std::string(size, 'x'))
                                                               : answer_call(request);
    }};
    http_client slow{x.gateway.port()};
    slow.send(call_text(call_body("\"large\"")));
    REQUIRE(x.agent.wait_for_requests(1));
    for (int i = 0; i < 50; ++i) {
        CHECK(x.call().body == result);
    }
    CHECK(x.agent.accepted_connections() == 1);
    CHECK(slow.read_response().body.size() == size);
}

TEST_CASE("A large request passes as the agent gives credit")
{
    over_http2 x{[](const recorded_request& request) {
        return h2::answer(200, std::to_string(request.body.size()), {{"content-type", "text/plain"}});
    }};
    const auto body =
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{"x":")" + std::string(900'000, 'y') + "\"}}";
    http_client caller{x.gateway.port()};
    caller.send(call_text(body));
    CHECK(caller.read_response().body == std::to_string(body.size()));
}

TEST_CASE("An agent without a free stream is overloaded, not gone")
{
    over_http2 x{
        begin_events,
        [](config::settings& settings) {
            settings.limits.upstream_http2_connections = 1;
            settings.timeouts.connect = 300ms;
        },
        {.streams = 1}
    };
    auto caller = streaming_caller(x);
    const auto got = x.call();
    CHECK(got.status == 503);
    CHECK(got.header("Cardea-Error") == "overloaded");
    x.agent.say(0, {h2::data{"data: {}\n\n", true}});
    caller.read_until("0\r\n\r\n");
    auto next = streaming_caller(x);
    CHECK(x.agent.accepted_connections() == 1);
}

TEST_CASE("An agent that speaks HTTP/1.1 where HTTP/2 is wanted does not follow its protocol")
{
    over_http2 x{answer_call, {}, {.instead = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"}};
    flow::check_jsonrpc_error(x.call(), flow::not_http, "1");
}

TEST_CASE("An agent without SETTINGS is not called, and late after the time to connect")
{
    over_http2 x{
        answer_call,
        [](config::settings& settings) { settings.timeouts.connect = 200ms; },
        {.tells_settings = false}
    };
    flow::check_jsonrpc_error(x.call(), flow::late, "1");
    CHECK(x.agent.requests().empty());
}

TEST_SUITE_END();
