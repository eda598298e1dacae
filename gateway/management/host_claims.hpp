// Which agent has which name of its own. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

class host_claims {
public:
    explicit host_claims(const config::process_settings& settings);

    // Why this agent cannot have the name, as a predicate, and what was expected; nothing: it can.
    std::optional<std::string> refusal(std::string_view name, std::string_view id) const;

    bool is_own(std::string_view name) const noexcept;

    // The agent whose name it is, or for which it is held; empty: nobody's.
    std::string_view owner(std::string_view name) const;

    // Holds the names of an agent that is about to be written, so that no other one is given them meanwhile, until what is
    // returned ends. For each of them there is no refusal().
    std::shared_ptr<const void> hold(const model::agent_entry& agent);

    // From now on the names of the agent are those of `now`. Null: there is none, before or from now on. What another agent has
    // taken over meanwhile stays with that one.
    void move(const model::agent_entry* was, const model::agent_entry* now);

    // From now on the names of these agents are nobody's.
    void release(const std::set<std::string_view>& ids);

private:
    struct held_name {
        std::string id;
        std::size_t holds = 0;
    };
    using held_names = model::string_map<held_name>;

    std::vector<std::string> own_;  // of the gateway
    model::string_map<std::string> owners_;
    std::shared_ptr<held_names> held_ = std::make_shared<held_names>();  // a hold may outlive this
};

}  // namespace gateway::management
