#include "gateway/mcp/eras/legacy_clients.hpp"

#include "gateway/mcp/table/session_table.hpp"
#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/protocol/version.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gateway::mcp::eras {
namespace {

bool is_over_http(const model::agent_entry& agent)
{
    return agent.record.mcp->transport == core::mcp_transport::streamable_http && !agent.fell_back;
}

// A server over HTTP+SSE speaks the legacy era.
bool is_program(const core::agent& record)
{
    return record.mcp->transport == core::mcp_transport::stdio;
}

bool shares_all(const model::agent_entry& agent)
{
    return agent.record.mcp->sessions == core::mcp_sessions::shared;
}

bool asks_for_legacy(const ::mcp::client_message& initialize)
{
    return ::mcp::era_of(::mcp::members_of(initialize.params).text("protocolVersion")) == ::mcp::era::legacy;
}

}  // namespace

legacy_probe::legacy_probe(const table::local_session_services& services)
    : services_{services},
      exchanges_{services.loop, "cardea/" + std::string{model::version()}},
      name_{"cardea", std::string{model::version()}},
      notes_{services.loop, exchanges_, name_}
{
}

net::task<bool> legacy_probe::refuses(std::shared_ptr<const model::agent_entry> agent)
{
    const auto known = verdicts_.find(agent->record.id);
    if (known != verdicts_.end() && services_.clock() < known->second.until) {
        co_return known->second.refuses;
    }
    if (stopped_ || !services_.over_http) {
        co_return true;
    }
    const auto at = begin(agent);
    if (!at->refuses) {
        net::task_signal told;
        auto waits = told.wait();
        at->waiting.push_back(&told);
        co_await std::move(waits);
    }
    co_return at->refuses.value_or(true);
}

std::shared_ptr<legacy_probe::attempt> legacy_probe::begin(const std::shared_ptr<const model::agent_entry>& agent)
{
    for (const auto& each : attempts_) {
        if (each->agent->record.id == agent->record.id) {
            return each;
        }
    }
    const auto added = std::make_shared<attempt>();
    added->agent = agent;
    added->settings = std::make_shared<const ::mcp::http_settings>(services_.over_http(*agent));
    http::session_recovery::terms terms{
        .version = ::mcp::latest(::mcp::era::legacy),
        .agreed = false,
        .declared = {},
        .client = name_,
        .requests = {}
    };
    added->opening = std::make_unique<http::session_recovery>(
        services_.loop,
        exchanges_,
        added->settings,
        std::move(terms),
        [this, of = std::weak_ptr{added}](const core::result<::mcp::upstream_session>& session) {
            if (const auto at = of.lock()) {
                ended(at, session);
            }
        }
    );
    attempts_.push_back(added);
    try {
        added->opening->begin();
    } catch (...) {
        attempts_.remove(added);  // without memory it has not begun
        throw;
    }
    return added;
}

void legacy_probe::ended(const std::shared_ptr<attempt>& at, const core::result<::mcp::upstream_session>& session)
{
    if (session || at->opening->era_refused()) {
        verdicts_[at->agent->record.id] = {.refuses = !session, .until = services_.clock() + verdict_life};
    }
    if (session && !session->id.empty()) {
        model::session_call opened;
        opened.agent = at->agent;
        opened.upstream = *session;
        opened.version = at->opening->spoken();
        notes_.end(at->settings, opened);
    }
    tell(at, !session);
}

void legacy_probe::tell(std::shared_ptr<attempt> at, bool refuses)
{
    attempts_.remove(at);
    at->refuses = refuses;
    at->opening.reset();
    for (auto* const each : std::exchange(at->waiting, {})) {
        each->set();
    }
}

void legacy_probe::forget(const std::string& agent_id)
{
    verdicts_.erase(agent_id);
    const auto asking =
        std::ranges::find_if(attempts_, [&](const auto& each) { return each->agent->record.id == agent_id; });
    if (asking != attempts_.end()) {
        tell(*asking, true);
    }
}

void legacy_probe::stop()
{
    stopped_ = true;
    notes_.stop();
    exchanges_.close();
    while (!attempts_.empty()) {
        tell(attempts_.front(), true);
    }
}

legacy_clients::legacy_clients(
    const table::local_session_services& services,
    programs::program_sessions& programs,
    modern_programs& modern,
    shared::shared_sessions& shared
)
    : services_{services},
      programs_{programs},
      modern_{modern},
      shared_{shared},
      translated_{services, [this](const agent_pointer& agent) { return upstream_of(agent); }},
      probe_{services}
{
}

modern_upstream legacy_clients::upstream_of(const agent_pointer& agent)
{
    if (shares_all(*agent)) {
        return [this, id = agent->record.id](const ::mcp::client_message& request) { return share(id, request); };
    }
    if (is_over_http(*agent)) {
        return modern_.connect(agent);
    }
    return [this, agent](const ::mcp::client_message& request) { return modern_.request(agent, request); };
}

// With the record that holds now, which may differ in what no session is made of.
core::result<std::shared_ptr<table::text_queue>>
legacy_clients::share(const std::string& agent_id, const ::mcp::client_message& request)
{
    const auto agent = sharing_.find(agent_id);
    if (agent == sharing_.end()) {
        return core::upstream_error(core::errc::upstream_reset, "the agent has changed");
    }
    auto asked = shared_.modern(agent->second, request);
    if (!asked && asked.error().code == core::errc::version_unsupported) {
        // The client begins again, with a server that speaks its own era by now.
        return core::caller_error(core::errc::session_not_found);
    }
    return asked;
}

core::result<programs::begun_session> legacy_clients::begin(
    const agent_pointer& agent,
    const std::string& principal,
    const ::mcp::kept_message& initialize,
    const ::mcp::message_head& head
)
{
    if (is_modern_only(*agent)) {
        auto message = initialize.view();
        message.head = &head;
        return translate(agent, principal, message);
    }
    return programs_.begin(agent, principal, initialize.view(), other_way_of(agent->record));
}

// Not empty for a program whose era is unknown (mcp.era: automatic).
programs::other_way legacy_clients::other_way_of(const core::agent& record)
{
    if (!is_program(record) || record.mcp->era != core::mcp_era::automatic) {
        return {};
    }
    return [this](const auto& session, std::string_view refusal, const auto& request, const auto& reader) {
        return serve_after_refusal(session, refusal, request, reader);
    };
}

// The client sees nothing of the first attempt.
bool legacy_clients::serve_after_refusal(
    const table::session_name& session,
    std::string_view refusal,
    const ::mcp::client_message& request,
    const std::shared_ptr<table::text_queue>& reader
)
{
    const auto& record = session.agent->record;
    const bool begins = request.method == "initialize";
    const bool modern_only = ::mcp::says_modern_only(refusal);
    if (!modern_only && (!begins || !services_.speaks_modern(record))) {
        return false;
    }
    // Any other refusal, or that of a version which is none of the era, may be what this client's words deserve.
    if (modern_only && (!begins || asks_for_legacy(request))) {
        modern_only_[record.id] = services_.clock() + verdict_life;
    }
    if (begins) {
        return translated_.begin(session, request, reader).has_value();
    }
    if (auto asked = translated_.call(session.agent, session.principal, request, reader); !asked) {
        reader->fail(std::move(asked).error());
    }
    return true;
}

core::result<programs::begun_session> legacy_clients::translate(
    const agent_pointer& agent,
    const std::string& principal,
    const ::mcp::client_message& initialize
)
{
    programs::begun_session begun{
        table::new_session_handle(),
        std::make_shared<table::text_queue>(services_.loop.get_executor())
    };
    if (auto opened = translated_.begin({agent, begun.handle, principal}, initialize, begun.answer); !opened) {
        return std::move(opened).error();
    }
    return begun;
}

// A program that speaks the modern era serves a call without a session as it is.
bool legacy_clients::translates_calls(const model::agent_entry& agent) const
{
    const auto& record = agent.record;
    if (shares_all(agent)) {
        return is_modern_only(agent);
    }
    const bool speaks_modern =
        is_program(record) && record.mcp->era != core::mcp_era::legacy && services_.speaks_modern(record);
    return speaks_modern || is_modern_only(agent);
}

core::result<std::shared_ptr<table::text_queue>>
legacy_clients::call(const agent_pointer& agent, const std::string& principal, const programs::single_call& single)
{
    if (translates_calls(*agent)) {
        auto reader = std::make_shared<table::text_queue>(services_.loop.get_executor());
        if (auto asked = translated_.call(agent, principal, single.request, reader); !asked) {
            return std::move(asked).error();
        }
        return reader;
    }
    auto tried = single;
    tried.other = other_way_of(agent->record);
    auto begun = programs_.call(agent, principal, tried);
    if (!begun) {
        return begun.error();
    }
    return std::move(begun->answer);
}

table::session_table& legacy_clients::table_of(const table::session_key& key)
{
    if (translated_.has(key)) {
        return translated_;
    }
    return programs_;
}

bool legacy_clients::is_modern_only(const model::agent_entry& agent) const
{
    const auto& record = agent.record;
    if (shares_all(agent)) {
        return shared_.era_of(record.id) == ::mcp::era::modern;
    }
    if (is_over_http(agent)) {
        return true;
    }
    const auto found = modern_only_.find(record.id);
    const bool refused = found != modern_only_.end() && services_.clock() < found->second;
    return is_program(record) && (refused || record.mcp->era == core::mcp_era::modern);
}

net::task<bool> legacy_clients::translates(agent_pointer agent)
{
    const auto& record = agent->record;
    if (!is_over_http(*agent) || record.mcp->era == core::mcp_era::legacy) {
        co_return false;
    }
    const bool known = record.mcp->era == core::mcp_era::modern;
    if (!known && !services_.speaks_modern(record)) {
        co_return false;
    }
    bool refuses = known;
    if (!known) {
        refuses = co_await probe_.refuses(agent);
    }
    if (refuses) {
        co_await read_lists(record.id);
    }
    co_return refuses;
}

// A call has to repeat in its header what its tool says. Of a server whose lists cannot be had the client hears why, should it call
// such a tool.
net::task<> legacy_clients::read_lists(std::string agent_id)
{
    const bool known = !services_.listed || services_.listed(agent_id) != nullptr;
    if (known || !services_.read_lists) {
        co_return;
    }
    auto reading = services_.read_lists(agent_id);
    static_cast<void>(co_await std::move(reading));
}

void legacy_clients::set_agent(const std::string& id, const agent_pointer& agent, bool same_server)
{
    if (!same_server) {
        modern_only_.erase(id);
        probe_.forget(id);
    }
    sharing_.erase(id);
    if (agent != nullptr && shares_all(*agent)) {
        sharing_.emplace(id, agent);
    }
    translated_.set_agent(id, agent);
}

void legacy_clients::sweep(core::steady_time now)
{
    translated_.sweep(now);
}

void legacy_clients::stop()
{
    probe_.stop();
    translated_.stop();
}

}  // namespace gateway::mcp::eras
