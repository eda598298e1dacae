// The page that Prometheus scrapes, in the parts that it is made of: what is of the whole process, and the families with series
// of agents, which are written agent by agent. Text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Pure; any thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/telemetry/agent_samples.hpp"
#include "gateway/telemetry/metrics_family.hpp"
#include "gateway/telemetry/process_stats.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "mcp/calls/question_tally.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

// Of one provider of identity whose keys come from elsewhere.
struct key_set_sample {
    std::string provider;
    std::optional<core::duration> age{};  // of the set in use; nullopt: there is none
};

// Until when a certificate of a listener is valid.
struct certificate_sample {
    std::string listener;
    std::string cert;  // its file
    core::wall_time not_after{};
};

// Push notifications that the gateway delivers itself.
struct push_sample {
    std::uint64_t waiting = 0;
    std::uint64_t bytes = 0;  // of those
    core::duration oldest{};  // the age of the one that waits longest; 0: none does
    named_counts attempts{};  // by outcome, each of them
};

struct gateway_sample {
    std::string version;
    std::string revision;
    std::string compiler;
    core::wall_time started{};
    bool ready = false;
    std::uint64_t overload = 0;  // level
    std::uint64_t agents = 0;
    std::uint64_t connections = 0;
    std::uint64_t refused_connections = 0;
    std::uint64_t idle_upstream_connections = 0;
    std::uint64_t dns_failures = 0;
    std::uint64_t dropped_log_lines = 0;
    std::uint64_t dropped_audit_lines = 0;
    std::uint64_t recovered_sessions = 0;                             // of callers with MCP servers
    std::array<std::uint64_t, model::session_ends> sessions_ended{};  // of callers with programs, by session_end
    ::mcp::question_tally server_requests;                            // to callers, in sessions of this process
    std::uint64_t parked_calls = 0;                                   // that wait for what the server has asked for
    std::vector<key_set_sample> key_sets;
    named_counts handovers;             // by outcome
    std::uint64_t config_reloads = 0;   // that were carried out
    std::uint64_t config_refusals = 0;  // that were not
    core::wall_time config_since{};     // when the configuration in use was taken
    bool config_refused_last = false;
    bool restart_needed = false;  // settings of the file differ from those in use, and take a restart
    named_counts store_writes;    // by outcome, each of them
    std::vector<certificate_sample> certificates;
    push_sample push;
    named_counts spans;                    // by how they ended, each of them; empty: none was ever recorded
    std::uint64_t omitted_agents = 0;      // that have no series of their own on this page
    std::optional<process_stats> process;  // nullopt: could not be read, and is left out
};

// Every family that is not of agents. `loops`: of all of them together.
std::string process_metrics(const loop_totals& loops, const gateway_sample& gateway);

// The id under which agents without series of their own share some: no agent can have it.
inline constexpr std::string_view other_agents = "(other)";

// What is known of one agent. Null: nothing of this kind.
struct agent_sample {
    std::string_view id;
    const agent_counters* counters = nullptr;  // of all loops together
    const status_sample* status = nullptr;
    const card_sample* card = nullptr;
    const session_sample* session = nullptr;
    const token_sample* token = nullptr;
    const callers_sample* callers = nullptr;
    const endpoint_sample* endpoint = nullptr;
    std::string_view protocol = "a2a";  // that it speaks
};

// With the parts that `planes` has; these outlive the sample.
agent_sample make_sample(std::string_view id, const agent_counters* counters, const plane_samples& planes);

enum class sample_part : std::uint8_t { counters, status, card, session, token, callers, endpoint };

// A family with series of agents: `add` writes those of one agent, for which it needs `part` of the sample.
struct agent_family {
    std::string_view name;
    std::string_view help;
    metric_type type;
    sample_part part;
    void (*add)(family& into, const agent_sample& of);
};

// The same of any agent: one that lacks the part adds nothing.
void add_agent(const agent_family& what, family& into, const agent_sample& of);

std::span<const agent_family> agent_families() noexcept;

}  // namespace gateway::telemetry
