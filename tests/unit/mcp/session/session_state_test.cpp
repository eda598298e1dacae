// over 600 lines: one machine, its life told event by event.
#include "mcp/protocol/discovery.hpp"
#include "mcp/session/session.hpp"
#include "tests/unit/mcp/session/session_driver.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using mcp::era;
using mcp::era_policy;
using mcp::event_kind;
using mcp::session_reason;
using mcp::session_settings;
using mcp::session_state;
using mcp::timer_name;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::session_driver;

TEST_SUITE_BEGIN("mcp/session/session_state");

namespace {

session_settings legacy_only()
{
    session_settings settings;
    settings.era = era_policy::legacy;
    return settings;
}

// Loses the session and waits the backoff out, up to the new connection.
void crash_and_return(session_driver& d)
{
    d.on(event_kind::lost);
    d.fire(timer_name::backoff);
}

}  // namespace

TEST_CASE("a session is probed, shaken hands with on the same connection, walked and ready, with a timer for each wait")
{
    session_driver d;
    CHECK(d.session.state() == session_state::configured);
    CHECK(d.on(event_kind::begin) == "report starting, probe, arm start 30000, arm silence 2000");
    CHECK(d.probed(era::legacy) == "disarm silence, keep_probe, report initializing, send_initialize 2025-11-25");
    CHECK(
        d.handshake("2025-06-18") ==
        "disarm start, send_initialized, report discovering, open_stream, walk, arm discovery 60000"
    );
    CHECK(d.session.version() == "2025-06-18");
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm ping 30000, report ready");
}

TEST_CASE("a server of the modern era is discovered instead of initialize, and nothing is said to be initialized")
{
    session_driver d;
    d.on(event_kind::begin);
    CHECK(d.probed(era::modern) == "disarm silence, keep_probe, report initializing, send_discover 2026-07-28");
    CHECK(d.handshake("2026-07-28") == "disarm start, report discovering, open_stream, walk, arm discovery 60000");
}

TEST_CASE("an era that the operator names is not probed")
{
    for (const auto policy : {era_policy::legacy, era_policy::modern}) {
        session_settings settings;
        settings.era = policy;
        session_driver d{settings};
        CHECK(d.on(event_kind::begin) == "report starting, open, arm start 30000");
        const auto sent = d.on(event_kind::connected);
        CHECK((sent.find("send_discover") != std::string::npos) == (policy == era_policy::modern));
    }
}

TEST_CASE("A probe that nobody hears is a start that failed, and one that its connection did not survive is legacy")
{
    session_driver failing;
    failing.on(event_kind::begin);
    CHECK(
        failing.on({.kind = event_kind::era_probed, .stands = false}) ==
        "disarm start, disarm silence, close, arm stop 5000, report backoff probe_failed, arm backoff 1000"
    );

    session_driver gone;
    gone.on(event_kind::begin);
    CHECK(
        gone.on({.kind = event_kind::era_probed, .verdict = era::legacy, .stands = false}) ==
        "disarm silence, open, arm start 30000, drop_probe"
    );
    CHECK(gone.on(event_kind::connected) == "report initializing, send_initialize 2025-11-25");
}

TEST_CASE("A probe whose answer says nothing of the era is followed by initialize, and the next attempt asks again")
{
    session_driver d;
    d.on(event_kind::begin);
    for (int i = 0; i < 20; ++i) {
        CHECK(d.probed(std::nullopt) == "disarm silence, open, arm start 30000, drop_probe");
        CHECK(d.on(event_kind::connected).ends_with("send_initialize 2025-11-25"));
        // Nothing works there, which is no crash, however often.
        const auto refused = d.on({.kind = event_kind::handshake_refused, .answered = false});
        CHECK(refused.find("report backoff probe_failed, arm backoff") != std::string::npos);
        d.on(event_kind::closed);
        CHECK(d.fire(timer_name::backoff) == "report starting probe_failed, probe, arm start 30000, arm silence 2000");
    }
    d.probed(std::nullopt);
    d.on(event_kind::connected);
    CHECK(d.on(event_kind::handshake_refused).find("report backoff handshake_refused") != std::string::npos);
    d.on(event_kind::closed);
    d.fire(timer_name::backoff);
    d.probed(std::nullopt);
    d.on(event_kind::connected);
    CHECK(d.handshake("2025-11-25").find("report discovering") != std::string::npos);
}

TEST_CASE("nobody at the address of a handshake is a start that failed, however often, and no crash")
{
    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    for (int i = 0; i < 20; ++i) {
        d.on(event_kind::connected);
        CHECK(d.on(event_kind::unreachable).find("report backoff start_failed, arm backoff") != std::string::npos);
        REQUIRE(d.session.state() == session_state::backoff);
        d.on(event_kind::closed);
        d.fire(timer_name::backoff);
    }
}

TEST_CASE("what the probe said holds for the next attempts, until it is old or a handshake fails")
{
    session_settings settings;
    settings.verdict_age = seconds{100};
    session_driver d{settings};
    d.make_ready();
    d.on(event_kind::lost);
    d.pass(seconds{50});
    CHECK(d.fire(timer_name::backoff) == "report starting exited, open, arm start 30000");
    d.on(event_kind::lost);
    d.pass(seconds{50});
    CHECK(d.fire(timer_name::backoff) == "report starting exited, probe, arm start 30000, arm silence 2000");
    d.probed(era::modern);
    d.on(event_kind::handshake_refused);
    d.on(event_kind::closed);
    CHECK(d.fire(timer_name::backoff) == "report starting handshake_refused, probe, arm start 30000, arm silence 2000");
}

TEST_CASE("a version that the gateway does not speak, or of the other era, is no session; every other one is")
{
    for (const auto* version : {"2024-10-07", "2026-07-28", "", "2099-01-01"}) {
        CAPTURE(version);
        session_driver d{legacy_only()};
        d.on(event_kind::begin);
        d.on(event_kind::connected);
        CHECK(
            d.handshake(version) ==
            "disarm start, close end_session, arm stop 5000, report backoff handshake_refused, arm backoff 1000"
        );
        CHECK(d.session.version().empty());
    }
    for (const auto version : mcp::legacy_versions) {
        session_driver d{legacy_only()};
        d.on(event_kind::begin);
        d.on(event_kind::connected);
        d.handshake(std::string{version});
        CHECK(d.session.state() == session_state::discovering);
        CHECK(d.session.version() == version);
    }
}

TEST_CASE("a step that fails or takes too long leads to a new attempt, and a session that was made is ended")
{
    const auto after = [](int steps) {
        session_driver d{legacy_only()};
        d.on(event_kind::begin);
        if (steps > 0) {
            d.on(event_kind::connected);
        }
        if (steps > 1) {
            d.handshake("2025-11-25");
        }
        return d;
    };
    CHECK(after(0).fire(timer_name::start) == "close, arm stop 5000, report backoff start_timeout, arm backoff 1000");
    CHECK(after(0).on(event_kind::connect_failed) == "disarm start, report backoff start_failed, arm backoff 1000");
    CHECK(after(0).on(event_kind::lost) == "disarm start, report backoff exited, arm backoff 1000");
    CHECK(
        after(1).fire(timer_name::start) ==
        "close end_session, arm stop 5000, report backoff handshake_timeout, arm backoff 1000"
    );
    CHECK(
        after(1).on(event_kind::session_lost) ==
        "disarm start, close end_session, arm stop 5000, report backoff handshake_refused, arm backoff 1000"
    );
    CHECK(
        after(2).on(event_kind::session_lost) ==
        "disarm discovery, cancel_walk, close, arm stop 5000, report backoff session_lost, arm backoff 1000"
    );
    CHECK(
        after(2).on(event_kind::unreachable) ==
        "disarm discovery, cancel_walk, close end_session, arm stop 5000, report backoff unreachable, arm backoff 1000"
    );
}

TEST_CASE(
    "A first walk without all lists or in time ends no session: it serves what there is, is pinged and walks again"
)
{
    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    CHECK(d.fire(timer_name::discovery) == "finish_walk");
    CHECK(d.session.state() == session_state::discovering);
    CHECK(
        d.on({.kind = event_kind::walk_done, .complete = false}) ==
        "publish, arm refresh 10000, send_ping, arm pong 10000, report degraded refresh_failed"
    );
    CHECK(d.fire(timer_name::refresh) == "walk, arm discovery 60000");
    CHECK(d.on(event_kind::walk_failed) == "disarm discovery, arm refresh 20000");
    d.on(event_kind::list_changed);
    CHECK(d.fire(timer_name::debounce) == "disarm refresh, walk, arm discovery 60000");
    CHECK(d.fire(timer_name::pong) == "cancel_ping, report degraded ping_timeout, send_ping, arm pong 10000");
    SUBCASE("and ready once they are there")
    {
        CHECK(d.on(event_kind::ping_answered) == "disarm pong, arm ping 30000, report degraded refresh_failed");
        CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, report ready");
    }
    SUBCASE("and lost when it answers no ping")
    {
        CHECK(
            d.fire(timer_name::pong) ==
            "disarm discovery, cancel_walk, close end_session, arm stop 5000, report backoff ping_timeout, "
            "arm backoff 1000"
        );
    }
}

TEST_CASE("a child that exits is a crash, whatever it says by its exit: what ran is cancelled and a new one comes")
{
    session_driver d;
    d.make_ready();
    d.on(event_kind::list_changed);
    CHECK(d.on(event_kind::lost) == "disarm ping, disarm debounce, report backoff exited, arm backoff 1000");
    CHECK(d.fire(timer_name::backoff) == "report starting exited, open, arm start 30000");
}

TEST_CASE("many losses of one session are one new handshake on the same connection")
{
    session_driver d;
    d.make_ready();
    d.pass(seconds{10});
    const auto lost = d.session.generation();
    CHECK(
        d.on(event_kind::session_lost) ==
        "disarm ping, report initializing session_lost, send_initialize 2025-11-25, arm start 30000"
    );
    for (int i = 0; i < 20; ++i) {
        CHECK(d.on({.kind = event_kind::session_lost, .of = lost}).empty());
    }
    d.handshake("2025-11-25");
    d.on(event_kind::walk_done);
    CHECK(d.on({.kind = event_kind::session_lost, .of = lost}).empty());
    CHECK(d.session.state() == session_state::ready);
}

TEST_CASE("A server that answers as one of the other era is asked for its era at once if it stood, else after a pause")
{
    for (const auto spoken : {mcp::era::legacy, mcp::era::modern}) {
        const auto other = spoken == mcp::era::legacy ? mcp::era::modern : mcp::era::legacy;
        CAPTURE(mcp::name(spoken));
        const auto begun = [spoken] {
            session_driver d;
            d.on(event_kind::begin);
            d.probed(spoken);
            d.handshake(spoken == mcp::era::legacy ? "2025-11-25" : "2026-07-28");
            d.on(event_kind::walk_done);
            REQUIRE(d.session.state() == session_state::ready);
            return d;
        };
        auto d = begun();
        d.pass(seconds{10});
        CHECK(
            d.on({.kind = event_kind::session_lost, .verdict = other}) ==
            "disarm ping, close, arm stop 5000, report starting era_changed"
        );
        CHECK(d.on(event_kind::closed) == "disarm stop, probe, arm start 30000, arm silence 2000");
        CHECK(
            d.probed(other).find(other == mcp::era::modern ? "send_discover" : "send_initialize") != std::string::npos
        );

        auto young = begun();
        young.pass(milliseconds{9999});
        CHECK(
            young.on({.kind = event_kind::session_lost, .verdict = other}) ==
            "disarm ping, close, arm stop 5000, report backoff era_changed, arm backoff 1000"
        );
        young.on(event_kind::closed);
        CHECK(
            young.fire(timer_name::backoff) == "report starting era_changed, probe, arm start 30000, arm silence 2000"
        );

        // What is of the era that is spoken says only that the session is gone.
        auto same = begun();
        same.pass(seconds{10});
        CHECK(
            same.on({.kind = event_kind::session_lost, .verdict = spoken}).find("report initializing session_lost") !=
            std::string::npos
        );
    }
}

TEST_CASE("A handshake that a server of the other era refuses is followed by a probe at once, but not after a probe")
{
    session_driver d;
    d.make_ready();
    d.on(event_kind::lost);
    d.fire(timer_name::backoff);
    d.on(event_kind::connected);
    CHECK(
        d.on({.kind = event_kind::handshake_refused, .verdict = mcp::era::modern}) ==
        "disarm start, close, arm stop 5000, report starting era_changed"
    );
    CHECK(d.on(event_kind::closed) == "disarm stop, probe, arm start 30000, arm silence 2000");
    // It contradicts itself.
    d.probed(mcp::era::legacy);
    CHECK(
        d.on({.kind = event_kind::handshake_refused, .verdict = mcp::era::modern})
            .find("report backoff handshake_refused") != std::string::npos
    );

    session_driver lost;
    lost.make_ready();
    lost.pass(seconds{10});
    lost.on(event_kind::session_lost);
    CHECK(
        lost.on({.kind = event_kind::handshake_refused, .verdict = mcp::era::modern})
            .find("report starting era_changed") != std::string::npos
    );

    session_driver named{legacy_only()};
    named.make_ready();
    named.pass(seconds{10});
    CHECK(
        named.on({.kind = event_kind::session_lost, .verdict = mcp::era::modern})
            .find("report initializing session_lost") != std::string::npos
    );
    CHECK(
        named.on({.kind = event_kind::handshake_refused, .verdict = mcp::era::modern})
            .find("report backoff handshake_refused") != std::string::npos
    );
}

TEST_CASE("a server that forgets its sessions at once is not asked in a circle")
{
    session_driver d;
    d.make_ready();
    d.pass(milliseconds{9999});
    CHECK(
        d.on(event_kind::session_lost) ==
        "disarm ping, close, arm stop 5000, report backoff session_lost, arm backoff 1000"
    );
}

TEST_CASE("the backoff grows by half up to its longest, less up to half by chance, and never ends")
{
    const session_settings settings;
    const std::vector<int> expected{1000, 1500, 2250, 3375, 5062, 7593, 11390, 17085, 25628, 30000, 30000};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto failures = static_cast<unsigned>(i + 1);
        CHECK(mcp::backoff_delay(settings, failures, 0).count() == expected[i]);
        CHECK(mcp::backoff_delay(settings, failures, 0.999).count() >= expected[i] / 2);
        CHECK(mcp::backoff_delay(settings, failures, 0.999).count() < expected[i] * 6 / 10);
    }
    CHECK(mcp::backoff_delay(settings, 4'000'000'000U, 0).count() == 30000);

    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    std::string last;
    for (int i = 0; i < 1000; ++i) {
        last = d.on(event_kind::connect_failed);
        REQUIRE(d.session.state() == session_state::backoff);
        d.pass(seconds{30});
        d.fire(timer_name::backoff);
    }
    CHECK(last == "disarm start, report backoff start_failed, arm backoff 30000");
}

TEST_CASE("a session that lasted ends the row of failures, one that did not goes on with it")
{
    session_driver d{legacy_only()};
    d.make_ready();
    d.on(event_kind::lost);
    d.pass(seconds{120});
    d.fire(timer_name::backoff);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    d.on(event_kind::walk_done);
    d.pass(milliseconds{9999});
    CHECK(d.on(event_kind::lost).ends_with("arm backoff 1500"));
    d.pass(seconds{120});
    d.fire(timer_name::backoff);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    d.on(event_kind::walk_done);
    d.pass(seconds{10});
    CHECK(d.on(event_kind::lost).ends_with("arm backoff 1000"));
}

TEST_CASE("five crashes in a minute open the breaker; one attempt a minute later decides")
{
    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    for (int i = 0; i < 4; ++i) {
        crash_and_return(d);
        d.pass(seconds{1});
    }
    CHECK(d.on(event_kind::lost) == "disarm start, report failed exited, arm backoff 60000");
    d.pass(seconds{60});
    CHECK(d.fire(timer_name::backoff) == "report starting exited, open, arm start 30000");
    CHECK(d.on(event_kind::lost) == "disarm start, report failed exited, arm backoff 60000");
    d.pass(seconds{60});
    d.fire(timer_name::backoff);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    d.on(event_kind::walk_done);
    CHECK(d.session.state() == session_state::ready);
    d.on(event_kind::lost);
    CHECK(d.session.state() == session_state::backoff);
}

TEST_CASE("crashes that are far apart, and addresses that refuse, do not open the breaker")
{
    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    for (int i = 0; i < 50; ++i) {
        d.on(event_kind::lost);
        REQUIRE(d.session.state() == session_state::backoff);
        d.pass(seconds{15});
        d.fire(timer_name::backoff);
    }
}

TEST_CASE("a missed ping degrades the session, an answer heals it, and two missed in a row lose it")
{
    session_driver d;
    d.make_ready();
    CHECK(d.fire(timer_name::ping) == "send_ping, arm pong 10000");
    CHECK(d.on(event_kind::ping_answered) == "disarm pong, arm ping 30000");
    CHECK(d.on(event_kind::ping_answered).empty());
    d.fire(timer_name::ping);
    CHECK(d.fire(timer_name::pong) == "cancel_ping, report degraded ping_timeout, send_ping, arm pong 10000");
    CHECK(d.on(event_kind::ping_answered) == "disarm pong, arm ping 30000, report ready");
    d.fire(timer_name::ping);
    d.fire(timer_name::pong);
    CHECK(
        d.fire(timer_name::pong) == "close end_session, arm stop 5000, report backoff ping_timeout, arm backoff 1000"
    );

    auto settings = legacy_only();
    settings.ping_interval = {};
    session_driver silent{settings};
    silent.on(event_kind::begin);
    silent.on(event_kind::connected);
    silent.handshake("2025-11-25");
    CHECK(silent.on(event_kind::walk_done) == "disarm discovery, publish, report ready");
}

TEST_CASE("a storm of changes is one walk of what has changed, and one more if they go on while it is walked")
{
    session_driver d;
    d.make_ready();
    CHECK(d.on(event_kind::list_changed) == "arm debounce 250");
    CHECK(session_settings{}.debounce == mcp::change_debounce);
    for (int i = 0; i < 100; ++i) {
        CHECK(d.on(event_kind::list_changed).empty());
    }
    CHECK(d.fire(timer_name::debounce) == "walk changed, arm discovery 60000");
    CHECK(d.on(event_kind::list_changed).empty());
    CHECK(d.on(event_kind::list_changed).empty());
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm debounce 250");
    d.fire(timer_name::debounce);
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish");
    CHECK(d.session.state() == session_state::ready);
}

TEST_CASE("a few changes are followed at once, lists that change without end ever later, until they rest")
{
    session_driver d;
    d.make_ready();
    const auto changed = [&d] {
        auto armed = d.on(event_kind::list_changed);
        armed = armed.substr(armed.rfind(' ') + 1);
        d.pass(core::duration{std::stol(armed)});
        d.fire(timer_name::debounce);
        d.on(event_kind::walk_done);
        return armed;
    };
    for (const auto* delay : {"250", "250", "250", "250", "250", "500", "1000", "2000", "4000", "5000", "5000"}) {
        CHECK(changed() == delay);
    }
    d.pass(session_settings{}.debounce_longest);
    CHECK(changed() == "5000");
    d.pass(2 * session_settings{}.debounce_longest);
    CHECK(changed() == "250");

    d.on(event_kind::list_changed);
    d.fire(timer_name::debounce);
    d.on(event_kind::list_changed);
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm debounce 250");
}

TEST_CASE("changes during the first walk are walked after it")
{
    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    d.on(event_kind::connected);
    d.handshake("2025-11-25");
    CHECK(d.on(event_kind::list_changed).empty());
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, arm ping 30000, arm debounce 250, report ready");
}

TEST_CASE("a later walk that fails degrades the session, keeps its card, and all lists are walked again")
{
    session_driver d;
    d.make_ready();
    d.on(event_kind::list_changed);
    d.fire(timer_name::debounce);
    CHECK(d.on(event_kind::walk_failed) == "disarm discovery, arm refresh 10000, report degraded refresh_failed");
    d.on(event_kind::list_changed);
    CHECK(d.fire(timer_name::debounce) == "disarm refresh, walk, arm discovery 60000");
    CHECK(d.fire(timer_name::discovery) == "finish_walk");
    CHECK(d.on(event_kind::walk_failed) == "arm refresh 20000");
    CHECK(d.on(event_kind::walk_done).empty());
    CHECK(d.fire(timer_name::refresh) == "walk, arm discovery 60000");
    mcp::session_event partly{.kind = event_kind::walk_done, .complete = false};
    CHECK(d.on(partly) == "disarm discovery, publish, arm refresh 40000");
    CHECK(d.session.state() == session_state::degraded);
    for (const auto* delay : {"80000", "160000", "300000", "300000"}) {
        d.fire(timer_name::refresh);
        CHECK(d.on(partly) == std::string{"disarm discovery, publish, arm refresh "} + delay);
    }
    d.fire(timer_name::refresh);
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, report ready");
    d.on(event_kind::list_changed);
    d.fire(timer_name::debounce);
    CHECK(d.on(partly) == "disarm discovery, publish, arm refresh 10000, report degraded refresh_failed");
}

TEST_CASE("a time to live is waited for, but no shorter than a minute")
{
    session_driver d;
    d.make_ready();
    const auto walked = [&d](core::duration time_to_live) {
        d.on(event_kind::list_changed);
        d.fire(timer_name::debounce);
        return d.on({.kind = event_kind::walk_done, .time_to_live = time_to_live});
    };
    CHECK(walked(seconds{300}) == "disarm discovery, publish, arm refresh 300000");
    CHECK(walked(seconds{0}) == "disarm discovery, publish, arm refresh 60000");
    CHECK(d.fire(timer_name::refresh) == "walk, arm discovery 60000");
}

TEST_CASE("a lazy session starts when somebody wants it, and once")
{
    auto settings = legacy_only();
    settings.lazy = true;
    session_driver d{settings};
    CHECK(d.on(event_kind::begin).empty());
    CHECK(d.session.state() == session_state::configured);
    CHECK(d.on(event_kind::demand) == "report starting, open, arm start 30000");
    CHECK(d.on(event_kind::demand).empty());
    d.on(event_kind::connect_failed);
    CHECK(d.on(event_kind::demand).empty());
}

TEST_CASE("a stop closes the connection, and is for good")
{
    session_driver d;
    d.make_ready();
    CHECK(d.on(event_kind::stop) == "disarm ping, report stopping, close end_session, arm stop 5000");
    CHECK(d.on(event_kind::stop).empty());
    CHECK(d.on(event_kind::closed) == "disarm stop, report stopped");
    for (std::size_t i = 0; i < mcp::event_kinds; ++i) {
        CHECK(d.on(static_cast<event_kind>(i)).empty());
    }

    session_driver slow;
    slow.make_ready();
    slow.on(event_kind::stop);
    CHECK(slow.on(event_kind::lost).empty());
    CHECK(slow.fire(timer_name::stop) == "report stopped");
}

TEST_CASE("what has no connection stops at once, and what is being closed when that is done")
{
    session_driver idle;
    CHECK(idle.on(event_kind::stop) == "report stopping, report stopped");
    session_driver waiting;
    waiting.make_ready();
    waiting.on(event_kind::lost);
    CHECK(waiting.on(event_kind::stop) == "disarm backoff, report stopping, report stopped");
    session_driver starting;
    starting.on(event_kind::begin);
    CHECK(starting.on(event_kind::stop) == "disarm start, disarm silence, report stopping, close, arm stop 5000");
    session_driver closing;
    closing.on(event_kind::begin);
    closing.on({.kind = event_kind::era_probed, .stands = false});
    CHECK(closing.on(event_kind::stop) == "disarm backoff, report stopping");
    CHECK(closing.on(event_kind::closed) == "disarm stop, report stopped");
}

TEST_CASE("a new attempt waits for the end of the connection before it, or for as long as it may take to end")
{
    session_driver d{legacy_only()};
    d.on(event_kind::begin);
    d.on(event_kind::connected);
    d.on(event_kind::handshake_refused);
    CHECK(d.fire(timer_name::backoff) == "report starting handshake_refused");
    CHECK(d.fire(timer_name::stop) == "open, arm start 30000");
    CHECK(d.on({.kind = event_kind::closed, .of = 1}).empty());
}

TEST_CASE("events of an earlier connection or session, and timers that are not armed, say nothing")
{
    session_driver d;
    d.make_ready();
    d.on(event_kind::lost);
    d.fire(timer_name::backoff);
    CHECK(d.on({.kind = event_kind::lost, .of = 1}).empty());
    CHECK(d.on({.kind = event_kind::connected, .of = 1}).empty());
    d.on(event_kind::connected);
    CHECK(d.on({.kind = event_kind::handshake_done, .of = 1, .version = "2025-11-25"}).empty());
    d.handshake("2025-11-25");
    CHECK(d.on({.kind = event_kind::walk_done, .of = 1}).empty());
    d.on(event_kind::walk_done);
    CHECK(d.on({.kind = event_kind::ping_answered, .of = 1}).empty());
    for (const auto timer : {timer_name::start, timer_name::pong, timer_name::stop, timer_name::backoff}) {
        CHECK(d.fire(timer).empty());
    }
    CHECK(d.session.state() == session_state::ready);
}

TEST_CASE("lists are walked again when somebody wants it, unless they are being walked")
{
    session_driver d{legacy_only()};
    CHECK(d.on(event_kind::refresh).empty());
    d.make_ready();
    CHECK(d.on(event_kind::refresh) == "walk, arm discovery 60000");
    CHECK(d.on(event_kind::refresh).empty());
    d.on(event_kind::walk_failed);
    REQUIRE(d.session.state() == session_state::degraded);
    CHECK(d.on(event_kind::refresh) == "disarm refresh, walk, arm discovery 60000");
    CHECK(d.on(event_kind::walk_done) == "disarm discovery, publish, report ready");
    d.on(event_kind::lost);
    CHECK(d.on(event_kind::refresh).empty());
}

TEST_CASE("there are as many states and reasons as there are names of them")
{
    for (std::size_t i = 0; i < 32; ++i) {
        CAPTURE(i);
        CHECK(name(static_cast<session_state>(i)).empty() == (i >= mcp::session_states));
        CHECK(name(static_cast<session_reason>(i)).empty() == (i >= mcp::session_reasons));
    }
}

TEST_SUITE_END();
