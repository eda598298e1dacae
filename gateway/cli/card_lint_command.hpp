// `cardea card lint`: a card from a file or from the network, and what is said about it.
#pragma once

#include "a2a/card/card_lint.hpp"
#include "core/error.hpp"

#include <string>

namespace gateway::cli {

// The card in the file or at the http or https URL, within the limits that cards of agents have by default. Blocking.
// Fails with config_invalid if a file cannot be read, with what the fetch failed with, with upstream_status if the answer
// is not 200; the detail reads well behind the name of the file or the URL.
core::result<std::string> read_card(const std::string& where);

// a2a::lint_card(), and of a card that was read from a URL also whether calls would go where it says.
a2a::lint_report lint_found_card(const std::string& text, const std::string& where);

// Printable: one line for each problem, `error: skills[0].id: missing`, with `explain` the section of the specification
// behind it, and a last line that counts.
std::string lint_text(const a2a::lint_report& report, const std::string& where, bool explain);

}  // namespace gateway::cli
