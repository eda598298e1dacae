#include "gateway/mcp_path/shared_sessions.hpp"

#include "gateway/mcp_path/session_handle.hpp"
#include "gateway/mcp_path/shared_answers.hpp"
#include "gateway/model/agent_record.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace gateway::mcp_path {
namespace {

using core::errc;

constexpr core::duration sweep_every{1000};

bool is_about_subscriptions(std::string_view method) noexcept
{
    return method == "resources/subscribe" || method == "resources/unsubscribe";
}

core::error no_session()
{
    return core::caller_error(errc::session_not_found);
}

}  // namespace

shared_sessions::shared_sessions(const program_services& services, program_sessions& leaving)
    : services_{services},
      leaving_{leaving},
      sweeper_{*this}
{
    services_.loop.timers().add(sweeper_);
}

// What is let go of goes to leaving_.
shared_sessions::~shared_sessions()
{
    agents_.clear();
}

void shared_sessions::sweeper::on_due()
{
    const auto now = of_.now();
    set_due(std::chrono::steady_clock::now() + sweep_every);
    of_.sweep(now);
}

core::result<std::shared_ptr<const mcp::server_facts>>
shared_sessions::server_of(const std::string& agent_id, mcp::era wanted) const
{
    if (stopped_) {
        return core::gateway_error(errc::draining);
    }
    auto server = services_.control(agent_id);
    if (server && (*server)->speaks != wanted) {
        return core::gateway_error(errc::version_unsupported, "the shared session is of the other era");
    }
    return server;
}

mcp::era shared_sessions::era_of(const std::string& agent_id) const
{
    const auto server = services_.control(agent_id);
    return server ? (*server)->speaks : mcp::era::legacy;
}

core::result<begun_session> shared_sessions::begin(
    const std::shared_ptr<const model::agent_entry>& agent,
    std::string principal,
    const mcp::client_message& initialize
)
{
    const auto server = server_of(agent->record.id, mcp::era::legacy);
    if (!server) {
        return server.error();
    }
    auto& shared = agent_of(agent);
    if (auto room = make_room(shared); !room) {
        return room.error();
    }
    const auto asked = mcp::members_of(initialize.params).text("protocolVersion");
    const auto version = common_version(asked, (*server)->protocol_version);
    begun_session begun;
    begun.handle = new_session_handle();
    begun.answer = answered(initialize_answer(initialize.id, version, **server));
    shared_identity who{agent->record.id, std::move(principal), std::string{version}, ++last_number_};
    shared.handles.emplace(who.number, begun.handle);
    sessions_.emplace(begun.handle, std::make_unique<shared_session>(executor(), std::move(who), now()));
    shared.calls.connect();
    ++counts_.begun;
    services_.log
        .write(core::log_level::debug, "mcp_client_session", {{"agent", agent->record.id}, {"state", "begun"}});
    return begun;
}

core::result<std::shared_ptr<text_queue>>
shared_sessions::call(const std::shared_ptr<const model::agent_entry>& agent, const mcp::client_message& request)
{
    if (auto here = answer_here(request)) {
        return answered(std::move(*here));
    }
    if (is_about_subscriptions(request.method)) {
        return core::caller_error(errc::bad_request, "a subscription without a session");
    }
    if (const auto server = server_of(agent->record.id, mcp::era::legacy); !server) {
        return server.error();
    }
    auto own = request;
    own.client = ++last_number_;
    return agent_of(agent).calls.request(own, /*cancels_if_left=*/true);
}

core::result<std::shared_ptr<text_queue>>
shared_sessions::modern(const std::shared_ptr<const model::agent_entry>& agent, const mcp::client_message& request)
{
    if (const auto server = server_of(agent->record.id, mcp::era::modern); !server) {
        return server.error();
    }
    auto own = request;
    own.client = ++last_number_;
    return agent_of(agent).calls.request(own, /*cancels_if_left=*/true);
}

core::result<std::shared_ptr<text_queue>>
shared_sessions::request(const session_key& key, const mcp::client_message& request)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return no_session();
    }
    session->use(now());
    if (auto here = answer_here(request)) {
        return answered(std::move(*here));
    }
    const auto server = services_.control(session->who().agent);
    if (!server) {
        return server.error();
    }
    // The client begins again, and is translated if it has to be.
    if ((*server)->speaks == mcp::era::modern || (*server)->protocol_version < session->who().version) {
        finish(std::string{key.handle}, session_end::lost, no_session());
        return no_session();
    }
    auto own = request;
    own.client = session->who().number;
    return agents_.find(key.agent_id)->second->calls.request(own, /*cancels_if_left=*/false);
}

std::shared_ptr<text_queue> shared_sessions::answered(std::string text)
{
    auto reader = std::make_shared<text_queue>(executor());
    reader->push(std::move(text), text_kind::answer);
    reader->close();
    return reader;
}

core::result<> shared_sessions::tell(const session_key& key, const mcp::client_message& message)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return no_session();
    }
    session->use(now());
    if (message.method == "notifications/cancelled") {
        auto own = message;
        own.client = session->who().number;
        agents_.find(key.agent_id)->second->calls.cancel(own);
    }
    return {};
}

core::result<std::shared_ptr<text_queue>> shared_sessions::listen(const session_key& key)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return no_session();
    }
    session->use(now());
    return session->listen();
}

core::result<> shared_sessions::end(const session_key& key)
{
    if (find(key) == nullptr) {
        return no_session();
    }
    finish(std::string{key.handle}, session_end::deleted, no_session());
    return {};
}

shared_sessions::shared_agent& shared_sessions::agent_of(const std::shared_ptr<const model::agent_entry>& agent)
{
    set_agent(agent->record.id, agent);
    auto& shared = agents_[agent->record.id];
    if (shared == nullptr) {
        shared_owner& self = *this;
        shared = std::make_unique<shared_agent>(self, agent);
    }
    return *shared;
}

core::result<> shared_sessions::make_room(shared_agent& agent)
{
    const auto most = agent.calls.agent().record.mcp->max_sessions.value_or(program_sessions::usual_connections);
    if (agent.handles.size() < most) {
        return {};
    }
    const auto busy = agent.calls.busy_clients();
    const shared_session* oldest = nullptr;
    for (const auto& [number, handle] : agent.handles) {
        const auto* const session = sessions_.find(handle)->second.get();
        const bool may_go = !busy.contains(number) && now() - session->last_use() >= program_sessions::evictable;
        if (may_go && (oldest == nullptr || session->last_use() < oldest->last_use())) {
            oldest = session;
        }
    }
    if (oldest == nullptr) {
        return core::gateway_error(errc::session_limit, "max_sessions sessions are in use");
    }
    const auto handle = agent.handles.at(oldest->who().number);
    finish(handle, session_end::evicted, no_session());
    return {};
}

shared_session* shared_sessions::find(const session_key& key) const
{
    const auto found = sessions_.find(key.handle);
    if (found == sessions_.end() || found->second->who().agent != key.agent_id ||
        found->second->who().principal != key.principal) {
        return nullptr;
    }
    return found->second.get();
}

void shared_sessions::finish(const std::string& handle, session_end why, const core::error& error)
{
    const auto ended = sessions_.extract(handle);
    const auto& session = *ended.mapped();
    auto& agent = *agents_.find(session.who().agent)->second;
    agent.handles.erase(session.who().number);
    agent.calls.leave(session.who().number, error);
    ended.mapped()->close();
    ++counts_.ended[static_cast<std::size_t>(why)];
    services_.log.write(
        core::log_level::debug,
        "mcp_client_session",
        {{"agent", session.who().agent}, {"state", "ended"}, {"reason", name(why)}}
    );
}

void shared_sessions::finish_all(shared_agent& agent, session_end why, const core::error& error)
{
    const auto handles = agent.handles;
    for (const auto& [number, handle] : handles) {
        finish(handle, why, error);
    }
}

void shared_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    auto& shared = *found->second;
    const auto& before = shared.calls.agent().record;
    if (agent != nullptr && model::same_callers_sessions(before, agent->record) &&
        before.mcp->sessions == agent->record.mcp->sessions) {
        shared.calls.set_agent(agent);
        return;
    }
    const auto why = core::upstream_error(errc::upstream_reset, "the agent has changed");
    finish_all(shared, session_end::withdrawn, why);
    shared.calls.end(why);
    agents_.erase(found);
}

void shared_sessions::sweep(core::steady_time now)
{
    for (const auto& [id, agent] : agents_) {
        agent->calls.sweep(now);
        sweep_sessions(*agent, now);
    }
}

void shared_sessions::sweep_sessions(shared_agent& agent, core::steady_time now)
{
    const auto busy = agent.calls.busy_clients();
    std::vector<std::pair<std::string, session_end>> over;
    for (const auto& [number, handle] : agent.handles) {
        auto& session = *sessions_.find(handle)->second;
        if (busy.contains(number)) {
            session.use(now);
        } else if (now - session.began() >= program_sessions::longest_life) {
            over.emplace_back(handle, session_end::aged);
        } else if (!session.listened_to() && now - session.last_use() >= program_sessions::longest_idle) {
            over.emplace_back(handle, session_end::idle);
        }
    }
    for (const auto& [handle, why] : over) {
        finish(handle, why, no_session());
    }
}

void shared_sessions::stop()
{
    stopped_ = true;
    const auto why = core::gateway_error(errc::draining);
    for (const auto& [id, agent] : agents_) {
        finish_all(*agent, session_end::draining, why);
        agent->calls.end(why);
    }
    agents_.clear();
}

void shared_sessions::retire(std::unique_ptr<program> used, const std::string& agent_id)
{
    leaving_.retire(std::move(used), agent_id);
}

void shared_sessions::list_changed(const shared_calls& of, changing_list list)
{
    for (const auto& [number, handle] : agents_.find(of.agent().record.id)->second->handles) {
        sessions_.find(handle)->second->list_changed(list);
    }
}

void shared_sessions::updated(
    const shared_calls& of,
    std::uint64_t client,
    const std::string& uri,
    std::string_view text
)
{
    const auto& handles = agents_.find(of.agent().record.id)->second->handles;
    const auto handle = handles.find(client);
    if (handle != handles.end()) {
        sessions_.find(handle->second)->second->updated(uri, text);
    }
}

void shared_sessions::lost(shared_calls& of)
{
    if (of.agent().record.mcp->on_lost == core::mcp_loss::tell) {
        finish_all(*agents_.find(of.agent().record.id)->second, session_end::lost, no_session());
    }
}

// What changed meanwhile nobody has heard.
void shared_sessions::recovered(shared_calls& of)
{
    const auto& id = of.agent().record.id;
    ++counts_.recovered;
    services_.log.write(core::log_level::info, "mcp_recovered", {{"agent", id}});
    const auto server = services_.control(id);
    const auto offered = mcp::members_of(server ? std::string_view{(*server)->capabilities} : std::string_view{});
    for (const auto list : {changing_list::tools, changing_list::prompts, changing_list::resources}) {
        if (mcp::members_of(offered.object(name(list))).find("listChanged") == "true") {
            list_changed(of, list);
        }
    }
}

}  // namespace gateway::mcp_path
