// Which requests to an MCP server over streamable HTTP cannot go up as they are, because the server speaks another era of MCP. One
// thread.
#pragma once

#include "gateway/model/published_card.hpp"

namespace gateway::request {
struct request_context;
}  // namespace gateway::request

namespace gateway::mcp::route {

// A request of the modern era, checked, to a server over streamable HTTP that is known to speak the legacy one only: by the agent's
// record, or by its card (null: none was published). False where the server must get something of the caller, which it gets
// only with a message that is relayed: fields, or a token.
bool is_for_legacy_server(const request::request_context& request, const model::published_card* card);

}  // namespace gateway::mcp::route
