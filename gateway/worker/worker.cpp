#include "gateway/worker/worker.hpp"

#include "gateway/request/agent_relay.hpp"

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
    out.http2 = settings.http2;
    out.http2_streams = settings.limits.http2_streams;
    out.http2_resets = static_cast<std::uint32_t>(settings.limits.http2_resets);
    out.http2_control = static_cast<std::uint32_t>(settings.limits.http2_control);
    out.http2_age = settings.timeouts.http2_age;
    out.linger = settings.timeouts.linger;
    out.linger_bytes = settings.limits.linger_bytes;
    out.lingering = &shared.lingering;
    out.bodies = &shared.bodies;
    return out;
}

namespace {

// A caller that has called before may be about to call again; operators' connections end sooner.
net::server_settings
settings_of_callers(const config::settings& settings, shared_limits& shared, net::http2::counters& counters)
{
    auto out = connection_settings(settings, shared);
    out.http2_counters = &counters;
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
                .requests = settings.limits.upstream_requests},
           .http2_connections = settings.limits.upstream_http2_connections,
           .http2_resets = static_cast<std::uint32_t>(settings.limits.http2_resets),
           .http2_control = static_cast<std::uint32_t>(settings.limits.http2_control),
           .counters = &http2_.agents}
      },
      traffic_{control, pool_, settings, lines_, log},
      service_{loop_, traffic_, settings_of_callers(settings, shared, http2_.callers)},
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

void worker::announce_end()
{
    service_.announce_end();
    traffic_.relays().streams().announce_end();
}

void worker::drain()
{
    service_.drain();
    traffic_.relays().streams().end_listening();
}

void worker::end_streams()
{
    traffic_.relays().streams().end_all();
}

void worker::abort()
{
    service_.abort();
}

void worker::stop()
{
    pool_.close();
    loop_.stop();
}

std::size_t open_connections(worker_list workers) noexcept
{
    std::size_t open = 0;
    for (const auto& each : workers) {
        open += each->service().open();
    }
    return open;
}

}  // namespace gateway::worker
