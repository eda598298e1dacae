// What program_sessions keeps of one agent. A value of its loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp/programs/warm_programs.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/session/start_turns.hpp"
#include "mcp/transport/transport.hpp"

#include <memory>
#include <utility>

namespace gateway::mcp::programs {

struct agent_programs {
    agent_programs(
        std::shared_ptr<const model::agent_entry> of,
        ::mcp::start_place turns,
        ::mcp::transport_factory make,
        warm_programs::retire_function retire
    )
        : agent{std::move(of)},
          warm{turns, std::move(make), std::move(retire)}
    {
    }

    std::shared_ptr<const model::agent_entry> agent;
    warm_programs warm;
    core::steady_time last_use;  // a session was there
};

}  // namespace gateway::mcp::programs
