#include "gateway/mcp_path/program_sessions.hpp"

#include "gateway/mcp_path/session_handle.hpp"
#include "gateway/model/agent_record.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace gateway::mcp_path {
namespace {

using core::errc;

constexpr core::duration sweep_every{1000};

// Else a connection to a server that runs elsewhere.
bool is_program(const core::agent& record)
{
    return record.mcp->transport == core::mcp_transport::stdio;
}

std::size_t most_sessions(const core::agent& record)
{
    return record.mcp->max_sessions.value_or(
        is_program(record) ? program_sessions::usual_sessions : program_sessions::usual_connections
    );
}

}  // namespace

program_sessions::program_sessions(program_services services)
    : services_{std::move(services)},
      leaving_{services_.loop.get_executor(), [this](const std::string& agent_id) { start_held(agent_id); }},
      sweeper_{*this}
{
    services_.loop.timers().add(sweeper_);
}

// What is let go of goes to leaving_.
program_sessions::~program_sessions()
{
    agents_.clear();
}

void program_sessions::sweeper::on_due()
{
    const auto now = of_.now();
    set_due(std::chrono::steady_clock::now() + sweep_every);
    of_.sweep(now);
}

core::result<begun_session> program_sessions::begin(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const mcp::client_message& initialize
)
{
    if (initialize.text.size() > program_session::most_initialize) {
        return core::caller_error(errc::body_too_large, "initialize is kept and must be short");
    }
    const auto id = agent->record.id;
    auto handle = add(std::move(agent), std::move(principal), initialize, std::nullopt);
    if (!handle) {
        return handle.error();
    }
    begun_session begun;
    begun.handle = std::move(*handle);
    begun.answer = sessions_.find(begun.handle)->second->open();
    keep_warm(id);
    return begun;
}

core::result<begun_session> program_sessions::call(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const single_call& single
)
{
    const auto id = agent->record.id;
    const own_initialize initialize{single};
    auto handle = add(std::move(agent), std::move(principal), initialize.view(), state_of(single));
    if (!handle) {
        return handle.error();
    }
    auto answer = sessions_.find(*handle)->second->request(single.request);
    if (const auto session = sessions_.find(*handle); !answer && session != sessions_.end()) {
        session->second->end(session_end::done, answer.error());
    }
    keep_warm(id);
    if (!answer) {
        return answer.error();
    }
    return begun_session{std::move(*handle), std::move(*answer)};
}

core::result<std::string> program_sessions::add(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const mcp::client_message& initialize,
    const std::optional<restored_state>& once
)
{
    if (stopped_) {
        return core::gateway_error(errc::draining);
    }
    auto& programs = programs_of(agent);
    if (auto room = make_room(agent->record.id); !room) {
        return room.error();
    }
    ++programs.sessions;
    ++counts_.begun;
    services_.log
        .write(core::log_level::debug, "mcp_client_session", {{"agent", agent->record.id}, {"state", "begun"}});
    auto handle = new_session_handle();
    session_name name{.handle = handle, .principal = std::move(principal)};
    session_owner& owner = *this;
    sessions_.emplace(
        handle,
        std::make_unique<program_session>(owner, std::move(agent), std::move(name), initialize, once)
    );
    return handle;
}

agent_programs& program_sessions::programs_of(const std::shared_ptr<const model::agent_entry>& agent)
{
    set_agent(agent->record.id, agent);
    auto& programs = agents_[agent->record.id];
    if (programs == nullptr) {
        auto retire_used = [this, id = agent->record.id](std::unique_ptr<program> used) {
            retire(std::move(used), id);
        };
        programs = std::make_unique<agent_programs>(
            agent,
            is_program(agent->record) ? &services_.turns : nullptr,
            services_.reach(*agent),
            std::move(retire_used)
        );
    }
    programs->last_use = now();
    return *programs;
}

// Programs that wait take a place, but not from a client.
core::result<> program_sessions::make_room(const std::string& agent_id)
{
    const auto& programs = *agents_.find(agent_id)->second;
    if (programs.sessions < most_sessions(programs.agent->record)) {
        return {};
    }
    program_session* oldest = nullptr;
    for (const auto& [handle, session] : sessions_) {
        const bool may_go =
            session->agent().record.id == agent_id && !session->busy() && now() - session->last_use() >= evictable;
        if (may_go && (oldest == nullptr || session->last_use() < oldest->last_use())) {
            oldest = session.get();
        }
    }
    if (oldest == nullptr) {
        return core::gateway_error(errc::session_limit, "max_sessions programs are in use");
    }
    oldest->end(session_end::evicted, core::caller_error(errc::session_not_found));
    return {};
}

void program_sessions::keep_warm(const std::string& agent_id)
{
    const auto found = agents_.find(agent_id);
    if (found == agents_.end()) {
        return;
    }
    auto& programs = *found->second;
    const auto& record = programs.agent->record;
    const auto most = most_sessions(record);
    const auto room = programs.sessions < most ? most - programs.sessions : 0;
    auto wanted = is_program(record) ? std::min<std::size_t>(record.mcp->warm, room) : 0;
    if (!may_start(record)) {
        wanted = std::min(wanted, programs.warm.size());
    }
    programs.warm.keep(wanted);
}

bool program_sessions::may_start(const core::agent& record) const
{
    return !is_program(record) || leaving_.count(record.id) < most_sessions(record);
}

void program_sessions::start_held(const std::string& agent_id)
{
    const auto found = agents_.find(agent_id);
    if (found != agents_.end() && may_start(found->second->agent->record) && leaving_.start_held(agent_id)) {
        keep_warm(agent_id);
    }
}

std::pair<std::size_t, std::size_t> program_sessions::look(const std::string& agent_id) const
{
    const auto found = agents_.find(agent_id);
    return found == agents_.end() ? std::pair{0UL, 0UL}
                                  : std::pair{found->second->sessions, found->second->warm.size()};
}

program_session* program_sessions::find(const session_key& key) const
{
    const auto found = sessions_.find(key.handle);
    if (found == sessions_.end() || found->second->agent().record.id != key.agent_id ||
        found->second->name().principal != key.principal) {
        return nullptr;
    }
    return found->second.get();
}

core::result<std::shared_ptr<text_queue>>
program_sessions::request(const session_key& key, const mcp::client_message& request)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    return session->request(request);
}

core::result<> program_sessions::tell(const session_key& key, const mcp::client_message& message)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    return session->tell(message);
}

core::result<std::shared_ptr<text_queue>> program_sessions::listen(const session_key& key)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    return session->listen();
}

core::result<> program_sessions::end(const session_key& key)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    session->end(session_end::deleted, core::caller_error(errc::session_not_found));
    return {};
}

void program_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    if (agent != nullptr && model::same_callers_sessions(found->second->agent->record, agent->record)) {
        found->second->agent = agent;
        return;
    }
    end_all(id, session_end::withdrawn, core::upstream_error(errc::upstream_reset, "the agent has changed"));
    agents_.erase(id);
}

void program_sessions::end_all(std::string_view agent_id, session_end why, const core::error& error)
{
    std::vector<program_session*> ending;
    for (const auto& [handle, session] : sessions_) {
        if (agent_id.empty() || session->agent().record.id == agent_id) {
            ending.push_back(session.get());
        }
    }
    for (auto* const each : ending) {
        each->end(why, error);
    }
}

void program_sessions::sweep(core::steady_time now)
{
    std::vector<program_session*> all;
    all.reserve(sessions_.size());
    for (const auto& [handle, session] : sessions_) {
        all.push_back(session.get());
    }
    const auto gone = core::caller_error(errc::session_not_found);
    // One that ends stays until after the call.
    for (auto* const each : all) {
        if (!each->busy() && now - each->began() >= longest_life) {
            each->end(session_end::aged, gone);
        } else if (!each->busy() && !each->listened_to() && now - each->last_use() >= longest_idle) {
            each->end(session_end::idle, gone);
        } else {
            each->sweep(now);
        }
    }
    for (const auto& [id, programs] : agents_) {
        if (programs->sessions == 0 && now - programs->last_use >= warm_after_last) {
            programs->warm.keep(0);
        }
    }
}

void program_sessions::stop()
{
    stopped_ = true;
    end_all({}, session_end::draining, core::gateway_error(errc::draining));
    agents_.clear();
}

std::unique_ptr<program> program_sessions::take_program(const program_session& of)
{
    const auto& record = of.agent().record;
    auto taken = agents_.find(record.id)->second->warm.take(!may_start(record));
    if (taken->is_held()) {
        leaving_.hold(*taken, record.id);
    }
    return taken;
}

void program_sessions::over(program_session& session, session_end why)
{
    ++counts_.ended[static_cast<std::size_t>(why)];
    const auto& id = session.agent().record.id;
    services_.log.write(
        core::log_level::debug,
        "mcp_client_session",
        {{"agent", id}, {"state", "ended"}, {"reason", name(why)}}
    );
    if (const auto programs = agents_.find(id); programs != agents_.end()) {
        --programs->second->sessions;
        programs->second->last_use = now();
    }
    const auto found = sessions_.find(session.name().handle);
    if (found == sessions_.end()) {
        return;
    }
    auto keep = [ended = std::shared_ptr<program_session>{std::move(found->second)}] {};
    sessions_.erase(found);
    net::asio::post(services_.loop.get_executor(), std::move(keep));
}

void program_sessions::recovered(const program_session& session)
{
    ++counts_.recovered;
    keep_warm(session.agent().record.id);
    services_.log.write(core::log_level::info, "mcp_recovered", {{"agent", session.agent().record.id}});
}

}  // namespace gateway::mcp_path
