#include "gateway/pages/description_endpoint.hpp"

#include "core/ascii.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/model/well_known.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>

namespace gateway::pages {
namespace {

bool wants_events(const net::http1::request_head& head)
{
    return std::any_of(head.fields.begin(), head.fields.end(), [](const net::http1::field& line) {
        return core::equal_ignoring_case(line.name, "Accept") &&
               core::find_ignoring_case(line.value, "text/event-stream") != std::string_view::npos;
    });
}

}  // namespace

net::routine<> description_endpoint::answer(request::request_context& request)
{
    const auto& head = request.caller.head();
    const bool found = find_agent(request) != nullptr;
    if (!request::reads(head.verb)) {
        return request::refuse_method(request, "GET, HEAD, POST");
    }
    if (!found) {
        return refuse_agent(request);
    }
    if (wants_events(head)) {
        // There is no stream of an agent's own accord; the transport of MCP asks for one like this.
        return request::refuse_method(request, "POST");
    }
    request.record.where = model::route::directory;
    const auto& agent = request.agent->record;
    responses::answer answer;
    net::http1::head_writer fields{answer.fields};
    const auto& base = known_.public_base();
    const auto address = request.origin ? own_origin(request) : model::public_address(base, agent.id);
    fields.field(
        "Link",
        "<" + address + std::string{model::card_path} + ">; rel=\"service-desc\"; type=\"application/json\""
    );
    fields.field("Cache-Control", request.open_to_anyone() ? "public, no-cache" : "private, no-cache");
    fields.field("Vary", "Accept");
    const auto* const known = known_.find(agent.id);
    const auto* const card = known == nullptr ? nullptr : known->card.get();
    answer.body = model::description_of(agent, base, address, card == nullptr ? std::string_view{} : card->mcp_version);
    return request::respond(request, std::move(answer));
}

}  // namespace gateway::pages
