// How a session finds out the era of a server that does not say it at once.
#include "mcp/session/session.hpp"
#include "tests/unit/mcp/session/session_driver.hpp"

#include <doctest/doctest.h>

#include <string>

using mcp::era;
using mcp::event_kind;
using mcp::session_settings;
using mcp::session_state;
using mcp::timer_name;
using std::chrono::seconds;
using tests::session_driver;

TEST_SUITE_BEGIN("mcp/session probe");

namespace {

// Silence is an outage.
session_settings over_http()
{
    session_settings settings;
    settings.silence_is_legacy = false;
    return settings;
}

// The probe has said nothing for two seconds, and `initialize` is on its way beside it.
session_driver racing(session_settings settings = {})
{
    session_driver d{settings};
    d.on(event_kind::begin);
    d.fire(timer_name::silence);
    d.on(event_kind::connected);
    REQUIRE(d.session.state() == session_state::initializing);
    return d;
}

}  // namespace

TEST_CASE("After two seconds of silence to the probe a connection is opened beside it, and initialize is sent there")
{
    session_driver d;
    CHECK(d.on(event_kind::begin) == "report starting, probe, arm start 30000, arm silence 2000");
    CHECK(d.on(event_kind::connected).empty());
    CHECK(d.fire(timer_name::silence) == "open, arm start 28000");
    CHECK(d.on(event_kind::connected) == "report initializing, send_initialize 2025-11-25");
}

TEST_CASE("The silence that is waited for is at most half of the time that a start has")
{
    for (const auto& [whole, half] : {std::pair{3'999, 1'999}, {4'000, 2'000}, {4'001, 2'000}, {2, 1}, {1, 1}}) {
        session_settings settings;
        settings.start_timeout = core::duration{whole};
        session_driver d{settings};
        CHECK(d.on(event_kind::begin).ends_with("arm silence " + std::to_string(half)));
    }
}

TEST_CASE(
    "An initialize that is answered first makes the session, and the probe goes on beside it for the time of the start"
)
{
    for (const auto& settings : {session_settings{}, over_http()}) {
        auto d = racing(settings);
        CHECK(
            d.handshake("2025-06-18") == "send_initialized, report discovering, open_stream, walk, arm discovery 60000"
        );
        SUBCASE("whose silence leaves it alone")
        {
            d.on(event_kind::walk_done);
            CHECK(d.fire(timer_name::start) == "drop_probe");
        }
        SUBCASE("whose legacy answer leaves it alone")
        {
            CHECK(d.probed(era::legacy) == "disarm start, drop_probe");
            CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm ping 30000, report ready");
        }
        SUBCASE("whose modern answer takes its place")
        {
            CHECK(
                d.probed(era::modern) ==
                "disarm start, disarm discovery, cancel_walk, keep_probe end_session, report initializing era_changed, "
                "send_discover 2026-07-28, arm start 30000"
            );
            CHECK(d.handshake("2026-07-28").starts_with("disarm start, report discovering era_changed"));
        }
        SUBCASE("and holds the verdict for the attempts to come")
        {
            d.on(event_kind::walk_done);
            d.on(event_kind::lost);
            CHECK(d.fire(timer_name::backoff) == "report starting exited, open, arm start 30000");
        }
    }
}

TEST_CASE("A probe that is answered first is the session, and what was opened beside it is dropped")
{
    auto modern = racing();
    CHECK(modern.probed(era::modern) == "keep_probe end_session, send_discover 2026-07-28");
    CHECK(modern.handshake("2026-07-28").starts_with("disarm start, report discovering"));
    auto legacy = racing();
    CHECK(legacy.probed(era::legacy) == "keep_probe end_session, send_initialize 2025-11-25");
    session_driver waits;
    waits.on(event_kind::begin);
    waits.fire(timer_name::silence);
    CHECK(waits.probed(era::legacy) == "keep_probe, report initializing, send_initialize 2025-11-25");
}

TEST_CASE("A probe that fails leaves initialize to decide, and an initialize that fails leaves the probe to")
{
    auto without_probe = racing();
    CHECK(without_probe.probed(std::nullopt) == "drop_probe");
    CHECK(without_probe.on({.kind = event_kind::era_probed, .verdict = era::legacy}).empty());
    CHECK(
        without_probe.on(event_kind::handshake_refused).find("report backoff handshake_refused") != std::string::npos
    );

    for (const auto kind :
         {event_kind::handshake_refused, event_kind::session_lost, event_kind::lost, event_kind::unreachable}) {
        auto d = racing();
        CHECK(d.on(kind) == "drop_connection, report starting");
        CHECK(d.on(kind).empty() == (kind != event_kind::lost));
    }
    auto d = racing();
    d.on(event_kind::handshake_refused);
    CHECK(d.probed(era::modern) == "keep_probe, report initializing, send_discover 2026-07-28");

    session_driver unopened;
    unopened.on(event_kind::begin);
    unopened.fire(timer_name::silence);
    CHECK(unopened.on(event_kind::connect_failed) == "drop_connection");
    CHECK(unopened.probed(era::legacy) == "keep_probe, report initializing, send_initialize 2025-11-25");
}

TEST_CASE("When neither is answered the attempt ends, and a program has the next one for itself")
{
    auto stdio = racing();
    CHECK(
        stdio.fire(timer_name::start) ==
        "drop_probe, close end_session, arm stop 5000, report backoff handshake_timeout, arm backoff 1000"
    );
    stdio.on(event_kind::closed);
    CHECK(stdio.fire(timer_name::backoff) == "report starting handshake_timeout, open, arm start 30000");
    stdio.on(event_kind::connected);
    stdio.fire(timer_name::start);
    stdio.on(event_kind::closed);
    CHECK(
        stdio.fire(timer_name::backoff) == "report starting handshake_timeout, probe, arm start 30000, arm silence 2000"
    );

    auto http = racing(over_http());
    http.fire(timer_name::start);
    http.on(event_kind::closed);
    CHECK(
        http.fire(timer_name::backoff) == "report starting handshake_timeout, probe, arm start 30000, arm silence 2000"
    );

    auto refused = racing();
    refused.on(event_kind::handshake_refused);
    CHECK(refused.fire(timer_name::start) == "close, arm stop 5000, report backoff probe_failed, arm backoff 1000");
}

TEST_CASE("A program that minds the probe after it has answered it is started once more, without one")
{
    session_driver d;
    d.on(event_kind::begin);
    d.probed(era::legacy);
    d.on(event_kind::handshake_refused);
    d.on(event_kind::closed);
    CHECK(d.fire(timer_name::backoff) == "report starting handshake_refused, open, arm start 30000");
    d.on(event_kind::connected);
    d.on(event_kind::handshake_refused);
    d.on(event_kind::closed);
    CHECK(d.fire(timer_name::backoff) == "report starting handshake_refused, probe, arm start 30000, arm silence 2000");
}

TEST_CASE("Nothing of an attempt's probe is left for the next attempt")
{
    auto stopped = racing();
    CHECK(stopped.on(event_kind::stop).starts_with("disarm start, drop_probe, "));
    auto d = racing(over_http());
    CHECK(d.fire(timer_name::start).starts_with("drop_probe, "));
    d.on(event_kind::closed);
    CHECK(d.fire(timer_name::backoff).ends_with("probe, arm start 30000, arm silence 2000"));
    CHECK(d.on({.kind = event_kind::era_probed, .of = 1, .verdict = era::modern}).empty());
    CHECK(d.fire(timer_name::silence) == "open, arm start 28000");
}

TEST_SUITE_END();
