// More faults on the way to an agent: bytes that are wrong, cut in any place, or passed slowly. The long form cuts further and waits
// longer: CARDEA_FAULTS_FULL in the environment (./dev faults).
#include "core/descriptor.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/fault_proxy.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using test_support::at_limit;
using test_support::http_client;
using test_support::proxy_faults;

TEST_SUITE_BEGIN("flow/faults_data");

namespace {

bool in_full()
{
    return std::getenv("CARDEA_FAULTS_FULL") != nullptr;  // NOLINT(concurrency-mt-unsafe): nothing here sets one
}

std::string sized(const std::string& body)
{
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

// An agent that always answers with these bytes, behind a proxy.
struct behind_proxy {
    explicit behind_proxy(const std::string& answer, std::uint64_t seed = 1, std::chrono::milliseconds patience = 500ms)
        : agent{[answer](const auto&) { return test_support::script{test_support::bytes{answer}}; }},
          proxy{agent.port(), {}, seed},
          gateway{settings_for(proxy, patience)}
    {
    }

    static config::settings settings_for(const test_support::fault_proxy& proxy, std::chrono::milliseconds patience)
    {
        auto settings = flow::quick_settings();
        settings.timeouts.upstream_head = patience;
        settings.timeouts.upstream_idle = patience;
        settings.timeouts.connect = patience;
        settings.agents.push_back(flow::a2a_agent("a", proxy.url("/rpc")));
        return settings;
    }

    test_support::http_response call() const { return flow::call(gateway.port(), flow::call_body()); }

    std::chrono::steady_clock::duration recovery() const
    {
        const auto start = std::chrono::steady_clock::now();
        static_cast<void>(flow::becomes_true([&] { return call().status == 200; }));
        return std::chrono::steady_clock::now() - start;
    }

    test_support::scripted_agent agent;
    test_support::fault_proxy proxy;
    flow::running_gateway gateway;
};

// A socket that takes no more connections: who connects hears nothing, as behind a firewall that drops.
class full_listener {
public:
    full_listener()
    {
        auto* const generic = reinterpret_cast<::sockaddr*>(&where_);
        where_.sin_family = AF_INET;
        where_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::socklen_t size = sizeof where_;
        REQUIRE(::bind(listener_.number(), generic, size) == 0);
        REQUIRE(::listen(listener_.number(), 0) == 0);
        REQUIRE(::getsockname(listener_.number(), generic, &size) == 0);
        fill();
    }

    std::string url() const { return "http://127.0.0.1:" + std::to_string(ntohs(where_.sin_port)) + "/rpc"; }

private:
    void fill()
    {
        for (int i = 0; i < 4; ++i) {
            fillers_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            ::connect(fillers_.back().number(), reinterpret_cast<::sockaddr*>(&where_), sizeof where_);
        }
    }

    core::descriptor listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    ::sockaddr_in where_{};
    std::vector<core::descriptor> fillers_;
};

// "200 <body>", "502 upstream_reset" or "cut".
std::string outcome_of(const behind_proxy& x)
{
    try {
        const auto got = x.call();
        return std::to_string(got.status) + ' ' + (got.status == 200 ? got.body : got.header("Cardea-Error"));
    } catch (const std::exception&) {
        return "cut";
    }
}

}  // namespace

TEST_CASE("An agent behind a wall that drops everything is late, and costs no other agent anything")
{
    const full_listener wall;
    test_support::scripted_agent good{[](const auto&) { return test_support::answer_json("{}"); }};
    auto settings = flow::quick_settings();
    settings.timeouts.connect = 400ms;
    settings.agents.push_back(flow::a2a_agent("a", wall.url()));
    settings.agents.push_back(flow::a2a_agent("b", good.url("/rpc")));
    const flow::running_gateway gateway{std::move(settings)};
    http_client waits{gateway.port()};
    const auto begun = std::chrono::steady_clock::now();
    waits.send(flow::call_text(flow::call_body()));
    for (int i = 0; i < 20; ++i) {
        CHECK(flow::post_json(gateway.port(), "/agents/b", flow::call_body()).status == 200);
    }
    CHECK(std::chrono::steady_clock::now() - begun < 400ms);
    flow::check_jsonrpc_error(waits.read_response(), flow::late, "1");
    CHECK(std::chrono::steady_clock::now() - begun >= 400ms);
}

TEST_CASE("Wherever a chunked answer is cut or reset, also before its last chunk, it never looks whole")
{
    const std::string body(in_full() ? 4096 : 40, 'b');
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    const auto answer = head + flow::chunked(body, 16);
    for (const auto how : {at_limit::reset, at_limit::close}) {
        behind_proxy x{answer};
        for (std::uint64_t limit = in_full() ? 0 : head.size() - 2; limit < answer.size(); ++limit) {
            CAPTURE(limit);
            x.proxy.set({.to_caller = {.limit = limit, .then = how}});
            const auto outcome = outcome_of(x);
            CHECK((outcome == "502 upstream_reset" || outcome == "cut"));
        }
        x.proxy.heal();
        CHECK(x.recovery() <= 1s);
        CHECK(x.call().body == body);
    }
}

TEST_CASE("A reset after any byte of an answer never looks whole to the caller")
{
    const std::string body(in_full() ? 4096 : 60, 'b');
    const auto answer = sized(body);
    behind_proxy x{answer};
    for (std::uint64_t limit = 0; limit < answer.size(); ++limit) {
        CAPTURE(limit);
        x.proxy.set({.to_caller = {.limit = limit}});
        const auto outcome = outcome_of(x);
        CAPTURE(outcome);
        // Before the first byte the connection itself may not have been there.
        const bool refused = limit == 0 && outcome == "502 upstream_refused";
        CHECK((refused || outcome == "502 upstream_reset" || outcome == "cut"));
    }
    x.proxy.heal();
    CHECK(x.recovery() <= 1s);
}

TEST_CASE("Whichever bits of an answer are wrong, it passes as it is or is refused, and the next call succeeds")
{
    const std::string body(400, 'b');
    std::set<std::string> seen;
    const std::uint64_t seeds = in_full() ? 400 : 40;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        CAPTURE(seed);
        behind_proxy x{sized(body), seed, 150ms};
        x.proxy.set({.to_caller = {.corrupt_every = 200}});
        const auto outcome = outcome_of(x);
        seen.insert(outcome.substr(0, 4) == "200 " ? "200" : outcome);
        // A wrong digit of a length may also announce more than comes.
        CHECK(
            (outcome.starts_with("200 ") || outcome.starts_with("502 upstream_") || outcome == "504 upstream_timeout" ||
             outcome == "cut" || outcome == "0 ")
        );
        x.proxy.heal();
        CHECK(x.recovery() <= 1s);
        CHECK(x.call().body == body);
    }
    CHECK(seen.size() > 1);
}

TEST_CASE("An answer that comes twice is given once, and its connection is not used again")
{
    const auto once = sized("{}");
    behind_proxy x{once + once};
    for (int i = 0; i < 3; ++i) {
        CHECK(outcome_of(x) == "200 {}");
    }
    CHECK(x.agent.request_count() == 3);
    CHECK(x.agent.accepted_connections() == 3);
}

TEST_CASE("A slow way delays calls within their time, and ends those beyond it")
{
    const std::string body(500, 'b');
    behind_proxy x{sized(body), 1, in_full() ? 3s : 400ms};
    x.proxy.set({.to_agent = {.latency = 100ms, .jitter = 50ms}, .to_caller = {.latency = 100ms, .jitter = 50ms}});
    CHECK(outcome_of(x) == "200 " + body);
    x.proxy.set({.to_caller = {.bytes_per_second = in_full() ? 1000U : 5000U}});
    CHECK(outcome_of(x) == "200 " + body);
    x.proxy.set({.to_caller = {.latency = in_full() ? 10s : 2s}});
    CHECK(outcome_of(x) == "504 upstream_timeout");
    x.proxy.heal();
    CHECK(x.recovery() <= 1s);
}

TEST_SUITE_END();
