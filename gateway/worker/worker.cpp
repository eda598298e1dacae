#include "gateway/worker/worker.hpp"

#include "gateway/model/published_card.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/request/agent_relay.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway::worker {

net::server_settings connection_settings(const config::settings& settings, shared_limits& shared)
{
    net::server_settings out;
    out.head = {
        .bytes = settings.limits.header,
        .fields = settings.limits.header_fields,
        .target = settings.limits.target,
        .value = settings.limits.header_value
    };
    out.handshake_timeout = settings.timeouts.handshake;
    out.header_timeout = settings.timeouts.header;
    out.body_timeout = settings.timeouts.body;
    out.idle_timeout = settings.timeouts.idle;
    out.write_timeout = settings.timeouts.write;
    out.body_grace = settings.timeouts.body_grace;
    out.body_rate = settings.limits.body_rate;
    out.read_ahead = settings.limits.read_ahead;
    out.requests = settings.limits.requests;
    out.linger = settings.timeouts.linger;
    out.linger_bytes = settings.limits.linger_bytes;
    out.lingering = &shared.lingering;
    out.bodies = &shared.bodies;
    return out;
}

namespace {

// Who has called before may be about to call again; operators' connections end sooner.
net::server_settings settings_of_callers(const config::settings& settings, shared_limits& shared)
{
    auto out = connection_settings(settings, shared);
    out.drain_idle = std::min(settings.timeouts.drain_idle, settings.timeouts.drain);
    return out;
}

}  // namespace

worker::worker(
    model::control_services& control,
    const config::settings& settings,
    shared_limits& shared,
    const core::logger& log
)
    : loop_{shared.names},
      lines_{log.sink(), settings.log_level, telemetry::access_log::random_first_id()},
      pool_{
          loop_,
          {.head_limit = settings.limits.upstream_header,
           .idle_connections = settings.limits.upstream_connections,
           .life =
               {.keep = settings.timeouts.upstream_keep,
                .max_age = settings.timeouts.upstream_max_age,
                .requests = settings.limits.upstream_requests}}
      },
      traffic_{control, pool_, settings, lines_, log},
      service_{loop_, traffic_, settings_of_callers(settings, shared)},
      flusher_{lines_, traffic_}
{
    loop_.timers().add(flusher_);
}

worker::~worker()
{
    if (thread_.joinable()) {
        thread_.join();
    }
    traffic_.hand_over(loop_.now());
}

void worker::start()
{
    thread_ = std::thread{[this] { loop_.run(); }};
}

void worker::publish(std::shared_ptr<const model::snapshot> snapshot)
{
    net::asio::post(executor(), [this, published = std::move(snapshot)] { traffic_.set_snapshot(*published); });
}

void worker::publish_agent(std::string id, std::shared_ptr<const model::agent_entry> agent)
{
    net::asio::post(executor(), [this, name = std::move(id), published = std::move(agent)]() mutable {
        traffic_.set_agent(name, std::move(published));
    });
}

void worker::set_tls(net::tls_context tls)
{
    net::asio::post(executor(), [this, context = std::move(tls)]() mutable { service_.set_tls(std::move(context)); });
}

void worker::publish_card(std::string agent_id, std::shared_ptr<const model::published_card> card)
{
    net::asio::post(executor(), [this, id = std::move(agent_id), published = std::move(card)]() mutable {
        traffic_.set_card(id, std::move(published));
    });
}

void worker::set_access(access::access_plans plans)
{
    net::asio::post(executor(), [this, published = std::move(plans)]() mutable {
        traffic_.set_access(std::move(published));
    });
}

void worker::set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids)
{
    net::asio::post(executor(), [this, published = std::move(ids)]() mutable {
        traffic_.set_session_ids(std::move(published));
    });
}

void worker::set_push_addresses(std::shared_ptr<const model::push_addresses> addresses)
{
    net::asio::post(executor(), [this, published = std::move(addresses)]() mutable {
        traffic_.set_push_addresses(std::move(published));
    });
}

void worker::set_rate_limits(std::shared_ptr<access::rate_limiter> limits)
{
    net::asio::post(executor(), [this, published = std::move(limits)]() mutable {
        traffic_.set_rate_limits(std::move(published));
    });
}

void worker::set_log_level(core::log_level level)
{
    net::asio::post(executor(), [this, level] { lines_.set_level(level); });
}

void worker::set_trace_plan(const request::trace_plan& plan)
{
    net::asio::post(executor(), [this, plan] { traffic_.set_trace_plan(plan); });
}

void worker::hand_over(std::function<void()> then)
{
    net::asio::post(executor(), [this, done = std::move(then)] {
        traffic_.hand_over(loop_.now());
        done();
    });
}

void worker::ask_about(::mcp::session_digest id, bool ask)
{
    net::asio::post(executor(), [this, id, ask] { traffic_.ask_about(id, ask); });
}

void worker::drop_idle(std::shared_ptr<const net::upstream_target> endpoint)
{
    net::asio::post(executor(), [this, which = std::move(endpoint)] { pool_.drop_idle(which->key); });
}

void worker::announce_end()
{
    net::asio::post(executor(), [this] {
        service_.announce_end();
        traffic_.relays().announce_end();
    });
}

void worker::drain()
{
    net::asio::post(executor(), [this] {
        service_.drain();
        traffic_.relays().end_listening();
    });
}

void worker::end_streams()
{
    net::asio::post(executor(), [this] { traffic_.relays().end_streams(); });
}

void worker::abort()
{
    net::asio::post(executor(), [this] { service_.abort(); });
}

void worker::stop()
{
    net::asio::post(executor(), [this] {
        pool_.close();
        loop_.stop();
    });
}

}  // namespace gateway::worker
