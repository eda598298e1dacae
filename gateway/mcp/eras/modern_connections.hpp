// The connections of clients of the legacy era to servers of the modern one over streamable HTTP: one for each session, since what
// a server logs during a call is its client's alone. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/eras/legacy_client_calls.hpp"
#include "gateway/mcp/eras/modern_program.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/table/program_services.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/request_head.hpp"

#include <list>
#include <memory>
#include <string>

namespace gateway::mcp::eras {

// The arguments that tools of a server want repeated in the header.
class listed_parameters {
public:
    // The reference outlives it.
    explicit listed_parameters(const table::program_services& services)
        : services_{services}
    {
    }

    // Null: nothing is known of the agent's tools. Until the next call of this or of forget().
    ::mcp::parameter_fields* of(const std::string& agent_id);

    // A request of the modern era, whose server does not get the fields that came with it. Fails with header_mismatch if it calls a
    // tool and they say something else than its arguments (MCP 2026-07-28, basic/transports/streamable-http, "Custom Headers from
    // Tool Parameters"). Where nothing is known of the tool, every field passes.
    core::result<> check(const model::program_request& asked);

    // Knowledge of this agent's server does not hold for the next.
    void forget(const std::string& agent_id) { known_.erase(agent_id); }

private:
    struct known_tools {
        std::weak_ptr<const ::mcp::server_lists> lists;  // of one walk
        std::unique_ptr<::mcp::parameter_fields> fields;
    };

    const table::program_services& services_;
    model::string_map<known_tools> known_;  // by agent
};

class modern_connections {
public:
    // `sessions` keeps what has ended until it is gone. References outlive it.
    modern_connections(const table::program_services& services, programs::program_sessions& sessions)
        : services_{services},
          sessions_{sessions},
          tools_{services}
    {
    }
    modern_connections(const modern_connections&) = delete;
    modern_connections& operator=(const modern_connections&) = delete;

    // For one session, which holds it; what is let go of ends. Before the end of this.
    modern_upstream open(const std::shared_ptr<const model::agent_entry>& agent);

    // The agent has changed, or is gone (null). Connections to a server that stays the same go on with the new record.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // Ends what is late. Called every second.
    void sweep(core::steady_time now);

    // All of them end, whoever still holds one.
    void stop();

private:
    const table::program_services& services_;
    programs::program_sessions& sessions_;
    std::list<std::weak_ptr<modern_program>> open_;
    listed_parameters tools_;
};

}  // namespace gateway::mcp::eras
