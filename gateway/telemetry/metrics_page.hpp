// The page that Prometheus scrapes, in the parts that it is made of: what is of the whole process, and the families with series
// of agents, which are written agent by agent. Text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Pure; any thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
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
#include <utility>
#include <vector>

namespace gateway::telemetry {

inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

// What the card plane knows of one agent's card.
struct card_sample {
    std::uint64_t fetched = 0;       // fetches that gave a card, also an unchanged one
    std::uint64_t not_modified = 0;  // of those, answered with 304
    std::vector<std::pair<core::errc, std::uint64_t>> failures{};
    std::uint64_t changes = 0;
    std::optional<core::duration> age{};  // since it was fetched; nullopt: there is no card
    std::optional<std::size_t> hidden_tools{
    };  // of the server that it was made of; nullopt: of none, or none is hidden
};

// What the session plane knows of one agent's session. Names are of static tables.
struct session_sample {
    std::string_view state;
    std::span<const std::string_view> states;  // all that there are
    bool up = false;
    std::vector<std::pair<std::string_view, std::uint64_t>> losses{};  // by why
    std::uint64_t attempts = 0;
    std::uint64_t restarts = 0;
    std::optional<core::duration> initialize{};  // the latest; nullopt: there was none
    std::uint64_t walks_changed = 0;
    std::uint64_t walks_unchanged = 0;
    std::uint64_t walks_incomplete = 0;
    std::uint64_t walks_failed = 0;
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::uint64_t refused = 0;
    std::optional<std::size_t> queued{};  // bytes; nullopt: it is not written to
};

// Of one provider of identity whose keys come from elsewhere.
struct key_set_sample {
    std::string provider;
    std::optional<core::duration> age{};  // of the set in use; nullopt: there is none
};

// What the gateway got from the OAuth server of one agent.
struct token_sample {
    std::optional<core::duration> age{};  // of the token in use; nullopt: there is none
    std::uint64_t renewed = 0;
    std::uint64_t failed = 0;
};

// Callers' sessions with one MCP server that live in this process.
struct callers_sample {
    std::uint64_t sessions = 0;
    std::optional<std::uint64_t> warm{};  // programs that wait for clients; nullopt: the server is no program
};

struct gateway_sample {
    std::string version;
    std::string compiler;
    core::wall_time started{};
    bool ready = false;
    std::uint64_t agents = 0;
    std::uint64_t connections = 0;
    std::uint64_t refused_connections = 0;
    std::uint64_t idle_upstream_connections = 0;
    std::uint64_t dropped_log_lines = 0;
    std::uint64_t dropped_audit_lines = 0;
    std::uint64_t recovered_sessions = 0;                             // of callers with MCP servers
    std::array<std::uint64_t, model::session_ends> sessions_ended{};  // of callers with programs, by session_end
    mcp::question_tally server_requests;                              // to callers, in sessions of this process
    std::uint64_t parked_calls = 0;                                   // that wait for what the server has asked for
    std::vector<key_set_sample> key_sets;
    std::uint64_t config_reloads = 0;   // that were carried out
    std::uint64_t config_refusals = 0;  // that were not
    core::wall_time config_since{};     // when the configuration in use was taken
    bool config_refused_last = false;
    std::optional<process_stats> process;  // nullopt: could not be read, and is left out
};

// Every family that is not of agents. `loops`: of all of them together.
std::string process_metrics(const loop_totals& loops, const gateway_sample& gateway);

// What is known of one agent. Null: nothing of this kind.
struct agent_sample {
    std::string_view id;
    const agent_counters* counters = nullptr;  // of all loops together
    const card_sample* card = nullptr;
    const session_sample* session = nullptr;
    const token_sample* token = nullptr;
    const callers_sample* callers = nullptr;
};

enum class sample_part : std::uint8_t { counters, card, session, token, callers };

// A family with series of agents: `add` writes those of one agent, for which it needs `part` of the sample. An agent that
// has none adds nothing.
struct agent_family {
    std::string_view name;
    std::string_view help;
    metric_type type;
    sample_part part;
    void (*add)(family& into, const agent_sample& of);
};

std::span<const agent_family> agent_families() noexcept;

}  // namespace gateway::telemetry
