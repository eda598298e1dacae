// The answers of the management methods as text for people, printable, in lines. Pure.
#pragma once

#include "core/json/json.hpp"

#include <string>
#include <string_view>

namespace gateway::cli {

// A table of the `agents` of agents/list.
std::string list_table(const core::json& found);

// A table of the `agents` of agents/health, and a line with their `summary`.
std::string health_table(const core::json& found);

// The result of agents/refreshCard: whether the card changed, its differences and problems.
std::string refreshed_text(const std::string& id, const core::json& result, bool dry_run);

// The result of agents/upsert.
std::string added_line(const core::json& result);

// The state of an agent's card, with its failure; not printable.
std::string state_of(const core::json& agent);

// The member as text: a string without quotes, anything else as JSON, empty if it is absent or null; not printable.
std::string text_of(const core::json& object, std::string_view key);

}  // namespace gateway::cli
