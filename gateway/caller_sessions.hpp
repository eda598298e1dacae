// Callers' sessions with MCP servers over HTTP, made ready for the workers. On the control loop's thread.
#pragma once

#include "core/log.hpp"
#include "gateway/mcp_path/http_sessions.hpp"
#include "gateway/traffic/worker.hpp"
#include "net/loop/loop.hpp"

#include <memory>
#include <vector>

namespace gateway {

// What is known of them goes to all workers. References outlive it.
std::unique_ptr<mcp_path::http_sessions> make_caller_sessions(
    net::loop& control,
    const std::vector<std::unique_ptr<traffic::worker>>& workers,
    const core::logger& log
);

}  // namespace gateway
