#include "gateway/console/event_filter.hpp"

#include "tests/unit/gateway/console/texts.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/console/event_filter");

namespace {

using gateway::console::event_filter;

constexpr std::string_view call =
    R"({"ts":"2026-11-28T11:00:00.000Z","level":"info","event":"request","id":"0123456789abcdef","route":"call",)"
    R"("method":"POST","agent":"words","rpc":"message/send","status":502,"code":"upstream_refused","bytes_in":3})";
constexpr std::string_view printed =
    R"({"ts":"2026-11-28T11:00:00.000Z","level":"warn","event":"mcp_stderr","agent":"files","line":"\"agent\":\"words\",\\"})";

bool takes(const std::string& query, std::string_view line)
{
    const auto parsed = event_filter::parse(query);
    REQUIRE(parsed.has_value());
    return parsed->takes(line);
}

}  // namespace

TEST_CASE("without a filter every line is taken")
{
    for (const std::string query : {"", "last=5", "level=debug"}) {
        CHECK(takes(query, call));
        CHECK(takes(query, printed));
        CHECK(takes(query, "no JSON"));
    }
}

TEST_CASE("a filter takes the lines that have its value at the top")
{
    CHECK(takes("agent=words", call));
    CHECK_FALSE(takes("agent=word", call));
    CHECK_FALSE(takes("agent=words", printed));
    CHECK(takes("agent=files", printed));
    CHECK(takes("event=request", call));
    CHECK_FALSE(takes("event=request", printed));
    CHECK(takes("route=call", call));
    CHECK_FALSE(takes("route=mcp", call));
    CHECK_FALSE(takes("route=call", printed));
    CHECK(takes("status=502", call));
    CHECK_FALSE(takes("status=503", call));
    CHECK(takes("status=5xx", call));
    CHECK_FALSE(takes("status=4xx", call));
    CHECK_FALSE(takes("status=5xx", printed));
    CHECK(takes("level=info", call));
    CHECK_FALSE(takes("level=warn", call));
    CHECK(takes("level=info", printed));
    CHECK(takes("level=warn", printed));
    CHECK_FALSE(takes("level=error", printed));
    CHECK(takes("agent=words&event=request&route=call&status=5xx&level=info&last=3", call));
    CHECK_FALSE(takes("agent=words&event=request&route=call&status=4xx", call));
    CHECK(takes("ag%65nt=wor%64s", call));
}

TEST_CASE("a line that is cut off anywhere does no harm")
{
    for (const auto line : {call, printed}) {
        for (std::size_t length = 0; length < line.size(); ++length) {
            CAPTURE(length);
            const auto taken = takes("agent=nobody&status=500", line.substr(0, length));
            CHECK_FALSE(taken);
        }
    }
}

TEST_CASE("a wrong or unknown filter is refused with a sentence")
{
    for (const std::string query :
         {"foo=1",      "agent",           "agent=",        "agent=a/b",  "agent=..",
          "event=",     "event=Request",   "event=a-b",     "route=",     "route=calls",
          "status=",    "status=50",       "status=5000",   "status=600", "status=0xx",
          "status=50x", "status=xxx",      "level=",        "level=off",  "level=Warn",
          "last=",      "last=-1",         "last=1001",     "last=1e3",   "last=99999999999999999999",
          "last= 1",    "agent=a&agent=b", "last=1&last=1", "=",          "&&",
          "agent=a&"}) {
        CAPTURE(query);
        const auto parsed = event_filter::parse(query);
        if (query == "agent=a&") {
            CHECK(parsed.has_value());  // nothing stands behind it
            continue;
        }
        REQUIRE_FALSE(parsed.has_value());
        CHECK(parsed.error().code == core::errc::invalid_params);
        CHECK(parsed.error().detail.ends_with('.'));
    }
    for (const std::string query : {"last=0", "last=999", "last=1000"}) {
        CAPTURE(query);
        CHECK(event_filter::parse(query).has_value());
    }
}

TEST_CASE("a line becomes an event with its number and its name")
{
    CHECK(event_of_line(7, call) == "id: 7\nevent: request\ndata: " + std::string{call} + "\n\n");
    CHECK(event_of_line(8, "no JSON") == "id: 8\ndata: no JSON\n\n");
    CHECK(event_of_line(9, R"({"event":"a b"})") == "id: 9\ndata: {\"event\":\"a b\"}\n\n");
    CHECK(event_of_line(9, R"({"event":"unended)") == "id: 9\ndata: {\"event\":\"unended\n\n");
    CHECK(gateway::console::event_of_lost(3) == "event: lost\ndata: {\"lines\": 3}\n\n");
}
