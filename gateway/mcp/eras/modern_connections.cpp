#include "gateway/mcp/eras/modern_connections.hpp"

#include "gateway/model/agent_record.hpp"

#include <utility>

namespace gateway::mcp::eras {

::mcp::parameter_fields* listed_parameters::of(const std::string& agent_id)
{
    auto lists = services_.listed ? services_.listed(agent_id) : nullptr;
    if (lists == nullptr) {
        return nullptr;
    }
    auto& known = known_[agent_id];
    if (known.lists.lock() != lists) {
        known.lists = lists;
        known.fields = std::make_unique<::mcp::parameter_fields>(std::move(lists));
    }
    return known.fields.get();
}

core::result<> listed_parameters::check(const model::program_request& asked)
{
    if (asked.read.whole.empty() || asked.read.method != ::mcp::client_method::tools_call) {
        return {};
    }
    auto* const tools = of(asked.agent);
    if (tools == nullptr) {
        return {};
    }
    const auto text = asked.message.view().text;
    std::string room;
    const auto tool = asked.read.text(::mcp::routed::name, text, room).value_or("");
    if (!tools->agree(tool, asked.read.raw(::mcp::routed::arguments, text), asked.fields)) {
        return core::caller_error(core::errc::header_mismatch, "Mcp-Param-* is not what the arguments say");
    }
    return {};
}

modern_upstream modern_connections::open(const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto id = agent->record.id;
    modern_services services{
        .on = services_.loop.get_executor(),
        .start = [this](const model::agent_entry& now
                 ) { return std::make_unique<programs::program>(nullptr, services_.reach(now)); },
        .retire = [this, id](std::unique_ptr<programs::program> used) { sessions_.retire(std::move(used), id, {}); },
        .one_client = true
    };
    auto connection = std::make_shared<modern_program>(std::move(services), agent);
    open_.push_back(connection);
    return [this, id, connection = std::move(connection)](const ::mcp::client_message& request) {
        const auto head = ::mcp::head_of(request, tools_.of(id));
        auto sent = request;
        sent.head = &head;
        return connection->request(sent, services_.clock());
    };
}

void modern_connections::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    tools_.forget(id);
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

}  // namespace gateway::mcp::eras
