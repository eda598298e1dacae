#include "gateway/mcp/eras/translated_sessions.hpp"

#include "gateway/mcp/programs/program_session.hpp"
#include "gateway/mcp/table/session_handle.hpp"
#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <utility>

namespace gateway::mcp::eras {
namespace {

using core::errc;

::mcp::client_terms terms_of(const ::mcp::client_message& initialize)
{
    const auto params = ::mcp::members_of(initialize.params);
    ::mcp::client_terms terms;
    if (const auto declared = params.object("capabilities"); !declared.empty()) {
        terms.capabilities = ::mcp::compact(declared);
    }
    terms.info = ::mcp::short_client_info(params.object("clientInfo"));
    return terms;
}

// Of a call whose client has not said anything of itself.
::mcp::client_terms own_terms()
{
    ::mcp::client_terms terms;
    terms.info = "{";
    ::mcp::append_text_member(terms.info, "name", "cardea");
    ::mcp::append_text_member(terms.info, "version", model::version());
    ::mcp::close(terms.info, '}');
    return terms;
}

}  // namespace

core::result<> translated_sessions::begin(
    table::session_name name,
    const ::mcp::client_message& initialize,
    std::shared_ptr<table::text_queue> reader
)
{
    if (initialize.text.size() > programs::program_session::most_initialize) {
        return core::caller_error(errc::body_too_large, "initialize is kept and must be short");
    }
    const auto begun = begin_one(std::move(name), terms_of(initialize), false);
    if (!begun) {
        return begun.error();
    }
    reader->translate();
    (*begun)->open(initialize, std::move(reader));
    return {};
}

core::result<> translated_sessions::call(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const ::mcp::client_message& request,
    const std::shared_ptr<table::text_queue>& reader
)
{
    const auto begun =
        begin_one({std::move(agent), table::new_session_handle(), std::move(principal)}, own_terms(), true);
    if (!begun) {
        return begun.error();
    }
    reader->translate();
    auto asked = (*begun)->ask(request, reader);
    (*begun)->end_if_done();
    return asked;
}

core::result<translated_session*>
translated_sessions::begin_one(table::session_name name, ::mcp::client_terms terms, bool once)
{
    const auto& agent = name.agent;
    auto room = make_room(agent, name.principal, agent->record.mcp->max_sessions.value_or(usual_sessions));
    if (!room) {
        return room.error();
    }
    auto& kept = kept_[agent->record.id];
    if (kept == nullptr) {
        kept = std::make_shared<net::shared_budget>(most_kept);
    }
    auto ask = [upstream = ask_(agent), principal = name.principal](const ::mcp::client_message& request) {
        auto own = request;
        own.principal = principal;
        return upstream(own);
    };
    translated_server server{
        .ask = std::move(ask),
        .listed = [this, id = agent->record.id] { return services().listed ? services().listed(id) : nullptr; },
        .kept = kept
    };
    auto begun =
        std::make_unique<translated_session>(*this, std::move(name), std::move(server), std::move(terms), once);
    return &add(std::move(begun), std::move(*room));
}

void translated_sessions::lists_changed(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& now)
{
    news_[id] = std::make_unique<news>(news{.now = now, .to_now = ::mcp::list_differences{*now}});
    tell_some(id);
}

void translated_sessions::tell_some(const std::string& agent_id)
{
    const auto found = news_.find(agent_id);
    if (found == news_.end()) {
        return;
    }
    auto& told = *found->second;
    const auto sessions = some(agent_id, told.told_to);
    for (auto* const each : sessions) {
        told.told_to = each->name().handle;
        static_cast<translated_session*>(each)->lists_changed(
            told.now,
            told.to_now
        );  // there are no others in this table
    }
    if (sessions.size() < most_swept) {
        news_.erase(found);
        return;
    }
    later([this, agent_id] { tell_some(agent_id); });
}

void translated_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    table::session_table::set_agent(id, agent);
    if (agent == nullptr) {
        kept_.erase(id);
        news_.erase(id);
    }
}

}  // namespace gateway::mcp::eras
