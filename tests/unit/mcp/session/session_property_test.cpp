// Whatever happens in whatever order, a session does not break the promises that its runner relies on.
#include "mcp/session/session.hpp"
#include "tests/unit/mcp/session/session_driver.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

using mcp::action_kind;
using mcp::event_kind;
using mcp::session_state;
using mcp::timer_name;

TEST_SUITE_BEGIN("mcp/session property");

namespace {

// What a runner sees of a session, and what must hold of it.
class watcher {
public:
    explicit watcher(const mcp::session_settings& settings)
        : settings_{settings}
    {
    }

    void see(const mcp::session_event& event, const std::vector<mcp::session_action>& actions, session_state before)
    {
        if (event.kind == event_kind::timer) {
            armed_.erase(event.fired);
        }
        if (before == session_state::stopped) {
            CHECK(actions.empty());
        }
        for (const auto& action : actions) {
            CAPTURE(tests::words_of(action));
            see(action);
        }
    }

    // The session waits for something that is sure to come, unless it has nothing to do.
    void check_alive(session_state state) const
    {
        const bool resting = state == session_state::configured || state == session_state::stopped;
        if (resting) {
            CHECK(armed_.empty());
        } else if (state != session_state::ready && state != session_state::degraded) {
            CHECK((finishing_ || !armed_.empty()));
        }
        CHECK((!resting || (!link_ && !probe_ && !closing_)));
    }

    void gone() { (link_ ? link_ : probe_) = false; }
    void closed() { closing_ = false; }
    void walk_over() { walking_ = finishing_ = false; }
    const std::set<timer_name>& armed() const { return armed_; }

private:
    void see(const mcp::session_action& action)
    {
        switch (action.kind) {
            case action_kind::probe:
                CHECK_FALSE(probe_);
                CHECK_FALSE(closing_);
                probe_ = true;
                break;
            case action_kind::keep_probe:
                CHECK(probe_);
                CHECK_FALSE(walking_);
                probe_ = false;
                link_ = true;
                shaking_ = false;
                break;
            case action_kind::drop_probe:
                CHECK(probe_);
                probe_ = false;
                break;
            case action_kind::open:
                CHECK_FALSE(link_);
                CHECK_FALSE(closing_);
                link_ = true;
                break;
            case action_kind::drop_connection:
                CHECK(probe_);
                link_ = false;
                break;
            case action_kind::close:
                CHECK(link_ != probe_);
                link_ = false;
                probe_ = false;
                closing_ = true;
                break;
            case action_kind::send_initialize:
            case action_kind::send_discover:
                CHECK(link_);
                CHECK_FALSE(shaking_);
                shaking_ = true;
                break;
            case action_kind::walk:
                CHECK(link_);
                CHECK((!walking_ || partial_));  // one over some of the lists is given up for one over all
                walking_ = true;
                finishing_ = false;
                partial_ = action.changed_only;
                break;
            case action_kind::finish_walk:
                CHECK(walking_);
                finishing_ = true;  // the runner tells the walk's end
                break;
            case action_kind::cancel_walk:
            case action_kind::publish:
                CHECK(walking_);
                walk_over();
                break;
            case action_kind::send_ping:
            case action_kind::cancel_ping:
            case action_kind::send_initialized:
            case action_kind::open_stream:
                CHECK(link_);
                break;
            case action_kind::arm:
                see_armed(action);
                break;
            case action_kind::disarm:
                CHECK(armed_.erase(action.timer) == 1);
                break;
            case action_kind::report:
                shaking_ = shaking_ && action.state == session_state::initializing;
                CHECK((action.state != last_.state || action.reason != last_.reason));
                last_ = action;
                break;
        }
    }

    void see_armed(const mcp::session_action& action)
    {
        armed_.insert(action.timer);
        CHECK(action.after.count() > 0);
        if (action.timer == timer_name::backoff) {
            CHECK(action.after <= settings_.crash_rest);
            CHECK((action.after <= settings_.backoff_longest || last_.state == session_state::failed));
            CHECK(action.after >= settings_.backoff_first / 2);
        }
    }

    mcp::session_settings settings_;
    std::set<timer_name> armed_;
    mcp::session_action last_;
    bool link_ = false;
    bool probe_ = false;
    bool closing_ = false;
    bool shaking_ = false;
    bool walking_ = false;
    bool finishing_ = false;
    bool partial_ = false;
};

class random_life {
public:
    explicit random_life(std::uint32_t seed)
        : random_{seed}
    {
        hurried_ = below(2) == 0;
        settings_.lazy = below(4) == 0;
        settings_.silence_is_legacy = below(2) == 0;
        settings_.era = static_cast<mcp::era_policy>(below(3));
    }

    // Runs until it stops or has seen so many events.
    void run(int events)
    {
        mcp::session session{settings_};
        watcher seen{settings_};
        core::steady_time now{std::chrono::hours{1}};
        for (int i = 0; i < events; ++i) {
            const auto event = next(session, seen);
            now += std::chrono::milliseconds{!hurried_ && below(5) == 0 ? below(100'000) : below(100)};
            CAPTURE(i);
            CAPTURE(static_cast<int>(event.kind));
            CAPTURE(name(session.state()));
            tell(event, session, seen);
            const auto before = session.state();
            const auto chance = below(1000) / 1000.0;
            seen.see(event, session.on(event, now, chance), before);
            seen.check_alive(session.state());
            reached.insert(session.state());
        }
    }

    std::set<session_state> reached;

private:
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

    mcp::session_event next(const mcp::session& session, const watcher& seen)
    {
        mcp::session_event event;
        const auto what = below(10);
        if (what < 4 && !seen.armed().empty()) {
            event.kind = event_kind::timer;
            event.fired = *std::next(seen.armed().begin(), below(static_cast<std::uint32_t>(seen.armed().size())));
            return event;
        }
        event.kind = what < 8 ? likely(session.state()) : static_cast<event_kind>(below(mcp::event_kinds));
        if (event.kind == event_kind::stop && below(20) != 0) {
            event.kind = event_kind::list_changed;
        }
        if (event.kind == event_kind::timer) {
            event.fired = static_cast<timer_name>(below(mcp::timer_names));
        }
        event.of =
            (about_connection(event.kind) ? session.connection() : session.generation()) - (below(8) == 0 ? 1 : 0);
        event.complete = below(4) != 0;
        event.stands = below(4) != 0;
        if (below(2) == 0) {
            event.verdict = below(2) == 0 ? mcp::era::legacy : mcp::era::modern;
            event.time_to_live = core::duration{below(200'000)};
        }
        constexpr std::array versions{"2025-11-25", "2024-11-05", "2026-07-28", "2026-07-28", "1999-01-01"};
        event.version = versions[below(versions.size())];
        return event;
    }

    // What takes the session on, so that lives get somewhere.
    event_kind likely(session_state state)
    {
        switch (state) {
            case session_state::starting:
                return below(2) == 0 ? event_kind::era_probed : event_kind::connected;
            case session_state::initializing:
                return event_kind::handshake_done;
            case session_state::discovering:
                return event_kind::walk_done;
            case session_state::stopping:
                return event_kind::closed;
            case session_state::configured:
                return event_kind::demand;
            default:
                return below(3) == 0 ? event_kind::walk_done : event_kind::ping_answered;
        }
    }

    // What the event itself says happened, for those that the session does not take as late.
    static void tell(const mcp::session_event& event, const mcp::session& session, watcher& seen)
    {
        const bool current = event.of == session.connection();
        const auto state = session.state();
        if (current && event.kind == event_kind::closed) {
            seen.closed();
        }
        if (event.kind == event_kind::timer && event.fired == timer_name::stop && seen.armed().contains(event.fired)) {
            seen.closed();
        }
        const bool stopping = state == session_state::stopping;
        if (current && (event.kind == event_kind::lost ||
                        (event.kind == event_kind::connect_failed && (stopping || state == session_state::starting)))) {
            seen.gone();
        }
        const bool serving = state == session_state::ready || state == session_state::degraded;
        if (event.kind == event_kind::walk_failed && serving && event.of == session.generation()) {
            seen.walk_over();
        }
    }

    std::mt19937 random_;
    bool hurried_ = false;  // little time passes: crashes come in a row
    mcp::session_settings settings_;
};

}  // namespace

TEST_CASE("no order of events makes two handshakes at a time, a connection too many, an endless wait or a late action")
{
    std::set<session_state> reached;
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        random_life life{seed};
        life.run(400);
        reached.merge(life.reached);
    }
    CHECK(reached.size() == mcp::session_states);
}

TEST_SUITE_END();
