#include "gateway/traffic/description_endpoint.hpp"

#include "core/ascii.hpp"
#include "gateway/model/directory_page.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>

namespace gateway::traffic {
namespace {

bool contains_ignoring_case(std::string_view text, std::string_view wanted)
{
    for (std::size_t at = 0; at + wanted.size() <= text.size(); ++at) {
        if (core::equal_ignoring_case(text.substr(at, wanted.size()), wanted)) {
            return true;
        }
    }
    return false;
}

bool wants_events(const net::http1::request_head& head)
{
    return std::any_of(head.fields.begin(), head.fields.end(), [](const net::http1::field& line) {
        return core::equal_ignoring_case(line.name, "Accept") &&
               contains_ignoring_case(line.value, "text/event-stream");
    });
}

}  // namespace

net::routine<> description_endpoint::answer(request_context& request)
{
    const auto& head = request.caller.head();
    const bool known = find_agent(request);
    if (!reads(head.verb)) {
        return refuse_method(request, "GET, HEAD, POST");
    }
    if (!known) {
        return refuse_agent(request);
    }
    if (wants_events(head)) {
        // There is no stream of an agent's own accord; the transport of MCP asks for one like this.
        return refuse_method(request, "POST");
    }
    request.record.where = model::route::directory;
    const auto& agent = request.agent->record;
    model::answer answer;
    net::http1::head_writer fields{answer.fields};
    const auto card = model::public_address(known_.public_base(), agent.id) + "/.well-known/agent-card.json";
    fields.field("Link", "<" + card + ">; rel=\"service-desc\"; type=\"application/json\"");
    fields.field("Cache-Control", "public, no-cache");
    fields.field("Vary", "Accept");
    answer.body = model::description_of(agent, known_.public_base());
    return respond(request, std::move(answer));
}

}  // namespace gateway::traffic
