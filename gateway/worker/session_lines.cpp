#include "gateway/worker/session_lines.hpp"

namespace gateway::worker {

void write_session(const core::logger& log, const model::request_record& record)
{
    if (record.session_begun) {
        log.write(
            core::log_level::debug,
            "mcp_client_session",
            {{"agent", record.agent}, {"session", record.session}, {"state", "begun"}}
        );
    }
    if (record.session_ended) {
        log.write(
            core::log_level::debug,
            "mcp_client_session",
            {{"agent", record.agent},
             {"session", record.session},
             {"state", "ended"},
             {"reason", model::name(*record.session_ended)}}
        );
    }
}

}  // namespace gateway::worker
