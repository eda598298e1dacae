// The redirects of one request to an agent (RFC 9110 sections 15.4.8 and 15.4.9): 307 and 308 within the agent's origin, with method,
// body and credentials kept. Pure; one thread.
#pragma once

#include "gateway/relay/relay_call.hpp"

#include <string>

namespace gateway::relay {

class redirects {
public:
    static constexpr unsigned most_of_call = 5;
    static constexpr unsigned most_of_message = 3;  // of MCP

    explicit redirects(unsigned most = most_of_call)
        : most_{most}
    {
    }

    // True: `call` goes to where this answer to it leads, and is to be sent again; it refers to this object then. call.moved keeps the
    // path to which 308 alone has led, without a query, and forgets it at 404 and 405.
    bool follow(relay_call& call, const net::http1::response_head& head);

    // Follows after agent_exchange::begin() of `agent`, which can begin again then.
    bool follow(relay_call& call, agent_exchange& agent);

    // Where follow() has led: path and query, without the agent's key.
    const std::string& path() const noexcept { return path_; }

    bool may_follow() const noexcept { return count_ < most_; }

private:
    std::string path_;
    std::string head_;  // what call.request.head points into
    unsigned most_;
    unsigned count_ = 0;
    bool permanent_ = true;  // all so far have been 308
};

// Describes an answer to `call` that is a redirect and is not followed, for the log: its status, and at most 200 bytes of its Location,
// without the user, the query and the agent's credentials.
std::string unfollowed_redirect(const relay_call& call, const net::http1::response_head& head);

// The head of the call at another path of its agent.
std::string head_at(const relay_call& call, const std::string& path);

}  // namespace gateway::relay
