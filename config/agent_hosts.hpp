// Names of hosts that agents have for themselves: `agents.<id>.hosts` and `agent_hosts`. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace config {

inline constexpr std::string_view expected_host_pattern =
    "a DNS name with {id} in its first label, such as \"{id}.agents.example.com\"";

// A pattern of core::valid_host_pattern(), in lower case.
core::result<std::string> parse_host_pattern(std::string_view text);

// Names of core::valid_host_name(), in lower case, each once.
std::vector<std::string> read_agent_hosts(const field& f, problem_list& problems);

// Names by which callers reach the gateway itself, in lower case: `hosts`, the host of `public_url`, that of `listen`, and localhost.
std::vector<std::string> own_hosts(const process_settings& settings);

// The names of an agent: its own `hosts`, and the one that `pattern` (agent_hosts) gives to its id, if it makes one.
std::vector<std::string> hosts_of(const core::agent& agent, std::string_view pattern);

// A name that two agents have, or that the gateway has itself.
struct host_conflict {
    std::size_t agent = 0;  // its place in the settings
    std::string_view key;   // below the agent: "hosts"; empty: the id
    std::string what;       // a predicate, and what was expected
};
std::vector<host_conflict> host_conflicts_of(const settings& all);

// The problem of one name.
std::string claimed_by_gateway(std::string_view name);
std::string claimed_by_agent(std::string_view name, std::string_view id);

}  // namespace config
