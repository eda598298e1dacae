#include "gateway/mcp/local_session_plane.hpp"

#include "gateway/model/agent_record.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/translation/legacy_messages.hpp"
#include "net/loop/outbox.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace gateway::mcp {
namespace {

using core::errc;
using model::program_act;

constexpr core::duration sweep_every{1000};

table::session_key key_of(const model::program_request& asked)
{
    return {asked.handle, asked.agent, asked.principal};
}

table::stream_terms terms_of(const model::program_request& asked)
{
    return {.session = asked.handle, .agent = asked.agent, .call_id = std::string{asked.message.view().id}};
}

// Of one that has a message.
::mcp::client_message message_of(const model::program_request& asked)
{
    auto message = asked.message.view();
    message.principal = asked.principal;
    return message;
}

// What ends by itself.
bool is_call(const model::program_request& asked)
{
    if (::mcp::stays_open(asked.message.view().method)) {
        return false;
    }
    using enum program_act;
    return asked.act == begin || asked.act == call || asked.act == request || asked.act == modern;
}

table::session_owners owners_in(const model::containments& all)
{
    table::session_owners owners;
    for (const auto& [name, terms] : all.principals) {
        owners.insert(name.provider + '\n' + name.principal);
    }
    return owners;
}

const ::mcp::incoming* read_of(const model::program_request& asked)
{
    return asked.read.whole.empty() ? nullptr : &asked.read;
}

}  // namespace

local_session_plane::local_session_plane(table::local_session_services services)
    : there_{services.loop.get_executor()},
      services_{std::move(services)},
      streams_{services_.clock, services_.replay},
      sessions_{services_with_ends()},
      modern_{services_, sessions_},
      shared_{services_, sessions_},
      legacy_clients_{services_, sessions_, modern_, shared_},
      translated_{services_, sessions_},
      sweeper_{*this}
{
    services_.loop.timers().add(sweeper_);
}

const table::local_session_services& local_session_plane::services_with_ends()
{
    services_.ended = [this](const std::string& handle) { streams_.forget(handle); };
    services_.is_contained = [this](std::string_view id) { return contained_.contains(id); };
    return services_;
}

void local_session_plane::sweeper::on_due()
{
    set_due(std::chrono::steady_clock::now() + sweep_every);
    of_.sweep(of_.services_.clock());
}

std::unique_ptr<model::program_reader>
local_session_plane::open(model::program_request asked, net::executor here, net::signal& wake)
{
    auto exchange =
        std::make_shared<table::local_session_exchange>(there_, here, wake, is_call(asked) ? calls_ : nullptr);
    auto reader = exchange->reader(asked.answers_only);
    net::tell(here, there_, [this, exchange = std::move(exchange), asked = std::move(asked)] {
        carry_out(asked, *exchange);
    });
    return reader;
}

void local_session_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    contained_.erase(id);
    const bool shared_before = shares(id);
    const bool reached =
        agent != nullptr && agent->record.mcp && agent->record.mcp->transport != core::mcp_transport::unsupported;
    const auto before = agents_.find(id);
    const bool same_server = reached && before != agents_.end() && before->second->fell_back == agent->fell_back &&
                             model::same_callers_sessions(before->second->record, agent->record);
    if (reached) {
        agents_[id] = agent;
    } else {
        agents_.erase(id);
        translated_.forget(id);
    }
    const auto all = reached ? agent : nullptr;
    const auto own = shares(id) ? nullptr : all;
    if (shared_before != shares(id)) {
        legacy_clients_.set_agent(id, nullptr, /*same_server=*/false);
    }
    legacy_clients_.set_agent(id, all, same_server);
    sessions_.set_agent(id, own);
    modern_.set_agent(id, own);
    shared_.set_agent(id, reached && agent->shares_session() ? agent : nullptr);
}

void local_session_plane::contain(const std::string& id)
{
    contained_.insert(id);
    agents_.erase(id);
    translated_.forget(id);
    sessions_.set_agent(id, nullptr);
    modern_.set_agent(id, nullptr);
    shared_.set_agent(id, nullptr);
}

void local_session_plane::end_of_principals(const model::containments& now)
{
    const auto owners = owners_in(now);
    sessions_.end_of(owners);
    shared_.end_of(owners);
    legacy_clients_.translated().end_of(owners);
}

std::size_t local_session_plane::of_principals(const model::containments& then) const
{
    const auto owners = owners_in(then);
    return sessions_.size_of(owners) + shared_.size_of(owners) + legacy_clients_.translated().size_of(owners);
}

std::size_t local_session_plane::ending(const std::string& id) const
{
    return sessions_.size(id) + shared_.size(id);
}

// A bridged agent is kept from the first time that it is looked for. Null: there is none.
std::shared_ptr<const model::agent_entry> local_session_plane::find(const std::string& id)
{
    if (const auto found = agents_.find(id); found != agents_.end()) {
        return found->second;
    }
    auto bridged = services_.bridged ? services_.bridged(id) : nullptr;
    if (bridged != nullptr) {
        set_agent(id, bridged);
    }
    return bridged;
}

// Every session of its callers is the control session.
bool local_session_plane::shares(const std::string& agent_id) const
{
    const auto agent = agents_.find(agent_id);
    return agent != agents_.end() && agent->second->record.mcp->sessions == core::mcp_sessions::shared;
}

table::session_table& local_session_plane::table_of(const table::session_key& key)
{
    table::session_table& shared = shared_;
    return shared.has(key) ? shared : legacy_clients_.table_of(key);
}

table::session_counts local_session_plane::counts() const noexcept
{
    auto all = sessions_.counts();
    for (const auto* const each : {&shared_.counts(), &legacy_clients_.translated().counts()}) {
        all.begun += each->begun;
        all.recovered += each->recovered;
        for (std::size_t i = 0; i < model::session_ends; ++i) {
            all.ended[i] += each->ended[i];
        }
    }
    return all;
}

void local_session_plane::sweep(core::steady_time now)
{
    sessions_.sweep(now);
    modern_.sweep(now);
    shared_.sweep(now);
    legacy_clients_.sweep(now);
    translated_.sweep(now);
    streams_.sweep(now);
}

std::optional<live_sessions> local_session_plane::live(const std::string& agent_id) const
{
    const auto agent = agents_.find(agent_id);
    if (agent == agents_.end()) {
        return std::nullopt;
    }
    live_sessions now{
        .sessions = sessions_.size(agent_id) + shared_.size(agent_id) + legacy_clients_.translated().size(agent_id),
        .warm = std::nullopt
    };
    if (agent->second->record.mcp->transport == core::mcp_transport::stdio) {
        now.warm = sessions_.warm(agent_id);
    }
    return now;
}

void local_session_plane::stop()
{
    shared_.stop();
    legacy_clients_.stop();
    modern_.stop();
    sessions_.stop();
}

net::task<core::result<>> local_session_plane::find_era(std::string agent_id)
{
    if (!services_.find_era) {
        co_return core::result<>{};
    }
    auto found = services_.find_era(agent_id);
    co_return co_await std::move(found);
}

net::task<bool> local_session_plane::translates(std::string agent_id)
{
    const auto agent = find(agent_id);
    if (agent == nullptr) {
        co_return false;
    }
    co_return co_await legacy_clients_.translates(agent);
}

void local_session_plane::carry_out(const model::program_request& asked, table::local_session_exchange& exchange)
{
    const auto key = key_of(asked);
    if (legacy_clients_.translated().has(key)) {
        exchange.translate();
    }
    if (!contained_.empty() && contained_.contains(asked.agent)) {
        return exchange.finish(core::caller_error(errc::agent_contained));
    }
    switch (asked.act) {
        case model::program_act::begin:
            return begin(asked, exchange);
        case model::program_act::tell:
            return exchange.finish(table_of(key).tell(key, asked.message.view()));
        case model::program_act::end:
            return exchange.finish(table_of(key).end(key));
        case model::program_act::resume:
            return resume(asked, exchange);
        case model::program_act::call:
        case model::program_act::request:
        case model::program_act::modern:
        case model::program_act::listen:
            break;
    }
    auto queue = ask(asked, exchange);
    if (queue && asked.resumes != model::resumption::never && streams_.keeps()) {
        exchange.keep(streams_, terms_of(asked));
    }
    if (!queue) {
        exchange.finish(std::move(queue).error());
    } else if (asked.act == model::program_act::listen) {
        exchange.listen(std::move(*queue));
    } else {
        exchange.follow(std::move(*queue));
    }
}

void local_session_plane::resume(const model::program_request& asked, table::local_session_exchange& exchange)
{
    const auto key = key_of(asked);
    auto& table = table_of(key);
    if (!table.has(key)) {
        return exchange.finish(core::caller_error(errc::session_not_found));
    }
    auto found = streams_.resume(asked.last.value_or(::mcp::event_position{}), asked.handle);
    if (!found) {
        return exchange.finish(std::move(found).error());
    }
    if (found->unasked) {
        auto queue = table.listen(key);
        if (!queue) {
            return exchange.finish(std::move(queue).error());
        }
        found->queue = std::move(*queue);
        // What waits to be asked once more comes behind what was missed.
        std::erase_if(found->batch.events, [&](const auto& each) { return found->queue->repeats(*each.text); });
    }
    exchange.resume(streams_, std::move(*found));
}

// With the record that holds now: a worker may know an older one for a moment, whose sessions have ended.
void local_session_plane::begin(const model::program_request& asked, table::local_session_exchange& exchange)
{
    const auto agent = find(asked.agent);
    if (agent == nullptr) {
        return exchange.finish(core::caller_error(errc::agent_not_found));
    }
    const bool translated = legacy_clients_.is_modern_only(*agent);
    const bool shared = shares(asked.agent) && !translated;
    if (translated) {
        exchange.translate();
    }
    const ::mcp::message_head head{.name = {}, .fields = asked.fields, .held = asked.held};
    auto begun = shared ? shared_.begin(agent, asked.principal, asked.message.view())
                        : legacy_clients_.begin(agent, asked.principal, asked.message, head);
    if (!begun) {
        return exchange.finish(std::move(begun).error());
    }
    auto unheard = [this, handle = begun->handle, agent = asked.agent, principal = asked.principal] {
        const table::session_key key{handle, agent, principal};
        // It may be over already.
        static_cast<void>(table_of(key).end(key));
    };
    exchange.follow(std::move(begun->answer), std::move(begun->handle), std::move(unheard));
}

core::result<std::shared_ptr<table::text_queue>>
local_session_plane::ask(const model::program_request& asked, table::local_session_exchange& exchange)
{
    if (asked.act == model::program_act::listen) {
        return table_of(key_of(asked)).listen(key_of(asked));
    }
    if (asked.act == model::program_act::request) {
        const ::mcp::message_head head{.name = {}, .fields = asked.fields, .held = asked.held};
        auto message = asked.message.view();
        message.head = &head;
        message.read = read_of(asked);
        return table_of(key_of(asked)).request(key_of(asked), message);
    }
    const auto agent = find(asked.agent);
    if (agent == nullptr) {
        return core::caller_error(errc::agent_not_found);
    }
    return ask_alone(agent, asked, exchange);
}

// A request without a session.
core::result<std::shared_ptr<table::text_queue>> local_session_plane::ask_alone(
    const std::shared_ptr<const model::agent_entry>& agent,
    const model::program_request& asked,
    table::local_session_exchange& exchange
)
{
    if (asked.act == model::program_act::modern) {
        if (auto checked = modern_.check_fields(asked); !checked) {
            return std::move(checked).error();
        }
        const auto& record = agent->record;
        const bool has_own = record.mcp->transport == core::mcp_transport::stdio && services_.speaks_modern(record);
        if (shares(asked.agent) || (agent->shares_session() && !has_own)) {
            return ask_shared(agent, asked, exchange);
        }
        if (has_own) {
            return modern_.request(agent, message_of(asked));
        }
        exchange.translate();
        return translated_.request(agent, asked);
    }
    const bool translated = legacy_clients_.translates_calls(*agent);
    const bool shared =
        shares(asked.agent) ? !translated : agent->shares_session() && !services_.speaks_modern(agent->record);
    if (shared) {
        return shared_.call(agent, message_of(asked));
    }
    if (translated) {
        exchange.translate();
    }
    const ::mcp::message_head head{.name = {}, .fields = asked.fields, .held = asked.held};
    auto message = asked.message.view();
    message.head = &head;
    message.read = read_of(asked);
    const programs::single_call single{.request = message, .version = asked.version, .capabilities = {}};
    return legacy_clients_.call(agent, asked.principal, single);
}

// A request of the modern era over the control session. In the legacy era that asks no client for anything, so that nothing has to
// wait for input, and its log messages are nobody's, so that a level would change nothing.
core::result<std::shared_ptr<table::text_queue>> local_session_plane::ask_shared(
    const std::shared_ptr<const model::agent_entry>& agent,
    const model::program_request& asked,
    table::local_session_exchange& exchange
)
{
    const auto server = services_.control(asked.agent);
    if (!server) {
        return server.error();
    }
    const auto message = message_of(asked);
    if ((*server)->speaks == ::mcp::era::modern) {
        return shared_.modern(agent, message);
    }
    exchange.translate();
    auto here = translated_.answer_here(*agent, asked);
    if (!here || *here != nullptr) {
        return here;
    }
    const ::mcp::legacy_request request{asked.read, message.text};
    auto own = request.view();
    own.principal = asked.principal;
    return shared_.call(agent, own);
}

}  // namespace gateway::mcp
