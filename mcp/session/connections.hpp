// The connections of a session: its own, a probe, and those that are ending. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "mcp/session/session_context.hpp"
#include "mcp/session/session_timers.hpp"
#include "mcp/transport/transport.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace mcp {

// The state of one connection, or probe, and its transport.
struct connection {
    // See session::connection().
    std::uint64_t number;
    bool probe;
    bool connected = false;
    std::uint64_t question = 0;  // of a probe; 0: it was not asked
    core::steady_time asked_at{};
    std::string discovered = {};  // the result of `server/discover` in the modern era
    bool spoke_nonsense = false;
    bool spoke_too_long = false;
    bool refused_ours = false;  // a message that is not a request

    // `wire` refers to its observer.
    std::unique_ptr<transport_observer> observer = {};
    std::unique_ptr<transport> wire = {};
};

class connections {
public:
    using make_observer = std::function<std::unique_ptr<transport_observer>(connection& of)>;

    // References outlive it. `all_ended`: every connection that was ended in order has closed.
    connections(
        session_context& host,
        transport_factory make,
        session_timers& timers,
        make_observer observe,
        std::function<void()> all_ended
    );

    // Null: there is none.
    connection* current() const noexcept { return current_.get(); }
    connection* probe() const noexcept { return probe_.get(); }
    bool has(const connection* one) const noexcept { return one == current_.get() || one == probe_.get(); }

    // In turn, if there are turns.
    void open_probe() { open(probe_, true); }
    void open();

    // The probe becomes the session's connection, instead of one that is open. `replaces`: that one serves.
    void keep_probe(bool end_session, bool replaces);
    void drop_probe() { end_in_order(std::move(probe_), false); }
    void drop_current() { end_in_order(std::move(current_), false); }

    // Closes the connection that is open; take_end() tells that it is done. False: none is open.
    bool close(bool end_session);

    // The close takes too long.
    void give_up_closing();

    // True: this is the connection that close() has closed.
    bool take_end(connection& from);

    // The connection has ended by itself.
    void lose(const connection& from);

    // Not every connection that was ended in order has closed yet.
    bool ending() const noexcept { return !leaving_.empty(); }

    bool waits_for_turn() const noexcept { return turn_ != nullptr && turn_->waits(); }
    void give_turn_back();
    void drop_all();

private:
    // A connection that ends in order, and until when.
    struct leaving {
        std::unique_ptr<connection> ended;
        timer deadline;
    };

    void open(std::unique_ptr<connection>& into, bool probe);
    void count(bool another);
    void end_in_order(std::unique_ptr<connection> ended, bool end_session);
    void has_left(const connection* ended);
    void retire(std::unique_ptr<connection> ended);

    session_context& host_;
    transport_factory make_;
    session_timers& timers_;
    make_observer observe_;
    std::function<void()> all_ended_;
    std::unique_ptr<connection> probe_;
    std::unique_ptr<connection> current_;
    std::unique_ptr<connection> closing_;
    std::list<leaving> leaving_;               // that another connection has replaced
    std::unique_ptr<start_turns::turn> turn_;  // of turn_of_
    const connection* turn_of_ = nullptr;
    std::uint64_t counted_ = 0;  // the session's connection that was counted last
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace mcp
