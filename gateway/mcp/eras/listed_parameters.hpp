// The arguments that servers want repeated in the header of a call (`Mcp-Param-*`), by what the gateway's own sessions know of their
// tools. On the thread of one loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/table/program_services.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/request_head.hpp"

#include <memory>
#include <string>

namespace gateway::mcp::eras {

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

    // What is known of this agent's server is not known of the next.
    void forget(const std::string& agent_id) { known_.erase(agent_id); }

private:
    struct known_tools {
        std::weak_ptr<const ::mcp::server_lists> lists;  // of one walk
        std::unique_ptr<::mcp::parameter_fields> fields;
    };

    const table::program_services& services_;
    model::string_map<known_tools> known_;  // by agent
};

}  // namespace gateway::mcp::eras
