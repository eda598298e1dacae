// Agents, cards and sessions as operators are shown them. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/json/json.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/sessions/session_facts.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

// An agent's record with every secret masked, without its metadata: the keys of the configuration whose value is not the usual one.
core::json agent_record(const core::agent& agent);

// State of an agent's card: "fresh", "stale", "failed" or "unknown".
std::string_view card_state(const cards::card_status& status, core::steady_time now);

// An agent's card: its state, age, validators, problems, the latest failure. `for_operator`: with what that was about and
// when, and how often the card was asked for.
core::json card_status_record(const cards::card_status& status, core::steady_time now, bool for_operator);

// How many there are, and why of the first of them.
core::json hidden_tools_record(const cards::hidden_tools& hidden);

// An agent's card in short: its state, age, the latest failure's code.
core::json card_summary(const cards::card_status& status, core::steady_time now);

// A session with an MCP server: its state and why, what is spoken, for how long it has been ready, restarts.
// `for_operator`: with what the server itself said of it, its latest failure, attempts, and when the next one is.
core::json session_record(const sessions::session_facts& session, core::steady_time now, bool for_operator);

// Adds to what an agent's card is shown as, for operators: what was tolerated or left out of what the server lists; and that its callers
// get less than the server has, because it speaks only the legacy era and `sessionless` keeps clients of both eras in the modern one.
void add_session_problems(core::json& card_status, const core::agent& agent, const sessions::session_facts& session);

// The endpoints of an agent: their numbers, breakers, checks and calls in flight. Empty: it is not called over HTTP.
core::json endpoint_records(const model::agent_entry& agent);

// Path, wording and weight of each.
core::json card_problems_record(const std::vector<::a2a::card_problem>& problems);

// RFC 3339, in UTC.
std::string shown_time(core::wall_time at);

}  // namespace gateway::management
