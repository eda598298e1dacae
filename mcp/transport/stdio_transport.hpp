// An MCP server that is a program: messages are lines on its stdin and stdout (MCP, basic/transports, "stdio").
#pragma once

#include "core/log.hpp"
#include "core/mcp_server.hpp"
#include "mcp/protocol/stderr_log.hpp"
#include "mcp/transport/transport.hpp"
#include "net/loop/loop.hpp"

#include <string>
#include <utility>
#include <vector>

namespace mcp {

// Variables that every server gets from the gateway's own environment, if they are set there: HOME, LOGNAME, PATH, SHELL, TERM,
// USER, as the SDKs do it. Before any thread is started.
std::vector<std::pair<std::string, std::string>> inherited_environment();

// Its stderr goes to the log as `mcp_stderr`, a bounded number of bounded lines. A line on stdout over
// max_message is dropped and logged, and nothing longer is sent. References outlive the transports.
transport_factory stdio_factory(
    net::loop& on,
    const core::mcp_server& server,
    const std::vector<std::pair<std::string, std::string>>& inherited,
    std::string agent,
    const core::logger& log
);

// With a prepared log of its stderr: each program begins with a copy of it.
transport_factory stdio_factory(
    net::loop& on,
    const core::mcp_server& server,
    const std::vector<std::pair<std::string, std::string>>& inherited,
    stderr_log complaints
);

}  // namespace mcp
