// Redirects of agents within their origin (RFC 9110 sections 15.4.8 and 15.4.9): those of one request, and the paths to which they have
// led for good. One thread.
#pragma once

#include "gateway/model/snapshot.hpp"
#include "gateway/relay/relay_call.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::relay {

// The paths at which agents and MCP servers want to be called instead of at their address: on the same origin, after a 308. One worker
// has one.
class redirect_cache {
public:
    static constexpr std::size_t most = 1000;  // over that all are forgotten: a redirect costs one round trip

    // Null: this agent, whose address is of HTTP, is called there.
    const std::string* find(const model::agent_entry& agent) const
    {
        const auto found = moved_.find(agent.record.id);
        const bool moved = found != moved_.end() && found->second.from == agent.call_url;
        return moved ? &found->second.path : nullptr;
    }

    // The path and query of its calls.
    const std::string& of(const model::agent_entry& agent) const
    {
        const auto* moved = find(agent);
        return moved != nullptr ? *moved : agent.upstream->path;
    }

    void set(const model::agent_entry& agent, std::string path)
    {
        if (moved_.size() >= most) {
            moved_.clear();
        }
        moved_.insert_or_assign(agent.record.id, place{agent.call_url, std::move(path)});
    }

    // The agent does not know that path any more.
    void forget(std::string_view id)
    {
        if (const auto found = moved_.find(id); found != moved_.end()) {
            moved_.erase(found);
        }
    }

private:
    struct place {
        std::string from;  // of the agent as it was then
        std::string path;
    };

    model::string_map<place> moved_;
};

// The redirects of one request: 307 and 308 within the agent's origin, with method, body and credentials kept. Pure.
class redirects {
public:
    static constexpr unsigned most_of_call = 5;
    static constexpr unsigned most_of_message = 3;  // of MCP

    explicit redirects(unsigned most = most_of_call)
        : most_{most}
    {
    }

    // True: `call` goes to where this answer to it leads, and is to be sent again. call.moved keeps the
    // path to which 308 alone has led, without a query, and forgets it at 404 and 405.
    bool follow(relay_call& call, const net::http1::response_head& head);

    // Follows after agent_exchange::begin() of `agent`, which can begin again then.
    bool follow(relay_call& call, agent_exchange& agent);

    // Where follow() has led: path and query, without the agent's key.
    const std::string& path() const noexcept { return path_; }

    bool may_follow() const noexcept { return count_ < most_; }

private:
    std::string path_;
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
