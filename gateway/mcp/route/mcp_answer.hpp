// The terms of an MCP server's answer to one message, and what its head says to the caller: the session's id as the gateway
// seals it. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/model/request_record.hpp"
#include "mcp/calls/event_gate.hpp"
#include "mcp/calls/session_id.hpp"
#include "net/http1/head.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::route {

class mcp_answer {
public:
    // The message belongs to a session: 404 says that the server has lost it. `called`: it is a request, whose failure is an answer:
    // clients give up a session at a 5xx.
    void expect_session(bool called) noexcept
    {
        in_session_ = true;
        called_ = called;
    }

    // The message ends the session: whether or not the server knows it, or knows that message, the caller gets 200.
    void expect_end() noexcept { ends_ = true; }

    // The message is `initialize`. The session that the answer names is `begins` but for its place; `ids` seal it for the
    // binding, whose views outlive the answer, with the cookies of `from`, which does, too. What cannot be sealed is kept in `kept`.
    void expect_begin(
        ::mcp::sealed_session begins,
        ::mcp::session_binding binding,
        std::shared_ptr<const ::mcp::session_ids> ids,
        model::client_sessions& kept,
        const ::mcp::upstream_session& from
    );

    // The server logs callers in itself: its 401 and 403 are for the caller, with a challenge that names this metadata.
    void expect_login(std::string metadata) { metadata_ = std::move(metadata); }

    // The line of the challenge; empty: the server has not asked who is calling, or who is is the operator's.
    std::string_view challenge() const noexcept { return challenge_; }

    // Sets which events of a stream go on; of `initialize` with what its client has declared. Behind expect_begin(). For as long as this.
    ::mcp::event_gate& expect_events(::mcp::event_gate::terms of);

    // The session is over for the caller.
    void set_ended(model::session_end why) noexcept { ended_ = why; }

    // Begins a session that lives in this process, whose id it returns: visible ASCII.
    std::string begin_here(::mcp::local_handle place);

    // Fails with upstream_status (the server asks who the gateway is, or it has failed in a session), session_not_found, and upstream_protocol (what cannot be
    // a session's id).
    core::result<> accept(const net::http1::response_head& head);

    bool replaces(const net::http1::response_head& head) const;

    void add_fields(std::string& fields) const;

    // The id of the session that the answer began, as the caller got it; empty: none.
    std::string_view begun() const noexcept { return sealed_; }

    // The value of set_ended(); nullopt: it goes on, or there is none.
    std::optional<model::session_end> ended() const noexcept { return ended_; }

private:
    bool seal(const std::string& id);

    ::mcp::sealed_session begins_;
    ::mcp::session_binding binding_;
    std::shared_ptr<const ::mcp::session_ids> ids_;  // null: it is no `initialize`
    model::client_sessions* kept_ = nullptr;         // with `ids_`
    const ::mcp::upstream_session* from_ = nullptr;  // with `ids_`
    std::string sealed_;
    std::string metadata_;
    std::string challenge_;
    std::optional<::mcp::event_gate> gate_;
    std::optional<model::session_end> ended_;
    bool in_session_ = false;
    bool called_ = false;
    bool ends_ = false;
    bool lacks_no_buffering_ = false;
    bool lacks_no_transform_ = false;
};

}  // namespace gateway::mcp::route
