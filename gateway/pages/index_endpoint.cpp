#include "gateway/pages/index_endpoint.hpp"

#include "gateway/responses/index_page.hpp"

#include <array>

namespace gateway::pages {
namespace {

constexpr std::array routes{
    responses::index_route{"GET", "/agents", "the agents that you may see"},
    responses::index_route{"GET", "/agents/<id>/.well-known/agent-card.json", "the card of an agent"},
    responses::index_route{"POST", "/agents/<id>", "a call of an agent: JSON-RPC of A2A"},
    responses::index_route{"*", "/agents/<id>/rest/...", "a call of an agent: HTTP+JSON of A2A, of 0.3 below v1/"},
    responses::index_route{"POST", "/agents/<id>/mcp", "a message to an MCP server"},
    responses::index_route{"GET", "/v0.1/servers", "the MCP servers that you may see, as an MCP registry lists them"},
};

}  // namespace

net::routine<> index_endpoint::answer(request::request_context& request)
{
    return request::respond(request, responses::index_answer(request.caller.head(), {}, routes));
}

}  // namespace gateway::pages
