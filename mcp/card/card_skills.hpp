// The skills of a card, which are the tools of an MCP server. Pure; any thread. Internal to mcp.
#pragma once

#include "core/json/json.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace mcp {

// Whether a tool's own member of this name would be taken for one that A2A gives a skill.
bool means_something_else(std::string_view member);

// The first that is not empty; empty: none.
std::string first_of(std::initializer_list<std::string> texts);

// What A2A wants of a skill, without anything of MCP.
core::json skill_of(const listed_item& tool);

// That skill with all members of its tool, as JSON text.
std::string skill_text(const core::json& skill, const listed_item& tool);

}  // namespace mcp
