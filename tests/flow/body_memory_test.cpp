// All bodies together that the process holds have a limit.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <list>
#include <optional>

using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/body_memory");

namespace {

constexpr std::size_t limit = 200'000;

constexpr flow::error_answer overloaded{503, -31503, "overloaded", "The gateway is at its limit.", true};

config::settings& with_limit(config::settings& s)
{
    s.limits.body_memory = limit;
    s.timeouts.upstream_head = std::chrono::hours{1};
    s.timeouts.body = std::chrono::hours{1};
    s.limits.body_rate = 0;
    return s;
}

std::string body_of(std::size_t bytes)
{
    return call_body('"' + std::string(bytes - call_body("\"\"").size(), 'i') + '"');
}

// A call with so large a body, that the agent answers or not.
std::string call_of(std::size_t bytes, bool chunked, bool held)
{
    test_support::field_list fields{{"Content-Type", "application/json"}, {"X-Held", held ? "yes" : "no"}};
    if (!chunked) {
        return test_support::request_text("POST", "/agents/a", fields, body_of(bytes));
    }
    fields.emplace_back("Transfer-Encoding", "chunked");
    return test_support::request_text("POST", "/agents/a", fields, flow::chunked(body_of(bytes), 7000));
}

test_support::script serve(const test_support::recorded_request& request)
{
    return request.header("X-Held") == "yes" ? test_support::silence() : test_support::answer_json("{}");
}

void check_refused(http_client& caller)
{
    const auto refused = caller.read_response();
    flow::check_plain_error(refused, overloaded, "a");
    CHECK(refused.header("Retry-After") == "5");
    CHECK(refused.header("Connection") == (test_support::over_http2() ? "" : "close"));
}

}  // namespace

TEST_CASE("bodies are held up to the limit in bytes, one byte more is refused, and room comes back")
{
    for (const bool chunked : {false, true}) {
        for (const std::size_t held : {std::size_t{1000}, std::size_t{90'000}}) {
            CAPTURE(chunked);
            CAPTURE(held);
            relayed x{serve, [](auto& s) { with_limit(s); }};
            std::optional<http_client> holder{x.port()};
            holder->send(call_of(held, chunked, true));
            REQUIRE(x.agent.wait_for_requests(1));
            for (const auto more : {limit - held - 1, limit - held}) {
                CAPTURE(more);
                http_client caller{x.port()};
                caller.send(call_of(more, chunked, false));
                CHECK(caller.read_response().status == 200);
            }
            http_client beyond{x.port()};
            beyond.try_send(call_of(limit - held + 1, chunked, false));
            check_refused(beyond);
            CHECK(x.agent.request_count() == 3);
            holder.reset();
            REQUIRE(x.agent.wait_for_open_connections(1));  // the one that is kept
            http_client caller{x.port()};
            caller.send(call_of(limit, chunked, false));
            CHECK(caller.read_response().status == 200);
        }
    }
}

TEST_CASE("a body alone that is over the limit of all bodies is refused")
{
    relayed x{serve, [](auto& s) { with_limit(s); }};
    for (const std::size_t bytes : {limit - 1, limit, limit + 1}) {
        CAPTURE(bytes);
        http_client caller{x.port()};
        caller.try_send(call_of(bytes, false, false));
        if (bytes <= limit) {
            CHECK(caller.read_response().status == 200);
        } else {
            check_refused(caller);
        }
    }
}

TEST_CASE("a thousand callers that announce 10 MB each and send little of it lock nobody out")
{
    relayed x{serve, [](auto& s) { with_limit(s); }};
    std::list<http_client> callers;
    for (int i = 0; i < 1000; ++i) {
        auto& caller = callers.emplace_back(x.port());
        caller.send(
            "POST /agents/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Content-Length: 10000000\r\n\r\n" +
            std::string(i % 2 == 0 ? 0 : 100, 'b')
        );
    }
    REQUIRE(x.gateway.wait_for_metric("cardea_connections_open", 1000));
    http_client caller{x.port()};
    caller.send(call_of(limit - 500 * 100, false, false));
    CHECK(caller.read_response().status == 200);
}

TEST_CASE("workers share one limit")
{
    relayed x{serve, [](auto& s) { with_limit(s).workers = 2; }};
    http_client holder{x.port()};
    holder.send(call_of(limit / 2, false, true));
    REQUIRE(x.agent.wait_for_requests(1));
    http_client elsewhere{x.port()};  // the worker with the fewest connections: the other one
    elsewhere.try_send(call_of(limit / 2 + 1, false, false));
    check_refused(elsewhere);
    // The other worker gives back what it held of the refused one right after its answer, and not before.
    CHECK(flow::becomes_true([&] {
        http_client fits{x.port()};
        fits.send(call_of(limit / 2, false, false));
        return fits.read_response().status == 200;
    }));
}

TEST_CASE("Callers who use up the limit leave operators theirs")
{
    relayed x{serve, [](auto& s) { with_limit(s); }};
    http_client holder{x.port()};
    holder.send(call_of(limit, false, true));
    REQUIRE(x.agent.wait_for_requests(1));
    http_client caller{x.port()};
    caller.try_send(call_of(1000, false, false));
    check_refused(caller);
    http_client on_admin{x.gateway.admin_port()};
    const std::string list = R"({"jsonrpc":"2.0","id":1,"method":"agents/list"})";
    on_admin.send(test_support::request_text("POST", "/rpc", {{"Content-Type", "application/json"}}, list));
    CHECK(on_admin.read_response().status == 200);
}

TEST_CASE("a stream gives up the room of its call")
{
    relayed x{test_support::event_stream(), [](auto& s) { with_limit(s); }};
    std::list<http_client> callers;
    for (std::size_t i = 1; i <= 5; ++i) {
        auto& caller = callers.emplace_back(x.port());
        caller.send(call_text(call_body('"' + std::string(limit / 2, 'i') + '"', "message/stream")));
        CHECK(caller.read_head().status == 200);
        REQUIRE(x.agent.wait_for_streams(i));
    }
}

TEST_SUITE_END();
