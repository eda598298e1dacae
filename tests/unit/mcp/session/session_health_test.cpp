// What a session notices of its server while it serves: streams, refused connections, a forgotten session.
#include "mcp/session/session.hpp"
#include "tests/unit/mcp/session/session_driver.hpp"

#include <doctest/doctest.h>

#include <string>

using mcp::era;
using mcp::era_policy;
using mcp::event_kind;
using mcp::session_settings;
using mcp::session_state;
using mcp::timer_name;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::session_driver;

TEST_SUITE_BEGIN("mcp/session health");

namespace {

session_settings legacy_only()
{
    session_settings settings;
    settings.era = era_policy::legacy;
    return settings;
}

}  // namespace

TEST_CASE("without its stream of notifications a session is degraded, also if it went while the lists were walked")
{
    session_driver d;
    d.make_ready();
    CHECK(d.on(event_kind::stream_down) == "report degraded stream_down, disarm ping, send_ping, arm pong 10000");
    CHECK(d.on(event_kind::stream_down).empty());
    CHECK(d.on(event_kind::ping_answered) == "disarm pong, arm ping 30000");
    CHECK(d.on(event_kind::stream_up) == "arm debounce 250, report ready");

    session_driver early{legacy_only()};
    early.on(event_kind::begin);
    early.on(event_kind::connected);
    early.handshake("2025-11-25");
    CHECK(early.on(event_kind::stream_down).empty());
    CHECK(early.on(event_kind::walk_done).ends_with("report degraded stream_down"));
}

TEST_CASE("once the stream of notifications stands, all lists are walked: what changed before was not told")
{
    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    CHECK(d.on(event_kind::stream_up).empty());
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm ping 30000, arm debounce 250, report ready");
    CHECK(d.fire(timer_name::debounce) == "walk, arm discovery 60000");
    d.on(event_kind::walk_done);
    d.on(event_kind::list_changed);
    CHECK(d.fire(timer_name::debounce) == "walk changed, arm discovery 60000");
    d.on(event_kind::walk_done);
    d.on(event_kind::stream_down);
    d.on(event_kind::list_changed);
    CHECK(d.fire(timer_name::debounce) == "walk changed, arm discovery 60000");
    d.on(event_kind::stream_up);
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm debounce 250");
    CHECK(d.fire(timer_name::debounce) == "walk, arm discovery 60000");
}

TEST_CASE("who wants the lists joins a walk over all of them, and takes the place of one over some")
{
    session_driver d;
    d.make_ready();
    CHECK(d.on(event_kind::refresh) == "walk, arm discovery 60000");
    CHECK(d.on(event_kind::refresh).empty());
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish");
    d.on(event_kind::list_changed);
    CHECK(d.fire(timer_name::debounce) == "walk changed, arm discovery 60000");
    CHECK(d.on(event_kind::refresh) == "walk, arm discovery 60000");
    CHECK(d.on(event_kind::refresh).empty());
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish");
}

TEST_CASE("what may have changed while a stream was made again is looked for within a minute, once")
{
    session_driver d{legacy_only()};
    d.make_ready();
    d.on(event_kind::stream_up);
    d.fire(timer_name::debounce);
    d.on(event_kind::walk_done);
    CHECK(d.on(event_kind::stream_up) == "arm refresh 60000");
    CHECK(d.on(event_kind::stream_up).empty());
    CHECK(d.fire(timer_name::refresh) == "walk, arm discovery 60000");
    d.on(event_kind::walk_done);
    CHECK(d.session.state() == session_state::ready);
    CHECK(d.on(event_kind::stream_up) == "arm refresh 60000");
}

TEST_CASE("The lists of a legacy session are walked every so often, however many walks over some of them come between")
{
    auto settings = legacy_only();
    settings.walk = seconds{300};
    session_driver d{settings};
    d.on(event_kind::begin);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    CHECK(d.on(event_kind::walk_done).starts_with("disarm discovery, publish, arm refresh 300000, "));
    d.pass(seconds{100});
    d.on(event_kind::list_changed);
    CHECK(d.fire(timer_name::debounce) == "disarm refresh, walk changed, arm discovery 60000");
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm refresh 200000");
    d.pass(seconds{200});
    CHECK(d.fire(timer_name::refresh) == "walk, arm discovery 60000");
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm refresh 300000");
    d.pass(seconds{301});
    d.on(event_kind::list_changed);
    d.fire(timer_name::debounce);
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm refresh 250");
    d.random = 0.5;
    d.fire(timer_name::refresh);
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm refresh 285000");
    d.session.set_walk(seconds{0});
    d.on(event_kind::refresh);
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish");
}

TEST_CASE(
    "What may have changed while a stream was made again is looked for within a minute, also if a walk was under way"
)
{
    auto settings = legacy_only();
    settings.walk = seconds{3600};
    session_driver d{settings};
    d.make_ready();
    d.on(event_kind::stream_up);
    d.fire(timer_name::debounce);
    d.on(event_kind::walk_done);
    d.on(event_kind::refresh);
    CHECK(d.on(event_kind::stream_up) == "arm refresh 60000");
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm refresh 60000");
    CHECK(d.fire(timer_name::refresh) == "walk, arm discovery 60000");
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm refresh 3600000");
}

TEST_CASE("The lists of a modern session are walked when their time to live says so, and not before")
{
    session_settings settings;
    settings.era = era_policy::modern;
    settings.walk = seconds{300};
    session_driver d{settings};
    d.on(event_kind::begin);
    d.on(event_kind::connected);
    d.handshake("2026-07-28");
    CHECK(d.on({.kind = event_kind::walk_done, .time_to_live = seconds{3600}})
              .starts_with("disarm discovery, publish, arm refresh 3600000, "));
}

TEST_CASE("a modern stream that ends is asked for again, less and less often unless it stood for a while")
{
    session_settings settings;
    settings.era = era_policy::modern;
    session_driver d{settings};
    d.on(event_kind::begin);
    d.on(event_kind::connected);
    d.handshake("2026-07-28");
    d.on(event_kind::stream_up);
    d.on(event_kind::walk_done);
    CHECK(d.on(event_kind::stream_down).starts_with("arm listen 1000, report degraded stream_down"));
    CHECK(d.fire(timer_name::listen) == "open_stream");
    CHECK(d.on(event_kind::stream_down) == "arm listen 1500");
    d.fire(timer_name::listen);
    d.on(event_kind::stream_up);
    d.pass(milliseconds{9999});
    CHECK(d.on(event_kind::stream_down).starts_with("arm listen 2250"));
    d.fire(timer_name::listen);
    d.on(event_kind::stream_up);
    d.pass(seconds{10});
    CHECK(d.on(event_kind::stream_down).starts_with("arm listen 1000"));
    CHECK(d.on(event_kind::lost).find("disarm listen") != std::string::npos);
}

TEST_CASE("a server whose address nobody answers at is lost at once, and that is no crash")
{
    session_driver d;
    d.make_ready();
    CHECK(
        d.on(event_kind::unreachable) ==
        "disarm ping, close end_session, arm stop 5000, report backoff unreachable, arm backoff 1000"
    );
    session_driver again{legacy_only()};
    again.make_ready();
    for (int i = 0; i < 20; ++i) {
        again.on(event_kind::unreachable);
        REQUIRE(again.session.state() == session_state::backoff);
        again.on(event_kind::closed);
        again.fire(timer_name::backoff);
        again.on(event_kind::connected);
        again.handshake("2025-11-25");
        again.on(event_kind::walk_done);
    }
}

TEST_CASE("A session is not probed while it works: an old verdict about the era is asked for again at the next attempt")
{
    session_settings settings;
    session_driver d{settings};
    d.make_ready();
    d.pass(settings.verdict_age);
    CHECK(d.fire(timer_name::ping) == "send_ping, arm pong 10000");
    CHECK(d.on(event_kind::ping_answered) == "disarm pong, arm ping 30000");
    d.on(event_kind::lost);
    CHECK(d.fire(timer_name::backoff) == "report starting exited, probe, arm start 30000, arm silence 2000");
}

TEST_CASE("a modern verdict that no longer holds fails loudly, and the next attempt probes")
{
    session_driver d;
    d.on(event_kind::begin);
    d.probed(era::modern);
    d.on(event_kind::connected);
    d.handshake("2026-07-28");
    d.on(event_kind::walk_done);
    d.pass(seconds{60});
    CHECK(d.on(event_kind::session_lost).find("send_discover") != std::string::npos);
    CHECK(d.on(event_kind::handshake_refused).find("report backoff handshake_refused") != std::string::npos);
    d.on(event_kind::closed);
    CHECK(d.fire(timer_name::backoff) == "report starting handshake_refused, probe, arm start 30000, arm silence 2000");
    CHECK(d.probed(era::legacy).find("send_initialize") != std::string::npos);
}

TEST_SUITE_END();
