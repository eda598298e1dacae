#include "gateway/mcp/route/era_of_server.hpp"

#include "gateway/model/sent_credentials.hpp"
#include "gateway/request/request_context.hpp"

namespace gateway::mcp::route {

bool is_for_legacy_server(const request::request_context& request, const model::published_card* card)
{
    const auto& record = request.agent->record;
    const auto& server = *record.mcp;
    if (request.record.era != ::mcp::era::modern || server.transport != core::mcp_transport::streamable_http) {
        return false;
    }
    const bool found_out = server.era == core::mcp_era::automatic && card != nullptr && card->era == ::mcp::era::legacy;
    if (!found_out && server.era != core::mcp_era::legacy) {
        return false;
    }
    const bool passes = record.of_callers.all || !record.of_callers.names.empty() || !server.forward_headers.empty();
    return !passes && !model::exchanges_tokens(record);
}

}  // namespace gateway::mcp::route
