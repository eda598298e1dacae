#include "gateway/telemetry/metrics_page.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace gateway::telemetry {
namespace {

// A sequence of families.
class page {
public:
    void add(family done) { text_ += done.take(); }
    void add(family single, std::uint64_t value)
    {
        single.add({}, value);
        add(std::move(single));
    }
    void add(family single, double value)
    {
        single.add({}, value);
        add(std::move(single));
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

void add_http(page& into, const loop_totals& sum)
{
    auto requests = counter("cardea_http_requests_total", "Requests by route, HTTP method and status sent.");
    sum.http.visit([&](model::route where, std::string_view method, std::string_view status, std::uint64_t n) {
        requests.add({{"route", model::name(where)}, {"method", method}, {"code", status}}, n);
    });
    into.add(std::move(requests));

    auto received = counter("cardea_request_bytes_total", "Bytes received from callers.");
    each(sum.request_bytes, [&](model::route where, std::uint64_t n) {
        received.add_some({{"route", model::name(where)}}, n);
    });
    into.add(std::move(received));

    auto sent = counter("cardea_response_bytes_total", "Bytes sent to callers.");
    each(sum.response_bytes, [&](model::route where, std::uint64_t n) {
        sent.add_some({{"route", model::name(where)}}, n);
    });
    into.add(std::move(sent));

    family durations{
        "cardea_http_request_duration_seconds",
        "Time from a request's start to the end of its answer by route, without answers that are streams.",
        metric_type::histogram
    };
    for (std::size_t i = 0; i < sum.durations.size(); ++i) {
        if (sum.durations[i].count > 0) {
            durations.add({{"route", model::name(static_cast<model::route>(i))}}, sum.durations[i]);
        }
    }
    into.add(std::move(durations));
    auto shed = counter("cardea_shed_total", "Calls that were refused for load alone, by reason.");
    each(sum.shed, [&](shed_reason why, std::uint64_t n) { shed.add({{"reason", name(why)}}, n); });
    into.add(std::move(shed));
    family queue{
        "cardea_queue_seconds",
        "How long calls waited for a place among those of their agents.",
        metric_type::histogram
    };
    if (sum.queue.count > 0) {
        queue.add({}, sum.queue);
    }
    into.add(std::move(queue));
    into.add(
        gauge("cardea_requests_in_flight", "Requests of callers without a whole answer, streams included."),
        sum.in_flight
    );
}

void add_handshakes(page& into, const loop_totals& sum)
{
    auto handshakes = counter("cardea_tls_handshakes_total", "TLS handshakes of callers, by outcome.");
    each(sum.handshakes, [&](tls_handshake how, std::uint64_t n) { handshakes.add_some({{"outcome", name(how)}}, n); });
    into.add(std::move(handshakes));
}

void add_access(page& into, const loop_totals& sum)
{
    auto requests = counter("cardea_access_total", "Requests by what became of their credential.");
    for (const auto& [provider, counters] : sum.access) {
        each(counters, [&](model::access_outcome outcome, std::uint64_t n) {
            requests.add_some({{"provider", provider}, {"outcome", model::name(outcome)}}, n);
        });
    }
    into.add(std::move(requests));

    auto used = gauge(
        "cardea_access_key_last_used_timestamp_seconds",
        "When a key or fixed token of callers was accepted last, in seconds since 1970, to the minute."
    );
    for (const auto& [key, time] : sum.keys.all()) {
        used.add({{"provider", key.provider}, {"key", key.key}}, seconds(time.time_since_epoch()));
    }
    into.add(std::move(used));

    auto denied = counter("cardea_denied_total", "Requests that access denied what they asked for, by reason.");
    each(sum.denied, [&](model::denial reason, std::uint64_t n) {
        denied.add_some({{"reason", model::name(reason)}}, n);
    });
    into.add(std::move(denied));

    auto limited = counter("cardea_rate_limited_total", "Requests that were over a limit of rate_limits.");
    each(sum.limited, [&](model::rate_limit over, std::uint64_t n) {
        limited.add_some({{"limit", model::name(over)}}, n);
    });
    into.add(std::move(limited));
}

void add_retries(page& into, const loop_totals& sum)
{
    auto retries = counter("cardea_retries_total", "Calls that were sent again, by why.");
    each(sum.retries, [&](model::retry_reason reason, std::uint64_t n) {
        retries.add({{"reason", model::name(reason)}}, n);
    });
    into.add(std::move(retries));
}

void add_client_sessions(page& into, const loop_totals& sum, const gateway_sample& gateway)
{
    auto ended =
        counter("cardea_mcp_client_sessions_ended_total", "Callers' sessions with MCP servers that are over, by why.");
    each(sum.sessions_ended, [&](model::session_end reason, std::uint64_t n) {
        ended.add_some({{"reason", model::name(reason)}}, n + gateway.sessions_ended[static_cast<std::size_t>(reason)]);
    });
    into.add(std::move(ended));
    into.add(
        counter("cardea_mcp_recoveries_total", "Sessions that an MCP server had lost and that have begun again."),
        gateway.recovered_sessions
    );
    into.add(
        gauge(
            "cardea_mcp_parked_calls",
            "Calls that wait until a client of the modern era answers what a server asked."
        ),
        gateway.parked_calls
    );
}

void add_server_requests(page& into, const ::mcp::question_tally& asked)
{
    constexpr std::array<std::string_view, ::mcp::question_tally::ends> ends{"passed", "answered"};
    auto requests =
        counter("cardea_mcp_server_requests_total", "Requests of MCP servers to callers, by method and who has them.");
    for (std::size_t method = 0; method < asked.counts.size(); ++method) {
        for (std::size_t end = 0; end < ends.size(); ++end) {
            requests.add_some(
                {{"method", ::mcp::question_tally::methods[method]}, {"outcome", ends[end]}},
                asked.counts[method][end]
            );
        }
    }
    into.add(std::move(requests));
}

void add_gateway(page& into, const gateway_sample& gateway)
{
    auto build = gauge("cardea_build_info", "1, with the version, its commit and the compiler as labels.");
    build.add(
        {{"version", gateway.version}, {"revision", gateway.revision}, {"compiler", gateway.compiler}},
        std::uint64_t{1}
    );
    into.add(std::move(build));
    into.add(
        gauge("cardea_start_time_seconds", "When the gateway started, in seconds since 1970."),
        seconds(gateway.started.time_since_epoch())
    );
    into.add(gauge("cardea_ready", "1 while /readyz says ready, else 0."), gateway.ready ? 1.0 : 0.0);
    into.add(gauge("cardea_overload_level", "How overloaded the gateway is: 0, not at all, to 3."), gateway.overload);
    into.add(gauge("cardea_agents", "Agents that can be reached through the gateway."), gateway.agents);
    into.add(
        gauge("cardea_metrics_agents_omitted", "Agents without series of their own, over metrics_agents."),
        gateway.omitted_agents
    );
    into.add(gauge("cardea_connections_open", "Connections of callers that are open."), gateway.connections);
    into.add(
        gauge("cardea_upstream_connections_idle", "Connections to agents that wait for the next call."),
        gateway.idle_upstream_connections
    );
    into.add(
        counter("cardea_dns_failures_total", "Lookups of agents' names that failed or took longer than timeouts.dns."),
        gateway.dns_failures
    );
    into.add(
        counter("cardea_connections_refused_total", "Connections of callers that found no room."),
        gateway.refused_connections
    );
    into.add(
        counter("cardea_log_lines_dropped_total", "Log lines lost because nobody took them in time."),
        gateway.dropped_log_lines
    );
    into.add(
        counter("cardea_audit_dropped_total", "Audit lines, and denied requests in them, that are lost."),
        gateway.dropped_audit_lines
    );
    auto ages = gauge("cardea_key_set_age_seconds", "How old the keys are that a provider's tokens are checked with.");
    for (const auto& [provider, age] : gateway.key_sets) {
        if (age) {
            ages.add({{"provider", provider}}, seconds(*age));
        }
    }
    into.add(std::move(ages));
    auto writes = counter("cardea_store_writes_total", "Writes to the store by outcome: ok, or why not.");
    for (const auto& [outcome, n] : gateway.store_writes) {
        writes.add({{"outcome", outcome}}, n);
    }
    into.add(std::move(writes));
    auto ends = gauge(
        "cardea_tls_certificate_not_after_timestamp_seconds",
        "When a certificate of a listener, or of its chain, ends, in seconds since 1970."
    );
    for (const auto& each : gateway.certificates) {
        ends.add({{"listener", each.listener}, {"cert", each.cert}}, seconds(each.not_after.time_since_epoch()));
    }
    into.add(std::move(ends));
}

void add_push(page& into, const push_sample& push)
{
    auto attempts = counter("cardea_push_attempts_total", "Attempts to deliver a push notification, by outcome.");
    for (const auto& [outcome, n] : push.attempts) {
        attempts.add({{"outcome", outcome}}, n);
    }
    into.add(std::move(attempts));
    into.add(gauge("cardea_push_queue", "Push notifications that are not delivered yet."), push.waiting);
    into.add(
        gauge("cardea_push_queue_bytes", "Bytes of the push notifications that are not delivered yet."),
        push.bytes
    );
    into.add(
        gauge("cardea_push_oldest_seconds", "Age of the push notification that has waited longest; 0: none waits."),
        seconds(push.oldest)
    );
}

void add_spans(page& into, const named_counts& spans)
{
    auto ended = counter("cardea_trace_spans_total", "Spans of recorded traces, by what became of them.");
    for (const auto& [outcome, n] : spans) {
        ended.add({{"outcome", outcome}}, n);
    }
    into.add(std::move(ended));
}

void add_reloads(page& into, const gateway_sample& gateway)
{
    auto reloads =
        counter("cardea_config_reloads_total", "Reloads of the configuration: ok, or refused for its problems.");
    reloads.add({{"outcome", "ok"}}, gateway.config_reloads);
    reloads.add({{"outcome", "refused"}}, gateway.config_refusals);
    into.add(std::move(reloads));
    auto handovers = counter(
        "cardea_handovers_total",
        "Hand-overs by outcome: completed, after which this process began, failed, or refused."
    );
    for (const auto& [outcome, n] : gateway.handovers) {
        handovers.add({{"outcome", outcome}}, n);
    }
    into.add(std::move(handovers));
    into.add(
        gauge("cardea_config_restart_needed", "1 while settings of the file wait for a restart, else 0."),
        gateway.restart_needed ? 1.0 : 0.0
    );
    into.add(
        gauge("cardea_config_last_reload_successful", "0 after a reload that was refused, else 1."),
        gateway.config_refused_last ? 0.0 : 1.0
    );
    into.add(
        gauge(
            "cardea_config_last_success_timestamp_seconds",
            "When the configuration in use was read, in seconds since 1970."
        ),
        seconds(gateway.config_since.time_since_epoch())
    );
}

void add_process(page& into, const gateway_sample& gateway)
{
    auto memory = gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
    auto virtual_memory = gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
    auto descriptors = gauge("process_open_fds", "Number of open file descriptors.");
    auto most_descriptors = gauge("process_max_fds", "Maximum number of open file descriptors.");
    auto threads = gauge("process_threads", "Number of threads.");
    auto cpu = counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
    if (gateway.process) {
        memory.add({}, gateway.process->resident_bytes);
        virtual_memory.add({}, gateway.process->virtual_bytes);
        descriptors.add({}, gateway.process->open_descriptors);
        most_descriptors.add({}, gateway.process->most_descriptors);
        threads.add({}, gateway.process->threads);
        cpu.add({}, seconds(gateway.process->cpu_time));
    }
    into.add(std::move(memory));
    into.add(std::move(virtual_memory));
    into.add(std::move(descriptors));
    into.add(std::move(most_descriptors));
    into.add(std::move(threads));
    into.add(std::move(cpu));
    into.add(
        gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
        seconds(gateway.started.time_since_epoch())
    );
}

}  // namespace

std::string process_metrics(const loop_totals& loops, const gateway_sample& gateway)
{
    page all;
    add_http(all, loops);
    add_handshakes(all, loops);
    add_retries(all, loops);
    add_access(all, loops);
    add_client_sessions(all, loops, gateway);
    add_server_requests(all, gateway.server_requests);
    add_gateway(all, gateway);
    add_push(all, gateway.push);
    add_spans(all, gateway.spans);
    add_reloads(all, gateway);
    add_process(all, gateway);
    return all.take();
}

}  // namespace gateway::telemetry
