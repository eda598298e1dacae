// The messages of a session: probe, handshake, pings, answers, and how each can fail. On the control loop's thread.
#pragma once

#include "mcp/session/connections.hpp"
#include "mcp/session/handshake.hpp"
#include "mcp/session/list_walks.hpp"
#include "mcp/session/message_intake.hpp"
#include "mcp/session/operator_notes.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/runner.hpp"
#include "mcp/session/session_host.hpp"

#include <optional>
#include <string>

namespace mcp {

class conversation final : public connection_observer, private request_observer, private intake_observer {
public:
    // References outlive it.
    conversation(session_host& host, const runner_settings& settings, connections& over, operator_notes& notes);

    list_walks& walks() noexcept { return walks_; }

    // Carries out send_initialize and send_discover.
    void shake_hands(const session_action& action);
    void send_initialized() { handshake_.send_initialized(); }
    void open_stream();
    void send_ping();

    // It may be answered late; one that was missed long ago is not waited for any more.
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
    void connected(connection& from) override;
    void received(connection& from, std::string_view text) override;
    void received_long(connection& from, const read_text& what) override;
    void refused(connection& from, std::string_view beginning, std::size_t limit) override
    {
        intake_.take_too_long(from, beginning, limit);
    }
    void failed(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says) override;
    void session_lost() override;
    void stream_changed(stream_news news) override;
    void lost(connection& from, const core::error& why) override;
    void closed(connection& from) override;
    void not_sent(std::uint64_t id, const core::error& why) override;
    void late(std::uint64_t id, const std::string& method) override;
    void heard(connection& from, const message& said, list_page* page) override;
    void unusable(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says) override;

    void ask_for_era(connection& probe);
    void tell_era(const connection& probe, std::optional<era> verdict, bool stands);
    void take_from_probe(connection& probe, const message& answer);
    void take_notification(const message& notification);
    template <class Messages>
    void take_each(connection& from, const Messages& messages);
    void take_answer(const message& answer, list_page* page);
    void take_pong(const message& answer);
    bool believes_move(purpose use) const;
    void leave_era(purpose use, era speaks, const std::string& said);
    void fail_probe(connection& probe, const core::error& why, std::optional<era> says);

    session_host& host_;
    const runner_settings& settings_;
    connections& connections_;
    operator_notes& notes_;
    requests requests_;
    list_walks walks_;
    handshake handshake_;
    message_intake intake_;
    std::uint64_t last_ping_ = 0;
    bool lost_by_ping_ = false;  // the session was begun for a ping that was answered 404, and none was answered since
};

}  // namespace mcp
