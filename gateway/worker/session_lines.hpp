// Lines of the log about sessions that callers have with MCP servers.
#pragma once

#include "core/log.hpp"
#include "gateway/model/request_record.hpp"

namespace gateway::worker {

// That one began or ended with this request; nothing, if none did. Any thread.
void write_session(const core::logger& log, const model::request_record& record);

}  // namespace gateway::worker
