#include "gateway/request/route_base.hpp"

#include "gateway/model/snapshot.hpp"
#include "gateway/relay/call_attempts.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/request/tracer.hpp"
#include "net/server/timed_ask.hpp"
#include "net/upstream/via.hpp"

#include <optional>
#include <string>
#include <utility>

namespace gateway::request {
namespace {

using core::errc;

// Where a client arrives that resolves a path against an agent's address without a slash at its end (RFC 3986 section
// 5.2.3: the last segment goes).
bool lost_its_agent(const destination& to)
{
    return to.agent == ".well-known" || to.agent == "extendedAgentCard" ||
           (to.agent == "agent" && to.below == "/authenticatedExtendedCard") ||
           (to.agent == "v1" && to.below == "/card");
}

}  // namespace

std::shared_ptr<const model::agent_entry>
chosen_endpoint(const std::shared_ptr<const model::agent_entry>& agent, const request_context& request)
{
    if (agent->siblings == nullptr) {
        return agent;
    }
    auto& group = *agent->reach->group;
    balancing::choice_terms terms{.now = request.caller.owner().now()};
    if (group.rules().balance == core::balancing::caller) {
        terms.caller = relay::call_origin{.principal = request.principal(), .address = request.address()}.hash();
    } else if (group.rules().balance == core::balancing::spread) {
        terms.dice = relay::dice();
    }
    const auto chosen = group.choose(terms);
    return chosen ? model::endpoint_of(agent, *chosen) : agent;
}

const known_agent* route_base::visible_agent(request_context& request) const
{
    return request.agent_visible ? known_.find(request.to.agent, request.lookup) : nullptr;
}

const known_agent* route_base::find_agent(request_context& request) const
{
    const auto* known = visible_agent(request);
    if (known != nullptr) {
        request.set_agent(chosen_endpoint(known->entry, request));
    }
    return known;
}

net::routine<model::card_answer> route_base::obtain_card(request_context& request) const
{
    using model::card_standing;
    auto& caller = request.caller;
    const auto* known = known_.find(request.agent->record.id);
    auto standing = card_standing::expired;
    model::card_answer found;
    if (known != nullptr && known->card) {
        standing = model::standing_of(*known->card, caller.owner().now());
        found = {known->card, model::card_use::hit, std::nullopt};
    }
    if (standing != card_standing::fresh && net::way_of(caller.head().fields).passes > 0) {
        // A fetch of ours, which would wait for itself.
        co_return model::card_answer{nullptr, model::card_use::miss, core::gateway_error(errc::loop_detected)};
    }
    if (standing == card_standing::expired) {
        const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
        auto asked = control_.card(request.agent->record.id);
        auto answered = co_await net::ask_until(caller, due, control_.executor, std::move(asked));
        if (!answered) {
            co_return model::card_answer{nullptr, model::card_use::miss, net::gave_up(caller)};
        }
        found = std::move(*answered);
    } else if (standing != card_standing::fresh) {
        answer_stale(*known, standing, found);
    }
    request.record.card = found.use;
    if (!found.card && !found.failure) {
        found.failure = core::gateway_error(errc::internal, "no card and no reason");
    }
    co_return found;
}

// The caller does not wait for the control loop, which each worker asks once for each card that it is given.
void route_base::answer_stale(const known_agent& known, model::card_standing standing, model::card_answer& found) const
{
    found.use = model::card_use::stale;
    if (const auto failure = known.card->failure) {
        found.failure = core::upstream_error(*failure);
    }
    if (standing == model::card_standing::refreshing && !std::exchange(known.refresh_asked, true)) {
        control_.refresh_card(known.entry->record.id);
    }
}

// Calls from within the process are their caller's, which has been counted.
std::optional<net::routine<>> route_base::enter_chains(request_context& request, const named_chains& named) const
{
    auto* const chains = control_.chains;
    if (chains == nullptr || !chains->active() || request.sender.inner != nullptr) {
        return std::nullopt;
    }
    auto trace = caller_trace(request.caller.head().fields);
    if (!trace) {
        trace = core::read_traceparent(named.trace);
    }
    if (!trace && named.context == 0) {
        return std::nullopt;
    }
    const auto of_trace = trace ? chains->name_of(trace->trace) : 0;
    const auto over = request.chains.enter(*chains, {of_trace, named.context}, request.caller.owner().now());
    return over ? std::optional{respond_chain_limited(request, access::name(*over))} : std::nullopt;
}

bool route_base::may_call(const request_context& request, std::string_view method)
{
    return !request.sender.access ||
           request.sender.access->may_call(request.agent->record, request.principal(), method);
}

std::string route_base::own_origin(const request_context& request) const
{
    return request.origin ? model::own_origin(known_.public_base(), request.origin->host) : std::string{};
}

std::string_view route_base::asked_agent(const request_context& request) noexcept
{
    return request.origin ? std::string_view{} : request.to.agent;
}

net::routine<> route_base::refuse_agent(request_context& request) const
{
    if (request.origin || !lost_its_agent(request.to)) {
        auto answer = error_in_format(request, errc::agent_not_found, asked_agent(request));
        return respond_error(request, core::caller_error(errc::agent_not_found), std::move(answer));
    }
    auto answer = responses::explained_answer(
        errc::not_found,
        "No agent is named here: a client that makes this address of an agent's base URL has dropped the agent's id, "
        "because the base URL has no slash at its end, as " +
            known_.public_base() + "/agents/<id>/ has."
    );
    // Clients that show nothing else of a refusal show this.
    answer.reason = "Not Found: the base URL of an agent needs a slash at its end";
    return respond_error(request, core::caller_error(errc::not_found), std::move(answer));
}

}  // namespace gateway::request
