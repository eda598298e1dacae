// Repairs a message that an MCP server has not carried out: it has lost the session, which is begun again behind the
// caller's id, or it is to be found at another path. Also how it hears that nobody waits any more. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/relay/redirects.hpp"
#include "gateway/relay/relay_call.hpp"
#include "mcp/calls/session_id.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::model {
struct control_services;
}

namespace gateway::request {
struct request_context;
}  // namespace gateway::request

namespace gateway::mcp::route {

struct mcp_call;

class mcp_repair final : public relay::call_repair {
public:
    static constexpr std::size_t longest_refusal = 4096;  // of an answer 400 that may say that the session is lost

    // References outlive it. The agent of the request is set.
    mcp_repair(mcp_call& message, model::control_services& control, relay::redirect_cache& paths);

    // The message is part of this session, whose id the caller named. `version`: of its field; empty: it has none. Gives the sealed
    // version. Fails with session_not_found: the session is served over HTTP by nobody but this process (`alone`), and has been idle
    // for too long.
    core::result<std::string_view>
    set_session(const ::mcp::session_digest& id, ::mcp::sealed_session session, std::string_view version, bool alone);

    // The message is a legacy request that the server can be told to give up; a batch counts as one. False: as many as may be are
    // in flight in its session.
    bool begin_call();

    // Takes the server's own id from where sessions are known that their ids do not say enough of. Fails with
    // session_not_found.
    net::routine<core::result<>> find_session();

    // The session is over for the caller, whatever the server says to it.
    net::routine<> end_session() override;

    const std::optional<::mcp::session_digest>& session() const noexcept { return id_; }

    // The content of the session id but for the server's own id, if that stood in it; null: it is part of none.
    const ::mcp::sealed_session* sealed() const noexcept { return id_ ? &session_ : nullptr; }

    // The id of the session does not hold the server's own, or not its cookies.
    bool is_kept() const noexcept
    {
        const bool lacks_cookies = session_.cookies && session_.cookies->empty();
        return lacks_cookies || !std::holds_alternative<std::string>(session_.place);
    }

    // The session as the server knows it, as far as that is known by now.
    const ::mcp::upstream_session& upstream() const noexcept { return upstream_; }

    // The value of the Cookie field of the message, for as long as this and until it is sent again.
    std::string_view cookies() const noexcept { return cookies_; }

    // The terms are those of mcp_call::answer.
    bool replaces(const net::http1::response_head& head) const override;
    core::result<> accept(const net::http1::response_head& head) override;
    void add_head_fields(std::string& fields) const override;
    std::string_view challenge() const noexcept override;

    void note_answer(const net::http1::response_head& head) override;

    std::optional<std::size_t> interest(const net::http1::response_head& head) const override;
    net::routine<core::result<bool>> repair(
        relay::relay_call& call,
        relay::agent_exchange& on,
        const net::http1::response_head& head,
        std::string body
    ) override;
    void gave_up(const relay::relay_call& call) override;
    void refuse(const relay::relay_call& call, std::string answer) override;
    std::string failure_text(const core::error& why) const override;
    std::string end_text() const override;
    std::string_view first_events() const override { return first_events_; }

private:
    net::routine<core::result<bool>> begin_again(relay::relay_call& call, relay::agent_exchange& on);
    net::routine<core::result<::mcp::upstream_session>>
    await_session(const relay::relay_call& call, relay::agent_exchange& on);
    model::session_call call_of(const relay::relay_call& call) const;
    void name_session();
    void name_cookies();
    std::string_view path() const;
    bool use_session(const ::mcp::session_digest& id, core::wall_time began, bool alone);

    mcp_call& message_;
    request::request_context& request_;
    model::control_services& control_;
    relay::redirect_cache& paths_;
    std::optional<::mcp::session_digest> id_;
    ::mcp::sealed_session session_;
    ::mcp::upstream_session upstream_;  // the id is empty if the server uses none, or if it is not known yet
    std::string cookies_;
    std::string first_events_;  // events that say what has changed while nobody listened
    relay::redirects redirects_{relay::redirects::most_of_message};
    bool agreed_ = false;  // session_.version is what the caller speaks
    bool begun_again_ = false;
    bool cancellable_ = false;
    model::session_calls::place place_;  // among the calls and streams of the session
};

// The caller's fields that the record of its agent lets pass.
std::vector<std::pair<std::string, core::secret>> forwarded_fields(const request::request_context& request);

}  // namespace gateway::mcp::route
