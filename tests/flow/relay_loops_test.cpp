// Requests that come back to the gateway, and the way that requests have come.
#include "net/upstream/via.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <chrono>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/relay_loops");

namespace {

constexpr flow::error_answer
    loop{508, -31508, "loop_detected", "The request comes back to this gateway over and over.", false};
constexpr flow::error_answer too_large{
    431,
    -31431,
    "header_too_large",
    "The request's head is over limits.header, has over limits.header_fields fields, or one of over "
    "limits.header_value bytes.",
    false
};

const std::string own{net::own_pseudonym()};

config::settings patient()
{
    auto settings = flow::quick_settings();
    settings.timeouts.upstream_head = 1h;
    settings.cards.timeout = 1h;
    return settings;
}

void add_agent(const flow::running_gateway& gateway, const std::string& id, const core::json& agent)
{
    flow::manage(gateway, "agents/upsert", {{"id", id}, {"agent", agent}});
}

double calls_answered(const flow::running_gateway& gateway, unsigned status)
{
    const auto series =
        R"(cardea_http_requests_total{route="call",method="POST",code=")" + std::to_string(status) + "\"}";
    return gateway.metric(series).value_or(0);
}

test_support::http_response post(std::uint16_t port, const std::string& target, const std::string& via)
{
    return test_support::request(port, "POST", target, {{"Via", via}}, call_body("7"));
}

}  // namespace

TEST_CASE("a call of an agent that is the gateway itself ends after three requests")
{
    const flow::running_gateway gateway{patient()};
    add_agent(gateway, "self", {{"url", gateway.base() + "/agents/self"}});
    const auto got = test_support::request(gateway.port(), "POST", "/agents/self", {}, call_body("7"));
    CHECK(got.status == 508);
    CHECK(flow::parsed(got.body)["id"] == 7);
    CHECK(flow::parsed(got.body)["error"]["data"]["code"] == "loop_detected");
    CHECK(calls_answered(gateway, 508) == 3);
}

TEST_CASE("a loop over two agents ends as well, whatever is asked and however")
{
    const flow::running_gateway gateway{patient()};
    add_agent(gateway, "a", {{"url", gateway.base() + "/agents/b"}, {"relay_paths", {"/**"}}});
    add_agent(gateway, "b", {{"url", gateway.base() + "/agents/a"}, {"relay_paths", {"/**"}}});
    CHECK(
        test_support::request(gateway.port(), "POST", "/agents/a", {}, call_body("7", "message/stream")).status == 508
    );
    CHECK(calls_answered(gateway, 508) == 3);
    CHECK(test_support::request(gateway.port(), "PUT", "/agents/a/x/y", {}, "text").status == 508);
    CHECK(test_support::request(gateway.port(), "GET", "/agents/a/rest/v1/card").status == 508);
}

TEST_CASE("a fetch of a card that leads to the same card ends at once")
{
    const flow::running_gateway gateway{patient()};
    add_agent(
        gateway,
        "self",
        {{"url", "http://127.0.0.1:1/"}, {"card_url", gateway.base() + flow::card_target("self")}}
    );
    flow::check_refusal(flow::get_card(gateway, "self"), 502, "upstream_status", "self");
}

TEST_CASE("a request that came through the gateway once may go on, and one that came twice may not")
{
    relayed x{test_support::answer_json("{}")};
    CHECK(post(x.port(), "/agents/a", "1.1 " + own).status == 200);
    CHECK(x.agent.request(0).header("Via") == "1.1 " + own + ", " + test_support::http_version() + " " + own);
    flow::check_jsonrpc_error(post(x.port(), "/agents/a", "1.1 " + own + ", 1.0 b, 1.1 " + own), loop, "7");
    http_client caller{x.port()};
    caller.send(call_text(call_body("8"), {{"Via", "1.1 " + own}, {"via", "1.1 " + own}}));
    flow::check_jsonrpc_error(caller.read_response(), loop, "8");
    caller.send(call_text(call_body("9")));  // the connection goes on
    CHECK(caller.read_response().status == 200);
    CHECK(x.agent.request_count() == 2);
    CHECK(calls_answered(x.gateway, 508) == 2);
}

TEST_CASE("A request that came through as many gateways as limits.hops goes on, and one that came through more does not"
)
{
    relayed x{test_support::answer_json("{}"), [](config::settings& s) { s.limits.hops = 3; }};
    const std::string other = "1.1 cardea-00000000000000";
    const auto through = [&](int gateways) {
        std::string via = "1.1 proxy";
        for (int i = 0; i < gateways; ++i) {
            via += ", " + other + std::to_string(10 + i);
        }
        return post(x.port(), "/agents/a", via);
    };
    CHECK(through(2).status == 200);
    CHECK(through(3).status == 200);
    flow::check_jsonrpc_error(through(4), loop, "7");
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("a card that is there is shown to whom its request came from, one that has to be fetched is not")
{
    relayed x{test_support::answer_json(flow::card_text("Agent", "http://127.0.0.1:1/"))};
    const test_support::field_list through{{"Via", "1.1 " + own}};
    CHECK(flow::get_card(x.gateway, "a").status == 200);
    CHECK(flow::get_card(x.gateway, "a", through).status == 200);
    add_agent(x.gateway, "gone", {{"url", "http://127.0.0.1:1/"}});
    flow::check_refusal(flow::get_card(x.gateway, "gone", through), 508, "loop_detected", "gone");
}

TEST_CASE("the way of a request is passed on up to the limit of a field's value, and not beyond")
{
    constexpr std::size_t limit = 1024;
    relayed x{test_support::answer_json("{}"), [](config::settings& s) { s.limits.header_value = limit; }};
    for (const auto size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        http_client caller{x.port()};
        const std::string first(limit / 2, 'a');
        const std::string second(size - first.size() - 2, 'b');  // one line with a comma and a space between them
        caller.send(call_text(call_body("7"), {{"Via", first}, {"Via", second}}));
        if (size <= limit) {
            CHECK(caller.read_response().status == 200);
        } else {
            flow::check_jsonrpc_error(caller.read_response(), too_large, "7");
        }
    }
    REQUIRE(x.agent.request_count() == 2);
    CHECK(x.agent.request(1).header("Via").size() == limit + 2 + 4 + own.size());
}

TEST_SUITE_END();
