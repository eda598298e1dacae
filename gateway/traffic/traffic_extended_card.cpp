// What the traffic_handler does with a GET for an agent's extended card: a relay whose answer is a card.
#include "gateway/traffic/path_pattern.hpp"
#include "gateway/traffic/traffic_handler.hpp"
#include "net/http1/head_writer.hpp"

#include <string>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::method;

constexpr a2a::card_dialect dialect_of(extended_path which) noexcept
{
    switch (which) {
        case extended_path::rest_v03:
            return a2a::card_dialect::v03_rest;
        case extended_path::rest_v1:
            return a2a::card_dialect::v1;
        case extended_path::v02:
        case extended_path::none:
            break;
    }
    return a2a::card_dialect::v03;
}

// The method that asks for the same, which is what log and metrics say.
constexpr a2a::method operation_of(extended_path which) noexcept
{
    switch (which) {
        case extended_path::rest_v03:
            return a2a::method::get_authenticated_extended_card;
        case extended_path::rest_v1:
            return a2a::method::get_extended_agent_card;
        case extended_path::v02:
        case extended_path::none:
            break;
    }
    return a2a::method::authenticated_extended_card;
}

// Where the agent has it. 0.2 has `{url}/../agent/authenticatedExtendedCard`, so that a slash at the end of
// the URL counts; HTTP+JSON has its paths below the URL.
std::string path_at(const model::agent_entry& agent, const destination& to)
{
    if (fits_any(agent.record.relay_paths, to.below)) {
        return agent.base_path + std::string{to.below};
    }
    switch (to.extended) {
        case extended_path::rest_v03:
            return agent.base_path + "/v1/card";
        case extended_path::rest_v1:
            return agent.base_path + "/extendedAgentCard";
        case extended_path::v02:
        case extended_path::none:
            break;
    }
    const auto path = agent.upstream->path.substr(0, agent.upstream->path.find('?'));
    return path.substr(0, path.rfind('/')) + "/agent/authenticatedExtendedCard";
}

}  // namespace

net::routine<> traffic_handler::extended_card(request_context& request, destination to)
{
    const auto verb = request.caller.head().verb;
    const auto* known = find(to.agent);
    if (verb != method::get && verb != method::head) {
        if (known != nullptr && fits_any(known->entry->record.relay_paths, to.below)) {
            request.record.where = model::route::relay;
            co_await relay_opaquely(request, to);
            co_return;
        }
        request.record.where = model::route::call;
        auto what = model::method_not_allowed("GET, HEAD");
        co_await answer_error(request, core::caller_error(errc::method_not_allowed), std::move(what));
        co_return;
    }
    request.record.where = model::route::call;
    request.record.rpc_method = operation_of(to.extended);
    if (known == nullptr) {
        co_await refuse_agent(request, to);
        co_return;
    }
    request.agent = known->entry;
    request.record.agent = request.agent->record.id;
    if (!request.agent->upstream) {
        auto what = model::no_calls_answer(request.record.agent, {});
        auto why = core::gateway_error(errc::not_implemented, std::string{no_calls});
        co_await answer_error(request, std::move(why), std::move(what));
        co_return;
    }
    if (!core::passes_extended_card(request.agent->record)) {
        auto what = model::error_answer(errc::extended_card_not_configured, request.record.agent);
        co_await answer_error(request, core::caller_error(errc::extended_card_not_configured), std::move(what));
        co_return;
    }
    auto body = co_await request.caller.read_body(settings_.limits.body);
    if (!body) {
        auto what = model::error_answer(body.error().code, request.record.agent);
        co_await answer_error(request, std::move(body).error(), std::move(what));
        co_return;
    }
    to = find_destination(request.caller.head().target);  // the head may lie elsewhere since the body was read
    net::http1::head_writer{request.head}.request_line(verb, path_at(*request.agent, to) + std::string{to.query});
    request.head += request.agent->fixed_fields;
    relay_call what{
        .agent = request.agent,
        .verb = verb,
        .head = request.head,
        .body = *body,
        .repeatable = true,
        .card = model::card_position{dialect_of(to.extended), /*in_result=*/false}
    };
    constexpr std::string_view no_id;
    co_await relay_to_agent(request, std::move(what), no_id);
}

}  // namespace gateway::traffic
