// The answers of the management methods about agents as text for people, printable, in lines unless another thing is said. Pure.
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

// The result of bundles/list: a table of the members, and one of the names that are not as a prefix and the member's own make them.
std::string bundles_table(const core::json& found);

// The state of an agent's card, with its failure; not printable.
std::string state_of(const core::json& agent);

// The member as text: a string without quotes, anything else as JSON, empty if it is absent or null; not printable.
std::string shown_member(const core::json& object, std::string_view key);

// The `changes` of agents/card: how the card that callers get differs from the agent's own, and why.
std::string changes_text(const core::json& changes);

// The result of agents/history: the cards, the latest first, with the differences to the one before.
std::string history_text(const core::json& found);

// The status of an agent of agents/health, with its sentences. Without an end of the line.
std::string status_line(const core::json& agent);

// The answer to a method that contains or releases `about`, in a line.
std::string containment_text(const std::string& about, const core::json& result);

// The `principals` of principals/list.
std::string principals_table(const core::json& found);

}  // namespace gateway::cli
