// The credentials that Cardea shows an agent, and those of callers that it passes on: `credentials`, `headers` and
// `caller_credentials` of an agent. Each reader reports what is wrong and goes on. Pure.
#pragma once

#include "config/value_kind.hpp"
#include "core/agent.hpp"
#include "core/agent_credentials.hpp"
#include "core/json/json.hpp"

#include <string>
#include <string_view>

namespace config {

// A map with exactly one kind of credentials. No problem shows a secret.
core::agent_credentials read_credentials(const field& f, const reading& with);

// The credentials as they are written, with secrets masked. Null: there are none.
core::json shown_credentials(const core::agent_credentials& credentials);

// `drop`, `passthrough`, or a list of names of header fields.
core::caller_credentials read_caller_credentials(const field& f, problem_list& problems);

core::json shown_caller_credentials(const core::caller_credentials& passed);

// The header field that the agent's credentials are sent in, in lower case; empty: in none.
std::string credential_field(const core::agent& agent);

// Reports two sources of one header field in an agent whose parts were all read. `path` and `at` are the agent's.
void check_credentials(const core::agent& agent, const std::string& path, place at, problem_list& problems);

}  // namespace config
