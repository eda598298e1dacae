// The answers of the management methods as tables for people. Pure.
#pragma once

#include "core/json/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::cli {

// The first is the heading; cells as they came, not yet made printable.
using table_rows = std::vector<std::vector<std::string>>;

// Of agents/list and of agents/health.
table_rows list_rows(const core::json& agents);
table_rows health_rows(const core::json& agents);

// Of agents/health; empty: there is none.
std::string shown_summary(const core::json& summary);

// How an agent's card stands.
std::string state_of(const core::json& agent);

// A line for each.
std::string shown_problems(const core::json& problems);

// Text without quotes, anything else as JSON; empty: absent or null.
std::string text_of(const core::json& object, std::string_view key);

}  // namespace gateway::cli
