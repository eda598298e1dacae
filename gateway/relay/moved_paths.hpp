// Where agents and MCP servers want to be called instead of at their address: a path on the same origin to which one has redirected a
// call. Of one worker; one thread.
#pragma once

#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::relay {

class moved_paths {
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

}  // namespace gateway::relay
