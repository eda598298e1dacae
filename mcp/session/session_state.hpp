// The states of a session with an MCP server, the events that it hears of and the actions that it asks for: values, for
// session.hpp and whoever shows them.
//
//     configured → starting → initializing → discovering → ready ⇄ degraded
//                     └────────────┴──────────────┴──────────┴────────┴→ backoff → starting …   (crash loop) → failed
//     any → stopping → stopped
#pragma once

#include "core/clock.hpp"
#include "mcp/protocol/version.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

enum class session_state : std::uint8_t {
    configured,    // never started
    starting,      // the server is asked for its era, or the connection is made
    initializing,  // `initialize` or `server/discover` is sent
    discovering,   // the first walk
    ready,
    degraded,  // serves, but a ping, the stream of notifications or the latest walk has failed
    backoff,   // lost; a new attempt comes by itself
    failed,    // lost too often in a short time; a new attempt comes by itself, later
    stopping,
    stopped,  // for good
};

inline constexpr std::size_t session_states = 10;

std::string_view name(session_state s) noexcept;

enum class timer_name : std::uint8_t {
    start,      // from the beginning of an attempt to the answer to its handshake
    silence,    // a probe that says nothing: `initialize` is tried beside it
    discovery,  // a walk
    ping,       // the next ping
    pong,       // the answer to a ping
    debounce,   // after a change of lists
    refresh,    // the next walk: after one that failed, or when the lists' time to live is over
    listen,     // the next attempt to listen, in the modern era
    backoff,    // the next attempt
    stop,       // the transport's end
};

inline constexpr std::size_t timer_names = 10;

std::string_view name(timer_name t) noexcept;

// Why a session was lost or could not begin, or why it is degraded.
enum class session_reason : std::uint8_t {
    none,
    start_failed,   // spawn, connect, DNS, TLS
    start_timeout,  // no connection
    probe_failed,
    exited,             // the child, whatever its exit code, or the connection of a transport that is one
    handshake_refused,  // an error, or no version in common
    handshake_timeout,
    ping_timeout,
    session_lost,  // the server forgot it (404, or 400 that says so)
    stream_down,
    refresh_failed,
    unreachable,  // nobody is at its address any more
    era_changed,  // it speaks another era by now
};

inline constexpr std::size_t session_reasons = 13;

std::string_view name(session_reason r) noexcept;

enum class era_policy : std::uint8_t { automatic, legacy, modern };

enum class event_kind : std::uint8_t {
    // Events of the operator and of callers.
    begin,    // once after construction
    demand,   // somebody wants the card or a call: starts a lazy session
    refresh,  // somebody wants the lists walked again
    stop,
    // Events of the connection: they carry session::connection().
    connected,
    connect_failed,
    era_probed,  // `verdict`; nothing: it could not be told, for instance 5xx; `stands`; neither: nobody is there
    lost,        // the child exited, the connection is gone
    closed,      // what `close` asked for is done
    // Events of the session: they carry session::generation().
    handshake_done,     // `version` is the one that the server chose
    handshake_refused,  // `verdict`: by a server of that era; `answered`
    session_lost,       // the same: it has come back in that era
    walk_done,          // `complete`, `time_to_live`
    walk_failed,
    list_changed,  // change_tracker::note() said so
    stream_up,     // GET or `subscriptions/listen`; while it is up: there was a gap
    stream_down,
    stream_none,  // the server offers none, as 405 says
    unreachable,  // nobody is at its address any more
    ping_answered,
    timer,  // `fired`
};

inline constexpr std::size_t event_kinds = 21;

constexpr bool about_connection(event_kind kind) noexcept
{
    return kind >= event_kind::connected && kind <= event_kind::closed;
}

constexpr bool about_session(event_kind kind) noexcept
{
    return kind >= event_kind::handshake_done && kind <= event_kind::ping_answered;
}

struct session_event {
    event_kind kind = event_kind::begin;
    std::uint64_t of = 0;  // the connection or generation that it is about; one of an earlier is ignored
    timer_name fired = timer_name::start;
    std::optional<era> verdict = std::nullopt;
    bool stands = true;  // the connection of the probe can be used on
    std::string version = {};
    bool complete = true;                                       // every list answered
    bool answered = true;                                       // with a message of the protocol
    std::optional<core::duration> time_to_live = std::nullopt;  // server_lists::time_to_live
};

enum class action_kind : std::uint8_t {
    probe,            // `server/discover` on a connection that carries nothing else; era_probed
    keep_probe,       // that connection becomes the session's, instead of one that is open
    drop_probe,       // that connection; with `open`, that one stays
    open,             // spawn or connect, beside a probe that is open; connected, connect_failed
    drop_connection,  // what `open` made, while the probe stays
    close,            // what is open, whatever is under way on it; DELETE first if `end_session`; closed
    send_initialize,  // with `version`, without the id of a session before; handshake_done, handshake_refused
    send_initialized,
    send_discover,  // with `version`; answered as send_initialize
    open_stream,    // of notifications: a GET, or `subscriptions/listen`; stream_up, stream_down, stream_none
    walk,  // all lists that are offered, or of those with `changed_only` what change_tracker::take() says, which is
           // to be called either way; walk_done, walk_failed, which are not told of one that this takes the place of
    finish_walk,  // with what has come; walk_done, walk_failed
    cancel_walk,
    publish,      // the walk's lists, if their content differs from what is published
    send_ping,    // ping_answered
    cancel_ping,  // the server need not answer it; a late answer is one all the same
    arm,          // `timer` in `after`; one that runs starts over
    disarm,       // `timer`: no event of it may come any more, also not one that is queued
    report,       // `state`, `reason`: metrics, log, what callers are told
};

struct session_action {
    action_kind kind = action_kind::report;
    timer_name timer = timer_name::start;
    core::duration after{};
    session_state state = session_state::configured;
    session_reason reason = session_reason::none;
    std::string_view version;  // of a static table
    bool end_session = false;
    bool changed_only = false;
};

// Durations are milliseconds.
struct session_settings {
    era_policy era = era_policy::automatic;
    bool silence_is_legacy = true;         // a probe that ends without an answer: so on stdio; on HTTP it is an outage
    bool lazy = false;                     // starts on demand
    core::duration start_timeout{30'000};  // of an attempt, up to the answer to its handshake
    core::duration probe_patience{2'000};  // at most half of that
    core::duration discovery_timeout{60'000};
    core::duration backoff_first{1'000};
    core::duration backoff_longest{30'000};
    core::duration steady_after{10'000};  // a session that lasted so long was not part of a row of failures
    unsigned crashes = 5;                 // so many within crash_window: failed
    core::duration crash_window{60'000};
    core::duration crash_rest{60'000};       // of `failed`, until the next attempt
    core::duration verdict_age{86'400'000};  // an older verdict about the era is not trusted by the next attempt
    core::duration ping_interval{30'000};    // 0: no pings
    core::duration ping_timeout{10'000};
    unsigned ping_misses = 2;                 // so many in a row: lost
    core::duration debounce{250};             // change_debounce
    core::duration debounce_longest{5'000};   // for lists that change without end: see session_health::debounce()
    core::duration refresh_retry{10'000};     // after a walk that failed or left a list; doubled with each more
    core::duration refresh_longest{300'000};  // of that
    core::duration walk{0};                   // in the legacy era all lists are walked so often; 0: never
    core::duration refresh_shortest{60'000};  // a time to live is no polling interval
    core::duration stop_timeout{5'000};
};

// The delay before attempt number `failures` (1 is the first after a loss): growing by half each time up to the longest,
// of which `random` from [0, 1) takes away up to half.
core::duration backoff_delay(const session_settings& settings, unsigned failures, double random) noexcept;

class session_step {
public:
    // A timer that fires is no longer armed.
    void begin(const session_event& event, core::steady_time now, double random);
    std::vector<session_action> end() { return std::exchange(actions_, {}); }

    // The event under way. `random` is from [0, 1).
    const session_event& event() const noexcept { return event_; }
    core::steady_time now() const noexcept { return now_; }
    double random() const noexcept { return random_; }

    session_state state() const noexcept { return state_; }
    session_reason reason() const noexcept { return reason_; }
    bool armed(timer_name timer) const noexcept { return armed_[static_cast<std::size_t>(timer)]; }

    session_action& act(action_kind kind);
    void arm(timer_name timer, core::duration after);
    void disarm(timer_name timer);

    // All but `stop`: what waits for a connection to be closed goes on waiting.
    void disarm_all();

    // Reports the state, unless it was reported last.
    void enter(session_state state, session_reason why = session_reason::none);

private:
    session_event event_;
    core::steady_time now_{};
    double random_ = 0;
    std::vector<session_action> actions_;
    std::bitset<timer_names> armed_;
    session_state state_ = session_state::configured;
    session_reason reason_ = session_reason::none;
};

}  // namespace mcp
