#include "mcp/transport/http_wire.hpp"

#include "tests/support/hostile_addresses.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

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

TEST_CASE(
    "Cookies of a server go with all that follows, beside a configured one, and the next session begins without them"
)
{
    test_support::scripted_agent agent{[](const test_support::recorded_request& asked) {
        const bool begins = asked.body.find("initialize\"") != std::string::npos;
        return begins ? test_support::answer_json(
                            mcp_test::result_of(1),
                            {{"Mcp-Session-Id", "s-1"},
                             {"Set-Cookie", "node=1; Path=/; HttpOnly"},
                             {"Set-Cookie", "other=2; Path=/not-here"},
                             {"Set-Cookie", "far=3; Domain=example.org"}}
                        )
                      : test_support::answer(202, "", {{"Set-Cookie", "seen=1"}});
    }};
    mcp_test::transport_rig x{agent.url()};
    x.settings.headers = {{"cookie", core::secret{"own=0"}}};
    x.begin();
    REQUIRE(x.wire->send(mcp_test::note("notifications/initialized")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
    REQUIRE(x.wire->send(mcp_test::note("notifications/other")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 3; }));
    REQUIRE(x.wire->send(mcp_test::ask(1, "initialize")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 4; }));
    x.wire->close(/*end_session=*/true);
    REQUIRE(x.wait_until([&] { return agent.request_count() >= 4; }));
    CHECK(agent.request(0).header("Cookie") == "own=0");
    CHECK(agent.request(1).header("Cookie") == "own=0; node=1");
    CHECK(agent.request(2).header("Cookie") == "own=0; node=1; seen=1");
    CHECK(agent.request(2).count("Cookie") == 1);
    CHECK(agent.request(3).header("Cookie") == "own=0");
}

TEST_SUITE_END();
