// Everything that is wrong with a card, against the specification of its generation: what parsing repairs, and what
// parsing leaves alone. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

struct lint_report {
    // Nothing: the text is not an object at all, and the one problem says so.
    std::optional<card_generation> generation;
    std::vector<card_problem>
        problems;  // errors first, each severity in the order of the walk; an empty path is the card

    std::size_t count(problem_severity severity) const noexcept;
};

// Errors are also: a card that the gateway would refuse, because it has no name or cannot be freed of its agent's address.
lint_report lint_card(std::string_view text, core::json_limits limits = {});

// Where the specification says what belongs at `path` of a card of this generation, such as
// "A2A 0.3.0, section 5.5.4 (AgentSkill)": of the innermost object that it knows. Of a hybrid, 1.0 comes first.
std::string specification_section(std::string_view path, card_generation generation);

}  // namespace a2a
