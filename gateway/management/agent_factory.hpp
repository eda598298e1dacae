// From an agent's record or definition to what is served: addresses, TLS, heads of calls. Reads files, so it blocks. On the
// control loop's thread.
#pragma once

#include "config/agents.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "config/tls.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {

// The names of agents of their own, and whose they are. On the control loop's thread.
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

// Checks that the certificates, keys and key sets that a configuration names can be used: one for each configuration that is read, so that
// the authorities of many agents are read once. Reads files, so it blocks.
config::tls_checks tls_checks();

// An agent as it was sent to be written, read and checked.
struct proposed_agent {
    std::string definition;                           // as it is stored
    std::shared_ptr<const model::agent_entry> entry;  // null if there are problems
    std::vector<config::problem> problems;
    std::shared_ptr<const void> names = nullptr;  // while this is kept, no other agent is given the names of `entry`
};

// By what lists and calls of an agent are judged, and whether all of it waits to be approved: members of its entry.
struct entry_pins {
    std::shared_ptr<const ::mcp::pinned_server> pins{};
    bool held = false;
};

class agent_factory {
public:
    // `settings` outlive it.
    explicit agent_factory(const config::settings& settings)
        : settings_{settings},
          claims_{settings}
    {
    }

    // From now on agents are bridged by the servers that this reaches, as entry_defaults::bridge.
    void set_bridge(std::function<core::descriptor()> dial) { bridge_ = std::move(dial); }

    // From now on entries have what this says of their agents.
    void set_pins(std::function<entry_pins(const core::agent&)> from) { pins_ = std::move(from); }

    // The entry with the pins that count now; itself if it has them.
    std::shared_ptr<const model::agent_entry> pinned(std::shared_ptr<const model::agent_entry> entry) const;

    // Works as model::make_entry().
    core::result<std::shared_ptr<const model::agent_entry>>
    make(const core::agent& record, const model::call_route& route = {}, const core::secret& token = {});

    // `is`, with what is known of the agent as it was: the same record keeps its card, and with it where calls go; the same
    // credentials keep their token; the same session knows how its server is spoken to. `served`: both are. From now on the
    // names of the agent are those of `is`. `was` may be null.
    std::shared_ptr<const model::agent_entry>
    renewed(const model::agent_entry* was, std::shared_ptr<const model::agent_entry> is, bool served);

    // The agent is gone, and its names are free.
    void release(const model::agent_entry& was) { claims_.move(&was, nullptr); }

    // Gives the agents that a configuration declares their names at once, and frees those of the agents that it no longer
    // declares, though both change later, one after the other. Or says why one of them cannot have its names, and changes
    // nothing: the gateway, as it was started, or an agent for which `stays` is true has one of them. The configuration has
    // compared them among themselves.
    std::optional<core::error> claim(
        const std::vector<std::shared_ptr<const model::agent_entry>>& declared,
        const std::vector<std::string>& gone,
        const std::function<bool(std::string_view id)>& stays
    );

    // Reads and checks a definition; `path` begins the keys of its problems. One that is a program is a problem without
    // admin_programs, and so is a name that the gateway or another agent has.
    proposed_agent propose(
        std::string_view id,
        const core::json& definition,
        std::string_view path,
        const config::tls_checks& checks = tls_checks()
    );

    // From now on the agents' TLS files are read again.
    void renew_files() { contexts_.renew(); }

private:
    const config::settings& settings_;
    std::function<core::descriptor()> bridge_;
    std::function<entry_pins(const core::agent&)> pins_;  // empty: nobody has any
    host_claims claims_;
    net::client_contexts contexts_;      // shared by agents with the same files
    balancing::breaker_shelf breakers_;  // of the agents that there are
    balancing::reach_shelf reaches_;     // the same
    balancing::gate_shelf gates_;        // the same
};

}  // namespace gateway::management
