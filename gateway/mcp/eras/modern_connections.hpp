// The connections of clients of the legacy era to servers of the modern one over streamable HTTP: one for each session, since what
// a server logs during a call is its client's alone. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp/eras/legacy_calls.hpp"
#include "gateway/mcp/eras/listed_parameters.hpp"
#include "gateway/mcp/eras/modern_program.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/model/snapshot.hpp"

#include <list>
#include <memory>
#include <string>

namespace gateway::mcp::eras {

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

    // What is late ends. Called every second.
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
