#include "gateway/request/endpoint.hpp"

#include "core/ip.hpp"
#include "gateway/model/endpoint_entries.hpp"
#include "gateway/model/sent_credentials.hpp"
#include "gateway/relay/call_attempts.hpp"
#include "gateway/relay/deadline_fields.hpp"
#include "gateway/request/a2a_version.hpp"
#include "net/http1/head_writer.hpp"
#include "net/server/timed_ask.hpp"
#include "net/upstream/via.hpp"

#include <functional>
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

std::uint64_t caller_hash(const request_context& request)
{
    const std::hash<std::string_view> hash;
    if (const auto* principal = request.principal()) {
        return hash(principal->id) ^ (hash(principal->provider) << 1U);
    }
    const std::string_view address = request.client.empty() ? request.caller.peer() : request.client;
    const auto parsed = core::parse_ip(address);
    return parsed ? hash({reinterpret_cast<const char*>(parsed->bytes.data()), parsed->bytes.size()}) : hash(address);
}

std::shared_ptr<const model::agent_entry>
chosen_endpoint(const std::shared_ptr<const model::agent_entry>& agent, const request_context& request)
{
    if (agent->siblings == nullptr) {
        return agent;
    }
    auto& group = *agent->reach->group;
    balancing::choice_terms terms{.now = request.caller.owner().now()};
    if (group.rules().balance == core::balancing::caller) {
        terms.caller = caller_hash(request);
    } else if (group.rules().balance == core::balancing::spread) {
        terms.dice = relay::dice();
    }
    const auto chosen = group.choose(terms);
    return chosen ? model::endpoint_of(agent, *chosen) : agent;
}

const local_snapshot::known_agent* endpoint::known_agent(request_context& request) const
{
    return request.sees_agent ? known_.find(request.to.agent, request.sighted) : nullptr;
}

const local_snapshot::known_agent* endpoint::find_agent(request_context& request) const
{
    const auto* known = known_agent(request);
    if (known != nullptr) {
        request.set_agent(chosen_endpoint(known->entry, request));
    }
    return known;
}

net::routine<model::card_answer> endpoint::obtain_card(request_context& request) const
{
    const auto* known = known_.find(request.agent->record.id);
    model::card_answer found{known == nullptr ? nullptr : known->card, model::card_use::hit, std::nullopt};
    if (!found.card || request.caller.owner().now() >= found.card->fresh_until) {
        if (net::way_of(request.caller.head().fields).passes > 0) {
            // A fetch of ours, which would wait for itself.
            co_return model::card_answer{nullptr, model::card_use::miss, core::gateway_error(errc::loop_detected)};
        }
        auto& caller = request.caller;
        const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
        auto asked = control_.card(request.agent->record.id);
        auto answered = co_await net::ask_until(caller, due, control_.executor(), std::move(asked));
        if (!answered) {
            co_return model::card_answer{nullptr, model::card_use::miss, net::gave_up(caller)};
        }
        found = std::move(*answered);
    }
    request.record.card = found.use;
    if (!found.card && !found.failure) {
        found.failure = core::gateway_error(errc::internal, "no card and no reason");
    }
    co_return found;
}

bool endpoint::may_call(const request_context& request, std::string_view method)
{
    return !request.access || request.access->may_call(request.agent->record, request.principal(), method);
}

std::optional<core::error> endpoint::no_extended_card(request_context& request) const
{
    const auto& agent = *request.agent;
    const auto source = core::extended_card_of(agent.record, request.access != nullptr);
    if (source == core::extended_card_access::off) {
        return core::caller_error(
            agent.takes_a2a() ? errc::extended_card_not_configured : errc::extended_card_unsupported
        );
    }
    const auto* known = known_.find(agent.record.id, request.sighted);
    const bool asks = agent.record.extended_card == core::extended_card_access::automatic;
    if (!asks || known == nullptr || known->card == nullptr || known->card->extended) {
        return std::nullopt;
    }
    const auto method = request.record.rpc_method;
    const bool of_1 = method && ::a2a::generation_of(*method) == ::a2a::generation::v1;
    return core::caller_error(
        of_1 ? errc::extended_card_unsupported : errc::extended_card_not_configured,
        "the agent's card"
    );
}

void endpoint::write_head(request_context& request, std::string path)
{
    const auto& agent = *request.agent;
    if (request.access && !agent.record.of_callers.all) {
        path += request.access->reader().without_keys(request.to.query);
    } else {
        path += request.to.query;
    }
    path = model::with_query(std::move(path), agent.query_key);
    net::http1::head_writer{request.head}.request_line(request.caller.head().verb, path);
    request.head += request.agent->fixed_fields;
}

relay::relay_call& endpoint::set_call(request_context& request, std::string_view body)
{
    auto& call = request.call.emplace();
    call.agent = request.agent;
    call.verb = request.caller.head().verb;
    call.head = request.head;
    call.body = body;
    return call;
}

net::routine<core::result<>> endpoint::await_card(request_context& request)
{
    auto& caller = request.caller;
    auto asked = control_.card(request.agent->record.id);
    const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
    auto waited = net::ask_until(caller, due, control_.executor(), std::move(asked));
    const auto found = co_await std::move(waited);
    if (!found) {
        co_return net::gave_up(caller);
    }
    // Without a card the call goes to the agent's own URL, and the relay says what is wrong with that.
    if (const auto* known = known_.find(request.agent->record.id)) {
        request.set_agent(chosen_endpoint(known->entry, request));
    }
    co_return core::result<>{};
}

net::routine<bool> endpoint::await_card_of_call(request_context& request, std::string method)
{
    auto waited = co_await await_card(request);
    if (!waited) {
        co_await respond_call_error(request, std::move(waited).error());
    } else if (!may_call(request, method)) {
        co_await respond_forbidden(request, method);
    } else {
        co_return true;
    }
    co_return false;
}

net::routine<> endpoint::translate(request_context& request, bridged asked)
{
    request.error_profile = profile_of(settings_.errors.profile);
    auto made = std::make_unique<a2a::dialect_bridge>(
        request.agent,
        asked.to,
        asked.caller,
        a2a::dialect_bridge::means{
            request.error_profile,
            settings_.limits.body,
            settings_.limits.sse_event,
            settings_.limits.target,
            control_.long_bodies(),
            request.caller.owner().get_executor(),
            request.caller.bodies()
        }
    );
    request.bridge = made.get();
    request.edit = std::move(made);
    if (!request.bridge->reserve(asked.payload.size())) {
        co_await respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return;
    }
    const ::a2a::incoming_request in{asked.caller, asked.what, asked.payload, {}, asked.target};
    const auto done = co_await request.bridge->take_request(in, request.call_id);
    if (!done) {
        co_await respond_refusal(request, asked.caller, done.error());
        co_return;
    }
    if (!request.bridge->hold_request()) {
        co_await respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return;
    }
    request.record.translated = true;
    auto& call = request.call.emplace();
    request.bridge->fill(call);
    note_home(request, asked.to);
    call.speaks = extension_terms_of(request, asked.caller.version, request.bridge->agent_dialect().version);
    call.speaks->translated = true;
    // Facts are for answers of JSON-RPC.
    call.speaks->what = asked.caller.over == ::a2a::binding::rest ? ::a2a::operation::none : asked.what;
    if (asked.what == ::a2a::operation::extended_card) {
        call.speaks->required = nullptr;  // the card says what is required
    }
}

void endpoint::note_home(request_context& request, const model::agent_interface* to) noexcept
{
    if (request.call && to != nullptr && request.agent->several_addresses) {
        request.call->home = model::home_at(*to);
    }
}

void endpoint::say_version(request_context& request, ::a2a::generation spoken) noexcept
{
    const auto said = version_said(request.caller.head().fields, {});
    if (spoken == ::a2a::generation::v1 && said != said_version::other && said != said_version::garbage) {
        request.call->says_version = true;  // NOLINT(*-optional-access): set, by the promise above
        request.call->session = "A2A-Version: 1.0\r\n";
    }
}

void endpoint::add_card(request_context& request, ::a2a::dialect caller) const
{
    if (!request.call || request.bridge == nullptr) {
        return;
    }
    const bool rest = caller.over == ::a2a::binding::rest;
    const auto old = rest ? ::a2a::card_dialect::v03_rest : ::a2a::card_dialect::v03;
    request.call->card = model::card_position{
        caller.version == ::a2a::generation::v1 ? ::a2a::card_dialect::v1 : old,
        request.bridge->agent_dialect().over == ::a2a::binding::jsonrpc
    };
    request.call->card_origin = own_origin(request);
    request.call->caller = request.owner ? *request.owner : nullptr;
}

relay::extension_terms
endpoint::extension_terms_of(request_context& request, ::a2a::generation caller, ::a2a::generation agent) const
{
    const auto& record = request.agent->record;
    const auto* known = known_.find(record.id, request.sighted);
    const bool enforced = caller == ::a2a::generation::v1 || record.extensions_of_03;
    relay::extension_terms terms{.caller = caller, .agent = agent};
    if (known != nullptr && known->card != nullptr) {
        terms.required = enforced ? known->card->required : nullptr;
        terms.card_fetched = known->card->fetched_at;
    }
    return terms;
}

std::string endpoint::own_origin(const request_context& request) const
{
    return request.origin ? model::own_origin(known_.public_base(), request.origin->host) : std::string{};
}

std::string_view endpoint::asked_agent(const request_context& request) noexcept
{
    return request.origin ? std::string_view{} : request.to.agent;
}

net::routine<> endpoint::refuse_agent(request_context& request) const
{
    if (request.origin || !lost_its_agent(request.to)) {
        auto answer = answer_in_words(request, errc::agent_not_found, asked_agent(request));
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
