#include "gateway/bridge/bridge_plane.hpp"

#include "gateway/responses/answer.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/http1/fields.hpp"
#include "net/loop/transport.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <utility>

namespace gateway::bridge {
namespace {

using core::errc;

constexpr std::string_view a2a_agents = "/a2a/";
constexpr std::string_view mcp_servers = "/mcp/";

net::routine<> refuse_with(net::caller_exchange& caller, errc code)
{
    auto answer = responses::error_answer(code, std::string_view{});
    co_await responses::send_answer(caller, std::move(answer));
}

// The gateway's own relay asks; its pool decides how long a connection is kept.
net::server_settings settings_of_bridge(net::shared_budget& bodies)
{
    net::server_settings out;
    out.head = {.bytes = 64 * 1024, .fields = 256, .target = 1024, .value = 64 * 1024};
    out.header_timeout = std::chrono::minutes{1};
    out.body_timeout = std::chrono::minutes{1};
    out.idle_timeout = std::chrono::minutes{10};
    out.write_timeout = std::chrono::minutes{1};
    out.requests = std::numeric_limits<std::uint64_t>::max();
    out.bodies = &bodies;
    return out;
}

}  // namespace

bridge_plane::bridge_plane(const bridge_services& services)
    : services_{services},
      agents_{
          {.control = services.control.get_executor(),
           .calls = services.calls,
           .long_texts = services.long_texts,
           .fetch_card = services.fetch_card,
           .agent = services.agent}
      },
      servers_{
          {.control = services.control,
           .calls = services.calls,
           .long_texts = services.long_texts,
           .log = services.log,
           .lists = services.lists,
           .read_lists = services.read_lists}
      },
      service_{services.control, *this, settings_of_bridge(bodies_)}
{
}

core::descriptor bridge_plane::dial()
{
    auto ends = net::connected_pair();
    if (ends[0].open()) {
        service_.expect_one();
        auto there = std::make_shared<core::descriptor>(std::move(ends[1]));
        net::asio::post(services_.control.get_executor(), [this, there] {
            service_.serve({.socket = std::move(*there), .peer = {}, .tls = {}, .sender = {}});
        });
    }
    return std::move(ends[0]);
}

void bridge_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    agents_.set_agent(id, agent);
    servers_.set_agent(id, agent);
}

void bridge_plane::set_card(const std::string& id, const std::shared_ptr<const model::published_card>& card)
{
    agents_.set_card(id, card);
}

void bridge_plane::collect(telemetry::metrics& into) const
{
    using by_state = std::map<std::string, std::map<::a2a::task_state, std::size_t>, std::less<>>;
    const auto tasks = std::make_shared<by_state>();
    for (const auto& each : servers_.tasks().all()) {
        ++(*tasks)[each->who().agent][each->state()];
    }
    into.add_agents(
        telemetry::metric("cardea_bridge_tasks"),
        [this, tasks](telemetry::family& to, const std::string& id) {
            using enum model::bridge_direction;
            const auto found = tasks->find(id);
            for (const auto& [state, count] : found == tasks->end() ? by_state::mapped_type{} : found->second) {
                to.add({{"agent", id}, {"direction", name(a2a_mcp)}, {"state", name_of(state)}}, count);
            }
            if (const auto running = agents_.running(id); running > 0) {
                to.add({{"agent", id}, {"direction", name(mcp_a2a)}, {"state", "working"}}, running);
            }
        }
    );
}

void bridge_plane::stop()
{
    agents_.stop();
    servers_.stop();
    service_.drain();
}

net::routine<> bridge_plane::handle(net::caller_exchange& caller)
{
    const auto& head = caller.head();
    const auto* const number = net::http1::find(head.fields, model::inner_callers::field_name);
    const auto from = number == nullptr ? nullptr : services_.callers.find(*number);
    const auto path = head.target.substr(0, head.target.find('?'));
    if (from != nullptr && path.starts_with(mcp_servers)) {
        return agents_.serve(caller, std::string{path.substr(mcp_servers.size())}, from);
    }
    if (from != nullptr && path.starts_with(a2a_agents)) {
        return servers_.serve(caller, std::string{path.substr(a2a_agents.size())}, from);
    }
    const auto code = from == nullptr ? errc::internal : errc::not_found;
    return refuse_with(caller, code);
}

net::routine<> bridge_plane::refuse(net::caller_exchange& caller, core::error why)
{
    auto answer = responses::error_answer(why.code, std::string_view{});
    co_await responses::send_answer(caller, std::move(answer));
}

void bridge_plane::failed(std::string_view problem) noexcept
{
    services_.log.write(core::log_level::error, "internal_error", {{"where", "bridge"}, {"what", problem}});
}

void bridge_plane::on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept
{
    static_cast<void>(how);
    static_cast<void>(peer);
    static_cast<void>(why);
}

}  // namespace gateway::bridge
