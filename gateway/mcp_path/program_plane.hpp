// The sessions of callers with programs, as the workers reach them. On the thread of the control loop but for open().
#pragma once

#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp_path/modern_programs.hpp"
#include "gateway/mcp_path/program_exchange.hpp"
#include "gateway/mcp_path/program_sessions.hpp"
#include "gateway/mcp_path/translated_sessions.hpp"
#include "gateway/mcp_path/tried_openings.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace gateway::mcp_path {

class program_plane final : public model::program_port {
public:
    // So long a program that has refused the legacy era is not asked again.
    static constexpr core::duration verdict_life = std::chrono::hours{24};

    // References outlive it, and it the workers.
    explicit program_plane(program_services services);

    std::unique_ptr<model::program_reader> open(model::program_request asked, net::executor here, net::signal& wake)
        override;

    void set_agents(const model::snapshot& now);

    // Null: it is gone. The sessions end that were made of a record that has changed.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // What is late or idle ends; done every second by itself.
    void sweep(core::steady_time now);

    // Ends all sessions in order. busy() until their programs are gone.
    void stop();
    bool busy() const noexcept { return sessions_.busy(); }

    // Since the start.
    session_counts counts() const noexcept;

private:
    using agent_pointer = std::shared_ptr<const model::agent_entry>;

    void carry_out(const model::program_request& asked, program_exchange& exchange);
    void begin(const model::program_request& asked, program_exchange& exchange);
    core::result<begun_session> begin(const agent_pointer& agent, const model::program_request& asked);
    core::result<begun_session> try_opening(const agent_pointer& agent, const model::program_request& asked);
    core::result<> tell(const model::program_request& asked);
    core::result<> end(const session_key& key);
    core::result<std::shared_ptr<text_queue>> ask(const model::program_request& asked);
    core::result<std::shared_ptr<text_queue>> call(const agent_pointer& agent, const model::program_request& asked);
    bool is_modern_only(const core::agent& record) const;

    net::executor there_;
    model::string_map<agent_pointer> agents_;  // that have such sessions
    program_services services_;
    program_sessions sessions_;
    modern_programs modern_;
    translated_sessions legacy_clients_;
    tried_openings openings_;
    model::string_map<core::steady_time> modern_only_;  // agents whose program has refused the legacy era, until when
};

}  // namespace gateway::mcp_path
