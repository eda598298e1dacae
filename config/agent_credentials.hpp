// What an agent is shown that asks who calls, and what it gets of its callers' credentials: `credentials`, `headers` and
// `caller_credentials` of an agent. Each reader reports what is wrong and goes on. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/agent.hpp"
#include "core/agent_credentials.hpp"
#include "core/json/json.hpp"

#include <string>
#include <string_view>

namespace config {

// A map with exactly one kind of credentials. No problem shows a secret.
core::agent_credentials read_credentials(const field& f, const secret_reader& secrets, problem_list& problems);

// As they are written, with secrets masked. Null: there are none.
core::json shown_credentials(const core::agent_credentials& credentials);

// `drop`, `passthrough`, or a list of names of header fields.
core::caller_credentials read_caller_credentials(const field& f, problem_list& problems);

core::json shown_caller_credentials(const core::caller_credentials& passed);

// The header field that the agent's credentials are sent in, in lower case; empty: in none.
std::string credential_field(const core::agent& agent);

// What contradicts itself in an agent whose parts were all read: two sources of one header field. `path` and `at` are the
// agent's.
void check_credentials(const core::agent& agent, const std::string& path, place at, problem_list& problems);

}  // namespace config
