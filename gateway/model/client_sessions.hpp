// Knowledge of callers' sessions with MCP servers over HTTP beside what their ids say: which are over, where the
// server has begun one again, ids and cookies that are too long to be sealed, cookies that have changed, and what has to be told again. On the control loop, but for
// what says otherwise. Sessions are named by the digest of the id that the caller has.
#pragma once

#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "core/secret.hpp"
#include "gateway/model/session_calls.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/message.hpp"
#include "net/loop/types.hpp"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::model {

struct agent_entry;

// One session, and how its server is spoken to.
struct session_call {
    std::shared_ptr<const agent_entry> agent;
    ::mcp::session_digest id{};
    ::mcp::upstream_session upstream;  // as the request named it
    std::string_view version;          // of the legacy era, as the request says; static
    bool agreed = true;  // client and server have agreed on `version`; else it is what the client asked for
    ::mcp::client_capabilities declared;
    std::string further{};                                     // mcp::further_capabilities()
    std::vector<std::pair<std::string, core::secret>> fields;  // that the server gets from this caller
    core::caller_mark whose = 0;                               // 0: of a caller without a credential
};

// The Set-Cookie fields of an answer, and where it came from.
struct given_cookies {
    std::vector<std::string> fields;
    std::string host;
    std::string path;
    bool secure = false;
};

// A caller's session, where this process knows more of it than its id says.
struct found_session {
    std::optional<::mcp::upstream_session> upstream{};  // instead of the one that the caller's id holds
    ::mcp::list_set changed{};  // lists that are those of another session since, which the client has not been told
};

class client_sessions {
public:
    virtual ~client_sessions() = default;

    // Calls of all workers. Any thread.
    virtual session_calls& calls() noexcept = 0;

    // `listens`: the client is told of changed lists now. Fails with session_not_found: it is over.
    virtual net::task<core::result<found_session>> find(std::string agent, ::mcp::session_digest id, bool listens) = 0;

    // Begins it again, as the client began it, because the server does not know `upstream` any more; gives the server's new
    // one. All who ask at once share one attempt. Fails with session_not_found (it is over, or the server now
    // speaks another version), with upstream_reset (the agent is gone), with overloaded and draining, as the server's
    // `initialize` does, and with caller_gone soon after `left` says that the caller does not wait any more.
    virtual net::task<core::result<::mcp::upstream_session>> recover(session_call lost, std::stop_token left) = 0;

    // The session is over for the client. False: it was before.
    virtual net::task<bool> end(std::string agent, ::mcp::session_digest id) = 0;

    // The server's id and cookies of a session whose own id cannot hold them. Any thread.
    virtual void keep(std::string agent, ::mcp::session_digest id, ::mcp::upstream_session upstream) = 0;

    // The server has set cookies in a session, which was `upstream` before. Ignored of one that has begun again, or is over. Any thread.
    virtual void take_cookies(
        std::string agent,
        ::mcp::session_digest id,
        ::mcp::upstream_session upstream,
        given_cookies given
    ) = 0;

    // The server took this request, which the next session has to be told again: `logging/setLevel`, `resources/subscribe` and
    // `resources/unsubscribe`, with raw params. Any thread.
    virtual void note(std::string agent, ::mcp::session_digest id, std::string_view method, std::string params) = 0;

    // Tells the server that nobody waits for its answer to the request with this raw id. Any thread.
    virtual void cancel(session_call in, std::string request_id) = 0;

    // Answers what the server has asked a client that may not be asked it. Any thread.
    virtual void answer(session_call in, std::string text) = 0;
};

}  // namespace gateway::model
