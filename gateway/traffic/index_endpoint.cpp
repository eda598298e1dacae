#include "gateway/traffic/index_endpoint.hpp"

#include "gateway/model/index_page.hpp"

#include <array>

namespace gateway::traffic {
namespace {

constexpr std::array routes{
    model::index_route{"GET", "/agents", "the agents that you may see"},
    model::index_route{"GET", "/agents/<id>/.well-known/agent-card.json", "the card of an agent"},
    model::index_route{"POST", "/agents/<id>", "a call of an agent: JSON-RPC of A2A"},
    model::index_route{"*", "/agents/<id>/rest/...", "a call of an agent: HTTP+JSON of A2A, of 0.3 below v1/"},
    model::index_route{"POST", "/agents/<id>/mcp", "a message to an MCP server"},
    model::index_route{"GET", "/v0.1/servers", "the MCP servers that you may see, as an MCP registry lists them"},
};

}  // namespace

net::routine<> index_endpoint::answer(request_context& request)
{
    return respond(request, model::index_answer(request.caller.head(), {}, routes));
}

}  // namespace gateway::traffic
