#include "gateway/mcp/shared/shared_sessions.hpp"

#include "gateway/mcp/shared/shared_session.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/model/agent_record.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <utility>

namespace gateway::mcp::shared {
namespace {

using core::errc;

bool is_about_subscriptions(std::string_view method) noexcept
{
    return method == "resources/subscribe" || method == "resources/unsubscribe";
}

}  // namespace

// The programs that end here go to leaving_.
shared_sessions::~shared_sessions()
{
    agents_.clear();
    ended_.clear();
}

core::result<std::shared_ptr<const ::mcp::server_facts>>
shared_sessions::server_of(const std::string& agent_id, ::mcp::era spoken) const
{
    if (stopped()) {
        return core::gateway_error(errc::draining);
    }
    auto server = services().control(agent_id);
    if (server && (*server)->speaks != spoken) {
        return core::gateway_error(errc::version_unsupported, "the shared session is of the other era");
    }
    return server;
}

::mcp::era shared_sessions::era_of(const std::string& agent_id) const
{
    const auto server = services().control(agent_id);
    return server ? (*server)->speaks : ::mcp::era::legacy;
}

core::result<programs::begun_session> shared_sessions::begin(
    const std::shared_ptr<const model::agent_entry>& agent,
    std::string principal,
    const ::mcp::client_message& initialize
)
{
    const auto server = server_of(agent->record.id, ::mcp::era::legacy);
    if (!server) {
        return server.error();
    }
    auto room = make_room(agent, principal, agent->record.mcp->max_sessions.value_or(usual_sessions));
    if (!room) {
        return room.error();
    }
    auto& calls = calls_of(agent);
    const auto asked = ::mcp::members_of(initialize.params).text("protocolVersion");
    const std::string version{common_version(asked, (*server)->protocol_version)};
    programs::begun_session begun{
        table::new_session_handle(),
        table::answered(executor(), initialize_answer(initialize.id, version, **server))
    };
    table::session_name name{agent, begun.handle, std::move(principal)};
    add(std::make_unique<shared_session>(*this, std::move(name), *this, calls, version), std::move(*room));
    calls.connect();
    return begun;
}

core::result<std::shared_ptr<table::text_queue>>
shared_sessions::call(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request)
{
    if (is_about_subscriptions(request.method)) {
        return core::caller_error(errc::session_required, "a subscription without a session");
    }
    return ask(agent, request, ::mcp::era::legacy);
}

core::result<std::shared_ptr<table::text_queue>>
shared_sessions::modern(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request)
{
    return ask(agent, request, ::mcp::era::modern);
}

core::result<std::shared_ptr<table::text_queue>> shared_sessions::ask(
    const std::shared_ptr<const model::agent_entry>& agent,
    const ::mcp::client_message& request,
    ::mcp::era spoken
)
{
    if (auto here = answer_here(request)) {
        return table::answered(executor(), std::move(*here));
    }
    const auto server = server_of(agent->record.id, spoken);
    if (!server) {
        return server.error();
    }
    if (spoken == ::mcp::era::modern && request.method == "server/discover") {
        return table::answered(executor(), discover_answer(request.id, **server));
    }
    auto& calls = calls_of(agent);
    auto own = request;
    own.client = calls.new_client();
    return calls.request(own, /*cancels_if_left=*/true);
}

shared_calls& shared_sessions::calls_of(const std::shared_ptr<const model::agent_entry>& agent)
{
    set_agent(agent->record.id, agent);
    auto& calls = agents_[agent->record.id];
    if (calls == nullptr) {
        calls = std::make_unique<shared_calls>(*this, agent);
    }
    return *calls;
}

void shared_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    const auto& before = found->second->agent().record;
    if (agent != nullptr && model::same_callers_sessions(before, agent->record) &&
        before.mcp->sessions == agent->record.mcp->sessions) {
        found->second->set_agent(agent);
        table::session_table::set_agent(id, agent);
        return;
    }
    // First, so that no session that ends has to look for its calls among all of them.
    found->second->end(core::upstream_error(errc::upstream_reset, "the agent has changed"));
    table::session_table::set_agent(id, nullptr);
    if (found->second->has_sessions()) {
        ended_.push_back(std::move(found->second));
    }
    agents_.erase(found);
}

void shared_sessions::sweep(core::steady_time now)
{
    for (const auto& [id, calls] : agents_) {
        calls->sweep(now);
    }
    std::erase_if(ended_, [](const auto& each) { return !each->has_sessions(); });
    table::session_table::sweep(now);
}

void shared_sessions::stop()
{
    for (const auto& [id, calls] : agents_) {
        calls->end(core::gateway_error(errc::draining));
    }
    table::session_table::stop();
    agents_.clear();
    ended_.clear();
}

void shared_sessions::lost(shared_calls& of)
{
    const auto& record = of.agent().record;
    if (record.mcp->on_lost == core::mcp_loss::tell) {
        end_all(record.id, model::session_end::lost, core::caller_error(errc::session_not_found));
    }
}

// Changes meanwhile were not reported to anybody.
void shared_sessions::recovered(shared_calls& of)
{
    const auto& id = of.agent().record.id;
    count_recovery(id);
    if (const auto server = services().control(id)) {
        of.list_changed(::mcp::announced_lists((*server)->capabilities));
    }
}

}  // namespace gateway::mcp::shared
