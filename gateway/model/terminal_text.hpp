// Text from elsewhere for a terminal, which obeys some of what it is shown. Pure.
#pragma once

#include "core/json/json.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::model {

// Control characters (C0, DEL, C1), those that turn the direction of text or begin lines of their own, and tags become
// \uXXXX, as in JSON, whose strings keep their meaning thus; what is no UTF-8 becomes U+FFFD. `lines`: LF stays.
std::string printable(std::string_view text, bool lines = false);

// JSON over several lines, printable, with a line feed at its end.
std::string shown_json(const core::json& value);

// Columns as wide as they must be, two spaces between them and none at the end of a line; the first row is the heading. Cells are made printable.
std::string shown_table(const std::vector<std::vector<std::string>>& rows);

// Every value that is no object and no array, with its path, such as `skills[0].id`. Text is shown without quotes.
std::vector<std::vector<std::string>> flattened(const core::json& value);

}  // namespace gateway::model
