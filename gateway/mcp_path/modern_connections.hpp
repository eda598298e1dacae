// The connections of clients of the legacy era to servers of the modern one over streamable HTTP: one for each session, since what
// a server logs during a call is its client's alone. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp_path/legacy_calls.hpp"
#include "gateway/mcp_path/modern_program.hpp"
#include "gateway/mcp_path/program_sessions.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/request_head.hpp"

#include <list>
#include <memory>
#include <string>

namespace gateway::mcp_path {

class modern_connections {
public:
    // `sessions` keeps what has ended until it is gone. References outlive it.
    modern_connections(const program_services& services, program_sessions& sessions)
        : services_{services},
          sessions_{sessions}
    {
    }
    modern_connections(const modern_connections&) = delete;
    modern_connections& operator=(const modern_connections&) = delete;

    // For one session, which holds it; what is let go of ends. Before the end of this.
    modern_upstream open(const std::shared_ptr<const model::agent_entry>& agent);

    // The agent has changed or is gone.
    void forget(const std::string& agent_id) { known_.erase(agent_id); }

    // What is late ends. Called every second.
    void sweep(core::steady_time now);

    // All of them end, whoever still holds one.
    void stop();

private:
    // What the calls of a server's tools have in their header, while it lists the same.
    struct known_tools {
        std::shared_ptr<const mcp::server_lists> lists;
        std::unique_ptr<const mcp::parameter_fields> fields;
    };

    const mcp::parameter_fields* fields_of(const std::string& agent_id);

    const program_services& services_;
    program_sessions& sessions_;
    std::list<std::weak_ptr<modern_program>> open_;
    model::string_map<known_tools> known_;  // by agent
};

}  // namespace gateway::mcp_path
