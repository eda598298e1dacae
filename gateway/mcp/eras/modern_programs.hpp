// The programs that serve callers of the modern era, one for each agent. On the thread of one loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/eras/modern_program.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"

#include <memory>
#include <string>

namespace gateway::mcp::eras {

class modern_programs {
public:
    // `sessions` keeps what has ended until it is gone. References outlive it.
    modern_programs(const table::program_services& services, programs::program_sessions& sessions)
        : services_{services},
          sessions_{sessions}
    {
    }

    // As modern_program::request(); with draining.
    core::result<std::shared_ptr<table::text_queue>>
    request(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request);

    // Null: it is gone. A program ends that was made of another record.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // What is late or idle ends. Called every second.
    void sweep(core::steady_time now);

    void stop();

private:
    const table::program_services& services_;
    programs::program_sessions& sessions_;
    model::string_map<std::unique_ptr<modern_program>> programs_;  // by agent
    bool stopped_ = false;
};

}  // namespace gateway::mcp::eras
