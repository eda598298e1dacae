// The messages of a session: probe, handshake, pings, answers, and how each can fail. On the control loop's thread.
#pragma once

#include "mcp/session/connections.hpp"
#include "mcp/session/handshake.hpp"
#include "mcp/session/list_refresh.hpp"
#include "mcp/session/message_intake.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/session_context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mcp {

class session_protocol {
public:
    // References outlive it.
    session_protocol(session_context& host, connections& over);

    // The observer of a connection's transport, which refers to this.
    std::unique_ptr<transport_observer> observe(connection& of);

    list_refresh& walks() noexcept { return walks_; }
    const list_refresh& walks() const noexcept { return walks_; }

    // Carries out send_initialize and send_discover.
    void shake_hands(const session_action& action);
    void send_initialized();
    void open_stream();
    void send_ping();

    // The ping may be answered late; one that was missed long ago is not waited for any more.
    void cancel_ping();

    // Ends what is under way on the session's connection.
    void forget();

    // From now on no event is reported.
    void abandon();

    // A new connection or probe is opened.
    void begin_attempt() { handshake_.begin_attempt(); }

    // The time for a start is over without an answer to probe or handshake.
    void on_late_start() { handshake_.on_late_start(); }

    bool fell_back() const noexcept { return handshake_.fell_back(); }

private:
    class ear;

    void connected(connection& from);
    template <class Messages>
    void hear_each(connection& from, const Messages& messages);
    void hear(connection& from, const message_intake::outcome& said);
    void fail(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says);
    void fail_unsent(std::uint64_t id, const core::error& why, bool late);
    void fail_probe(connection& probe, const core::error& why, std::optional<era> says);
    void lose(connection& from, const core::error& why);

    void ask_for_era(connection& probe);
    void tell_era(const connection& probe, std::optional<era> verdict, bool stands);
    void accept_from_probe(connection& probe, const message_intake::outcome& said);
    void accept_notification(const message& notification);
    void accept_answer(const message_intake::outcome& said);
    void accept_pong(const message& answer);
    bool believes_move(purpose use) const;
    void leave_era(purpose use, era speaks, const std::string& said);

    session_context& host_;
    connections& connections_;
    requests requests_;
    list_refresh walks_;
    handshake handshake_;
    message_intake intake_;
    std::uint64_t last_ping_ = 0;
    bool lost_by_ping_ = false;  // the session was begun for a ping that was answered 404, and none was answered since
};

}  // namespace mcp
