// Sends the handshake of a session, reads its answer, and words its failure. On the control loop's thread.
#pragma once

#include "mcp/session/connections.hpp"
#include "mcp/session/list_refresh.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/session_context.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcp {

class handshake {
public:
    // References outlive it.
    handshake(session_context& host, connections& over, requests& open, list_refresh& walks);

    // A new connection or probe is opened.
    void begin_attempt() { refused_.clear(); }

    // Carries out send_initialize and send_discover. An event: the probe of this connection has answered already.
    std::optional<session_event> send(const session_action& action);

    // The result that answers it.
    session_event accept(std::string_view result);

    // The answer is a refusal or unusable; `why` from session_report::shown(). `says`: by a server of that era.
    session_event refuse(std::string why, std::optional<era> says = std::nullopt)
    {
        return end(std::move(why), says, true);
    }

    // The handshake failed without a message of the protocol, such as by a status. The failure of the probe before it is reported too.
    session_event fail(std::string why, std::optional<era> says);

    // The failure of a probe that says nothing of the era; empty: it is asked only now.
    void record_probe(std::string why) { probed_ = std::move(why); }

    // Why it failed on a connection that is gone, or that nobody answers on.
    void record_refusal(std::string why) { refused_ = std::move(why); }

    // The time for a start is over without an answer to probe or handshake.
    void on_late_start();

    // The dialect since it was sent.
    const dialect& speaks() const noexcept { return dialect_; }
    era spoken() const noexcept { return dialect_.modern() ? era::modern : era::legacy; }

    // The connection of the latest handshake went over HTTP+SSE.
    bool fell_back() const noexcept { return fell_back_; }

private:
    session_event end(std::string why, std::optional<era> says, bool answered);

    session_context& host_;
    connections& connections_;
    requests& requests_;
    list_refresh& walks_;
    dialect dialect_;
    core::steady_time began_{};
    std::string probed_;
    std::string refused_;  // why `initialize` beside a probe failed
    bool fell_back_ = false;
};

}  // namespace mcp
