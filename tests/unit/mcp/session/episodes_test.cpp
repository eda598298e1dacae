// What one list, walk, stream or connection leaves behind must not reach the next one.
#include "mcp/protocol/discovery.hpp"
#include "tests/unit/mcp/session/runner_rig.hpp"
#include "tests/unit/mcp/session/session_driver.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using mcp::era;
using mcp::event_kind;
using mcp::list_kind;
using mcp::session_settings;
using mcp::session_state;
using mcp::timer_name;
using mcp_test::result;
using mcp_test::rig;
using mcp_test::scripted_server;
using std::chrono::seconds;
using tests::session_driver;

TEST_SUITE_BEGIN("mcp/episodes");

namespace {

// Of the modern era, with tools and prompts; its lists are the test's.
struct modern_rig : rig {
    modern_rig()
    {
        settings.states.era = mcp::era_policy::modern;
        server.answer = [this](const scripted_server::line& asked) -> std::string {
            if (asked.method == "server/discover") {
                return result(
                    asked,
                    R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"prompts":)" +
                        prompts_declared + "}}"
                );
            }
            if (asked.method == "prompts/list") {
                return prompts.empty() ? mcp_test::failure(asked, -32603) : result(asked, prompts);
            }
            return asked.method == "tools/list" ? result(asked, tools) : std::string{};
        };
        tools = list("tools", "public");
    }

    static std::string list(const std::string& what, const std::string& scope)
    {
        return "{\"" + what + R"(":[{"name":"a"}],"ttlMs":60000,"cacheScope":")" + scope + "\"}";
    }

    // Walks over all lists, or those that have changed.
    void walk_again(const char* changed = nullptr)
    {
        const auto before = runner->counts().walks;
        if (changed == nullptr) {
            runner->refresh();
        } else {
            server.say(R"({"jsonrpc":"2.0","method":")" + std::string{changed} + "\"}");
        }
        REQUIRE(wait_until([&] { return runner->counts().walks == before + 1; }));
    }

    std::string prompts_declared = "{}";
    std::string prompts = list("prompts", "private");
};

// Serves for long enough that its next loss begins a new row.
void serve_for_long(session_driver& d)
{
    d.pass(seconds{60});
}

// A new connection, up to its first walk.
void come_back(session_driver& d)
{
    d.fire(timer_name::backoff);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    REQUIRE(d.on(event_kind::walk_done).find("report ready") != std::string::npos);
}

}  // namespace

TEST_CASE("Each list is asked for from its beginning, and may have the cursors and the keys that another list has")
{
    mcp::list_set wanted;
    wanted.set();
    mcp::list_reader walk{wanted, era::legacy, {.pages = 2}};
    for (const auto& [items, key] :
         {std::pair{"tools", "name"}, {"resources", "uri"}, {"resourceTemplates", "uriTemplate"}, {"prompts", "name"}
         }) {
        REQUIRE(walk.next().has_value());
        CHECK(walk.next()->cursor.empty());
        const auto begin = R"({")" + std::string{items} + R"(":[{")" + key + R"(":")";
        REQUIRE(walk.accept(begin + R"(a"}],"nextCursor":"c"})").has_value());
        REQUIRE(walk.next().has_value());
        CHECK(walk.next()->cursor == "\"c\"");
        REQUIRE(walk.accept(begin + R"(b"}]})").has_value());
    }
    CHECK_FALSE(walk.next().has_value());
    const auto found = std::move(walk).onto({});
    for (const auto& list : found.lists) {
        CHECK(list.size() == 2);
    }
    CHECK(walk.left_out().count == 0);
}

TEST_CASE("A list that is refused in its middle leaves its cursor to no other")
{
    mcp::list_set wanted;
    wanted.set(mcp::index_of(list_kind::resources));
    wanted.set(mcp::index_of(list_kind::prompts));
    mcp::list_reader walk{wanted, era::legacy};
    REQUIRE(walk.accept(R"({"resources":[{"uri":"a"}],"nextCursor":"c"})").has_value());
    REQUIRE(walk.refuse({-32603, "not now", {}}).has_value());
    REQUIRE(walk.next().has_value());
    CHECK(walk.next()->list == list_kind::prompts);
    CHECK(walk.next()->cursor.empty());
}

TEST_CASE("One private page makes a whole walk private, wherever it stands, and an absent or unknown scope is private")
{
    const std::string open = R"(,"ttlMs":1000,"cacheScope":"public")";
    const std::string closed = R"(,"ttlMs":1000,"cacheScope":"private")";
    for (const auto& [first, second, third, shareable] :
         {std::tuple{open, open, open, true},
          {closed, open, open, false},
          {open, closed, open, false},
          {open, open, closed, false},
          {open, std::string{R"(,"cacheScope":"Public")"}, open, false},
          {open, std::string{}, open, false}}) {
        mcp::list_set wanted;
        wanted.set(mcp::index_of(list_kind::tools));
        wanted.set(mcp::index_of(list_kind::prompts));
        mcp::list_reader walk{wanted, era::modern};
        REQUIRE(walk.accept(R"({"tools":[],"nextCursor":"2")" + first + "}").has_value());
        REQUIRE(walk.accept(R"({"tools":[])" + second + "}").has_value());
        REQUIRE(walk.accept(R"({"prompts":[])" + third + "}").has_value());
        CHECK(std::move(walk).onto({}).shareable == shareable);
    }
}

TEST_CASE("What is private stays so until all of it has been walked and is public")
{
    modern_rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    CHECK_FALSE(x.runner->latest()->shareable);
    x.walk_again("notifications/tools/list_changed");
    CHECK_FALSE(x.runner->latest()->shareable);
    x.prompts.clear();
    x.walk_again();
    REQUIRE(x.walks.back().value() == mcp::walk_outcome::incomplete);
    CHECK_FALSE(x.runner->latest()->shareable);
    x.prompts = modern_rig::list("prompts", "public");
    x.walk_again("notifications/tools/list_changed");
    CHECK(x.runner->latest()->shareable);  // all lists, since one was left
    x.tools = modern_rig::list("tools", "private");
    x.walk_again("notifications/tools/list_changed");
    CHECK_FALSE(x.runner->latest()->shareable);
    x.tools = modern_rig::list("tools", "public");
    x.walk_again("notifications/tools/list_changed");
    CHECK_FALSE(x.runner->latest()->shareable);
    x.walk_again();
    CHECK(x.runner->latest()->shareable);
}

TEST_CASE("A time to live of the modern era does not hold for lists of the legacy one")
{
    mcp_test::rig x;
    x.settings.states.steady_after = core::duration{0};
    x.settings.states.ping_interval = core::duration{10};
    const auto legacy = x.server.answer;
    bool modern = true;
    x.server.answer = [&](const scripted_server::line& asked) -> std::string {
        if (modern && asked.method == "server/discover") {
            return result(asked, R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
        }
        return legacy(asked);
    };
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.runner->latest()->time_to_live.has_value());
    modern = false;
    REQUIRE(x.wait_until([&] { return x.server.settled == "2025-06-18"; }));
    REQUIRE(x.wait_for(session_state::ready));
    CHECK_FALSE(x.runner->latest()->time_to_live.has_value());
}

TEST_CASE("An unreadable answer fails the one request that waits, beside an open stream of notifications")
{
    modern_rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    REQUIRE(x.server.listens.size() == 1);
    x.server.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"})");
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 2; }));
    const auto as_ever = x.server.answer;
    x.server.answer = [&](const scripted_server::line& asked) {
        return asked.method == "tools/list" ? R"({"jsonrpc":"2.0","result":{"tools":NaN}})" : as_ever(asked);
    };
    x.runner->refresh();
    REQUIRE(x.wait_for(session_state::degraded));
    CHECK(x.runner->reason() == mcp::session_reason::refresh_failed);
    CHECK(x.runner->detail().find("answer refused: message: ") != std::string::npos);
    x.server.say(R"({"jsonrpc":"2.0","result":{"tools":NaN}})");
    CHECK(x.runner->reason() == mcp::session_reason::refresh_failed);  // the stream waits for nothing
}

TEST_CASE("A missed ping of one connection does not count for the next")
{
    session_driver d;
    d.make_ready();
    d.fire(timer_name::ping);
    d.fire(timer_name::pong);
    REQUIRE(d.session.state() == session_state::degraded);
    SUBCASE("that follows a loss")
    {
        d.on(event_kind::lost);
        come_back(d);
    }
    SUBCASE("nor for the next session on it")
    {
        serve_for_long(d);
        d.on(event_kind::session_lost);
        d.handshake("2025-11-25");
        d.on(event_kind::walk_done);
    }
    CHECK(d.session.state() == session_state::ready);
    CHECK(d.on(event_kind::ping_answered).empty());
    d.fire(timer_name::ping);
    CHECK(d.fire(timer_name::pong) == "cancel_ping, report degraded ping_timeout, send_ping, arm pong 10000");
}

TEST_CASE("Walks that failed on one connection do not make the next one's wait longer, nor whole")
{
    session_driver d;
    d.make_ready();
    for (const auto* delay : {"10000", "20000", "40000"}) {
        d.on(event_kind::refresh);
        CHECK(d.on(event_kind::walk_failed).find(std::string{"arm refresh "} + delay) != std::string::npos);
    }
    d.on(event_kind::lost);
    come_back(d);
    d.on(event_kind::list_changed);
    CHECK(d.fire(timer_name::debounce) == "walk changed, arm discovery 60000");
    CHECK(d.on(event_kind::walk_failed) == "disarm discovery, arm refresh 10000, report degraded refresh_failed");
}

TEST_CASE("A storm of changes on one connection does not slow the next one down, nor does a change that was not walked")
{
    session_driver d;
    d.make_ready();
    for (int i = 0; i < 8; ++i) {
        d.on(event_kind::list_changed);
        d.fire(timer_name::debounce);
        d.on(event_kind::walk_done);
    }
    CHECK(d.on(event_kind::list_changed) == "arm debounce 4000");
    d.fire(timer_name::debounce);
    d.on(event_kind::list_changed);
    d.on(event_kind::lost);
    d.fire(timer_name::backoff);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    CHECK(d.on(event_kind::walk_done).find("debounce") == std::string::npos);
    CHECK(d.on(event_kind::list_changed) == "arm debounce 250");
}

TEST_CASE("A stream that failed on one connection is listened to on the next as if it never had")
{
    session_settings settings;
    settings.era = mcp::era_policy::modern;
    session_driver d{settings};
    const auto begin = [&d] {
        d.on(event_kind::connected);
        d.handshake("2026-07-28");
        d.on(event_kind::walk_done);
    };
    d.on(event_kind::begin);
    begin();
    d.on(event_kind::stream_up);
    for (const auto* delay : {"1000", "1500", "2250"}) {
        CHECK(d.on(event_kind::stream_down).starts_with(std::string{"arm listen "} + delay));
        d.fire(timer_name::listen);
    }
    d.on(event_kind::lost);
    d.fire(timer_name::backoff);
    begin();
    CHECK(d.session.state() == session_state::ready);
    CHECK(d.on(event_kind::stream_up) == "arm debounce 250");
    d.fire(timer_name::debounce);
    d.on(event_kind::walk_done);
    CHECK(d.on(event_kind::stream_down).starts_with("arm listen 1000"));
}

TEST_CASE("A late answer of one session's ping or walk says nothing to the next one")
{
    session_driver d;
    d.make_ready();
    d.fire(timer_name::ping);
    d.on(event_kind::refresh);
    const auto old = d.session.generation();
    d.on(event_kind::lost);
    come_back(d);
    d.fire(timer_name::ping);
    d.on(event_kind::refresh);
    CHECK(d.on({.kind = event_kind::ping_answered, .of = old}).empty());
    CHECK(d.on({.kind = event_kind::walk_done, .of = old}).empty());
    CHECK(d.on({.kind = event_kind::stream_down, .of = old}).empty());
    CHECK(d.on(event_kind::ping_answered) == "disarm pong, arm ping 30000");
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish");
}

TEST_CASE("What was said of one failure is not said of the next, and nothing of it once it serves")
{
    rig x;
    x.server.last_words = "first words";
    x.settings.states.era = mcp::era_policy::legacy;
    x.settings.states.start_timeout = core::duration{20};
    const auto as_ever = x.server.answer;
    x.server.answer = [](const auto&) { return std::string{}; };
    x.start();
    REQUIRE(x.wait_for(session_state::backoff));
    CHECK(x.runner->detail() == "no answer to the handshake; it wrote: first words");
    x.server.last_words.clear();
    x.server.down = true;
    REQUIRE(x.wait_until([&] { return x.runner->reason() == mcp::session_reason::start_failed; }));
    CHECK(x.runner->detail() == "nobody there");
    x.server.down = false;
    x.server.answer = as_ever;
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.runner->detail().empty());
}

TEST_CASE("Between some tools of a long page and the next the loop does what else is due, and the walk may end there")
{
    rig x;
    x.tools = "[";
    for (int i = 0; i < 10'000; ++i) {
        x.tools += (i == 0 ? "" : ",") + std::string{R"({"name":"tool-)"} + std::to_string(i) +
                   R"(","description":"of which there are very many, each with words of its own","inputSchema":{}})";
    }
    x.tools += "]";
    std::vector<scripted_server::line> asked;
    x.server.answer = [&asked, as_ever = x.server.answer](const scripted_server::line& line) {
        if (line.method == "tools/list") {
            asked.push_back(line);
            return std::string{};
        }
        return as_ever(line);
    };
    x.start();
    REQUIRE(x.wait_until([&asked] { return !asked.empty(); }));
    x.server.say(result(asked[0], R"({"tools":)" + x.tools + "}"));
    CHECK(x.runner->state() == session_state::discovering);
    int handlers = 0;
    const auto run = [&x, &handlers] {
        x.loop.io().restart();
        x.loop.io().run_one();
        ++handlers;
    };
    SUBCASE("it is walked to its end")
    {
        while (x.runner->state() != session_state::ready && handlers < 1000) {
            run();
        }
        // 128 KiB at once.
        CHECK(handlers >= static_cast<int>(x.tools.size() / (128 * 1024)) - 2);
        CHECK(handlers > 4);
        REQUIRE(x.published.size() == 1);
        CHECK(x.published[0]->lists[index_of(list_kind::tools)].size() == 10'000);
    }
    SUBCASE("the session ends meanwhile")
    {
        run();
        x.runner->stop();
        CHECK(x.wait_for(session_state::stopped));
        CHECK(x.published.empty());
    }
    SUBCASE("the runner goes meanwhile")
    {
        run();
        x.runner.reset();
        x.loop.io().restart();
        x.loop.io().poll();
        CHECK(x.published.empty());
    }
}

TEST_SUITE_END();
