// What a caller's session in this process is found by.
#pragma once

#include <string>

namespace gateway::mcp::table {

// Not to be guessed, and of no other process: 16 bytes of chance. Any thread.
std::string new_session_handle();

}  // namespace gateway::mcp::table
