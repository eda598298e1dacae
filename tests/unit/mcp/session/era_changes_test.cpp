// A server that comes back in the other era behind a session that stands.
#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

using mcp_test::result;
using mcp_test::rig;
using mcp_test::scripted_server;
using mcp_test::session_reason;
using mcp_test::session_state;

TEST_SUITE_BEGIN("mcp/session/era_changes");

TEST_CASE(
    "A walk that a server of the other era answers begins the session again at once, and says so to who waits for it"
)
{
    for (const bool began_modern : {false, true}) {
        CAPTURE(began_modern);
        rig x;
        x.settings.states.silence_is_legacy = false;
        x.settings.states.steady_after = core::duration{0};
        bool modern = began_modern;
        x.server.answer = [&modern, as_ever = x.server.answer](const scripted_server::line& asked) -> std::string {
            const bool spoken = asked.text.find("2026-07-28") != std::string::npos;
            if (modern && asked.method == "server/discover") {
                return result(asked, R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
            }
            if (asked.id == "0" || asked.method == "server/discover" || modern == spoken) {
                return as_ever(asked);
            }
            const std::string refusal =
                modern
                    ? R"({"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}})"
                    : R"({"code":-32000,"message":"Bad Request: Server not initialized"})";
            return R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":)" + refusal + "}";
        };
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        REQUIRE(x.walks.size() == 1);
        modern = !began_modern;
        x.runner->refresh();
        REQUIRE(x.wait_until([&] { return x.walks.size() == 3; }));
        CHECK(x.server.settled == (began_modern ? "2025-06-18" : "2026-07-28"));
        CHECK(x.runner->state() == session_state::ready);
        REQUIRE_FALSE(x.walks[1].has_value());
        CHECK(x.walks[1].error().detail.starts_with(
            began_modern ? "it speaks the legacy era by now: Bad Request: Server not"
                         : "it speaks the modern era by now: Uns"
        ));
        for (const auto& [state, why] : x.states) {
            CHECK(state != session_state::degraded);
            CHECK(state != session_state::backoff);
        }
        CHECK(std::ranges::count(x.states, std::pair{session_state::starting, session_reason::era_changed}) == 1);
    }
}

TEST_CASE("A program is not begun again for a list that it answers as one of the other era would")
{
    for (const int code : {-32020, -32022}) {
        CAPTURE(code);
        rig x;
        x.settings.states.steady_after = core::duration{0};
        bool moved = false;
        x.server.answer = [&moved, code, as_ever = x.server.answer](const scripted_server::line& asked) -> std::string {
            return moved && asked.method == "tools/list" ? mcp_test::failure(asked, code) : as_ever(asked);
        };
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        moved = true;
        const auto opened = x.server.opened;
        x.runner->refresh();
        REQUIRE(x.wait_for(session_state::degraded));
        CHECK(x.server.opened == opened);
        CHECK(std::ranges::count(x.server.methods(), std::string{"initialize"}) == 1);
    }
}

TEST_CASE("A session stands though one list always fails with a code that only servers of the other era have")
{
    rig x;
    x.settings.states.silence_is_legacy = false;
    x.settings.states.steady_after = core::duration{0};
    int asked_once_more = 0;  // for the era
    SUBCASE("the era is configured")
    {
        x.settings.states.era = mcp::era_policy::legacy;
    }
    SUBCASE("the server is asked for its era once more, and not again")
    {
        asked_once_more = 1;
    }
    x.server.answer = [as_ever = x.server.answer](const scripted_server::line& asked) -> std::string {
        if (asked.method == "initialize") {
            return result(
                asked,
                R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{}},)"
                R"("serverInfo":{"name":"s","version":"1"}})"
            );
        }
        return asked.method == "prompts/list" ? mcp_test::failure(asked, -32021) : as_ever(asked);
    };
    x.start();
    REQUIRE(x.wait_for(session_state::degraded));
    const auto begun = [&x] { return std::ranges::count(x.server.methods(), std::string{"initialize"}); };
    CHECK(begun() == 1);
    for (int i = 0; i < 3; ++i) {
        const auto walked = x.walks.size();
        x.runner->refresh();
        REQUIRE(x.wait_until([&] { return x.walks.size() > walked && x.runner->state() == session_state::degraded; }));
        REQUIRE(x.walks.back().has_value());
        CHECK(*x.walks.back() == mcp::walk_outcome::incomplete);
        CHECK(begun() == 1 + asked_once_more);
    }
    CHECK(std::ranges::count(x.states, session_state::backoff, &std::pair<session_state, session_reason>::first) == 0);
}

TEST_SUITE_END();
