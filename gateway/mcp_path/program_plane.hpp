// The sessions of callers with programs, as the workers reach them. On the thread of the control loop but for open().
#pragma once

#include "core/error.hpp"
#include "gateway/mcp_path/modern_programs.hpp"
#include "gateway/mcp_path/program_exchange.hpp"
#include "gateway/mcp_path/program_sessions.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace gateway::mcp_path {

struct live_sessions {
    std::size_t sessions = 0;
    std::optional<std::size_t> warm;  // programs; nothing: the server is no program
};

class program_plane final : public model::program_port {
public:
    // References outlive it, and it the workers.
    explicit program_plane(program_services services);

    std::unique_ptr<model::program_reader> open(model::program_request asked, net::executor here, net::signal& wake)
        override;

    void set_agents(const model::snapshot& now);

    // Null: it is gone. The sessions end that were made of a record that has changed.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // Ends all sessions in order. busy() until their programs are gone.
    void stop();
    bool busy() const noexcept { return sessions_.busy(); }

    // Since the start.
    const session_counts& counts() const noexcept { return sessions_.counts(); }

    // Of an agent, now; nothing: it has no such sessions.
    std::optional<live_sessions> live(const std::string& agent_id) const;

private:
    void carry_out(const model::program_request& asked, program_exchange& exchange);
    void begin(const model::program_request& asked, program_exchange& exchange);
    core::result<std::shared_ptr<text_queue>> ask(const model::program_request& asked);

    net::executor there_;
    model::string_map<std::shared_ptr<const model::agent_entry>> agents_;  // that have such sessions
    program_services services_;
    program_sessions sessions_;
    modern_programs modern_;
};

}  // namespace gateway::mcp_path
