#include "tests/support/fault_proxy.hpp"

#include "tests/support/http_client.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <system_error>

using namespace std::chrono_literals;
using namespace test_support;

namespace {

constexpr std::string_view answer_text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

// An agent that answers each request with `answer_text`, behind a proxy.
struct proxied {
    explicit proxied(const proxy_faults& faults = {})
        : agent{[](const recorded_request&) { return script{bytes{std::string{answer_text}}}; }},
          proxy{agent.port(), faults}
    {
    }

    // What arrives until the connection ends.
    std::string received() const
    {
        http_client client{proxy.port()};
        client.send(request_text("GET", "/"));
        return client.read_until_closed();
    }

    scripted_agent agent;
    fault_proxy proxy;
};

std::chrono::steady_clock::duration time_of(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - start;
}

}  // namespace

TEST_CASE("without a fault the proxy passes requests, answers and ends of both sides")
{
    proxied x;
    http_client client{x.proxy.port()};
    client.send(request_text("POST", "/a", {}, std::string(100'000, 'b')));
    CHECK(client.read_response().body == "hello");
    client.send(request_text("GET", "/b", {{"Connection", "close"}}));
    CHECK(client.read_response().body == "hello");
    CHECK(client.closed_by_peer());
    CHECK(x.agent.request(0).body.size() == 100'000);
    CHECK(x.agent.request(1).target == "/b");

    http_client leaves{x.proxy.port()};
    leaves.send(request_text("GET", "/c"));
    CHECK(leaves.read_response().body == "hello");
    leaves.close();
    CHECK(x.agent.wait_until_peer_closed());
    CHECK(x.proxy.accepted_connections() == 2);
}

TEST_CASE("a limit of the answer cuts it there, in the way that it says")
{
    for (const auto how : {at_limit::reset, at_limit::close, at_limit::half_close}) {
        for (const std::uint64_t limit : {0U, 1U, 30U}) {
            CAPTURE(limit);
            const proxied x{{.to_caller = {.limit = limit, .then = how}}};
            CHECK(x.received().size() <= limit);  // a reset may overtake bytes
            if (how != at_limit::reset) {
                CHECK(x.received() == answer_text.substr(0, limit));
            }
        }
    }
}

TEST_CASE("a half-closed direction leaves the other one open")
{
    proxied x{{.to_caller = {.limit = 0, .then = at_limit::half_close}}};
    http_client client{x.proxy.port()};
    client.send(request_text("GET", "/1"));
    CHECK(client.read_until_closed().empty());
    REQUIRE(x.agent.wait_for_requests(1));
    client.send(request_text("GET", "/2"));
    CHECK(x.agent.wait_for_requests(2));
}

TEST_CASE("silence in one direction keeps the connection and the other direction, until it is healed")
{
    proxied x{{.to_caller = {.limit = 0, .then = at_limit::silence}}};
    http_client client{x.proxy.port()};
    client.send(request_text("GET", "/1"));
    REQUIRE(x.agent.wait_for_requests(1));
    CHECK_FALSE(client.closed_by_peer(20ms));
    x.proxy.heal();
    client.send(request_text("GET", "/2"));
    CHECK(client.read_response().body == "hello");

    x.proxy.set({.to_agent = {.limit = 0, .then = at_limit::silence}});
    client.send(request_text("GET", "/3"));
    CHECK_FALSE(client.closed_by_peer(20ms));
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("what happens to connections as they begin: a reset, an end, silence, a delay")
{
    proxied x{{.accepts = on_accept::close}};
    CHECK(x.received().empty());
    x.proxy.set({.accepts = on_accept::silence});
    http_client deaf{x.proxy.port()};
    deaf.send(request_text("GET", "/"));
    CHECK_FALSE(deaf.closed_by_peer(20ms));
    CHECK(x.agent.accepted_connections() == 0);
    x.proxy.set({.accepts = on_accept::reset});
    const auto meets_reset = [&] {
        // Whether connecting or sending sees it is up to the kernel.
        http_client client{x.proxy.port()};
        client.send(request_text("GET", "/"));
        if (!client.read_until_closed().empty()) {
            return;
        }
        throw std::runtime_error{"reset"};
    };
    CHECK_THROWS(meets_reset());
    x.proxy.set({.accept_delay = 60ms});
    CHECK(time_of([&] { CHECK(request(x.proxy.port(), "GET", "/").body == "hello"); }) >= 60ms);
}

TEST_CASE("a proxy that is down refuses and resets, and listens on the same port afterwards")
{
    proxied x;
    http_client open{x.proxy.port()};
    open.send(request_text("GET", "/"));
    CHECK(open.read_response().body == "hello");
    x.proxy.set({.down = true});
    CHECK(open.closed_by_peer());
    CHECK_THROWS_AS(http_client{x.proxy.port()}, std::system_error);
    x.proxy.heal();
    CHECK(request(x.proxy.port(), "GET", "/").body == "hello");
}

TEST_CASE("latency, bandwidth, slices, wrong bits and a late end reach the caller as they are planned")
{
    proxied x;
    const auto get = [&] { return request(x.proxy.port(), "GET", "/", {{"Connection", "close"}}); };
    x.proxy.set({.to_agent = {.latency = 50ms}, .to_caller = {.latency = 50ms}});
    CHECK(time_of([&] { CHECK(get().body == "hello"); }) >= 100ms);
    x.proxy.set({.to_caller = {.bytes_per_second = 1000}});
    CHECK(time_of([&] { CHECK(get().body == "hello"); }) >= std::chrono::milliseconds{answer_text.size()});
    x.proxy.set({.to_agent = {.slice = 1}, .to_caller = {.slice = 1}});
    CHECK(get().body == "hello");
    x.proxy.set({.to_caller = {.end_delay = 60ms}});
    http_client late{x.proxy.port()};
    late.send(request_text("GET", "/", {{"Connection", "close"}}));
    CHECK(late.read_response().body == "hello");
    CHECK_FALSE(late.closed_by_peer(10ms));
    CHECK(late.closed_by_peer());

    x.proxy.set({.to_caller = {.corrupt_every = 1}});
    http_client wrong{x.proxy.port()};
    wrong.send(request_text("GET", "/"));
    CHECK(wrong.read_some().substr(0, 4) != "HTTP");
}
