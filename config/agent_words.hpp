// What docs, dumps and comparisons say of a key of agents. Pure.
#pragma once

#include "config/agent_table.hpp"
#include "core/agent.hpp"
#include "core/json/json.hpp"

#include <string>

namespace config {

// As docs/configuration.md says it.
std::string written_as(const agent_setting& row);
std::string usual_text(const agent_setting& row);

// The value in this agent's record as `config dump` writes it, with secrets masked. Null: it has none, or it is shown in another way
// (a card, metadata, a transport).
core::json shown_value(const agent_setting& row, const core::agent& agent);

// Whether both agents have the same value; so it is for what the record of one of them cannot have.
bool same_value(const agent_setting& row, const core::agent& a, const core::agent& b);

}  // namespace config
