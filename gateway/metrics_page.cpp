#include "gateway/metrics_page.hpp"

#include "gateway/metrics_family.hpp"
#include "gateway/metrics_sessions.hpp"

#include <algorithm>
#include <map>

namespace gateway {
namespace {

template <class Enum, Enum Last, class Take>
void each(const enum_counters<Enum, Last>& counters, Take take)
{
    for (std::size_t i = 0; i < counters.size; ++i) {
        const auto which = static_cast<Enum>(i);
        take(which, counters[which]);
    }
}

struct totals {
    http_counters http;
    handshake_counters handshakes;
    route_counters request_bytes;
    route_counters response_bytes;
    std::map<std::string_view, agent_counters> agents;  // the ids live in the samples
};

totals add_up(const std::vector<metrics_sample>& loops)
{
    totals sum;
    for (const auto& loop : loops) {
        sum.http.merge(loop.http);
        sum.handshakes.merge(loop.handshakes);
        sum.request_bytes.merge(loop.request_bytes);
        sum.response_bytes.merge(loop.response_bytes);
        for (const auto& agent : loop.agents) {
            sum.agents[agent.id].merge(agent.counters);
        }
    }
    return sum;
}

void add_http(families& page, const totals& sum)
{
    auto requests = counter("cardea_http_requests_total", "Requests by route, HTTP method and status sent.");
    sum.http.visit([&](route where, std::string_view method, std::string_view status, std::uint64_t n) {
        requests.add({{"route", text(name(where))}, {"method", text(method)}, {"code", text(status)}}, n);
    });
    page.push_back(requests.take());

    auto received = counter("cardea_request_bytes_total", "Bytes received from callers.");
    each(sum.request_bytes, [&](route where, std::uint64_t n) {
        received.add_some({{"route", text(name(where))}}, n);
    });
    page.push_back(received.take());

    auto sent = counter("cardea_response_bytes_total", "Bytes sent to callers.");
    each(sum.response_bytes, [&](route where, std::uint64_t n) { sent.add_some({{"route", text(name(where))}}, n); });
    page.push_back(sent.take());
}

void add_handshakes(families& page, const totals& sum)
{
    auto handshakes = counter("cardea_tls_handshakes_total", "TLS handshakes of callers, by outcome.");
    each(sum.handshakes, [&](tls_handshake how, std::uint64_t n) {
        handshakes.add_some({{"outcome", text(name(how))}}, n);
    });
    page.push_back(handshakes.take());
}

void add_requests(families& page, const totals& sum)
{
    auto requests = counter("cardea_agent_requests_total", "Calls of an agent by protocol, method and outcome.");
    auto errors = counter("cardea_upstream_errors_total", "Calls that failed on the agent's side, by reason.");
    for (const auto& [id, counters] : sum.agents) {
        const auto* calls = counters.calls();
        if (calls == nullptr) {
            continue;
        }
        for (std::size_t i = 0; i < calls->requests.size(); ++i) {
            const auto method = text(a2a::name(static_cast<a2a::method>(i)));
            each(calls->requests[i], [&](call_outcome outcome, std::uint64_t n) {
                requests.add_some(
                    {{"agent", text(id)}, {"protocol", "a2a"}, {"rpc_method", method}, {"outcome", text(name(outcome))}
                    },
                    n
                );
            });
        }
        each(calls->upstream_errors, [&](core::errc reason, std::uint64_t n) {
            errors.add_some({{"agent", text(id)}, {"reason", text(core::name(reason))}}, n);
        });
    }
    page.push_back(requests.take());
    page.push_back(errors.take());
}

void add_times(families& page, const totals& sum)
{
    family duration{
        "cardea_agent_request_duration_seconds",
        "Time from a call's start to the end of its answer, without answers that are streams.",
        metric_type::histogram
    };
    family first_byte{
        "cardea_agent_time_to_first_byte_seconds",
        "Time until the agent's answer to a call began, streams included.",
        metric_type::histogram
    };
    for (const auto& [id, counters] : sum.agents) {
        if (const auto* calls = counters.calls()) {
            duration.add({{"agent", text(id)}}, calls->duration);
            first_byte.add({{"agent", text(id)}}, calls->first_byte);
        }
    }
    page.push_back(duration.take());
    page.push_back(first_byte.take());
}

void add_streams(families& page, const totals& sum)
{
    auto active = gauge("cardea_streams_active", "Event streams that are open now.");
    auto ended = counter("cardea_streams_ended_total", "Event streams that have ended, by who or what ended them.");
    for (const auto& [id, counters] : sum.agents) {
        const auto* calls = counters.calls();
        if (calls == nullptr) {
            continue;
        }
        active.add({{"agent", text(id)}}, static_cast<double>(calls->streams_active));
        each(calls->streams_ended, [&](stream_end reason, std::uint64_t n) {
            ended.add_some({{"agent", text(id)}, {"reason", text(name(reason))}}, n);
        });
    }
    page.push_back(active.take());
    page.push_back(ended.take());
}

void add_card_uses(families& page, const totals& sum)
{
    auto uses = counter("cardea_card_cache_total", "Requests for an agent's card by what the cache had.");
    for (const auto& [id, counters] : sum.agents) {
        each(counters.cards(), [&](card_use use, std::uint64_t n) {
            uses.add_some({{"agent", text(id)}, {"result", text(name(use))}}, n);
        });
    }
    page.push_back(uses.take());
}

void add_cards(families& page, const gateway_sample& gateway)
{
    std::vector<const card_sample*> cards;
    cards.reserve(gateway.cards.size());
    for (const auto& card : gateway.cards) {
        cards.push_back(&card);
    }
    std::ranges::sort(cards, {}, &card_sample::agent);

    auto fetches =
        counter("cardea_card_fetch_total", "Fetches of an agent's card by outcome: ok, not_modified or why not.");
    auto age = gauge("cardea_card_age_seconds", "Time since an agent's card was fetched or confirmed.");
    auto changes = counter("cardea_card_changes_total", "How often a different card of an agent was published.");
    for (const auto* card : cards) {
        const auto& id = card->agent;
        fetches.add_some({{"agent", id}, {"outcome", "ok"}}, card->fetched - card->not_modified);
        fetches.add_some({{"agent", id}, {"outcome", "not_modified"}}, card->not_modified);
        for (const auto& [reason, n] : card->failures) {
            fetches.add_some({{"agent", id}, {"outcome", text(core::name(reason))}}, n);
        }
        if (card->age) {
            age.add({{"agent", id}}, seconds(*card->age));
        }
        changes.add_some({{"agent", id}}, card->changes);
    }
    page.push_back(fetches.take());
    page.push_back(age.take());
    page.push_back(changes.take());
}

void add_gateway(families& page, const gateway_sample& gateway)
{
    const auto add = [&page](family which, auto value) {
        which.add({}, value);
        page.push_back(which.take());
    };
    auto build = gauge("cardea_build_info", "1, with the version and the compiler as labels.");
    build.add({{"version", gateway.version}, {"compiler", gateway.compiler}}, 1.0);
    page.push_back(build.take());
    add(gauge("cardea_start_time_seconds", "When the gateway started, in seconds since 1970."),
        seconds(gateway.started.time_since_epoch()));
    add(gauge("cardea_ready", "1 while /readyz says ready, else 0."), gateway.ready ? 1.0 : 0.0);
    add(gauge("cardea_agents", "Agents that can be reached through the gateway."), gateway.agents);
    add(gauge("cardea_connections_open", "Connections of callers that are open."), gateway.connections);
    add(gauge("cardea_upstream_connections_idle", "Connections to agents that wait for the next call."),
        gateway.idle_upstream_connections);
    add(counter("cardea_connections_refused_total", "Connections of callers that found no room."),
        gateway.refused_connections);
    add(counter("cardea_log_lines_dropped_total", "Log lines lost because nobody took them in time."),
        gateway.dropped_log_lines);
}

void add_reloads(families& page, const gateway_sample& gateway)
{
    auto reloads =
        counter("cardea_config_reloads_total", "Reloads of the configuration: ok, or refused for its problems.");
    reloads.add({{"outcome", "ok"}}, gateway.config_reloads);
    reloads.add({{"outcome", "refused"}}, gateway.config_refusals);
    page.push_back(reloads.take());
    auto good = gauge("cardea_config_last_reload_successful", "0 after a reload that was refused, else 1.");
    good.add({}, gateway.config_refused_last ? 0.0 : 1.0);
    page.push_back(good.take());
    auto since = gauge(
        "cardea_config_last_success_timestamp_seconds",
        "When the configuration in use was read, in seconds since 1970."
    );
    since.add({}, seconds(gateway.config_since.time_since_epoch()));
    page.push_back(since.take());
}

void add_process(families& page, const gateway_sample& gateway)
{
    auto memory = gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
    auto descriptors = gauge("process_open_fds", "Number of open file descriptors.");
    auto cpu = counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
    if (gateway.process) {
        memory.add({}, gateway.process->resident_bytes);
        descriptors.add({}, gateway.process->open_descriptors);
        cpu.add({}, seconds(gateway.process->cpu_time));
    }
    page.push_back(memory.take());
    page.push_back(descriptors.take());
    page.push_back(cpu.take());
}

}  // namespace

std::string metrics_page(const std::vector<metrics_sample>& loops, const gateway_sample& gateway)
{
    const auto sum = add_up(loops);
    families page;
    add_http(page, sum);
    add_handshakes(page, sum);
    add_requests(page, sum);
    add_times(page, sum);
    add_streams(page, sum);
    add_card_uses(page, sum);
    add_cards(page, gateway);
    add_sessions(page, gateway.sessions);
    add_gateway(page, gateway);
    add_reloads(page, gateway);
    add_process(page, gateway);
    std::string out;
    for (const auto& each : page) {
        out += each;
    }
    return out;
}

}  // namespace gateway
