// Requests of the gateway's own over HTTP/2, calls through a proxy, and agents that send frames without use.
#include "net/client/exchange.hpp"
#include "tests/support/tunnel_proxy.hpp"
#include "tests/unit/net/client/exchange_recorder.hpp"
#include "tests/unit/net/upstream/http2_rig.hpp"

#include <memory>
#include <string>

using core::errc;
using http2_rig::h2::answer;
using http2_rig::h2::script;
using test_support::http2_agent;
using test_support::recorded_request;
namespace h2 = test_support::h2;

TEST_SUITE_BEGIN("net/http2_exchange");

namespace {

struct own_request : exchange_driver {
    exchange_recorder told;
    std::unique_ptr<net::exchange> running;

    void run(const http2_agent& agent, bool repeatable = true)
    {
        net::exchange_request request;
        request.url = agent.url("/mcp");
        request.method = "POST";
        request.body = std::make_shared<const std::string>("{}");
        request.http2 = true;
        request.repeatable = repeatable;
        running = client->start(std::move(request), told);
        run_until([&] { return !told.ends.empty(); });
    }
};

http2_rig::target through(const std::string& url, const test_support::tunnel_proxy& proxy)
{
    net::client_contexts contexts;
    auto made = net::make_target(url, {}, contexts, nullptr, core::secret{proxy.url()});
    REQUIRE(made.has_value());
    return std::make_shared<const net::upstream_target>(net::over_http2(std::move(*made)));
}

net::routine<> call_into(http2_rig::rig& r, http2_rig::target to, http2_rig::answer& got)
{
    got = co_await http2_rig::call(r.pool, std::move(to), "/", "x");
}

std::string frames(std::string_view frame, std::size_t times)
{
    std::string out;
    for (std::size_t i = 0; i < times; ++i) {
        out += frame;
    }
    return out;
}

}  // namespace

TEST_CASE("a request of the gateway's own goes over HTTP/2, and its events come one by one")
{
    http2_agent agent{[](const recorded_request&) {
        return script{
            h2::head{{{":status", "200"}, {"content-type", "text/event-stream"}, {"mcp-session-id", "s1"}}},
            h2::data{"data: 1\n\n"},
            h2::data{"data: 2\n\n", true}
        };
    }};
    own_request it;
    it.run(agent);
    REQUIRE(it.told.ends.front().has_value());
    CHECK(it.told.head->status == 200);
    CHECK(it.told.head->field("mcp-session-id") == "s1");
    CHECK(it.told.body == "data: 1\n\ndata: 2\n\n");
    CHECK(agent.request(0).target == "/mcp");
    CHECK(agent.request(0).body == "{}");
}

TEST_CASE("a request of the gateway's own that is refused is sent again once, whatever it asks for")
{
    for (const int refusals : {1, 2}) {
        CAPTURE(refusals);
        int calls = 0;
        http2_agent agent{[&](const recorded_request&) {
            return ++calls <= refusals ? script{h2::reset{7}} : answer(200, "done");
        }};
        own_request it;
        it.run(agent, /*repeatable=*/false);
        CHECK(it.told.ends.front().has_value() == (refusals == 1));
        CHECK(agent.requests().size() == 2);
    }
}

TEST_CASE("a proxy is asked for a tunnel to an agent of HTTP/2 without TLS, too")
{
    http2_agent agent{[](const recorded_request&) { return answer(200, "ok"); }};
    const test_support::tunnel_proxy proxy{agent.port()};
    http2_rig::rig r;
    http2_rig::answer got;
    r.run(call_into(r, through("http://agent.test:8080/", proxy), got));
    CHECK(got.body == "ok");
    REQUIRE(proxy.heads().size() == 1);
    CHECK(proxy.heads().front().starts_with("CONNECT agent.test:8080 HTTP/1.1\r\n"));
    CHECK(agent.request(0).target == "/");
}

TEST_CASE("an agent that sends frames without use beyond the limit ends its connection")
{
    using namespace std::string_literals;
    const auto ping =
        "\0\0\x08\x06\0\0\0\0\0"
        "12345678"s;
    const auto priority = "\0\0\x05\x02\0\0\0\0\x01\0\0\0\0\0"s;
    for (const auto& frame : {ping, priority}) {
        for (const std::size_t times : {90U, 120U}) {
            CAPTURE(times);
            http2_agent agent{[&](const recorded_request&) {
                auto said = answer(200, "ok");
                said.insert(said.begin(), h2::raw{frames(frame, times)});
                return said;
            }};
            net::pool_settings settings;
            settings.http2_control = 10;  // 100 at once
            http2_rig::rig r{settings};
            http2_rig::answer got;
            r.run(call_into(r, http2_rig::target_of(agent.url()), got));
            CHECK(got.failure == (times < 100 ? errc{} : errc::upstream_protocol));
            CHECK(r.counters.goaways[1][11] == (times < 100 ? 0 : 1));
        }
    }
}

TEST_SUITE_END();
