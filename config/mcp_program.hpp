// The program of an MCP server: its arguments, its environment, and files of variables as VS Code reads an `envFile`. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/secret.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace config {

// Any text that a C string can hold; never shown.
std::optional<std::string> read_argument(field f, problem_list& problems);

std::vector<std::pair<std::string, core::secret>> read_environment(const field& f, problem_list& problems);

// A variable that decides which code a program loads, and is not for callers of the management API to set.
bool loads_code(std::string_view variable) noexcept;

struct env_file {
    std::vector<std::pair<std::string, std::string>> variables;  // each once: the last line with its name counts
    std::vector<unsigned> other_lines;                           // numbers of lines that are no variable
};

// Each line is `NAME=value` or `NAME: value`, perhaps behind `export `. `#` begins a comment, except in quotes (double,
// single or backticks), which go if they stand around the whole value; in double quotes `\n` and `\r` are line breaks.
// Lines that are neither of these nor empty are for the caller to report.
env_file parse_env_file(std::string_view text);

// The variables in the file that is named; every one is a secret. Lines without one are warned of by their number.
std::vector<std::pair<std::string, core::secret>>
read_env_file(const field& f, const secret_reader& files, problem_list& problems);

}  // namespace config
