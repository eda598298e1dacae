#include "gateway/mcp_path/program_plane.hpp"

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
      modern_{services_, sessions_}
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
    sessions_.set_agent(id, served ? agent : nullptr);
    modern_.set_agent(id, served ? agent : nullptr);
}

std::optional<live_sessions> program_plane::live(const std::string& agent_id) const
{
    const auto agent = agents_.find(agent_id);
    if (agent == agents_.end()) {
        return std::nullopt;
    }
    live_sessions now{.sessions = sessions_.size(agent_id), .warm = std::nullopt};
    if (agent->second->record.mcp->transport == core::mcp_transport::stdio) {
        now.warm = sessions_.warm(agent_id);
    }
    return now;
}

void program_plane::stop()
{
    modern_.stop();
    sessions_.stop();
}

void program_plane::carry_out(const model::program_request& asked, program_exchange& exchange)
{
    switch (asked.act) {
        case program_act::begin:
            return begin(asked, exchange);
        case program_act::tell:
            // NOLINTNEXTLINE(*-optional-access): it has one, as all that are no `listen` and no `end`
            return exchange.finish(sessions_.tell(key_of(asked), asked.message->view()));
        case program_act::end:
            return exchange.finish(sessions_.end(key_of(asked)));
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
    // NOLINTNEXTLINE(*-optional-access): as carry_out()
    auto begun = sessions_.begin(agent->second, asked.principal, asked.message->view());
    if (!begun) {
        return exchange.finish(std::move(begun).error());
    }
    auto unheard = [this, handle = begun->handle, agent = asked.agent, principal = asked.principal] {
        // It may be over already.
        static_cast<void>(sessions_.end({handle, agent, principal}));
    };
    exchange.follow(std::move(begun->answer), std::move(begun->handle), std::move(unheard));
}

core::result<std::shared_ptr<text_queue>> program_plane::ask(const model::program_request& asked)
{
    if (asked.act == program_act::listen) {
        return sessions_.listen(key_of(asked));
    }
    if (asked.act == program_act::request) {
        return sessions_.request(key_of(asked), asked.message->view());
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
    const single_call single{.request = asked.message->view(), .version = asked.version, .capabilities = {}};
    return sessions_.call(agent->second, asked.principal, single);
}

}  // namespace gateway::mcp_path
