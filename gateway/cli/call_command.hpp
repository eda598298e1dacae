// `cardea call`: sends a message to an agent, or calls a tool, through the admin listener of a running gateway.
#pragma once

#include "gateway/cli/admin_options.hpp"

#include <string>
#include <vector>

namespace gateway::cli {

// The arguments of one command. Text that was not given is empty.
struct call_command : admin_options {
    std::string id;
    std::string text;
    std::string json_file;             // a JSON document for the data part, `-` for stdin
    std::string tool;                  // its name
    std::string arguments;             // of the tool, a JSON object
    std::vector<std::string> headers;  // NAME:VALUE, of the caller
    std::string a2a_version;           // empty: 1.0, or 0.3 if the agent has no other
    bool stream = false;
};

// Prints the text of the answer to stdout while it comes. With output_form::json it prints the whole answer, one line for each event of a
// stream. Failures go to stderr. An MCP server that gets neither message nor tool lists its tools. What is printed is safe for a terminal. Blocking.
exit_code run_call_command(const call_command& command, const environment& variable);

}  // namespace gateway::cli
