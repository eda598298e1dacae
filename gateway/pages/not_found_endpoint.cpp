#include "gateway/pages/not_found_endpoint.hpp"

namespace gateway::pages {

using core::errc;

net::routine<> not_found_endpoint::answer(request::request_context& request)
{
    if (!request.to.card_of_nobody) {
        if (request.to.astray) {
            request.caller.close_after_answer();
        }
        return request::respond_error(request, core::caller_error(request.to.refusal));
    }
    // Resolvers that look only at the origin: those of Java drop the path of a base URL.
    const auto& base = known_.public_base();
    auto answer = responses::explained_answer(
        errc::not_found,
        "This is a gateway, and a card is that of one of its agents: " + base +
            "/agents/<id>/.well-known/agent-card.json. A client that asks at the origin needs the path of the card, as "
            "the Java SDK takes it in A2ACardResolver (agentCardPath): /agents/<id>/.well-known/agent-card.json. " +
            base + "/agents lists the agents."
    );
    answer.reason = "Not Found: the card of an agent is at /agents/<id>/.well-known/agent-card.json";
    return request::respond_error(request, core::caller_error(errc::not_found), std::move(answer));
}

}  // namespace gateway::pages
