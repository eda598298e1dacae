#include "gateway/mcp_path/program_plane.hpp"

#include "gateway/mcp_path/session_handle.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::mcp_path {
namespace {

using core::errc;
using model::program_act;

session_key key_of(const model::program_request& asked)
{
    return {asked.handle, asked.agent, asked.principal};
}

}  // namespace

program_plane::program_plane(program_services services)
    : there_{services.loop.get_executor()},
      services_{std::move(services)},
      sessions_{services_},
      modern_{services_, sessions_},
      legacy_clients_{
          services_,
          [this](const agent_pointer& agent) -> modern_upstream {
              return [this, agent](const mcp::client_message& request) { return modern_.request(agent, request); };
          }
      },
      openings_{there_}
{
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
    const bool served = agent != nullptr && agent->has_program_sessions();
    if (served) {
        agents_[id] = agent;
    } else {
        agents_.erase(id);
    }
    modern_only_.erase(id);
    sessions_.set_agent(id, served ? agent : nullptr);
    legacy_clients_.set_agent(id, served ? agent : nullptr);
    modern_.set_agent(id, served ? agent : nullptr);
}

void program_plane::sweep(core::steady_time now)
{
    sessions_.sweep(now);
    legacy_clients_.sweep(now);
    modern_.sweep(now);
}

void program_plane::stop()
{
    openings_.stop();
    legacy_clients_.stop();
    modern_.stop();
    sessions_.stop();
}

session_counts program_plane::counts() const noexcept
{
    auto all = sessions_.counts();
    all.begun += legacy_clients_.counts().begun;
    for (std::size_t i = 0; i < session_ends; ++i) {
        all.ended[i] += legacy_clients_.counts().ended[i];
    }
    return all;
}

void program_plane::carry_out(const model::program_request& asked, program_exchange& exchange)
{
    switch (asked.act) {
        case program_act::begin:
            return begin(asked, exchange);
        case program_act::tell:
            return exchange.finish(tell(asked));
        case program_act::end:
            return exchange.finish(end(key_of(asked)));
        case program_act::call:
        case program_act::request:
        case program_act::modern:
        case program_act::listen:
            break;
    }
    auto queue = ask(asked);
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
    auto begun = begin(agent->second, asked);
    if (!begun) {
        return exchange.finish(std::move(begun).error());
    }
    auto unheard = [this, handle = begun->handle, agent = asked.agent, principal = asked.principal] {
        // It may be over already.
        static_cast<void>(end({handle, agent, principal}));
    };
    exchange.follow(std::move(begun->answer), std::move(begun->handle), std::move(unheard));
}

core::result<begun_session> program_plane::begin(const agent_pointer& agent, const model::program_request& asked)
{
    if (!is_modern_only(agent->record)) {
        return try_opening(agent, asked);
    }
    begun_session begun{new_session_handle(), std::make_shared<text_queue>(there_)};
    session_name name{begun.handle, asked.principal};
    auto opened = legacy_clients_.begin(agent, std::move(name), asked.message->view(), begun.answer);
    if (!opened) {
        return std::move(opened).error();
    }
    return begun;
}

core::result<begun_session> program_plane::try_opening(const agent_pointer& agent, const model::program_request& asked)
{
    auto begun = sessions_.begin(agent, asked.principal, asked.message->view());
    const auto& server = *agent->record.mcp;
    if (!begun || server.transport != core::mcp_transport::stdio || server.era != core::mcp_era::automatic) {
        return begun;
    }
    auto other = [this, agent, handle = begun->handle, principal = asked.principal, message = *asked.message](
                     std::string_view refusal,
                     const std::shared_ptr<text_queue>& reader
                 ) {
        if (!says_modern_only(refusal) && !services_.speaks_modern(agent->record)) {
            return false;
        }
        modern_only_[agent->record.id] = services_.clock() + verdict_life;
        return legacy_clients_.begin(agent, {handle, principal}, message.view(), reader).has_value();
    };
    begun->answer = openings_.watch(std::move(begun->answer), std::move(other));
    return begun;
}

// What its record says, or what it has answered to `initialize`.
bool program_plane::is_modern_only(const core::agent& record) const
{
    if (record.mcp->transport != core::mcp_transport::stdio || record.mcp->era == core::mcp_era::legacy) {
        return false;
    }
    const auto found = modern_only_.find(record.id);
    const bool refused = found != modern_only_.end() && services_.clock() < found->second;
    return refused || record.mcp->era == core::mcp_era::modern;
}

core::result<> program_plane::tell(const model::program_request& asked)
{
    const auto key = key_of(asked);
    const auto message = asked.message->view();
    return legacy_clients_.has(key.handle) ? legacy_clients_.tell(key, message) : sessions_.tell(key, message);
}

core::result<> program_plane::end(const session_key& key)
{
    return legacy_clients_.has(key.handle) ? legacy_clients_.end(key) : sessions_.end(key);
}

core::result<std::shared_ptr<text_queue>> program_plane::ask(const model::program_request& asked)
{
    const auto key = key_of(asked);
    const bool translated = legacy_clients_.has(key.handle);
    if (asked.act == program_act::listen) {
        return translated ? legacy_clients_.listen(key) : sessions_.listen(key);
    }
    if (asked.act == program_act::request) {
        const auto request = asked.message->view();
        return translated ? legacy_clients_.request(key, request) : sessions_.request(key, request);
    }
    const auto agent = agents_.find(asked.agent);
    if (agent == agents_.end()) {
        return core::caller_error(errc::agent_not_found);
    }
    if (asked.act == program_act::modern) {
        if (!services_.speaks_modern(agent->second->record)) {
            return core::gateway_error(errc::version_unsupported, "the modern era, with a program of the legacy one");
        }
        return modern_.request(agent->second, asked.message->view());
    }
    return call(agent->second, asked);
}

// A program that speaks the modern era serves a call without a session as it is.
core::result<std::shared_ptr<text_queue>>
program_plane::call(const agent_pointer& agent, const model::program_request& asked)
{
    const auto request = asked.message->view();
    const auto& server = *agent->record.mcp;
    const bool may_be_modern = server.transport == core::mcp_transport::stdio && server.era != core::mcp_era::legacy;
    if (is_modern_only(agent->record) || (may_be_modern && services_.speaks_modern(agent->record))) {
        return legacy_clients_.call(agent, asked.principal, request);
    }
    const single_call single{.request = request, .version = asked.version, .capabilities = {}};
    return sessions_.call(agent, asked.principal, single);
}

}  // namespace gateway::mcp_path
