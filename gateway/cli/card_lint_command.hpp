// `cardea card lint`: checks a card from a file or a URL.
#pragma once

#include "a2a/card/card_lint.hpp"
#include "core/error.hpp"

#include <string>

namespace gateway::cli {

// The text of the card. `source` is a file or an http or https URL; the default limits of agents' cards apply. Blocking.
// Errors: config_invalid if the file cannot be read, upstream_status if the answer is not 200, otherwise those of the
// fetch. The detail completes the sentence `SOURCE: DETAIL`.
core::result<std::string> read_card(const std::string& source);

// Like a2a::lint_card(). If `source` is a URL, it also reports an address in the card to which calls would not go.
::a2a::lint_report lint_found_card(const std::string& text, const std::string& source);

// Printable: one line for each problem, such as `error: skills[0].id: missing`, and a last line with their numbers. With
// `explain` each problem is followed by its section of the specification.
std::string lint_text(const ::a2a::lint_report& report, const std::string& source, bool explain);

}  // namespace gateway::cli
