#include "gateway/mcp_path/modern_connections.hpp"

#include "gateway/model/agent_record.hpp"

#include <utility>

namespace gateway::mcp_path {

modern_upstream modern_connections::open(const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto id = agent->record.id;
    modern_services services{
        .on = services_.loop.get_executor(),
        .start = [this](const model::agent_entry& now
                 ) { return std::make_unique<program>(nullptr, services_.reach(now)); },
        .retire = [this, id](std::unique_ptr<program> used) { sessions_.retire(std::move(used), id); },
        .one_client = true
    };
    auto connection = std::make_shared<modern_program>(std::move(services), agent);
    open_.push_back(connection);
    return [this, id, connection = std::move(connection)](const mcp::client_message& request) {
        const auto head = mcp::head_of(request, fields_of(id));
        auto sent = request;
        sent.head = &head;
        return connection->request(sent, services_.clock());
    };
}

const mcp::parameter_fields* modern_connections::fields_of(const std::string& agent_id)
{
    auto lists = services_.listed ? services_.listed(agent_id) : nullptr;
    if (lists == nullptr) {
        return nullptr;
    }
    auto& known = known_[agent_id];
    if (known.lists != lists) {
        // Each walk makes new lists, and most find the same.
        constexpr auto tools = mcp::list_kind::tools;
        if (known.lists == nullptr || (*known.lists)[tools] != (*lists)[tools]) {
            known.fields = std::make_unique<const mcp::parameter_fields>(*lists);
        }
        known.lists = std::move(lists);
    }
    return known.fields.get();
}

void modern_connections::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    known_.erase(id);
    if (agent == nullptr) {
        return;
    }
    for (const auto& each : open_) {
        const auto connection = each.lock();
        if (connection != nullptr && model::same_callers_sessions(connection->agent().record, agent->record)) {
            connection->set_agent(agent);
        }
    }
}

void modern_connections::stop()
{
    for (const auto& each : std::exchange(open_, {})) {
        if (const auto connection = each.lock()) {
            connection->end(core::gateway_error(core::errc::draining));
        }
    }
}

void modern_connections::sweep(core::steady_time now)
{
    std::erase_if(open_, [](const auto& each) { return each.expired(); });
    for (const auto& each : open_) {
        if (const auto connection = each.lock()) {
            connection->sweep(now);
        }
    }
}

}  // namespace gateway::mcp_path
