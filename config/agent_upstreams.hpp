// Where an agent is: one address or several, and what is said of them. Each reports what is wrong and goes on.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/agent.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace config {

// Takes `url` or `upstreams` of an A2A agent out of `given`. `path`, `at`: of the agent.
void read_upstreams(members& given, std::string_view path, place at, core::agent& into, problem_list& problems);

// Whether a key is for A2A agents alone, of those of this file.
void refuse_upstreams_of_mcp(const members& given, problem_list& problems);

// An absolute path, with a query if it has one.
std::optional<std::string> read_health_path(const field& f, problem_list& problems);

// The same value as a duration with a unit; nodes of numbers are made in `made`. What is no number stays, and is refused as no
// duration.
field with_milliseconds(field f, std::deque<node>& made, problem_list& problems);

}  // namespace config
