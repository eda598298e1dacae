// Runs the state machine of session.hpp: queues events and carries out its actions, with the runner's parts. It may outlive its
// runner until the event under way is handled. On the control loop's thread.
#pragma once

#include "mcp/session/caller_lane.hpp"
#include "mcp/session/connections.hpp"
#include "mcp/session/conversation.hpp"
#include "mcp/session/operator_notes.hpp"
#include "mcp/session/runner.hpp"
#include "mcp/session/session.hpp"
#include "mcp/session/session_host.hpp"
#include "mcp/session/session_timers.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace mcp {

class conductor final : public session_host, private timer_observer, public std::enable_shared_from_this<conductor> {
public:
    // As runner.
    conductor(
        net::loop& on,
        runner_settings settings,
        transport_factory make,
        runner_observer& observer,
        operator_notes notes
    );

    void happened(session_event event) override;
    void set_walk(core::duration interval);

    // From now on no event is reported.
    void abandon();

    const session& state() const noexcept override { return session_; }
    list_walks& walks() noexcept { return conversation_.walks(); }
    caller_lane& lane() noexcept override { return lane_; }
    const operator_notes& notes() const noexcept { return notes_; }
    runner_counts& counts() noexcept override { return counts_; }
    std::optional<core::steady_time> ready_since() const noexcept { return ready_since_; }
    std::optional<core::steady_time> next_attempt() const noexcept;
    bool fell_back() const noexcept { return conversation_.fell_back(); }
    std::size_t queued() const noexcept;

private:
    void fired(timer_name name) override;
    void all_ended() override;
    runner_observer* observer() const noexcept override { return observer_; }
    net::loop& loop() noexcept override { return loop_; }
    std::shared_ptr<const void> keep() override { return shared_from_this(); }

    void carry_out(const session_action& action);
    void keep_probe(bool end_session);
    void drop_connection();
    void close(bool end_session);
    void arm(timer_name name, core::duration after);
    void report(const session_action& action);
    core::result<> send_for_caller(outgoing message);
    void ping();

    net::loop& loop_;
    runner_settings settings_;
    runner_observer* observer_;
    operator_notes notes_;
    session session_;
    runner_counts counts_;
    std::deque<session_event> waiting_;
    bool busy_ = false;
    std::mt19937_64 random_{std::random_device{}()};
    session_timers timers_;
    caller_lane lane_;  // open while ready_since_ says so
    conversation conversation_;
    connections connections_;                    // after what it tells
    std::optional<session_action> last_report_;  // until what was ended in order has gone
    std::optional<core::steady_time> ready_since_;
};

}  // namespace mcp
