// The parts of a record that change an agent's cards: who sees which skills, overlays of managed extended
// cards, and the patch of every card. Each reader reports what is wrong and goes on; what is shown is read as the same. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/agent.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <vector>

namespace config {

inline constexpr std::size_t most_skill_rules = 64;            // of `skills`, and of `card_patch.skills`
inline constexpr std::size_t most_overlays = 64;               // of one agent
inline constexpr std::size_t longest_overlay = 64 * 1024;      // bytes, as JSON
inline constexpr std::size_t longest_description = 16 * 1024;  // bytes

// `skills`: maps with `id`, and perhaps `visibility` and `required_scopes`.
std::vector<core::skill_rule> read_skill_rules(const field& f, problem_list& problems);

// `overlays`: maps with `when`, and either `card` or `file`, which `files` reads: JSON or YAML.
std::vector<core::card_overlay> read_overlays(const field& f, const secret_reader& files, problem_list& problems);

// `card_patch`: `description`, `documentationUrl`, `provider`, and `skills` with their `tags`.
core::boxed<core::card_patch> read_card_patch(const field& f, problem_list& problems);

core::json shown_skill_rules(const std::vector<core::skill_rule>& rules);
core::json shown_overlays(const std::vector<core::card_overlay>& overlays);

// Null: it changes nothing.
core::json shown_card_patch(const core::card_patch& patch);

}  // namespace config
