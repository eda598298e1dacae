// What the metrics page shows of an agent, apart from what the loops count: values that the control loop's planes fill. One of
// several agents together has the sums, and nothing where a sum says nothing.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::telemetry {

// Names of a static table, each with a number.
using named_counts = std::vector<std::pair<std::string_view, std::uint64_t>>;

// Bytes of a text that is not ours and is a label; what is longer is cut between two characters.
inline constexpr std::size_t longest_label = 256;

// Such a text as a label: UTF-8 without control characters, at most `longest_label` bytes.
std::string label_of(std::string_view text);

// What an agent is. Name and version are foreign text.
struct agent_facts {
    std::string name;           // its card's; empty: there is no card
    std::string_view protocol;  // "a2a", "mcp"
    std::string version;        // as the name
    std::string_view source;    // "configuration", "management", "registration"
};

// How the gateway judges an agent.
struct status_sample {
    named_counts status{};               // agents that have it, each of them
    std::optional<agent_facts> facts{};  // nullopt: several agents
};

// What the card plane knows of one agent's card.
struct card_sample {
    std::uint64_t fetched = 0;       // fetches that gave a card, also an unchanged one
    std::uint64_t not_modified = 0;  // of those, answered with 304
    std::vector<std::pair<core::errc, std::uint64_t>> failures{};
    std::uint64_t changes = 0;
    std::optional<core::duration> age{};  // since it was fetched; nullopt: there is no card
    // Of the server that it was made of; nullopt: of none, or it has no filter.
    std::optional<std::uint64_t> hidden_tools{};
    named_counts problems{};  // by severity, each of them
};

// What the session plane knows of one agent's session. Names are of static tables.
struct session_sample {
    named_counts states{};              // sessions that are in it, each of them
    std::optional<std::uint64_t> up{};  // sessions that are; nullopt: of several agents, none of which has one now
    named_counts losses{};              // by why
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
    std::optional<std::uint64_t> queued{};  // bytes; nullopt: it is not written to
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

// The breakers of one agent's endpoints. Names are of a static table.
struct endpoint_sample {
    named_counts states{};  // endpoints that are in it, each of them
    std::uint64_t openings = 0;
    std::uint64_t queued = 0;               // calls that wait for a place
    std::vector<endpoint_sample> others{};  // of one agent: behind the first, in their order
};

// All of that. nullopt: the agent has no such part.
struct plane_samples {
    std::optional<status_sample> status{};
    std::optional<card_sample> card{};
    std::optional<session_sample> session{};
    std::optional<token_sample> token{};
    std::optional<callers_sample> callers{};
    std::optional<endpoint_sample> endpoint{};
};

}  // namespace gateway::telemetry
