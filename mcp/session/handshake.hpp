// The handshake of a session: what is sent, what its answer settles, and the words for its failure. On the control loop's thread.
#pragma once

#include "mcp/session/connections.hpp"
#include "mcp/session/list_walks.hpp"
#include "mcp/session/operator_notes.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/session_host.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcp {

class handshake {
public:
    // References outlive it.
    handshake(session_host& host, connections& over, operator_notes& notes, requests& open, list_walks& walks);

    // A new connection or probe is opened.
    void begin_attempt() { refused_.clear(); }

    // Carries out send_initialize and send_discover.
    void send(const session_action& action, const client_info& client);
    void send_initialized();

    // The result that answers it.
    void take(std::string_view result);

    // Its answer is a refusal, or no use; `why` from operator_notes::shown(). `says`: by a server of that era.
    void refuse(std::string why, std::optional<era> says = std::nullopt) { end(std::move(why), says, true); }

    // The handshake failed with no message of the protocol, such as a status. The failure of the probe before it is told too.
    void fail(std::string why, std::optional<era> says);

    // The failure of a probe that says nothing of the era; empty: it is asked only now.
    void note_probe(std::string why) { probed_ = std::move(why); }

    // What it failed with on a connection that is gone, or that nobody answers on.
    void note_refusal(std::string why) { refused_ = std::move(why); }

    // The time for a start is over without an answer to probe or handshake.
    void on_late_start();

    // What is spoken since it was sent.
    const dialect& speaks() const noexcept { return dialect_; }
    era spoken() const noexcept { return dialect_.modern() ? era::modern : era::legacy; }

    // Of the connection of the latest one.
    bool fell_back() const noexcept { return fell_back_; }

private:
    void end(std::string why, std::optional<era> says, bool answered);

    session_host& host_;
    connections& connections_;
    operator_notes& notes_;
    requests& requests_;
    list_walks& walks_;
    dialect dialect_;
    core::steady_time began_{};
    std::string probed_;
    std::string refused_;  // what `initialize` beside a probe failed with
    bool fell_back_ = false;
};

}  // namespace mcp
