// over 600 lines: one runner against one scripted server, case by case.
#include "mcp/session/session_runner.hpp"

#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/session/session_runner");

namespace {

using namespace std::chrono_literals;
using mcp::session_reason;
using mcp::session_state;
using mcp_test::result;
using mcp_test::rig;
using mcp_test::scripted_server;

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
    CHECK(x.server.opened == 1);
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

TEST_CASE("A list that fails ends no session: the server has its card, and the list is walked again when it has changed"
)
{
    rig x;
    x.tools = "1";
    x.start();
    REQUIRE(x.wait_for(session_state::degraded));
    CHECK(x.runner->reason() == session_reason::refresh_failed);
    CHECK(x.runner->detail() == "tools/list: the result has no list");
    REQUIRE(x.published.size() == 1);
    CHECK(x.published[0]->server.name == "s");
    CHECK((*x.published[0])[mcp::list_kind::tools].empty());
    REQUIRE(x.walks.size() == 1);
    CHECK(x.walks[0].value() == mcp::walk_outcome::incomplete);
    x.tools = R"([{"name":"a","inputSchema":{}}])";
    x.server.say(notification("notifications/tools/list_changed"));
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.published.size() == 2);
    x.tools = "1";
    x.server.say(notification("notifications/tools/list_changed"));
    REQUIRE(x.wait_for(session_state::degraded));
    CHECK(x.runner->counts().walks_failed == 1);
    CHECK(x.published.size() == 2);
    CHECK(x.runner->counts().connections == 1);
    CHECK(x.server.ended_sessions == 0);
    const auto told = x.sink.text.find("mcp_walk_failed");
    REQUIRE(told != std::string::npos);
    CHECK(x.sink.text.find("mcp_walk_failed", x.sink.text.find("mcp_walk_failed", told + 1) + 1) == std::string::npos);
}

TEST_CASE("A server that stops answering in its first walk is found out by a ping, and one that has gone at once")
{
    rig x;
    x.settings.states.discovery_timeout = core::duration{50};
    x.settings.states.ping_timeout = core::duration{30};
    x.server.answer = [as_ever = x.server.answer](const scripted_server::line& asked) {
        return asked.method == "tools/list" || asked.method == "ping" ? std::string{} : as_ever(asked);
    };
    SUBCASE("by a ping")
    {
        x.start();
        REQUIRE(x.wait_until([&] { return x.runner->reason() == session_reason::ping_timeout; }));
        REQUIRE(x.wait_for(session_state::backoff));
        CHECK(x.published.size() == 1);
    }
    SUBCASE("at once")
    {
        x.settings.states.discovery_timeout = core::duration{60'000};
        x.start();
        REQUIRE(x.wait_until([&] { return !x.server.sent.empty() && x.server.sent.back().method == "tools/list"; }));
        const auto gone = core::upstream_error(core::errc::upstream_refused, "nobody there");
        x.server.wires.back()->observer().failed(std::stoull(x.server.sent.back().id), gone, std::nullopt);
        CHECK(x.runner->state() == session_state::backoff);
        CHECK(x.runner->reason() == session_reason::unreachable);
        CHECK(x.published.empty());
    }
}

TEST_CASE("a server that repeats what it was given does not bring it into the log, nor to who waits for its lists")
{
    rig x;
    x.settings.secrets = std::make_shared<core::redaction>(std::vector<std::string>{"hunter2-hunter2"});
    const auto normal = x.server.answer;
    // The second one is across the cut.
    const auto rude = "no: hunter2-hunter2 " + std::string(670, '-') + "hunter2-hunter2";
    x.server.answer = [&](const scripted_server::line& asked) {
        return asked.method != "initialize"
                   ? normal(asked)
                   : R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":{"code":1,"message":")" + rude + "\"}}";
    };
    x.start();
    REQUIRE(x.wait_until([&] { return x.sink.text.find(R"("detail":"no: ******** ---)") != std::string::npos; }));
    x.server.answer = normal;
    REQUIRE(x.wait_for(session_state::ready));

    x.server.answer = nullptr;
    std::vector<mcp::look_result> seen;
    x.runner->look([&](const mcp::look_result& found) { seen.push_back(found); });
    auto& wire = x.server.wires.back()->observer();
    const auto id = std::stoull(x.server.sent.back().id);
    wire.failed(id, core::upstream_error(core::errc::upstream_status, rude), std::nullopt);
    REQUIRE(seen.size() == 1);
    REQUIRE(seen.front().has_error());
    CHECK(seen.front().error().detail.find("no: ******** ---") != std::string::npos);
    CHECK(seen.front().error().detail.find("hunter") == std::string::npos);
    wire.lost(core::upstream_error(core::errc::session_crashed, "gone: hunter2-hunter2"));
    CHECK(x.sink.text.find(R"("detail":"gone: ********")") != std::string::npos);
    CHECK(x.sink.text.find("hunter") == std::string::npos);
}

TEST_CASE("each time it listens in the modern era, the request has an id of its own")
{
    rig x;
    x.server.answer = [&x](const scripted_server::line& asked) -> std::string {
        if (asked.method == "server/discover") {
            return result(
                asked,
                R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}})"
            );
        }
        return asked.method == "tools/list" ? result(asked, R"({"tools":)" + x.tools + "}") : "";
    };
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    REQUIRE(x.server.listens.size() == 1);
    const auto first = x.server.listens[0];
    x.server.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"})");
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 2; }));
    SUBCASE("also if the server ended it in order")
    {
        x.server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(first) + R"(,"result":{"resultType":"complete"}})");
    }
    SUBCASE("also if it broke off")
    {
        x.server.wires.back()->observer().stream_changed(mcp::stream_news::gone);
    }
    CHECK(x.runner->reason() == session_reason::stream_down);
    REQUIRE(x.wait_until([&] { return x.server.listens.size() == 2; }));
    CHECK(x.server.listens[1] > first);
    x.server.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"})");
    CHECK(x.runner->state() == session_state::ready);
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 3; }));
}

TEST_CASE(
    "A server of the modern era is asked to tell of what it declares, and one that declares or takes nothing is well"
)
{
    rig x;
    std::string tools = R"({"listChanged":true})";
    std::string answer = R"("error":{"code":-32603,"message":"Subscription limit reached"})";
    x.server.answer = [&](const scripted_server::line& asked) -> std::string {
        if (asked.method == "server/discover") {
            return result(
                asked,
                R"({"supportedVersions":["2026-07-28"],"capabilities":{"prompts":{"listChanged":false},"tools":)" +
                    tools + "}}"
            );
        }
        return asked.method == "tools/list"     ? result(asked, R"({"tools":[]})")
               : asked.method == "prompts/list" ? result(asked, R"({"prompts":[]})")
                                                : std::string{};
    };
    SUBCASE("none is asked for where none is declared")
    {
        tools = "{}";
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        CHECK(x.server.streams == 0);
    }
    SUBCASE("a refusal is no ill health, and it is not asked again")
    {
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        REQUIRE(x.server.listens.size() == 1);
        x.server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(x.server.listens[0]) + "," + answer + "}");
        x.runner->refresh();
        REQUIRE(x.wait_until([&] { return x.walks.size() == 2; }));
        CHECK(x.server.streams == 1);
    }
    CHECK(x.runner->state() == session_state::ready);
    CHECK(x.sink.text.find("degraded") == std::string::npos);
}

TEST_CASE("a ping that is not answered is cancelled, a late answer to it counts, and initialize is never cancelled")
{
    rig x;
    x.settings.states.ping_interval = core::duration{10};
    x.settings.states.ping_timeout = core::duration{10};
    x.settings.states.ping_misses = 1000;
    auto as_ever = x.server.answer;
    x.server.answer = [&](const scripted_server::line& asked) {
        return asked.method == "ping" ? std::string{} : as_ever(asked);
    };
    x.start();
    REQUIRE(x.wait_for(session_state::degraded));
    REQUIRE(x.wait_until([&] { return x.server.sent.back().method == "ping" && x.server.sent.size() > 8; }));
    const auto first = std::ranges::find(x.server.sent, "ping", &scripted_server::line::method);
    const auto cancelled = std::ranges::find(x.server.sent, "notifications/cancelled", &scripted_server::line::method);
    REQUIRE(cancelled != x.server.sent.end());
    CHECK(cancelled->text.find("\"requestId\":" + first->id + ",") != std::string::npos);
    const auto answered = result(*first, "{}");
    x.server.say(answered);
    CHECK(x.runner->state() == session_state::ready);

    rig silent;
    silent.settings.states.era = mcp::era_policy::legacy;
    silent.settings.states.start_timeout = core::duration{10};
    silent.server.answer = {};
    silent.start();
    REQUIRE(silent.wait_until([&] { return silent.runner->reason() == session_reason::handshake_timeout; }));
    CHECK(silent.server.methods() == std::vector<std::string>{"initialize"});
    CHECK(silent.server.ended_sessions == 1);
}

TEST_CASE("each missed ping is cancelled once, and late answers count to the latest of them only")
{
    rig x;
    x.settings.states.ping_interval = core::duration{2};
    x.settings.states.ping_timeout = core::duration{10};
    bool odd = false;
    bool silent = false;
    auto as_ever = x.server.answer;
    x.server.answer = [&](const scripted_server::line& asked) {
        const bool ping = asked.method == "ping";
        odd = ping ? !odd : odd;
        return ping && (odd || silent) ? std::string{} : as_ever(asked);
    };
    x.start();
    const auto cancelled = [&] { return std::ranges::count(x.server.methods(), "notifications/cancelled"); };
    REQUIRE(x.wait_until([&] { return cancelled() >= 12; }));
    std::vector<std::string> texts;
    for (const auto& each : x.server.sent) {
        if (each.method == "notifications/cancelled") {
            texts.push_back(each.text);
        }
    }
    std::ranges::sort(texts);
    CHECK(std::ranges::adjacent_find(texts) == texts.end());
    const auto first = std::ranges::find(x.server.sent, "ping", &scripted_server::line::method)->id;
    silent = true;
    REQUIRE(x.wait_for(session_state::degraded));
    x.server.say(R"({"jsonrpc":"2.0","id":)" + first + R"(,"result":{}})");
    CHECK(x.runner->state() == session_state::degraded);
}

TEST_CASE("a request of a list that the transport gives up is cancelled")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    auto as_ever = x.server.answer;
    x.server.answer = [&](const scripted_server::line& asked) {
        return asked.method == "tools/list" ? std::string{} : as_ever(asked);
    };
    x.server.say(notification("notifications/tools/list_changed"));
    REQUIRE(x.wait_until([&] { return std::ranges::count(x.server.methods(), "tools/list") == 2; }));
    const auto id = x.server.sent.back().id;
    x.server.wires.back()->observer().failed(
        std::stoull(id),
        core::upstream_error(core::errc::upstream_timeout, "late"),
        std::nullopt
    );
    CHECK(x.server.sent.back().method == "notifications/cancelled");
    CHECK(x.server.sent.back().text.find("\"requestId\":" + id + ",") != std::string::npos);
    CHECK(x.runner->state() == session_state::degraded);
}

TEST_CASE("A server of the modern era that is slow to say so is one, whatever it answers to initialize meanwhile")
{
    rig x;
    x.settings.states.probe_patience = core::duration{10};
    x.server.last_words = "slow";
    const auto legacy = x.server.answer;
    bool speaks_legacy = false;
    x.server.answer = [&](const scripted_server::line& asked) {
        const bool refuses = asked.method == "server/discover" || (asked.method == "initialize" && !speaks_legacy);
        return !refuses                       ? legacy(asked)
               : asked.method == "initialize" ? mcp_test::failure(asked, -32022)
                                              : std::string{};
    };
    SUBCASE("if it takes initialize, the session goes on in the modern era")
    {
        speaks_legacy = true;
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        CHECK(x.server.settled == "2025-06-18");
    }
    SUBCASE("if it refuses initialize, the probe is waited for")
    {
        x.start();
        REQUIRE(x.wait_until([&] { return x.server.methods().size() == 2; }));
        REQUIRE(x.wait_until([&] { return x.server.wires.size() == 1; }));
        CHECK(x.runner->state() == session_state::starting);
    }
    const auto probe = x.server.sent.front();
    REQUIRE(probe.method == "server/discover");
    x.server.wires.front()->observer().received(
        result(probe, R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})")
    );
    REQUIRE(x.wait_until([&] { return x.runner->state() == session_state::ready && x.server.settled == "2026-07-28"; })
    );
    CHECK(std::ranges::count(x.server.methods(), "server/discover") == 1);
    CHECK(x.server.trials == std::vector<bool>{true, false, true, false});
    CHECK(x.server.opened == 2);
    CHECK(x.runner->counts().connections == (speaks_legacy ? 2 : 1));
    REQUIRE(x.wait_until([&] { return x.server.wires.size() == 1; }));
    CHECK(std::ranges::none_of(x.states, [](const auto& each) { return each.first == session_state::backoff; }));
}

TEST_CASE(
    "What only an operator can mend stays so when the probe beside it is not answered, and no longer than its attempt"
)
{
    rig x;
    x.settings.states.silence_is_legacy = false;
    x.settings.states.probe_patience = core::duration{10};
    x.settings.states.start_timeout = core::duration{300};
    x.settings.states.backoff_first = core::duration{500};
    x.settings.states.backoff_longest = core::duration{500};
    bool refuses = true;
    x.server.answer = [&](const scripted_server::line& asked) {
        if (refuses && asked.method == "initialize") {
            auto& wire = *x.server.wires.back();
            x.server.later(wire, [&wire, id = std::stoull(asked.id)] {
                const auto why = core::upstream_error(core::errc::session_misconfigured, "status 401 to initialize");
                wire.observer().failed(id, why, std::nullopt);
            });
        }
        return std::string{};
    };
    x.start();
    REQUIRE(x.wait_for(session_state::backoff));
    CHECK(x.runner->reason() == session_reason::probe_failed);
    CHECK(x.runner->detail().find("status 401 to initialize") != std::string::npos);
    CHECK(x.runner->needs_operator());
    refuses = false;
    CHECK(x.wait_until([&] { return !x.runner->needs_operator(); }));
    CHECK(x.wait_for(session_state::backoff));
}

TEST_CASE("a modern server that answers its ping as a legacy one would is asked for its era at once")
{
    rig x;
    x.settings.states.steady_after = core::duration{0};
    x.settings.states.ping_interval = core::duration{10};
    auto legacy = x.server.answer;
    bool modern = true;
    x.server.answer = [&](const scripted_server::line& asked) -> std::string {
        if (modern && asked.method == "server/discover") {
            return result(asked, R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
        }
        return legacy(asked);
    };
    x.start();
    REQUIRE(x.wait_until([&] { return x.runner->counts().handshakes == 1 && x.server.sent.size() > 8; }));
    CHECK(x.runner->state() == session_state::ready);
    modern = false;
    REQUIRE(x.wait_until([&] { return x.server.settled == "2025-06-18"; }));
    CHECK(x.wait_for(session_state::ready));
    CHECK(std::ranges::count(x.states, std::pair{session_state::starting, session_reason::era_changed}) == 1);
    CHECK(std::ranges::count(x.states, session_state::backoff, &std::pair<session_state, session_reason>::first) == 0);
}

TEST_CASE("a legacy server that answers its ping as a modern one would is asked for its era at once")
{
    rig x;
    x.settings.states.steady_after = core::duration{0};
    x.settings.states.ping_interval = core::duration{10};
    auto legacy = x.server.answer;
    bool modern = false;
    x.server.answer = [&](const scripted_server::line& asked) -> std::string {
        if (!modern) {
            return legacy(asked);
        }
        if (asked.method == "server/discover") {
            return result(asked, R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
        }
        const bool spoken = asked.text.find("2026-07-28") != std::string::npos;
        return asked.id == "0" || spoken
                   ? legacy(asked)
                   : R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":{"code":-32022,"message":"unsupported",)" +
                         R"("data":{"supported":["2026-07-28"]}}})";
    };
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    modern = true;
    REQUIRE(x.wait_until([&] { return x.server.settled == "2026-07-28"; }));
    CHECK(x.wait_for(session_state::ready));
    CHECK(std::ranges::count(x.states, std::pair{session_state::starting, session_reason::era_changed}) == 1);
    CHECK(std::ranges::count(x.states, session_state::backoff, &std::pair<session_state, session_reason>::first) == 0);
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

TEST_CASE("lists are walked again when somebody wants it, and how that ended is told")
{
    rig x;
    x.settings.states.discovery_timeout = core::duration{50};
    x.start();
    x.runner->refresh();
    REQUIRE(x.wait_for(session_state::ready));
    REQUIRE(x.walks.size() == 1);
    CHECK(x.walks[0].value() == mcp::walk_outcome::changed);
    x.runner->refresh();
    x.runner->refresh();
    REQUIRE(x.wait_until([&] { return x.walks.size() == 2; }));
    CHECK(x.walks[1].value() == mcp::walk_outcome::unchanged);
    x.tools = "[]";
    x.runner->refresh();
    REQUIRE(x.wait_until([&] { return x.walks.size() == 3; }));
    CHECK(x.walks[2].value() == mcp::walk_outcome::changed);
    x.tools = "1";
    x.runner->refresh();
    REQUIRE(x.wait_until([&] { return x.walks.size() == 4; }));
    REQUIRE_FALSE(x.walks[3].has_value());
    CHECK(x.walks[3].error().code == core::errc::upstream_protocol);
    x.server.answer = nullptr;
    x.runner->refresh();
    REQUIRE(x.wait_until([&] { return x.walks.size() == 5; }));
    REQUIRE_FALSE(x.walks[4].has_value());
    CHECK(x.walks[4].error().code == core::errc::upstream_timeout);
    const auto& counts = x.runner->counts();
    CHECK(counts.walks == 3);
    CHECK(counts.walks_changed == 2);
    CHECK(counts.walks_incomplete == 0);
    CHECK(counts.walks_failed == 2);
    CHECK(x.walks[4].error().detail == "tools/list: its lists did not come in time");
    CHECK(x.server.methods().back() == "notifications/cancelled");
    CHECK(x.runner->state() == session_state::degraded);
}

TEST_CASE("Lists that a server says nothing of are walked every so often, and at once when that is changed")
{
    rig x;
    x.settings.states.walk = core::duration{20};
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    x.tools = "[]";
    REQUIRE(x.wait_until([&] { return x.published.size() == 2; }));
    REQUIRE(x.wait_until([&] { return x.walks.size() >= 4; }));
    x.runner->set_walk(core::duration{3'600'000});
    const auto before = x.walks.size();
    REQUIRE(x.wait_until([&] { return x.walks.size() == before + 1; }));
    x.runner->set_walk(core::duration{3'600'000});
    CHECK(x.walks.size() == before + 1);
    CHECK(x.runner->state() == session_state::ready);
}

TEST_CASE("who wants the lists while only some are walked is told of a walk over all, once")
{
    rig x;
    std::string prompts;
    x.server.answer = [&](const scripted_server::line& asked) -> std::string {
        if (asked.method == "initialize") {
            return mcp_test::result(
                asked,
                R"({"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"},)"
                R"("capabilities":{"tools":{},"prompts":{"listChanged":true}}})"
            );
        }
        if (asked.method == "prompts/list") {
            return prompts.empty() ? prompts : mcp_test::result(asked, prompts);
        }
        return mcp_test::server_with(&x.tools)(asked);
    };
    prompts = R"({"prompts":[]})";
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    prompts.clear();
    x.tools = "[]";
    x.server.say(notification("notifications/prompts/list_changed"));
    REQUIRE(x.wait_until([&] { return std::ranges::count(x.server.methods(), "prompts/list") == 2; }));
    const auto given_up = x.server.sent.back();
    CHECK(x.walks.size() == 1);

    prompts = R"({"prompts":[{"name":"p"}]})";
    x.runner->refresh();
    x.server.say(mcp_test::result(given_up, R"({"prompts":[{"name":"late"}]})"));
    REQUIRE(x.wait_until([&] { return x.walks.size() == 2; }));
    CHECK(x.walks[1].value() == mcp::walk_outcome::changed);
    CHECK((*x.runner->latest())[mcp::list_kind::tools].empty());
    REQUIRE((*x.runner->latest())[mcp::list_kind::prompts].size() == 1);
    CHECK((*x.runner->latest())[mcp::list_kind::prompts][0].key == "p");
    CHECK(std::ranges::any_of(x.server.sent, [&](const auto& each) {
        return each.text.find("\"requestId\":" + given_up.id + ",") != std::string::npos;
    }));
    CHECK(x.runner->counts().walks_failed == 0);
}

TEST_CASE("a list that cannot be had stays as it was, and one that is no longer offered goes")
{
    rig x;
    std::string capabilities = R"({"tools":{},"prompts":{}})";
    bool broken = false;
    x.server.answer = [&](const auto& asked) -> std::string {
        if (asked.method == "initialize") {
            return mcp_test::result(
                asked,
                R"({"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"},"capabilities":)" +
                    capabilities + "}"
            );
        }
        if (asked.method == "prompts/list" && broken) {
            return R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":{"code":-32603,"message":"not now"}})";
        }
        if (asked.method == "prompts/list") {
            return mcp_test::result(asked, R"({"prompts":[{"name":"p"}]})");
        }
        return mcp_test::server_with(&x.tools)(asked);
    };
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    broken = true;
    x.runner->refresh();
    REQUIRE(x.wait_until([&] { return x.walks.size() == 2; }));
    CHECK(x.walks[1].value() == mcp::walk_outcome::incomplete);
    CHECK((*x.runner->latest())[mcp::list_kind::prompts].size() == 1);
    CHECK(x.published.size() == 1);
    CHECK(x.runner->counts().walks_incomplete == 1);
    capabilities = R"({"tools":{}})";
    x.server.wires.back()->observer().lost(core::upstream_error(core::errc::upstream_reset, "gone"));
    REQUIRE(x.wait_until([&] { return x.walks.size() == 3; }));
    CHECK((*x.runner->latest())[mcp::list_kind::prompts].empty());
    CHECK((*x.runner->latest())[mcp::list_kind::tools].size() == 1);
}

TEST_CASE("a look at the lists changes nothing, is shared, and ends with the session")
{
    rig x;
    std::vector<mcp::look_result> seen;
    const auto look = [&] { x.runner->look([&](const mcp::look_result& found) { seen.push_back(found); }); };
    x.start();
    look();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].error().code == core::errc::session_not_ready);
    REQUIRE(x.wait_for(session_state::ready));
    x.tools = "[]";
    const auto asked = x.server.sent.size();
    look();
    look();
    REQUIRE(x.wait_until([&] { return seen.size() == 3; }));
    CHECK(x.server.sent.size() == asked + 1);
    for (const auto at : {1U, 2U}) {
        REQUIRE(seen[at].has_value());
        CHECK((**seen[at])[mcp::list_kind::tools].empty());
        CHECK((*seen[at])->server.name == "s");
    }
    CHECK((*x.runner->latest())[mcp::list_kind::tools].size() == 1);
    CHECK(x.published.size() == 1);
    CHECK(x.runner->counts().walks == 1);
    x.tools = "1";
    look();
    REQUIRE(x.wait_until([&] { return seen.size() == 4; }));
    CHECK(seen[3].error().code == core::errc::upstream_protocol);
    CHECK(x.runner->state() == session_state::ready);
    x.server.answer = nullptr;
    look();
    x.runner->end_look();
    REQUIRE(seen.size() == 5);
    CHECK(seen[4].error().code == core::errc::upstream_timeout);
    CHECK(x.server.methods().back() == "notifications/cancelled");
    look();
    x.server.wires.back()->observer().lost(core::upstream_error(core::errc::session_crashed, "gone"));
    REQUIRE(seen.size() == 6);
    CHECK(seen[5].error().code == core::errc::session_crashed);
}

TEST_SUITE_END();
