// Sessions with MCP servers over HTTP that are begun again, and which of them is next: agents take turns, and a server that does
// not answer holds the places of its own agent only, of which a principal has at most half. Pure; one thread.
#pragma once

#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "gateway/mcp/http/session_recovery.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/loop/signal.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::mcp::http {

// A caller that waits for an attempt; set when that is over, or when the caller has left.
using recovery_waiter = std::shared_ptr<net::task_signal>;

// One attempt, and those who wait for it.
struct session_attempt {
    model::session_call call;
    std::unique_ptr<session_recovery> recovery{};                    // null: it waits for its turn, or is over
    std::optional<core::result<::mcp::upstream_session>> outcome{};  // nullopt: it is not over
    std::vector<recovery_waiter> waiting{};
    core::place_share place{};   // among those of its agent that wait, or that are under way
    core::place_share of_all{};  // among all that are under way
};

class recovery_turns {
public:
    static constexpr std::size_t most_running = 64;    // at a time
    static constexpr std::size_t most_of_agent = 16;   // of these
    static constexpr std::size_t most_waiting = 1024;  // for their turn, of an agent

    using attempt = std::shared_ptr<session_attempt>;

    // The attempt waits for its turn. False: too many of its agent do, or half of them of its principal.
    bool push(const attempt& added);

    // The one whose turn it is, which is under way until remove(). Null: none may begin now. Looks at all that wait at most.
    attempt next();

    // It is over, or nobody waits for its turn any more.
    void remove(const attempt& ended);

    // Those of an agent, or all of them, which are out of the turns then.
    std::vector<attempt> take(const std::string& agent);
    std::vector<attempt> take_all();

private:
    struct agent_attempts {
        std::list<attempt> running;
        std::list<attempt> waiting;
    };

    bool may_begin(session_attempt& waiting) const;

    model::string_map<agent_attempts> agents_;
    std::list<std::string> turns_;  // agents with an attempt that waits, the next one first
    std::size_t running_ = 0;
};

}  // namespace gateway::mcp::http
