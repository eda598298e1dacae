#include "gateway/telemetry/worker_families.hpp"

#include "gateway/telemetry/mcp_counters.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace gateway::telemetry {
namespace {

enum class zeros : bool { left_out, shown };

template <class Counters>
void add_counters(
    metrics& into,
    const metric_row& row,
    std::string_view label,
    const Counters& counters,
    zeros zero = zeros::left_out
)
{
    family counted{row};
    each(counters, [&](auto which, std::uint64_t n) {
        if (n > 0 || zero == zeros::shown) {
            counted.add({{label, name(which)}}, n);
        }
    });
    into.add(std::move(counted));
}

void add_requests(metrics& into, const loop_totals& sum)
{
    family requests{metric("cardea_http_requests_total")};
    sum.http.visit([&](model::route where, std::string_view method, std::string_view status, std::uint64_t n) {
        requests.add({{"route", name(where)}, {"method", method}, {"code", status}}, n);
    });
    into.add(std::move(requests));
    family durations{metric("cardea_http_request_duration_seconds")};
    for (std::size_t i = 0; i < sum.durations.size(); ++i) {
        if (sum.durations[i].count > 0) {
            durations.add({{"route", name(static_cast<model::route>(i))}}, sum.durations[i]);
        }
    }
    into.add(std::move(durations));
    family queue{metric("cardea_queue_seconds")};
    if (sum.queue.count > 0) {
        queue.add({}, sum.queue);
    }
    into.add(std::move(queue));
}

void add_access(metrics& into, const loop_totals& sum)
{
    family requests{metric("cardea_access_total")};
    for (const auto& [provider, counters] : sum.access) {
        each(counters, [&](model::access_outcome outcome, std::uint64_t n) {
            requests.add_some({{"provider", provider}, {"outcome", name(outcome)}}, n);
        });
    }
    into.add(std::move(requests));
    family used{metric("cardea_access_key_last_used_timestamp_seconds")};
    for (const auto& [key, time] : sum.keys.all()) {
        used.add({{"provider", key.provider}, {"key", key.key}}, seconds(time.time_since_epoch()));
    }
    into.add(std::move(used));
}

// A tool of this name shares the series of the tools that have none.
constexpr std::string_view other_tool = "other";

void add_requests(family& into, const counted_agent& of)
{
    const auto* calls = of.counters.calls();
    for (std::size_t i = 0; calls != nullptr && i < calls->requests.size(); ++i) {
        const auto method = ::a2a::name(static_cast<::a2a::method>(i));
        each(calls->requests[i], [&](call_outcome outcome, std::uint64_t n) {
            into.add_some(
                {{"agent", of.id}, {"protocol", of.protocol}, {"rpc_method", method}, {"outcome", name(outcome)}},
                n
            );
        });
    }
}

// Counters that are 0 are shown too: the first failure is then an increase.
void add_calls(family& into, const counted_agent& of)
{
    outcome_counters sum;
    if (const auto* calls = of.counters.calls()) {
        for (const auto& method : calls->requests) {
            sum.merge(method);
        }
    }
    if (const auto* posted = of.counters.messages()) {
        for (const auto& method : posted->requests) {
            for (const auto& of_era : method) {
                sum.merge(of_era);
            }
        }
    }
    each(sum, [&](call_outcome outcome, std::uint64_t n) {
        into.add({{"agent", of.id}, {"outcome", name(outcome)}}, n);
    });
}

void add_upstream_errors(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        each(calls->upstream_errors, [&](core::errc reason, std::uint64_t n) {
            into.add_some({{"agent", of.id}, {"reason", core::name(reason)}}, n);
        });
        into.add_some({{"agent", of.id}, {"reason", "slow"}}, calls->slow);
    }
}

void add_translation_lost(family& into, const counted_agent& of)
{
    const auto* calls = of.counters.calls();
    if (calls != nullptr) {
        into.add_some({{"agent", of.id}}, calls->translation_lost);
    }
}

void add_grpc_calls(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        for (const auto& [key, n] : calls->grpc) {
            into.add({{"agent", of.id}, {"method", ::a2a::name(key.first)}, {"status", core::name(key.second)}}, n);
        }
    }
}

void add_rounded(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        into.add_some({{"agent", of.id}}, calls->numbers_rounded);
    }
}

void add_durations(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        into.add({{"agent", of.id}}, calls->duration);
    }
}

void add_first_bytes(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        into.add({{"agent", of.id}}, calls->first_byte);
    }
}

void add_streams(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        into.add({{"agent", of.id}}, static_cast<double>(calls->streams_active));
    }
}

void add_ended_streams(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        each(calls->streams_ended, [&](model::stream_end reason, std::uint64_t n) {
            into.add_some({{"agent", of.id}, {"reason", model::name(reason)}}, n);
        });
    }
}

// The spelling of A2A 0.3, whatever the agent speaks.
std::string_view label_of(::a2a::task_state state)
{
    auto spelling = ::a2a::spelled(state, ::a2a::body_shape::types);
    spelling.remove_prefix(1);
    spelling.remove_suffix(1);
    return spelling;
}

void add_task_states(family& into, const counted_agent& of)
{
    if (const auto* calls = of.counters.calls()) {
        each(calls->task_states, [&](::a2a::task_state state, std::uint64_t n) {
            into.add_some({{"agent", of.id}, {"state", label_of(state)}}, n);
        });
    }
}

void add_card_uses(family& into, const counted_agent& of)
{
    each(of.counters.cards(), [&](model::card_use use, std::uint64_t n) {
        into.add_some({{"agent", of.id}, {"result", model::name(use)}}, n);
    });
}

void add_messages_of_callers(family& into, const counted_agent& of)
{
    const auto* posted = of.counters.messages();
    for (std::size_t method = 0; posted != nullptr && method < mcp_counters::methods; ++method) {
        for (std::size_t speaks = 0; speaks < mcp_counters::eras; ++speaks) {
            each(posted->requests[method][speaks], [&](call_outcome outcome, std::uint64_t n) {
                into.add_some(
                    {{"agent", of.id},
                     {"method", method_label(static_cast<::mcp::client_method>(method))},
                     {"era", ::mcp::name(static_cast<::mcp::era>(speaks))},
                     {"outcome", name(outcome)}},
                    n
                );
            });
        }
    }
}

void add_translated(family& into, const counted_agent& of)
{
    const auto* posted = of.counters.messages();
    for (std::size_t speaks = 0; posted != nullptr && speaks < mcp_counters::eras; ++speaks) {
        into.add_some(
            {{"agent", of.id}, {"era", ::mcp::name(static_cast<::mcp::era>(speaks))}},
            posted->translated[speaks]
        );
    }
}

void add_message_times(family& into, const counted_agent& of)
{
    if (const auto* posted = of.counters.messages()) {
        into.add({{"agent", of.id}}, posted->duration);
    }
}

void add_tool_calls(family& into, const counted_agent& of)
{
    const auto* posted = of.counters.messages();
    if (posted == nullptr) {
        return;
    }
    const auto add = [&](std::string_view tool, const mcp_counters::tool_counts& counts, std::size_t outcome) {
        const auto name = telemetry::name(static_cast<tool_outcome>(outcome));
        into.add_some({{"agent", of.id}, {"tool", tool}, {"outcome", name}}, counts[outcome]);
    };
    const auto own = posted->tools.find(other_tool);
    for (std::size_t outcome = 0; outcome < tool_outcomes; ++outcome) {
        auto others = posted->other_tools;
        others[outcome] += own == posted->tools.end() ? 0 : own->second[outcome];
        for (const auto& [tool, counts] : posted->tools) {
            if (tool != other_tool) {
                add(tool, counts, outcome);
            }
        }
        add(other_tool, others, outcome);
    }
}

void add_http2(metrics& into, const http2_counters& sum)
{
    family connections{metric("cardea_http2_connections")};
    family streams{metric("cardea_http2_streams")};
    family resets{metric("cardea_http2_resets_total")};
    family goaways{metric("cardea_http2_goaways_total")};
    const auto add_side = [&](std::string_view side, const net::http2::counters& counted) {
        connections.add({{"side", side}}, counted.connections);
        streams.add({{"side", side}}, counted.streams);
        for (std::size_t whom = 0; whom < counted.resets.size(); ++whom) {
            const std::string_view who = static_cast<net::http2::by>(whom) == net::http2::by::us ? "cardea" : side;
            for (std::size_t i = 0; i < net::http2::counters::codes; ++i) {
                const auto code = net::http2::name(static_cast<net::http2::error_code>(i));
                resets.add_some({{"side", side}, {"by", who}, {"code", code}}, counted.resets[whom][i]);
                goaways.add_some({{"side", side}, {"by", who}, {"code", code}}, counted.goaways[whom][i]);
            }
        }
    };
    add_side("caller", sum.callers);
    add_side("agent", sum.agents);
    into.add(std::move(connections));
    into.add(std::move(streams));
    into.add(std::move(resets));
    into.add(std::move(goaways));
    family refused{metric("cardea_http2_refused_total")};
    for (std::size_t i = 0; i < net::http2::counters::limits; ++i) {
        const auto which = net::http2::name(static_cast<net::http2::limit>(i));
        refused.add({{"limit", which}}, sum.callers.refused[i] + sum.agents.refused[i]);
    }
    into.add(std::move(refused));
}

constexpr auto counted = std::to_array<counted_family>({
    {metric("cardea_agent_calls_total"), add_calls},
    {metric("cardea_agent_requests_total"), add_requests},
    {metric("cardea_upstream_errors_total"), add_upstream_errors},
    {metric("cardea_translation_lost_total"), add_translation_lost},
    {metric("cardea_grpc_calls_total"), add_grpc_calls},
    {metric("cardea_grpc_numbers_rounded_total"), add_rounded},
    {metric("cardea_agent_request_duration_seconds"), add_durations},
    {metric("cardea_agent_time_to_first_byte_seconds"), add_first_bytes},
    {metric("cardea_streams_active"), add_streams},
    {metric("cardea_streams_ended_total"), add_ended_streams},
    {metric("cardea_task_states_total"), add_task_states},
    {metric("cardea_card_cache_total"), add_card_uses},
    {metric("cardea_mcp_requests_total"), add_messages_of_callers},
    {metric("cardea_mcp_translated_total"), add_translated},
    {metric("cardea_mcp_request_seconds"), add_message_times},
    {metric("cardea_mcp_tool_calls_total"), add_tool_calls},
});

}  // namespace

std::vector<prometheus::MetricFamily> worker_sums::Collect() const
{
    metrics all;
    add_requests(all, sum_);
    add_access(all, sum_);
    add_counters(all, metric("cardea_request_bytes_total"), "route", sum_.request_bytes);
    add_counters(all, metric("cardea_response_bytes_total"), "route", sum_.response_bytes);
    add_counters(all, metric("cardea_shed_total"), "reason", sum_.shed, zeros::shown);
    add_counters(all, metric("cardea_tls_handshakes_total"), "outcome", sum_.handshakes);
    add_http2(all, sum_.http2);
    add_counters(all, metric("cardea_retries_total"), "reason", sum_.retries, zeros::shown);
    add_counters(all, metric("cardea_forwarded_total"), "outcome", sum_.forwarded, zeros::shown);
    add_counters(all, metric("cardea_denied_total"), "reason", sum_.denied);
    add_counters(all, metric("cardea_rate_limited_total"), "limit", sum_.limited);
    add_counters(all, metric("cardea_mcp_client_sessions_ended_total"), "reason", sum_.sessions_ended);
    family bundles{metric("cardea_bundle_requests_total")};
    for (const auto& [key, n] : sum_.bundles) {
        const auto& [bundle, method, outcome] = key;
        bundles.add({{"bundle", bundle}, {"method", method}, {"outcome", name(outcome)}}, n);
    }
    all.add(std::move(bundles));
    family searches{metric("cardea_bundle_searches_total")};
    for (const auto& [key, n] : sum_.searches) {
        searches.add({{"bundle", key.first}, {"outcome", key.second}}, n);
    }
    all.add(std::move(searches));
    all.add(metric("cardea_requests_in_flight"), sum_.in_flight);
    return all.take_process();
}

std::span<const counted_family> counted_families() noexcept
{
    return counted;
}

}  // namespace gateway::telemetry
