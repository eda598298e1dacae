// What a session is found by that lives in this process.
#pragma once

#include <string>

namespace gateway::mcp_path {

// Not to be guessed, and of no other process: 16 bytes of chance.
std::string new_session_handle();

}  // namespace gateway::mcp_path
