// The connections of a session: its own, a probe, and those that are ending. On the control loop's thread.
#pragma once

#include "mcp/session/connection.hpp"
#include "mcp/session/runner.hpp"
#include "mcp/session/session_host.hpp"
#include "mcp/session/session_timers.hpp"

#include <list>
#include <memory>
#include <optional>

namespace mcp {

class connections {
public:
    // References outlive it.
    connections(
        session_host& host,
        const runner_settings& settings,
        transport_factory make,
        session_timers& timers,
        connection_observer& observer
    );

    // Null: there is none.
    connection* current() const noexcept { return current_.get(); }
    connection* probe() const noexcept { return probe_.get(); }

    // In turn, if there are turns.
    void open_probe() { open(probe_, true); }
    void open();

    // The probe becomes the session's connection, instead of one that is open. `replaces`: that one serves.
    void keep_probe(bool end_session, bool replaces);
    void drop_probe() { end_in_order(std::move(probe_), false); }
    void drop_current() { end_in_order(std::move(current_), false); }

    // What is open; take_end() tells that it is done. False: nothing is.
    bool close(bool end_session);

    // What close() asked for takes too long.
    void give_up_closing();

    // True: of what close() asked for.
    bool take_end(connection& from);

    // It has ended by itself.
    void lose(const connection& from);

    // What was ended in order has not all gone yet: session_host::all_ended() tells.
    bool ending() const noexcept { return !leaving_.empty(); }

    bool waits_for_turn() const noexcept { return turn_ != nullptr && turn_->waits(); }
    void give_turn_back();
    void drop_all();

private:
    // What is ended in order, and until when.
    struct leaving {
        std::unique_ptr<connection> ended;
        timer deadline;
    };

    void open(std::unique_ptr<connection>& into, bool probe);
    void count(bool another);
    void end_in_order(std::unique_ptr<connection> ended, bool end_session);
    void has_left(const connection* ended);
    void retire(std::unique_ptr<connection> ended);

    session_host& host_;
    const runner_settings& settings_;
    transport_factory make_;
    session_timers& timers_;
    connection_observer& observer_;
    std::unique_ptr<connection> probe_;
    std::unique_ptr<connection> current_;
    std::unique_ptr<connection> closing_;
    std::list<leaving> leaving_;               // what another connection has replaced
    std::unique_ptr<start_turns::turn> turn_;  // of turn_of_
    const connection* turn_of_ = nullptr;
    std::uint64_t counted_ = 0;  // the session's connection that was counted last
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace mcp
