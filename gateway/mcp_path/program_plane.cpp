#include "gateway/mcp_path/program_plane.hpp"

#include "gateway/model/agent_record.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace gateway::mcp_path {
namespace {

using core::errc;
using model::program_act;

constexpr core::duration sweep_every{1000};

session_key key_of(const model::program_request& asked)
{
    return {asked.handle, asked.agent, asked.principal};
}

const mcp::incoming* read_of(const model::program_request& asked)
{
    return asked.read ? &*asked.read : nullptr;
}

}  // namespace

program_plane::program_plane(program_services services)
    : there_{services.loop.get_executor()},
      services_{std::move(services)},
      sessions_{services_},
      modern_{services_, sessions_},
      shared_{services_, sessions_},
      legacy_clients_{services_, sessions_, modern_},
      translated_{services_, sessions_},
      sweeper_{*this}
{
    services_.loop.timers().add(sweeper_);
}

void program_plane::sweeper::on_due()
{
    set_due(std::chrono::steady_clock::now() + sweep_every);
    of_.sweep(of_.services_.clock());
}

std::unique_ptr<model::program_reader>
program_plane::open(model::program_request asked, net::executor here, net::signal& wake)
{
    auto exchange = std::make_shared<program_exchange>(there_, here, wake);
    auto reader = exchange->reader();
    net::asio::post(there_, [this, exchange = std::move(exchange), asked = std::move(asked)] {
        carry_out(asked, *exchange);
    });
    return reader;
}

void program_plane::set_agents(const model::snapshot& now)
{
    for (const auto& [id, agent] : now.agents) {
        set_agent(id, agent);
    }
}

void program_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
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
    const bool all_shared = this->shares(id);
    const auto own = reached && !all_shared ? agent : nullptr;
    legacy_clients_.set_agent(id, own, same_server);
    sessions_.set_agent(id, own);
    modern_.set_agent(id, own);
    shared_.set_agent(id, reached && agent->shares_session() ? agent : nullptr);
}

// Every session of its callers is the control session.
bool program_plane::shares(const std::string& agent_id) const
{
    const auto agent = agents_.find(agent_id);
    return agent != agents_.end() && agent->second->record.mcp->sessions == core::mcp_sessions::shared;
}

session_table& program_plane::table_of(const session_key& key)
{
    if (shared_.has(key)) {
        return shared_;
    }
    return legacy_clients_.table_of(key);
}

session_counts program_plane::counts() const noexcept
{
    auto all = sessions_.counts();
    for (const auto* const each : {&shared_.counts(), &legacy_clients_.translated().counts()}) {
        all.begun += each->begun;
        all.recovered += each->recovered;
        for (std::size_t i = 0; i < session_ends; ++i) {
            all.ended[i] += each->ended[i];
        }
    }
    return all;
}

void program_plane::sweep(core::steady_time now)
{
    sessions_.sweep(now);
    modern_.sweep(now);
    shared_.sweep(now);
    legacy_clients_.sweep(now);
    translated_.sweep(now);
}

std::optional<live_sessions> program_plane::live(const std::string& agent_id) const
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

void program_plane::stop()
{
    shared_.stop();
    legacy_clients_.stop();
    modern_.stop();
    sessions_.stop();
}

net::task<bool> program_plane::translates(std::string agent_id)
{
    const auto found = agents_.find(agent_id);
    if (found == agents_.end()) {
        co_return false;
    }
    const auto agent = found->second;
    co_return co_await legacy_clients_.translates(agent);
}

void program_plane::carry_out(const model::program_request& asked, program_exchange& exchange)
{
    const auto key = key_of(asked);
    switch (asked.act) {
        case program_act::begin:
            return begin(asked, exchange);
        case program_act::tell:
            return exchange.finish(table_of(key).tell(key, asked.message->view()));
        case program_act::end:
            return exchange.finish(table_of(key).end(key));
        case program_act::call:
        case program_act::request:
        case program_act::modern:
        case program_act::listen:
            break;
    }
    auto queue = ask(asked, exchange);
    if (!queue) {
        exchange.finish(std::move(queue).error());
    } else if (asked.act == program_act::listen) {
        exchange.listen(std::move(*queue));
    } else {
        exchange.follow(std::move(*queue));
    }
}

// With the record that holds now: a worker may know an older one for a moment, whose sessions have ended.
void program_plane::begin(const model::program_request& asked, program_exchange& exchange)
{
    const auto agent = agents_.find(asked.agent);
    if (agent == agents_.end()) {
        return exchange.finish(core::caller_error(errc::agent_not_found));
    }
    const mcp::message_head head{.name = {}, .fields = asked.fields};
    auto begun = shares(asked.agent) ? shared_.begin(agent->second, asked.principal, asked.message->view())
                                     : legacy_clients_.begin(agent->second, asked.principal, *asked.message, head);
    if (!begun) {
        return exchange.finish(std::move(begun).error());
    }
    auto unheard = [this, handle = begun->handle, agent = asked.agent, principal = asked.principal] {
        const session_key key{handle, agent, principal};
        // It may be over already.
        static_cast<void>(table_of(key).end(key));
    };
    exchange.follow(std::move(begun->answer), std::move(begun->handle), std::move(unheard));
}

core::result<std::shared_ptr<text_queue>>
program_plane::ask(const model::program_request& asked, program_exchange& exchange)
{
    const auto key = key_of(asked);
    if (asked.act == program_act::listen) {
        return table_of(key).listen(key);
    }
    if (asked.act == program_act::request) {
        const mcp::message_head head{.name = {}, .fields = asked.fields};
        auto message = asked.message->view();
        message.head = &head;
        message.read = read_of(asked);
        return table_of(key).request(key, message);
    }
    const auto agent = agents_.find(asked.agent);
    if (agent == agents_.end()) {
        return core::caller_error(errc::agent_not_found);
    }
    return ask_alone(agent->second, asked, exchange);
}

// A request without a session.
core::result<std::shared_ptr<text_queue>> program_plane::ask_alone(
    const std::shared_ptr<const model::agent_entry>& agent,
    const model::program_request& asked,
    program_exchange& exchange
)
{
    if (asked.act == program_act::modern) {
        if (shares(asked.agent)) {
            return shared_.modern(agent, asked.message->view());
        }
        const auto& record = agent->record;
        if (record.mcp->transport != core::mcp_transport::stdio || !services_.speaks_modern(record)) {
            exchange.translate();
            return translated_.request(agent, asked);
        }
        return modern_.request(agent, asked.message->view());
    }
    if (shares(asked.agent) || (agent->shares_session() && !services_.speaks_modern(agent->record))) {
        return shared_.call(agent, asked.message->view());
    }
    const mcp::message_head head{.name = {}, .fields = asked.fields};
    auto message = asked.message->view();
    message.head = &head;
    message.read = read_of(asked);
    const single_call single{.request = message, .version = asked.version, .capabilities = {}};
    return legacy_clients_.call(agent, asked.principal, single);
}

}  // namespace gateway::mcp_path
