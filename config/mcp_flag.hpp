// An MCP server of the command line. Pure.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"

#include <string_view>

namespace config {

// `ID=COMMAND`, whose words are the program and its arguments (config/words.hpp), or `ID=URL` for streamable HTTP: the
// same agent as one of a file. The detail of the error says what is wrong and what is expected; of the command it shows
// nothing, since arguments may be credentials.
core::result<core::agent> parse_mcp_flag(std::string_view flag);

}  // namespace config
