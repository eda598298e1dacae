// The table of all families of the metrics page. A metric is two places: its row here, and the class that counts it and gives its
// series the row. docs/metrics.md is generated from the rows.
#pragma once

#include <prometheus/metric_type.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::telemetry {

enum class metric_group : std::uint8_t { callers, agents, mcp_servers, process };

struct metric_row {
    metric_group group;  // a heading of docs/metrics.md
    std::string_view name;
    prometheus::MetricType type;
    std::string_view labels;  // Markdown
    std::string_view help;    // one line without a backslash
    std::string_view more{};  // Markdown, after the help
};

namespace metric_rows {

using enum metric_group;
inline constexpr auto counter = prometheus::MetricType::Counter;
inline constexpr auto gauge = prometheus::MetricType::Gauge;
inline constexpr auto histogram = prometheus::MetricType::Histogram;

// clang-format off
inline constexpr auto all = std::to_array<metric_row>({
    // Callers
    {callers, "cardea_http_requests_total", counter, "`route`, `method`, `code`",
     "Requests by route, HTTP method and status sent."},
    {callers, "cardea_http_request_duration_seconds", histogram, "`route`",
     "Time from a request's start to the end of its answer by route, without answers that are streams."},
    {callers, "cardea_requests_in_flight", gauge, "", "Requests of callers without a whole answer, streams included."},
    {callers, "cardea_request_bytes_total", counter, "`route`", "Bytes received from callers."},
    {callers, "cardea_response_bytes_total", counter, "`route`", "Bytes sent to callers."},
    {callers, "cardea_access_total", counter,
     "`provider` or `none`; `outcome`: `accepted`, `anonymous`, `refused` (401), `ambiguous` (400), `limited` "
     "(429), `unavailable` (503, 504)", "Requests by what became of their credential."},
    {callers, "cardea_access_key_last_used_timestamp_seconds", gauge, "`provider`, `key`",
     "When a key or fixed token of callers was accepted last, in seconds since 1970, to the minute.",
     "Of the 1,024 keys that were used last."},
    {callers, "cardea_denied_total", counter, "`reason` as in [`access_denied`](events.md#audit-lines)",
     "Requests that access denied what they asked for, by reason.", "One request may have two."},
    {callers, "cardea_rate_limited_total", counter, "`limit`: `principal`, `agent`, `address`",
     "Requests that were over a limit of rate_limits."},
    {callers, "cardea_chains_untracked_total", counter, "",
     "Calls that were in no chain because the table of chains was full.", "[Chains](operations/chains.md)."},
    {callers, "cardea_key_set_age_seconds", gauge, "`provider`",
     "How old the keys are that a provider's tokens are checked with."},
    {callers, "cardea_tls_certificate_not_after_timestamp_seconds", gauge, "`listener`, `cert`",
     "When a certificate of a listener, or of its chain, ends, in seconds since 1970."},
    {callers, "cardea_tls_handshakes_total", counter, "`outcome`: `complete`, `resumed`, `failed`",
     "TLS handshakes of callers, by outcome."},
    {callers, "cardea_http2_connections", gauge, "`side`: `caller`, `agent`",
     "Connections of HTTP/2 that are open, to callers and to agents."},
    {callers, "cardea_http2_streams", gauge, "`side`: `caller`, `agent`",
     "Streams of HTTP/2 whose work has not ended, whether or not they were reset."},
    {callers, "cardea_http2_resets_total", counter,
     "`side`: `caller`, `agent`; `by`: that side or `cardea`; `code` as RFC 9113 section 7 names it",
     "Streams of HTTP/2 that were reset, by whom and with which code."},
    {callers, "cardea_http2_goaways_total", counter, "the same",
     "Connections of HTTP/2 that were ended by GOAWAY, by whom and with which code."},
    {callers, "cardea_http2_refused_total", counter,
     "`limit`: `streams`, `resets`, `control`, `pings`, `header`, `header_fields`, `continuations`",
     "What was refused over HTTP/2 since its sender went over a limit.", "Counted from 0."},
    {callers, "cardea_connections_open", gauge, "", "Connections of callers that are open."},
    {callers, "cardea_connections_refused_total", counter, "", "Connections of callers that found no room."},
    {callers, "cardea_queue_seconds", histogram, "", "How long calls waited for a place among those of their agents.",
     "Also those that got none."},
    {callers, "cardea_shed_total", counter,
     "`reason`: `queue_full`, `queue_share`, `queue_timeout`, `streams`, `stream_share`, `overload`",
     "Calls that were refused for load alone, by reason.", "Counted from 0."},
    {callers, "cardea_overload_level", gauge, "", "How overloaded the gateway is: 0, not at all, to 3.",
     "[Overload](operations/failures.md#overload)."},
    {callers, "cardea_retries_total", counter, "`reason`: `unconnected`, `unacknowledged`, `unanswered`",
     "Calls that were sent again, by why.",
     "Counted from 0. [Which calls](operations/failures.md#calls-that-are-sent-again)."},
    {callers, "cardea_forwarded_total", counter,
     "`outcome`: `answered`, `failed`, `unreachable`, `gone`, `no_url`, `certificate`, `again`",
     "Requests of MCP sessions that live in another replica, by what became of them.",
     "Counted from 0. [Sessions and replicas](operations/replicas.md#sessions)."},
    // Agents and cards
    {agents, "cardea_agent_calls_total", counter,
     "`agent`, `outcome`: `ok`, `caller_error`, `upstream_error`, `gateway_error`",
     "Calls of an agent, and messages to an MCP server, by outcome.",
     "Counted from 0. A bridged call counts once in each protocol."},
    {agents, "cardea_agent_status", gauge, "`agent`, `status`: `healthy`, `degraded`, `unhealthy`, `unknown`, `contained`",
     "1 for the status that an agent has, 0 for the others."},
    {agents, "cardea_agent_info", gauge,
     "`agent`, `name`, `version`, `protocol` (`a2a`, `mcp`), `source` (`configuration`, `management`, "
     "`registration`)", "1, with what an agent is as labels: name and version as its card has them."},
    {agents, "cardea_agent_requests_total", counter, "`agent`, `protocol`, `rpc_method`, `outcome`",
     "Calls of an agent by protocol, method and outcome."},
    {agents, "cardea_upstream_errors_total", counter, "`agent`, `reason`: `slow`, or a [code](answers.md)",
     "Calls that failed on the agent's side, by reason."},
    {agents, "cardea_translation_lost_total", counter, "`agent`",
     "Members of A2A that translations of an agent's calls dropped.",
     "[What is dropped](protocol-profile.md#dropped-and-counted)."},
    {agents, "cardea_grpc_calls_total", counter, "`agent`, `method`, `status`: a name of google.rpc.Code",
     "Calls by gRPC of an agent, by method of A2A 1.0 and status. `other` is a service that passes unread."},
    {agents, "cardea_grpc_numbers_rounded_total", counter, "`agent`",
     "Numbers that no double equals, rounded in answers that were translated from or to gRPC."},
    {agents, "cardea_agent_request_duration_seconds", histogram, "`agent`",
     "Time from a call's start to the end of its answer, without answers that are streams."},
    {agents, "cardea_agent_time_to_first_byte_seconds", histogram, "`agent`",
     "Time until the agent's answer to a call began, streams included."},
    {agents, "cardea_endpoint_state", gauge, "`agent`, `endpoint` (from `1`), `state`: `closed`, `open`, `half_open`",
     "1 for the state of the breaker of an agent's endpoint, 0 for the others."},
    {agents, "cardea_breaker_openings_total", counter, "`agent`, `endpoint`",
     "How often the breaker of an agent's endpoint has opened."},
    {agents, "cardea_queue_length", gauge, "`agent`", "Calls of an agent that wait for one in flight to end."},
    {agents, "cardea_streams_active", gauge, "`agent`", "Event streams that are open now."},
    {agents, "cardea_streams_ended_total", counter,
     "`agent`, `reason`: `complete`, `caller`, `upstream`, `idle`, `drain`, `contained`",
     "Event streams that have ended, by who or what ended them."},
    {agents, "cardea_task_states_total", counter, "`agent`, `state` as A2A 0.3 spells it",
     "Tasks that came to a state, as answers to calls showed them."},
    {agents, "cardea_card_cache_total", counter, "`agent`, `result`: `hit`, `stale`, `miss`, `negative`",
     "Requests for an agent's card by what the cache had."},
    {agents, "cardea_card_fetch_total", counter, "`agent`, `outcome`: `ok`, `not_modified`, or a code",
     "Fetches of an agent's card by outcome: ok, not_modified or why not."},
    {agents, "cardea_card_age_seconds", gauge, "`agent`", "Time since an agent's card was fetched or confirmed."},
    {agents, "cardea_card_changes_total", counter, "`agent`", "How often a different card of an agent was published."},
    {agents, "cardea_card_problems", gauge, "`agent`, `severity`: `error`, `warning`, `note`",
     "Problems of an agent's card, by severity."},
    {agents, "cardea_agent_token_refreshes_total", counter, "`agent`, `outcome`: `ok`, `failed`",
     "Tokens that an agent's OAuth server was asked for, by outcome: ok, failed."},
    {agents, "cardea_agent_token_age_seconds", gauge, "`agent`",
     "Time since the token in use came from the agent's OAuth server."},
    {agents, "cardea_upstream_connections_idle", gauge, "", "Connections to agents that wait for the next call."},
    {agents, "cardea_dns_failures_total", counter, "",
     "Lookups of agents' names that failed or took longer than timeouts.dns."},
    // MCP servers
    {mcp_servers, "cardea_mcp_session_up", gauge, "`agent`",
     "1 while the session with an MCP server is there, else 0."},
    {mcp_servers, "cardea_mcp_session_state", gauge, "`agent`, `state`: its [state](architecture.md#mcp-servers)",
     "1 for the state that the session with an MCP server is in, 0 for the others."},
    {mcp_servers, "cardea_mcp_session_losses_total", counter,
     "`agent`, `reason` as in [`mcp_session`](events.md#mcp-servers)",
     "Sessions with an MCP server that were lost or could not begin, by why."},
    {mcp_servers, "cardea_mcp_attempts_total", counter, "`agent`",
     "Attempts to begin the session with an MCP server, whatever came of them."},
    {mcp_servers, "cardea_mcp_session_restarts_total", counter, "`agent`",
     "Connections to an MCP server that were made after the first."},
    {mcp_servers, "cardea_mcp_initialize_seconds", gauge, "`agent`",
     "How long the latest handshake with an MCP server took."},
    {mcp_servers, "cardea_mcp_list_refreshes_total", counter,
     "`agent`, `outcome`: `changed`, `unchanged`, `incomplete`, `failed`",
     "Walks over the lists of an MCP server, by outcome: changed, unchanged, incomplete, failed."},
    {mcp_servers, "cardea_mcp_messages_total", counter, "`agent`, `direction`: `received`, `sent`",
     "Messages from and to an MCP server."},
    {mcp_servers, "cardea_mcp_messages_refused_total", counter, "`agent`",
     "What an MCP server sent that is no message of the protocol."},
    {mcp_servers, "cardea_mcp_write_queue_bytes", gauge, "`agent`",
     "Bytes that an MCP server has not read from its input yet."},
    {mcp_servers, "cardea_mcp_requests_total", counter,
     "`agent`, `method` (`other`: answers, batches, unreadable), `era`, `outcome`",
     "Messages that callers posted to an MCP server, by method, era and outcome."},
    {mcp_servers, "cardea_mcp_translated_total", counter, "`agent`, `era`: the caller's",
     "Messages of callers that speak another era than the MCP server, by the caller's era."},
    {mcp_servers, "cardea_mcp_request_seconds", histogram, "`agent`",
     "Time from a message's start to the end of its answer, without requests that stay open."},
    {mcp_servers, "cardea_mcp_tool_calls_total", counter, "`agent`, `tool`, `outcome`",
     "Calls of an MCP server's tools that it lists, at most 200 an agent; else other."},
    {mcp_servers, "cardea_mcp_tools_hidden", gauge, "`agent`", "Tools that an MCP server lists and callers do not get.",
     "Only with a filter, or with tools that wait to be approved."},
    {agents, "cardea_pins_held", gauge, "`agent`, `kind`: `card`, `instructions`, `tool`",
     "Cards, tools and instructions that wait to be approved.", "Only with `pin: enforce`."},
    {mcp_servers, "cardea_mcp_client_sessions", gauge, "`agent`",
     "Callers' sessions with an MCP server that live in this process.", "Not sessions over streamable HTTP."},
    {mcp_servers, "cardea_mcp_client_sessions_ended_total", counter,
     "`reason`: `deleted`, `lost`, `idle`, `aged`, `evicted`, `refused`, `done`, `withdrawn`, `draining`",
     "Callers' sessions with MCP servers that are over, by why."},
    {mcp_servers, "cardea_bundle_requests_total", counter,
     "`bundle`, `method`, `outcome`: `ok`, `caller_error`, `upstream_error`, `gateway_error`",
     "Messages to a bundle of agents by method and outcome."},
    {mcp_servers, "cardea_bundle_searches_total", counter,
     "`bundle`, `outcome`: `found`, `nothing`, `unknown_name`, `refused`, `failed`",
     "Calls of find_tools and describe_tools, and of call_tool with an unknown name, by outcome."},
    {mcp_servers, "cardea_bundle_tools", gauge, "`bundle`", "Tools that a bundle shows to somebody."},
    {mcp_servers, "cardea_bridge_tasks", gauge,
     "`agent`, `direction`: `a2a_mcp`, `mcp_a2a`, `state` as A2A 0.3 spells it",
     "Tasks that Cardea keeps for callers of A2A at MCP servers, and calls of A2A agents' tools under way, by state."},
    {mcp_servers, "cardea_mcp_parked_calls", gauge, "",
     "Calls that wait until a client of the modern era answers what a server asked."},
    {mcp_servers, "cardea_mcp_server_requests_total", counter, "`method`, `outcome`: `passed`, `answered` by Cardea",
     "Requests of MCP servers to callers, by method and who has them."},
    {mcp_servers, "cardea_mcp_warm_programs", gauge, "`agent`", "Programs of an MCP server that wait for clients."},
    {mcp_servers, "cardea_mcp_recoveries_total", counter, "",
     "Sessions that an MCP server had lost and that have begun again."},
    // The process
    {process, "cardea_build_info", gauge, "`version`, `revision`, `compiler`",
     "1, with the version, its commit and the compiler as labels."},
    {process, "cardea_start_time_seconds", gauge, "", "When the gateway started, in seconds since 1970."},
    {process, "cardea_ready", gauge, "", "1 while /readyz says ready, else 0."},
    {process, "cardea_agents", gauge, "", "Agents that can be reached through the gateway."},
    {process, "cardea_metrics_agents_omitted", gauge, "", "Agents without series of their own, over metrics_agents."},
    {process, "cardea_config_reloads_total", counter, "`outcome`: `ok`, `refused`",
     "Reloads of the configuration: ok, or refused for its problems.", "Counted from 0."},
    {process, "cardea_config_last_reload_successful", gauge, "", "0 after a reload that was refused, else 1."},
    {process, "cardea_config_restart_needed", gauge, "", "1 while settings of the file wait for a restart, else 0."},
    {process, "cardea_config_last_success_timestamp_seconds", gauge, "",
     "When the configuration in use was read, in seconds since 1970."},
    {process, "cardea_handovers_total", counter, "`outcome`: `completed`, `failed`, `refused`",
     "Hand-overs by outcome: completed, after which this process began, failed, or refused.", "Counted from 0."},
    {process, "cardea_store_writes_total", counter,
     "`outcome`: `ok`, `store_failed`, `store_full`, `store_unreachable`, `write_unknown`, `store_newer`",
     "Writes to the store by outcome: ok, or why not.", "Counted from 0. A version conflict is none."},
    {process, "cardea_store_write_seconds", histogram, "",
     "How long writes to the store took, with their wait for those before them."},
    {process, "cardea_store_up", gauge, "", "1 while the database that [replicas](operations/replicas.md) share answers, else 0.",
     "Only with such a store, as the next five."},
    {process, "cardea_store_notify_up", gauge, "", "1 while the database says when other replicas have written, else 0.",
     "Without it they are heard of after `store_options.poll`."},
    {process, "cardea_store_lag_seconds", gauge, "", "How old what the database was last asked for is.",
     "It is up to `store_options.poll` when all is well."},
    {process, "cardea_store_applied_version", gauge, "", "The latest change of agents that is in effect here."},
    {process, "cardea_store_reloads_total", counter, "`reason`: `trimmed`, `regressed`",
     "How often everything was read again: the trail of changes was too short, or the database had lost changes.",
     "Counted from 0."},
    {process, "cardea_replicas", gauge, "", "Replicas that are alive, this one too."},
    {process, "cardea_push_attempts_total", counter,
     "`outcome`: `delivered`, `retried`, or the `reason` of [`push_failed`](events.md#agents-and-cards)",
     "Attempts to deliver a push notification, by outcome.", "Counted from 0."},
    {process, "cardea_contained", gauge, "`kind`: `agent`, `principal`",
     "What operators [contain](operations/contain.md) now.",
     "Principals that are contained with an agent are not counted."},
    {process, "cardea_contained_cut_total", counter, "`kind`: `call`, `stream`, `session`",
     "Work that containments have ended.", "Counted from 0."},
    {process, "cardea_push_queue", gauge, "", "Push notifications that are not delivered yet."},
    {process, "cardea_push_queue_bytes", gauge, "", "Bytes of the push notifications that are not delivered yet."},
    {process, "cardea_push_oldest_seconds", gauge, "",
     "Age of the push notification that has waited longest; 0: none waits."},
    {process, "cardea_trace_spans_total", counter, "`outcome`: `exported`, `dropped`, `refused`, `failed`",
     "Spans of recorded traces, by what became of them.", "Counted from 0 with `trace.endpoint`."},
    {process, "cardea_log_lines_dropped_total", counter, "", "Log lines lost because nobody took them in time."},
    {process, "cardea_audit_dropped_total", counter, "", "Audit lines, and denied requests in them, that are lost."},
    {process, "process_resident_memory_bytes", gauge, "", "Resident memory size in bytes."},
    {process, "process_virtual_memory_bytes", gauge, "", "Virtual memory size in bytes."},
    {process, "process_open_fds", gauge, "", "Number of open file descriptors."},
    {process, "process_max_fds", gauge, "", "Maximum number of open file descriptors."},
    {process, "process_threads", gauge, "", "Number of threads."},
    {process, "process_cpu_seconds_total", counter, "", "Total user and system CPU time spent in seconds."},
    {process, "process_start_time_seconds", gauge, "", "Start time of the process since unix epoch in seconds."},
});
// clang-format on

}  // namespace metric_rows

// The row of a family. A name without a row does not compile.
consteval metric_row metric(std::string_view name)
{
    for (const auto& row : metric_rows::all) {
        if (row.name == name) {
            return row;
        }
    }
    throw "there is no such row";
}

}  // namespace gateway::telemetry
