#include "gateway/relay/forwarding.hpp"
#include "tests/unit/gateway/relay/field_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/forwarding to replicas");

namespace {

using namespace relay_rig;
using gateway::relay::body_care;
using net::http1::framing;
using net::http1::method;

}  // namespace

TEST_CASE(
    "Another replica gets a request as its caller sent it, but for what ends at this hop and what says where it came "
    "from"
)
{
    const lines written{
        {"Host", "gw.test"},
        {"Authorization", "Bearer of-ada"},
        {"Cookie", "a=b"},
        {"X-API-Key", "k"},
        {"Mcp-Session-Id", "sealed"},
        {"Last-Event-ID", "7"},
        {"Via", "1.1 front"},
        {"X-Original-URL", "/x"},
        {"With_Underscore", "u"},
        {"Origin", "https://page.test"},
        {"Content-Length", "2"},
        {"Connection", "close, Own, Mcp-Session-Id"},
        {"Own", "hop"},
        {"TE", "trailers"},
        {"Expect", "100-continue"},
        {"Proxy-Authorization", "p"},
        {"X-Forwarded-For", "198.51.100.1"},
        {"Forwarded", "for=198.51.100.1"},
        {"Cardea-Forwarded", "forged"},
        {"Cardea-Caller", "forged"},
    };
    net::http1::request_head head;
    head.verb = method::post;
    head.fields = fields_of(written);
    std::string text;
    gateway::relay::write_forwarded_fields(text, head, {framing::length, 2}, stranger);
    const lines wanted{
        {"authorization", "Bearer of-ada"},
        {"cookie", "a=b"},
        {"x-api-key", "k"},
        {"mcp-session-id", "sealed"},
        {"last-event-id", "7"},
        {"via", "1.1 front"},
        {"with_underscore", "u"},
        {"origin", "https://page.test"},
        {"x-forwarded-for", "203.0.113.9"},
        {"x-forwarded-proto", "http"},
        {"cardea-forwarded", "1"},
        {"content-length", "2"},
    };
    CHECK(lines_of(text) == wanted);
    CHECK(text.ends_with("\r\n\r\n"));
}

TEST_CASE("Another replica hears of the caller's proxies what they said, with the peer behind it")
{
    const lines written{{"X-Forwarded-For", "198.51.100.1"}, {"X-Forwarded-Proto", "https"}};
    net::http1::request_head head;
    head.fields = fields_of(written);
    auto proxy = stranger;
    proxy.trusted = true;
    std::string text;
    gateway::relay::write_forwarded_fields(text, head, {framing::none, 0}, proxy);
    CHECK(values(text, "x-forwarded-for") == std::vector<std::string>{"198.51.100.1, 203.0.113.9"});
    CHECK(values(text, "x-forwarded-proto") == std::vector<std::string>{"https"});
    CHECK(values(text, "content-length").empty());
}

TEST_CASE("An answer of another replica passes with all that it says to the caller")
{
    const lines written{
        {"Content-Type", "application/json"},
        {"Mcp-Session-Id", "sealed"},
        {"Cardea-Error", "session_not_found"},
        {"Server", "cardea"},
        {"Set-Cookie", "a=b"},
        {"Access-Control-Allow-Origin", "https://page.test"},
        {"Transfer-Encoding", "chunked"},
        {"Connection", "close, Own"},
        {"Own", "hop"},
    };
    net::http1::response_head head;
    head.status = 404;
    head.fields = fields_of(written);
    std::string text;
    gateway::relay::write_answer_fields(text, head, body_care::passes, gateway::relay::answer_of::replica);
    CHECK(text.starts_with("HTTP/1.1 404 "));
    const lines wanted{
        {"content-type", "application/json"},
        {"mcp-session-id", "sealed"},
        {"cardea-error", "session_not_found"},
        {"server", "cardea"},
        {"set-cookie", "a=b"},
    };
    CHECK(lines_of(text) == wanted);
}

TEST_SUITE_END();
