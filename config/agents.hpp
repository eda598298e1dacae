// Agent records out of a configuration: the only way by which text becomes a core::agent. Pure.
#pragma once

#include "config/value_kind.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace config {

// The map `agents`, in the order of the file. Takes our own records and those of a SuperX agents.yml; and the map
// `mcpServers` that the configurations of MCP clients have, whose records speak MCP by default.
std::vector<core::agent>
read_agents(const field& agents, const reading& with, core::protocol by_default = core::protocol::a2a);

struct agent_definition {
    core::agent agent;  // usable only if there are no problems
    std::vector<problem> problems;
};

// One record as the management API takes it: the keys of `agents.<id>` as JSON, whose problems begin with `path`.
// Neither variables nor files are for callers: a `bearer_file` or an `env_file` is a problem, and so is a credential with `${` in it. The
// mask that stands for a credential wherever records are shown is no credential.
agent_definition
read_agent(std::string_view id, const core::json& definition, std::string_view path, const tls_checks& tls);

// The problem of a key that no agent has. Keys of MCP clients are recognized.
std::string unknown_agent_key(std::string_view key);

// `ID=URL` of the command line: an A2A agent. The detail of the error says what is wrong and what is expected.
core::result<core::agent> parse_agent_flag(std::string_view flag);

}  // namespace config
