#include "mcp/runner.hpp"

#include "tests/unit/mcp/runner_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/runner");

namespace {

using namespace std::chrono_literals;
using mcp::session_reason;
using mcp::session_state;
using mcp_test::rig;

std::string notification(const char* method)
{
    return std::string{R"({"jsonrpc":"2.0","method":")"} + method + "\"}";
}

}  // namespace

TEST_CASE("a session is probed for its era, shaken hands with, walked and published")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(
        x.server.methods() ==
        std::vector<std::string>{
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list",
        }
    );
    CHECK(x.server.opened == 2);
    CHECK(x.server.settled == "2025-06-18");
    CHECK(x.server.streams == 1);
    REQUIRE(x.published.size() == 1);
    CHECK(x.published[0]->server.name == "s");
    REQUIRE((*x.published[0])[mcp::list_kind::tools].size() == 1);
    CHECK((*x.published[0])[mcp::list_kind::tools][0].key == "a");
    CHECK(x.runner->ready_since().has_value());
    CHECK(x.runner->counts().connections == 1);
    CHECK(x.runner->counts().handshakes == 1);
    CHECK(x.runner->counts().walks == 1);
}

TEST_CASE("changes are walked again, and only what differs is published")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    x.server.say(notification("notifications/tools/list_changed"));
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 2; }));
    CHECK(x.published.size() == 1);
    x.tools = R"([{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}}])";
    for (int i = 0; i < 5; ++i) {
        x.server.say(notification("notifications/tools/list_changed"));
    }
    REQUIRE(x.wait_until([&] { return x.published.size() == 2; }));
    CHECK((*x.published[1])[mcp::list_kind::tools].size() == 2);
    CHECK(x.runner->counts().walks == 3);
    x.server.say(notification("notifications/prompts/list_changed"));
    x.server.say(notification("notifications/tools/list_changed"));
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 4; }));
    const auto asked = x.server.methods();
    CHECK(std::ranges::find(asked, "prompts/list") == asked.end());
    CHECK(x.runner->state() == session_state::ready);
}

TEST_CASE("what a server asks for is answered, and what it says late or wrongly is dropped")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    const auto before = x.server.sent.size();
    x.server.say(R"({"jsonrpc":"2.0","id":"r1","method":"roots/list"})");
    x.server.say(R"({"jsonrpc":"2.0","id":0,"method":"ping"})");
    REQUIRE(x.server.sent.size() == before + 2);
    CHECK(x.server.sent[before].text.find("-32601") != std::string::npos);
    CHECK(x.server.sent[before].text.find("\"r1\"") != std::string::npos);
    CHECK(x.server.sent[before + 1].text.find("\"result\":{}") != std::string::npos);
    x.server.say("garbage");
    x.server.say(R"({"jsonrpc":"2.0","id":9999,"result":{}})");
    x.server.say(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    CHECK(x.server.sent.size() == before + 2);
    CHECK(x.runner->state() == session_state::ready);
    CHECK(x.runner->counts().refused == 1);
}

TEST_CASE("a session that is lost comes back by itself, and what was listed stays meanwhile")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    x.server.wires.back()->observer().lost(core::upstream_error(core::errc::session_crashed, "exit code 0"));
    CHECK(x.runner->state() == session_state::backoff);
    CHECK(x.runner->reason() == session_reason::exited);
    CHECK(x.runner->latest() != nullptr);
    CHECK_FALSE(x.runner->ready_since().has_value());
    CHECK(x.sink.text.find("exit code 0") != std::string::npos);
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.runner->counts().connections == 2);
    CHECK(x.published.size() == 1);
}

TEST_CASE("who cannot be reached is tried again without an end")
{
    rig x;
    x.settings.states.crash_rest = core::duration{20};
    x.server.down = true;
    x.start();
    REQUIRE(x.wait_until([&] { return x.server.opened > 12; }));
    x.server.down = false;
    CHECK(x.wait_for(session_state::ready));
}

TEST_CASE("a walk that fails is told, and the first one ends the session")
{
    rig x;
    x.tools = "1";
    x.start();
    REQUIRE(x.wait_until([&] { return !x.states.empty() && x.states.back().first == session_state::backoff; }));
    CHECK(x.states.back().second == session_reason::discovery_failed);
    CHECK(x.server.ended_sessions == 1);
    x.tools = "[]";
    REQUIRE(x.wait_for(session_state::ready));
    x.tools = "1";
    x.server.say(notification("notifications/tools/list_changed"));
    REQUIRE(x.wait_for(session_state::degraded));
    CHECK(x.runner->counts().walks_failed == 2);
    CHECK(x.published.size() == 1);
}

TEST_CASE("a stop ends the session in order")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    x.runner->stop();
    REQUIRE(x.wait_for(session_state::stopped));
    CHECK(x.server.ended_sessions == 1);
    CHECK(x.wait_until([&] { return x.server.wires.empty(); }));
}

TEST_CASE("a runner may go at any moment")
{
    for (int steps = 0; steps < 12; ++steps) {
        CAPTURE(steps);
        rig x;
        x.start();
        for (int i = 0; i < steps; ++i) {
            x.loop.io().restart();
            x.loop.io().poll_one();
        }
        x.runner.reset();
        x.loop.io().restart();
        x.loop.io().poll();
        CHECK(x.server.wires.empty());
    }
}

TEST_SUITE_END();
