// Which agent has which name of its own. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/model/snapshot.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

class host_claims {
public:
    explicit host_claims(const config::process_settings& settings);

    // Why this agent cannot have the name, as a predicate, and what was expected; nothing: it can.
    std::optional<std::string> refusal(std::string_view name, std::string_view id) const;

    // The agent whose name it is; empty: nobody's.
    std::string_view owner(std::string_view name) const;

    // From now on the names of the agent are those of `now`. Null: there is none, before or from now on. What another agent has
    // taken over meanwhile stays with that one.
    void move(const model::agent_entry* was, const model::agent_entry* now);

private:
    std::vector<std::string> own_;  // of the gateway
    model::string_map<std::string> owners_;
};

}  // namespace gateway::management
