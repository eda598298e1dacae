#include "gateway/mcp/programs/program_sessions.hpp"

#include "gateway/mcp/table/session_table.hpp"
#include "gateway/model/agent_record.hpp"

#include <algorithm>

namespace gateway::mcp::programs {
namespace {

using core::errc;

// Else a connection to a server that runs elsewhere.
bool is_program(const core::agent& record)
{
    return record.mcp->transport == core::mcp_transport::stdio;
}

std::size_t most_sessions(const core::agent& record)
{
    return record.mcp->max_sessions.value_or(
        is_program(record) ? program_sessions::usual_programs : program_sessions::usual_sessions
    );
}

}  // namespace

program_sessions::program_sessions(table::local_session_services services)
    : table::session_table{std::move(services)},
      leaving_{executor(), [this](const std::string& agent_id) { start_held(agent_id); }}
{
}

// The programs that end here go to leaving_.
program_sessions::~program_sessions()
{
    agents_.clear();
}

core::result<begun_session> program_sessions::begin(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const ::mcp::client_message& initialize,
    other_way other
)
{
    if (initialize.text.size() > program_session::most_initialize) {
        return core::caller_error(errc::body_too_large, "initialize is kept and must be short");
    }
    const auto id = agent->record.id;
    auto begun = begin_one(
        {std::move(agent), table::new_session_handle(), std::move(principal)},
        initialize,
        std::nullopt,
        std::move(other)
    );
    if (!begun) {
        return begun.error();
    }
    begun_session told{(*begun)->name().handle, (*begun)->open()};
    keep_warm_after_taking(id);
    return told;
}

core::result<begun_session> program_sessions::call(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const single_call& single
)
{
    const auto id = agent->record.id;
    const auto initialize = initialize_of(single);
    auto begun = begin_one(
        {std::move(agent), table::new_session_handle(), std::move(principal)},
        initialize.view(),
        state_of(single),
        single.other
    );
    if (!begun) {
        return begun.error();
    }
    auto& session = **begun;
    auto answer = session.request(single.request);
    keep_warm_after_taking(id);
    if (!answer) {
        session.end(model::session_end::done, answer.error());
        return answer.error();
    }
    return begun_session{session.name().handle, std::move(*answer)};
}

core::result<program_session*> program_sessions::begin_one(
    table::session_name name,
    const ::mcp::client_message& initialize,
    const std::optional<table::restored_state>& once,
    other_way other
)
{
    auto room = make_room(name.agent, name.principal, most_sessions(name.agent->record));
    if (!room) {
        return room.error();
    }
    use_programs_of(name.agent);
    return &add(
        std::make_unique<program_session>(*this, std::move(name), initialize, once, std::move(other)),
        std::move(*room)
    );
}

void program_sessions::use_programs_of(const std::shared_ptr<const model::agent_entry>& agent)
{
    auto& programs = agents_[agent->record.id];
    if (programs == nullptr) {
        auto retire_used = [this, id = agent->record.id](std::unique_ptr<program> used) {
            retire(std::move(used), id, {});
        };
        programs = std::make_unique<agent_programs>(
            agent,
            ::mcp::start_place{is_program(agent->record) ? &services().turns : nullptr, agent->record.mcp->overlap},
            services().reach(*agent),
            std::move(retire_used)
        );
    }
    programs->last_use = now();
}

void program_sessions::expect_sessions(const std::shared_ptr<const model::agent_entry>& agent)
{
    if (is_program(agent->record) && !stopped()) {
        use_programs_of(agent);
        keep_warm(agent->record.id);
    }
}

// To start the next one takes a millisecond of this thread, and then processors: not while a client waits for the one that it got
// because it had started. If that one never answers, the next session, which gets none that waits, begins another.
void program_sessions::keep_warm_after_taking(const std::string& agent_id)
{
    if (!took_waiting_) {
        keep_warm(agent_id);
    }
}

// Programs that wait take a place, but not from a client.
void program_sessions::keep_warm(const std::string& agent_id)
{
    const auto found = agents_.find(agent_id);
    if (found == agents_.end()) {
        return;
    }
    auto& programs = *found->second;
    const auto& record = programs.agent->record;
    const auto most = most_sessions(record);
    const auto taken = size(agent_id);
    const auto room = taken < most ? most - taken : 0;
    auto wanted = is_program(record) ? std::min<std::size_t>(record.mcp->warm, room) : 0;
    if (!may_start(record, {})) {
        wanted = std::min(wanted, programs.warm.size());
    }
    programs.warm.keep(wanted);
}

// Programs on their way out count for who had them, as if they were in use.
bool program_sessions::may_start(const core::agent& record, std::string_view principal) const
{
    const auto most = most_sessions(record);
    return !is_program(record) || (leaving_.count(record.id) + leaving(record.id) < most &&
                                   (principal.empty() || leaving_.count(record.id, principal) < core::half_of(most)));
}

void program_sessions::start_held(const std::string& agent_id)
{
    const auto found = agents_.find(agent_id);
    if (found == agents_.end()) {
        return;
    }
    const auto may = [&](const std::string& principal) { return may_start(found->second->agent->record, principal); };
    if (leaving_.start_held(agent_id, may)) {
        keep_warm(agent_id);
    }
}

std::size_t program_sessions::warm(const std::string& agent_id) const
{
    const auto found = agents_.find(agent_id);
    return found == agents_.end() ? 0 : found->second->warm.size();
}

void program_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    table::session_table::set_agent(id, agent);
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    if (agent != nullptr && model::same_callers_sessions(found->second->agent->record, agent->record)) {
        found->second->agent = agent;
    } else {
        agents_.erase(found);
    }
}

void program_sessions::sweep(core::steady_time now)
{
    for (const auto& [id, programs] : agents_) {
        if (size(id) > 0) {
            programs->last_use = now;
        } else if (now - programs->last_use >= warm_after_last) {
            programs->warm.keep(0);
        }
        // A held program may have waited for sessions without a program.
        start_held(id);
    }
    table::session_table::sweep(now);
}

void program_sessions::stop()
{
    table::session_table::stop();
    agents_.clear();
}

std::unique_ptr<program> program_sessions::take_program(const program_session& of)
{
    const auto& record = of.agent().record;
    auto taken = agents_.find(record.id)->second->warm.take(!may_start(record, of.name().principal));
    took_waiting_ = taken->runs();
    if (taken->is_held()) {
        leaving_.hold(*taken, record.id, of.name().principal);
    }
    return taken;
}

void program_sessions::recovered(const program_session& session)
{
    const auto& id = session.agent().record.id;
    count_recovery(id);
    keep_warm(id);
}

}  // namespace gateway::mcp::programs
