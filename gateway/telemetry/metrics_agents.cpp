// The families of the metrics page that have series of agents. over 400 lines: one table of families.
#include "gateway/telemetry/mcp_counters.hpp"
#include "gateway/telemetry/metrics_page.hpp"

#include <array>

namespace gateway::telemetry {
namespace {

// A tool of this name shares the series of those that have none.
constexpr std::string_view other_tool = "other";

void add_requests(family& into, const agent_sample& of)
{
    const auto* calls = of.counters->calls();
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

// All of them, also those that never happened: the first failure is an increase.
void add_calls(family& into, const agent_sample& of)
{
    outcome_counters sum;
    if (const auto* calls = of.counters->calls()) {
        for (const auto& method : calls->requests) {
            sum.merge(method);
        }
    }
    if (const auto* posted = of.counters->messages()) {
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

void add_status(family& into, const agent_sample& of)
{
    for (const auto& [status, agents] : of.status->status) {
        into.add({{"agent", of.id}, {"status", status}}, agents);
    }
}

void add_info(family& into, const agent_sample& of)
{
    if (const auto& facts = of.status->facts) {
        into.add(
            {{"agent", of.id},
             {"name", label_of(facts->name)},
             {"protocol", facts->protocol},
             {"version", label_of(facts->version)},
             {"source", facts->source}},
            std::uint64_t{1}
        );
    }
}

void add_card_problems(family& into, const agent_sample& of)
{
    for (const auto& [severity, n] : of.card->problems) {
        into.add({{"agent", of.id}, {"severity", severity}}, n);
    }
}

void add_upstream_errors(family& into, const agent_sample& of)
{
    if (const auto* calls = of.counters->calls()) {
        each(calls->upstream_errors, [&](core::errc reason, std::uint64_t n) {
            into.add_some({{"agent", of.id}, {"reason", core::name(reason)}}, n);
        });
        into.add_some({{"agent", of.id}, {"reason", "slow"}}, calls->slow);
    }
}

void add_translation_lost(family& into, const agent_sample& of)
{
    const auto* calls = of.counters->calls();
    if (calls != nullptr) {
        into.add_some({{"agent", of.id}}, calls->translation_lost);
    }
}

void add_durations(family& into, const agent_sample& of)
{
    if (const auto* calls = of.counters->calls()) {
        into.add({{"agent", of.id}}, calls->duration);
    }
}

void add_first_bytes(family& into, const agent_sample& of)
{
    if (const auto* calls = of.counters->calls()) {
        into.add({{"agent", of.id}}, calls->first_byte);
    }
}

void add_streams(family& into, const agent_sample& of)
{
    if (const auto* calls = of.counters->calls()) {
        into.add({{"agent", of.id}}, static_cast<double>(calls->streams_active));
    }
}

void add_ended_streams(family& into, const agent_sample& of)
{
    if (const auto* calls = of.counters->calls()) {
        each(calls->streams_ended, [&](model::stream_end reason, std::uint64_t n) {
            into.add_some({{"agent", of.id}, {"reason", model::name(reason)}}, n);
        });
    }
}

// As 0.3 spells them, whatever the agent speaks.
std::string_view label_of(::a2a::task_state state)
{
    auto spelling = ::a2a::spelled(state, ::a2a::body_shape::types);
    spelling.remove_prefix(1);
    spelling.remove_suffix(1);
    return spelling;
}

void add_task_states(family& into, const agent_sample& of)
{
    if (const auto* calls = of.counters->calls()) {
        each(calls->task_states, [&](::a2a::task_state state, std::uint64_t n) {
            into.add_some({{"agent", of.id}, {"state", label_of(state)}}, n);
        });
    }
}

void add_card_uses(family& into, const agent_sample& of)
{
    each(of.counters->cards(), [&](model::card_use use, std::uint64_t n) {
        into.add_some({{"agent", of.id}, {"result", model::name(use)}}, n);
    });
}

void add_card_fetches(family& into, const agent_sample& of)
{
    const auto& card = *of.card;
    into.add_some({{"agent", of.id}, {"outcome", "ok"}}, card.fetched - card.not_modified);
    into.add_some({{"agent", of.id}, {"outcome", "not_modified"}}, card.not_modified);
    for (const auto& [reason, n] : card.failures) {
        into.add_some({{"agent", of.id}, {"outcome", core::name(reason)}}, n);
    }
}

void add_card_age(family& into, const agent_sample& of)
{
    if (of.card->age) {
        into.add({{"agent", of.id}}, seconds(*of.card->age));
    }
}

void add_card_changes(family& into, const agent_sample& of)
{
    into.add_some({{"agent", of.id}}, of.card->changes);
}

void add_messages_of_callers(family& into, const agent_sample& of)
{
    const auto* posted = of.counters->messages();
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

void add_translated(family& into, const agent_sample& of)
{
    const auto* posted = of.counters->messages();
    for (std::size_t speaks = 0; posted != nullptr && speaks < mcp_counters::eras; ++speaks) {
        into.add_some(
            {{"agent", of.id}, {"era", ::mcp::name(static_cast<::mcp::era>(speaks))}},
            posted->translated[speaks]
        );
    }
}

void add_message_times(family& into, const agent_sample& of)
{
    if (const auto* posted = of.counters->messages()) {
        into.add({{"agent", of.id}}, posted->duration);
    }
}

void add_tool_calls(family& into, const agent_sample& of)
{
    const auto* posted = of.counters->messages();
    if (posted == nullptr) {
        return;
    }
    std::uint64_t others = posted->other_tools;
    for (const auto& [tool, n] : posted->tools) {
        if (tool == other_tool) {
            others += n;
        } else {
            into.add({{"agent", of.id}, {"tool", tool}}, n);
        }
    }
    into.add_some({{"agent", of.id}, {"tool", other_tool}}, others);
}

void add_hidden_tools(family& into, const agent_sample& of)
{
    if (of.card->hidden_tools) {
        into.add({{"agent", of.id}}, *of.card->hidden_tools);
    }
}

void add_session_up(family& into, const agent_sample& of)
{
    if (of.session->up) {
        into.add({{"agent", of.id}}, *of.session->up);
    }
}

void add_session_state(family& into, const agent_sample& of)
{
    for (const auto& [state, sessions] : of.session->states) {
        into.add({{"agent", of.id}, {"state", state}}, sessions);
    }
}

void add_session_losses(family& into, const agent_sample& of)
{
    for (const auto& [reason, n] : of.session->losses) {
        into.add_some({{"agent", of.id}, {"reason", reason}}, n);
    }
}

void add_session_attempts(family& into, const agent_sample& of)
{
    into.add({{"agent", of.id}}, of.session->attempts);
}

void add_session_restarts(family& into, const agent_sample& of)
{
    into.add_some({{"agent", of.id}}, of.session->restarts);
}

void add_handshake_time(family& into, const agent_sample& of)
{
    if (of.session->initialize) {
        into.add({{"agent", of.id}}, seconds(*of.session->initialize));
    }
}

void add_walks(family& into, const agent_sample& of)
{
    into.add_some({{"agent", of.id}, {"outcome", "changed"}}, of.session->walks_changed);
    into.add_some({{"agent", of.id}, {"outcome", "unchanged"}}, of.session->walks_unchanged);
    into.add_some({{"agent", of.id}, {"outcome", "incomplete"}}, of.session->walks_incomplete);
    into.add_some({{"agent", of.id}, {"outcome", "failed"}}, of.session->walks_failed);
}

void add_messages(family& into, const agent_sample& of)
{
    into.add_some({{"agent", of.id}, {"direction", "received"}}, of.session->received);
    into.add_some({{"agent", of.id}, {"direction", "sent"}}, of.session->sent);
}

void add_refused_messages(family& into, const agent_sample& of)
{
    into.add_some({{"agent", of.id}}, of.session->refused);
}

void add_write_queue(family& into, const agent_sample& of)
{
    if (of.session->queued) {
        into.add({{"agent", of.id}}, *of.session->queued);
    }
}

void add_token_refreshes(family& into, const agent_sample& of)
{
    into.add_some({{"agent", of.id}, {"outcome", "ok"}}, of.token->renewed);
    into.add_some({{"agent", of.id}, {"outcome", "failed"}}, of.token->failed);
}

void add_token_age(family& into, const agent_sample& of)
{
    if (of.token->age) {
        into.add({{"agent", of.id}}, seconds(*of.token->age));
    }
}

void add_client_sessions(family& into, const agent_sample& of)
{
    into.add({{"agent", of.id}}, of.callers->sessions);
}

void add_warm_programs(family& into, const agent_sample& of)
{
    if (of.callers->warm) {
        into.add({{"agent", of.id}}, *of.callers->warm);
    }
}

// Their numbers are from 1.
template <class Visitor>
void each_endpoint(const endpoint_sample& all, const Visitor& visit)
{
    visit("1", all);
    std::size_t number = 1;
    for (const auto& each : all.others) {
        visit(std::to_string(++number), each);
    }
}

void add_endpoint_state(family& into, const agent_sample& of)
{
    each_endpoint(*of.endpoint, [&](const std::string& number, const endpoint_sample& each) {
        for (const auto& [state, endpoints] : each.states) {
            into.add({{"agent", of.id}, {"endpoint", number}, {"state", state}}, endpoints);
        }
    });
}

void add_breaker_openings(family& into, const agent_sample& of)
{
    each_endpoint(*of.endpoint, [&](const std::string& number, const endpoint_sample& each) {
        into.add_some({{"agent", of.id}, {"endpoint", number}}, each.openings);
    });
}

void add_queue_length(family& into, const agent_sample& of)
{
    into.add({{"agent", of.id}}, of.endpoint->queued);
}

using enum metric_type;
using enum sample_part;

constexpr auto all_families = std::to_array<agent_family>({
    {"cardea_agent_info",
     "1, with what an agent is as labels: name and version as its card has them.",
     gauge,
     sample_part::status,
     add_info},
    {"cardea_agent_status",
     "1 for the status that an agent has, 0 for the others.",
     gauge,
     sample_part::status,
     add_status},
    {"cardea_agent_calls_total",
     "Calls of an agent, and messages to an MCP server, by outcome.",
     counter,
     counters,
     add_calls},
    {"cardea_agent_requests_total",
     "Calls of an agent by protocol, method and outcome.",
     counter,
     counters,
     add_requests},
    {"cardea_upstream_errors_total",
     "Calls that failed on the agent's side, by reason.",
     counter,
     counters,
     add_upstream_errors},
    {"cardea_translation_lost_total",
     "Members of A2A that translations of an agent's calls dropped.",
     counter,
     counters,
     add_translation_lost},
    {"cardea_agent_request_duration_seconds",
     "Time from a call's start to the end of its answer, without answers that are streams.",
     histogram,
     counters,
     add_durations},
    {"cardea_agent_time_to_first_byte_seconds",
     "Time until the agent's answer to a call began, streams included.",
     histogram,
     counters,
     add_first_bytes},
    {"cardea_streams_active", "Event streams that are open now.", gauge, counters, add_streams},
    {"cardea_streams_ended_total",
     "Event streams that have ended, by who or what ended them.",
     counter,
     counters,
     add_ended_streams},
    {"cardea_task_states_total",
     "Tasks that came to a state, as answers to calls showed them.",
     counter,
     counters,
     add_task_states},
    {"cardea_card_cache_total", "Requests for an agent's card by what the cache had.", counter, counters, add_card_uses
    },
    {"cardea_card_fetch_total",
     "Fetches of an agent's card by outcome: ok, not_modified or why not.",
     counter,
     card,
     add_card_fetches},
    {"cardea_card_age_seconds", "Time since an agent's card was fetched or confirmed.", gauge, card, add_card_age},
    {"cardea_card_changes_total",
     "How often a different card of an agent was published.",
     counter,
     card,
     add_card_changes},
    {"cardea_card_problems", "Problems of an agent's card, by severity.", gauge, card, add_card_problems},
    {"cardea_mcp_session_up", "1 while the session with an MCP server is there, else 0.", gauge, session, add_session_up
    },
    {"cardea_mcp_session_state",
     "1 for the state that the session with an MCP server is in, 0 for the others.",
     gauge,
     session,
     add_session_state},
    {"cardea_mcp_session_losses_total",
     "Sessions with an MCP server that were lost or could not begin, by why.",
     counter,
     session,
     add_session_losses},
    {"cardea_mcp_attempts_total",
     "Attempts to begin the session with an MCP server, whatever came of them.",
     counter,
     session,
     add_session_attempts},
    {"cardea_mcp_session_restarts_total",
     "Connections to an MCP server that were made after the first.",
     counter,
     session,
     add_session_restarts},
    {"cardea_mcp_initialize_seconds",
     "How long the latest handshake with an MCP server took.",
     gauge,
     session,
     add_handshake_time},
    {"cardea_mcp_list_refreshes_total",
     "Walks over the lists of an MCP server, by outcome: changed, unchanged, incomplete, failed.",
     counter,
     session,
     add_walks},
    {"cardea_mcp_messages_total", "Messages from and to an MCP server.", counter, session, add_messages},
    {"cardea_mcp_messages_refused_total",
     "What an MCP server sent that is no message of the protocol.",
     counter,
     session,
     add_refused_messages},
    {"cardea_mcp_write_queue_bytes",
     "Bytes that an MCP server has not read from its input yet.",
     gauge,
     session,
     add_write_queue},
    {"cardea_mcp_requests_total",
     "Messages that callers posted to an MCP server, by method, era and outcome.",
     counter,
     counters,
     add_messages_of_callers},
    {"cardea_mcp_translated_total",
     "Messages of callers that speak another era than the MCP server, by the caller's era.",
     counter,
     counters,
     add_translated},
    {"cardea_mcp_request_seconds",
     "Time from a message's start to the end of its answer, without requests that stay open.",
     histogram,
     counters,
     add_message_times},
    {"cardea_mcp_tool_calls_total",
     "Calls of an MCP server's tools that it lists, at most 200 an agent; else other.",
     counter,
     counters,
     add_tool_calls},
    {"cardea_mcp_tools_hidden", "Tools that an MCP server lists and callers do not get.", gauge, card, add_hidden_tools
    },
    {"cardea_mcp_client_sessions",
     "Callers' sessions with an MCP server that live in this process.",
     gauge,
     callers,
     add_client_sessions},
    {"cardea_mcp_warm_programs", "Programs of an MCP server that wait for clients.", gauge, callers, add_warm_programs},
    {"cardea_agent_token_refreshes_total",
     "Tokens that an agent's OAuth server was asked for, by outcome: ok, failed.",
     counter,
     token,
     add_token_refreshes},
    {"cardea_agent_token_age_seconds",
     "Time since the token in use came from the agent's OAuth server.",
     gauge,
     token,
     add_token_age},
    {"cardea_endpoint_state",
     "1 for the state of the breaker of an agent's endpoint, 0 for the others.",
     gauge,
     endpoint,
     add_endpoint_state},
    {"cardea_breaker_openings_total",
     "How often the breaker of an agent's endpoint has opened.",
     counter,
     endpoint,
     add_breaker_openings},
    {"cardea_queue_length", "Calls of an agent that wait for one in flight to end.", gauge, endpoint, add_queue_length},
});

bool has_part(const agent_sample& of, sample_part part) noexcept
{
    switch (part) {
        case sample_part::counters:
            return of.counters != nullptr;
        case sample_part::status:
            return of.status != nullptr;
        case sample_part::card:
            return of.card != nullptr;
        case sample_part::session:
            return of.session != nullptr;
        case sample_part::token:
            return of.token != nullptr;
        case sample_part::callers:
            return of.callers != nullptr;
        case sample_part::endpoint:
            return of.endpoint != nullptr;
    }
    return false;
}

template <class Part>
const Part* pointer_to(const std::optional<Part>& part) noexcept
{
    return part ? &*part : nullptr;
}

}  // namespace

agent_sample make_sample(std::string_view id, const agent_counters* counters, const plane_samples& planes)
{
    return {
        .id = id,
        .counters = counters,
        .status = pointer_to(planes.status),
        .card = pointer_to(planes.card),
        .session = pointer_to(planes.session),
        .token = pointer_to(planes.token),
        .callers = pointer_to(planes.callers),
        .endpoint = pointer_to(planes.endpoint)
    };
}

std::span<const agent_family> agent_families() noexcept
{
    return all_families;
}

void add_agent(const agent_family& what, family& into, const agent_sample& of)
{
    if (has_part(of, what.part)) {
        what.add(into, of);
    }
}

}  // namespace gateway::telemetry
