// Variables in values: replaced in the configuration file, refused elsewhere. They are replaced after YAML is read, so that a
// variable's content cannot become structure.
#pragma once

#include "config/document.hpp"
#include "config/problem.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace config {

// The value of a variable, or nothing if it is not set.
using environment = std::function<std::optional<std::string>(std::string_view name)>;

// Letters, digits and '_', with no digit in front.
bool is_variable_name(std::string_view text) noexcept;

// The environment's name of the variable that is written `${inside}`. Editors have forms of their own: `${env:NAME}` is
// NAME, `${userHome}` is HOME, and `${input:my-key}`, for which they ask their user, is INPUT_MY_KEY. May be no valid name.
std::string variable_of(std::string_view inside);

// `text` with `${NAME}` and `${NAME:-default}` replaced; the default stands for a variable that is not set or empty, as
// in a shell; `$${` is a literal `${`. Fails with errc::config_invalid; the detail names the variable, never its value.
// So does a text of more than `most` bytes.
core::result<std::string> expand(std::string_view text, const environment& variables, std::size_t most);

// Every scalar of the tree that has a variable, in place; one whose variable is not set becomes unusable. Together they
// take at most `most` bytes.
void expand_all(
    node& root,
    const environment& variables,
    problem_list& problems,
    std::size_t most = document_limits{}.bytes
);

// Reports those in an agent's record that did not come from the configuration file, and variables for a program that decide
// which code is loaded. `path` is the record's own.
void refuse_placeholders(const node& record, std::string_view path, problem_list& problems);

}  // namespace config
