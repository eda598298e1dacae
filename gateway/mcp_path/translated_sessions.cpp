#include "gateway/mcp_path/translated_sessions.hpp"

#include "gateway/mcp_path/session_handle.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace gateway::mcp_path {
namespace {

using core::errc;

constexpr core::duration sweep_every{1000};

mcp::client_terms terms_of(const mcp::client_message& initialize)
{
    const auto params = mcp::members_of(initialize.params);
    mcp::client_terms terms;
    if (const auto declared = params.object("capabilities"); !declared.empty()) {
        terms.capabilities = mcp::compact(declared);
    }
    terms.info = mcp::short_client_info(params.object("clientInfo"));
    return terms;
}

// Of a call whose client has not said anything of itself.
mcp::client_terms own_terms()
{
    mcp::client_terms terms;
    terms.info = "{";
    mcp::append_text_member(terms.info, "name", "cardea");
    mcp::append_text_member(terms.info, "version", model::version());
    mcp::close(terms.info, '}');
    return terms;
}

}  // namespace

translated_sessions::translated_sessions(const program_services& services, upstream_maker ask)
    : services_{services},
      ask_{std::move(ask)},
      sweeper_{*this}
{
    services_.loop.timers().add(sweeper_);
}

void translated_sessions::sweeper::on_due()
{
    const auto now = of_.services_.clock();
    set_due(std::chrono::steady_clock::now() + sweep_every);
    of_.sweep(now);
}

core::result<> translated_sessions::begin(
    std::shared_ptr<const model::agent_entry> agent,
    session_name name,
    const mcp::client_message& initialize,
    std::shared_ptr<text_queue> reader
)
{
    if (initialize.text.size() > program_session::most_initialize) {
        return core::caller_error(errc::body_too_large, "initialize is kept and must be short");
    }
    const auto added = add(std::move(agent), std::move(name), terms_of(initialize), false);
    if (!added) {
        return added.error();
    }
    (*added)->open(initialize, std::move(reader));
    return {};
}

core::result<std::shared_ptr<text_queue>> translated_sessions::call(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const mcp::client_message& request
)
{
    const auto added = add(std::move(agent), {new_session_handle(), std::move(principal)}, own_terms(), true);
    if (!added) {
        return added.error();
    }
    auto answer = (*added)->request(request);
    (*added)->end_if_done();
    return answer;
}

core::result<translated_session*> translated_sessions::add(
    std::shared_ptr<const model::agent_entry> agent,
    session_name name,
    mcp::client_terms terms,
    bool once
)
{
    if (stopped_) {
        return core::gateway_error(errc::draining);
    }
    if (auto room = make_room(*agent); !room) {
        return room.error();
    }
    const auto& id = agent->record.id;
    ++counts_.begun;
    auto& kept = kept_[id];
    if (kept == nullptr) {
        kept = std::make_shared<net::shared_budget>(most_kept);
    }
    services_.log.write(core::log_level::debug, "mcp_client_session", {{"agent", id}, {"state", "begun"}});
    translated_services services{
        .on = services_.loop.get_executor(),
        .clock = services_.clock,
        .ask = ask_(agent),
        .listed = [this, id] { return services_.listed ? services_.listed(id) : nullptr; },
        .kept = kept,
        .over = [this](translated_session& session, session_end why) { over(session, why); }
    };
    const auto handle = name.handle;
    auto& added = sessions_[handle];
    added = std::make_unique<translated_session>(
        std::move(services),
        std::move(agent),
        std::move(name),
        std::move(terms),
        once
    );
    return added.get();
}

std::vector<translated_session*> translated_sessions::of_agent(std::string_view id) const
{
    std::vector<translated_session*> found;
    for (const auto& [handle, session] : sessions_) {
        if (id.empty() || session->agent().record.id == id) {
            found.push_back(session.get());
        }
    }
    return found;
}

core::result<> translated_sessions::make_room(const model::agent_entry& agent)
{
    const auto most = agent.record.mcp->max_sessions.value_or(program_sessions::usual_connections);
    if (sessions_.size() < most) {
        return {};
    }
    const auto all = of_agent(agent.record.id);
    if (all.size() < most) {
        return {};
    }
    const auto now = services_.clock();
    translated_session* oldest = nullptr;
    for (auto* const each : all) {
        const bool may_go = !each->busy() && now - each->last_use() >= program_sessions::evictable;
        if (may_go && (oldest == nullptr || each->last_use() < oldest->last_use())) {
            oldest = each;
        }
    }
    if (oldest == nullptr) {
        return core::gateway_error(errc::session_limit, "max_sessions are in use");
    }
    oldest->end(session_end::evicted, core::caller_error(errc::session_not_found));
    return {};
}

translated_session* translated_sessions::find(const session_key& key) const
{
    const auto found = sessions_.find(key.handle);
    if (found == sessions_.end() || found->second->agent().record.id != key.agent_id ||
        found->second->name().principal != key.principal) {
        return nullptr;
    }
    return found->second.get();
}

core::result<std::shared_ptr<text_queue>>
translated_sessions::request(const session_key& key, const mcp::client_message& request)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    return session->request(request);
}

core::result<> translated_sessions::tell(const session_key& key, const mcp::client_message& message)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    session->tell(message);
    return {};
}

core::result<std::shared_ptr<text_queue>> translated_sessions::listen(const session_key& key)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    return session->listen();
}

core::result<> translated_sessions::end(const session_key& key)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return core::caller_error(errc::session_not_found);
    }
    session->end(session_end::deleted, core::caller_error(errc::session_not_found));
    return {};
}

void translated_sessions::lists_changed(const std::string& id, const std::shared_ptr<const mcp::server_lists>& now)
{
    mcp::list_differences to_now{*now};
    for (auto* const each : of_agent(id)) {
        each->lists_changed(now, to_now);
    }
}

void translated_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    if (agent == nullptr) {
        kept_.erase(id);
    }
    for (auto* const each : of_agent(id)) {
        if (agent == nullptr || !model::same_callers_sessions(each->agent().record, agent->record)) {
            each->end(session_end::withdrawn, core::upstream_error(errc::upstream_reset, "the agent has changed"));
        }
    }
}

void translated_sessions::sweep(core::steady_time now)
{
    // One that ends stays until after the call.
    for (auto* const each : of_agent({})) {
        if (!each->busy() && now - each->began() >= program_sessions::longest_life) {
            each->end(session_end::aged, core::caller_error(errc::session_not_found));
        } else if (!each->busy() && !each->listened_to() && now - each->last_use() >= program_sessions::longest_idle) {
            each->end(session_end::idle, core::caller_error(errc::session_not_found));
        } else {
            each->sweep();
        }
    }
}

void translated_sessions::stop()
{
    stopped_ = true;
    for (auto* const each : of_agent({})) {
        each->end(session_end::draining, core::gateway_error(errc::draining));
    }
}

void translated_sessions::over(translated_session& session, session_end why)
{
    ++counts_.ended[static_cast<std::size_t>(why)];
    services_.log.write(
        core::log_level::debug,
        "mcp_client_session",
        {{"agent", session.agent().record.id}, {"state", "ended"}, {"reason", model::name(why)}}
    );
    const auto found = sessions_.find(session.name().handle);
    if (found == sessions_.end()) {
        return;
    }
    auto keep = [ended = std::shared_ptr<translated_session>{std::move(found->second)}] {};
    sessions_.erase(found);
    net::asio::post(services_.loop.get_executor(), std::move(keep));
}

}  // namespace gateway::mcp_path
