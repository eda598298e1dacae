#include "mcp/transport/http_wire.hpp"

#include "tests/support/hostile_addresses.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/transport/http_wire");

TEST_CASE("a stream is not asked for before the time that the server names, which is taken up to an hour")
{
    using core::duration;
    const mcp::http_settings settings;
    CHECK(settings.pause(std::nullopt) == duration{1'000});
    CHECK(settings.pause(duration{0}) == duration{100});
    CHECK(settings.pause(duration{30'001}) == duration{30'001});
    CHECK(settings.pause(duration{3'599'999}) == duration{3'599'999});
    CHECK(settings.pause(duration{3'600'000}) == duration{3'600'000});
    CHECK(settings.pause(duration{3'600'001}) == duration{3'600'000});
}

TEST_CASE("header values that are not visible ASCII, or look coded, are coded")
{
    CHECK(mcp::as_header_value("tools/call a b") == "tools/call a b");
    CHECK(
        mcp::as_header_value("") ==
        "=?base64?"
        "?="
    );
    CHECK(mcp::as_header_value("a") == "a");
    CHECK(mcp::as_header_value("a ") == "=?base64?YSA=?=");
    CHECK(mcp::as_header_value("a\tb") == "=?base64?YQli?=");
    CHECK(mcp::as_header_value("\xc3\xa9\xc3\xa9") == "=?base64?w6nDqQ==?=");
    CHECK(mcp::as_header_value("=?base64?YQ==?=") == "=?base64?PT9iYXNlNjQ/WVE9PT89?=");
}

TEST_CASE("ids of sessions are visible ASCII, bounded")
{
    CHECK(mcp::is_session_id("!~f50916d2"));
    CHECK(mcp::is_session_id(std::string(1024, 'x')));
    CHECK_FALSE(mcp::is_session_id(std::string(1025, 'x')));
    CHECK_FALSE(mcp::is_session_id(""));
    CHECK_FALSE(mcp::is_session_id("a b"));
    CHECK_FALSE(mcp::is_session_id("a\r\nb"));
    CHECK_FALSE(mcp::is_session_id("\xc3\xa9"));
}

TEST_CASE("a redirect of an MCP server leads the gateway to no address but the server's own")
{
    const std::string own = "https://agent.example/mcp";
    CHECK(
        mcp::redirect_target(own, {.status = 307, .headers = {{"location", "/other"}}}) == "https://agent.example/other"
    );
    for (const auto& hostile : test_support::hostile_addresses()) {
        CAPTURE(hostile.substr(0, 80));
        for (const unsigned status : {301U, 302U, 307U, 308U}) {
            const auto to = mcp::redirect_target(own, {.status = status, .headers = {{"location", hostile}}});
            CHECK((to.empty() || to.starts_with("https://agent.example/")));
        }
    }
}

TEST_SUITE_END();
