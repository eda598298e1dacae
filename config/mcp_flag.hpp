// `--mcp` of the command line: an MCP server, as a program or a URL. Pure.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace config {

// `ID=COMMAND`, whose words are the program and its arguments (config/words.hpp), or `ID=URL` for streamable HTTP: the
// same agent as one of a file. The detail of the error says what is wrong and what is expected; of the command it shows
// nothing, since arguments may be credentials.
core::result<core::agent> parse_mcp_flag(std::string_view flag);

// The words that a POSIX shell makes of a line (XCU 2.2: single quotes, double quotes, backslash), with no shell: nothing is
// expanded, piped, redirected or run. Where a shell would do one of these it fails; quoted, such characters are text. The
// detail of the error is a predicate with the column (bytes, from 1) and shows nothing else of the line.
core::result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace config
