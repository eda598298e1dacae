#include "gateway/mcp/eras/modern_programs.hpp"

#include "gateway/model/agent_record.hpp"

#include <utility>

namespace gateway::mcp::eras {

core::result<std::shared_ptr<table::text_queue>>
modern_programs::request(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request)
{
    if (stopped_) {
        return core::gateway_error(core::errc::draining);
    }
    auto& serving = programs_[agent->record.id];
    if (serving == nullptr) {
        modern_services services{
            services_.loop.get_executor(),
            [this](const model::agent_entry& now) {
                const ::mcp::start_place turns{&services_.turns, now.record.mcp->overlap};
                return std::make_unique<programs::program>(turns, services_.reach(now));
            },
            [this, id = agent->record.id](std::unique_ptr<programs::program> used) {
                sessions_.retire(std::move(used), id, {});
            },
            /*one_client=*/false,
            programs::note_to(services_.log, agent->record.id)
        };
        serving = std::make_unique<modern_program>(std::move(services), agent);
    }
    return serving->request(request, services_.clock());
}

void modern_programs::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = programs_.find(id);
    if (found == programs_.end()) {
        return;
    }
    if (agent != nullptr && model::same_callers_sessions(found->second->agent().record, agent->record)) {
        return found->second->set_agent(agent);
    }
    found->second->end(core::upstream_error(core::errc::upstream_reset, "the agent has changed"));
    programs_.erase(found);
}

void modern_programs::sweep(core::steady_time now)
{
    for (const auto& [id, each] : programs_) {
        each->sweep(now);
    }
}

void modern_programs::stop()
{
    stopped_ = true;
    programs_.clear();
}

}  // namespace gateway::mcp::eras
