#include "gateway/a2a/a2a_route.hpp"

#include "a2a/extension_header.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/a2a/answer_edits.hpp"
#include "gateway/a2a/call_fields.hpp"
#include "gateway/access/policy.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/relay/call_wait.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"
#include "net/server/timed_ask.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace gateway::a2a {

using core::errc;
using request::respond;
using request::respond_call_error;
using request::respond_forbidden;
using request::respond_refusal;

namespace {

// In the words of docs/extensions/gateway-v1.md.
std::string facts_of(const std::string& agent, const extension_terms& terms, core::steady_time now)
{
    auto facts = R"({"agent":")" + agent + R"(","translated":)";  // an id needs no escapes
    facts += terms.translated ? "true" : "false";
    if (terms.card_fetched) {
        const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *terms.card_fetched);
        facts += R"(,"cardAge":)" + std::to_string(age.count());
    }
    return facts + '}';
}

// The answer depends on the caller, however that is identified.
constexpr std::string_view nobody_keeps = "Cache-Control: private, no-store\r\nVary: *\r\n";

responses::answer answer_with(std::string card, bool in_result, const std::string& call_id)
{
    const auto text = std::make_shared<const std::string>(std::move(card));
    responses::answer out;
    out.fields = nobody_keeps;
    out.body = in_result ? core::begin_result(call_id) : std::string{};
    out.rest = *text;
    out.end = in_result ? "}" : "";
    out.kept = text;
    return out;
}

}  // namespace

std::optional<core::error> a2a_route::no_extended_card(request_context& request) const
{
    const auto& agent = *request.agent;
    const auto source = core::extended_card_of(agent.record, request.sender.access != nullptr);
    if (source == core::extended_card_access::off) {
        return core::caller_error(
            agent.takes_a2a() ? errc::extended_card_not_configured : errc::extended_card_unsupported
        );
    }
    const auto* known = known_.find(agent.record.id, request.lookup);
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

bool a2a_route::goes_to_agent(request_context& request)
{
    if (!request.agent->serves_a2a()) {
        return false;
    }
    if (!request.agent->takes_a2a()) {
        request.set_agent(request.agent->other_side());
    }
    return true;
}

net::routine<core::result<>> a2a_route::await_card(request_context& request)
{
    auto& caller = request.caller;
    auto asked = control_.card(request.agent->record.id);
    const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
    auto waited = net::ask_until(caller, due, control_.executor, std::move(asked));
    const auto found = co_await std::move(waited);
    if (!found) {
        co_return net::gave_up(caller);
    }
    // Without a card the call goes to the agent's own URL, and the relay says what is wrong with that.
    if (const auto* known = known_.find(request.agent->record.id)) {
        request.set_agent(request::chosen_endpoint(known->entry, request));
    }
    co_return core::result<>{};
}

net::routine<bool> a2a_route::await_card_of_call(request_context& request, std::string method)
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

net::routine<> a2a_route::translate(request_context& request, a2a_call& call, bridged asked)
{
    request.errors.profile = profile_of(settings_.errors.profile);
    auto made = std::make_unique<dialect_bridge>(
        request.agent,
        asked.to,
        asked.caller,
        dialect_bridge::means{
            request.errors.profile,
            settings_.limits.body,
            settings_.limits.sse_event,
            settings_.limits.target,
            settings_.limits.grpc_message,
            control_.long_bodies,
            request.caller.owner().get_executor(),
            request.caller.bodies()
        }
    );
    auto& bridge = *made;
    call.bridge = made.get();
    call.relayed.hooks.edits.push_back(std::move(made));
    if (!bridge.reserve(asked.payload.size())) {
        co_await respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return;
    }
    const ::a2a::incoming_request in{asked.caller, asked.what, asked.payload, {}, asked.target, asked.checked};
    const auto done = co_await bridge.take_request(in, request.errors.call_id);
    if (!done) {
        co_await respond_refusal(request, asked.caller, done.error());
        co_return;
    }
    if (!bridge.hold_request()) {
        co_await respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return;
    }
    request.record.translated = true;
    bridge.fill(call.relayed);
    note_home(request, call, asked.to);
    call.speaks = extension_terms_of(request, asked.caller.version, bridge.agent_dialect().version);
    call.speaks->translated = true;
    // Facts are for answers of JSON-RPC.
    call.speaks->what = asked.caller.over == ::a2a::binding::rest ? ::a2a::operation::none : asked.what;
    if (asked.what == ::a2a::operation::extended_card) {
        call.speaks->required = nullptr;  // the card says what is required
    }
}

void a2a_route::write_head(const request_context& request, a2a_call& call, std::string path)
{
    const auto& agent = *request.agent;
    if (request.sender.access && !agent.record.of_callers.all) {
        path += request.sender.access->reader().without_keys(request.to.query);
    } else {
        path += request.to.query;
    }
    write_head_at(request, call, model::with_query(std::move(path), agent.query_key));
}

void a2a_route::write_head_at(const request_context& request, a2a_call& call, const std::string& target)
{
    auto& head = call.relayed.request.head_text;
    net::http1::head_writer{head}.request_line(request.caller.head().verb, target);
    head += request.agent->fixed_fields;
}

relay::relay_call& a2a_route::set_call(const request_context& request, a2a_call& call, std::string_view body)
{
    auto& out = call.relayed.request;
    call.relayed.agent = request.agent;
    out.verb = request.caller.head().verb;
    out.head = out.head_text;
    out.body = body;
    return call.relayed;
}

void a2a_route::note_home(const request_context& request, a2a_call& call, const model::agent_interface* to) noexcept
{
    if (to != nullptr && request.agent->several_addresses) {
        call.home = model::home_at(*to);
    }
}

void a2a_route::say_version(const request_context& request, a2a_call& call, ::a2a::generation spoken) noexcept
{
    if (spoken != ::a2a::generation::v1) {
        return;
    }
    const auto said = version_said(request.caller.head().fields, {});
    if (said != said_version::other && said != said_version::garbage) {
        call.relayed.request.says_version = true;
        call.relayed.request.lines = "A2A-Version: 1.0\r\n";
    }
}

void a2a_route::add_card(a2a_call& call, ::a2a::dialect caller)
{
    if (!call.passes() || call.bridge == nullptr) {
        return;
    }
    const bool rest = caller.over == ::a2a::binding::rest;
    const auto old = rest ? ::a2a::card_dialect::v03_rest : ::a2a::card_dialect::v03;
    call.card = model::card_position{
        caller.version == ::a2a::generation::v1 ? ::a2a::card_dialect::v1 : old,
        call.bridge->agent_dialect().over == ::a2a::binding::jsonrpc
    };
}

void a2a_route::filter_task_list(
    const request_context& request,
    a2a_call& call,
    ::a2a::dialect caller,
    ::a2a::operation what
) const
{
    if (!request.sender.access || what != ::a2a::operation::list) {
        return;
    }
    task_list_edit::means with{settings_.limits.sse_event, control_.long_bodies, request.caller.owner().get_executor()};
    const task_guard guard{request, control_.tasks, /*chains=*/nullptr};
    call.relayed.hooks.edits.push_back(std::make_unique<task_list_edit>(caller, guard, std::move(with)));
}

extension_terms
a2a_route::extension_terms_of(request_context& request, ::a2a::generation caller, ::a2a::generation agent) const
{
    const auto& record = request.agent->record;
    const auto* known = known_.find(record.id, request.lookup);
    const bool enforced = caller == ::a2a::generation::v1 || record.extensions_of_03;
    extension_terms terms{.caller = caller, .agent = agent};
    if (known != nullptr && known->card != nullptr) {
        terms.required = enforced ? known->card->required : nullptr;
        terms.card_fetched = known->card->fetched_at;
    }
    return terms;
}

// Sets what the agent and the caller hear of extensions, or returns the answer that refuses the call.
std::optional<net::routine<>> a2a_route::set_extensions(request_context& request, a2a_call& call) const
{
    auto& relayed = call.relayed;
    auto read = read_extension_fields(request.caller.head().fields, *call.speaks);
    if (!read) {
        return respond_call_error(request, std::move(read).error());
    }
    if (!read->missing.empty()) {
        return request::respond_extension_required(request, read->missing);
    }
    relayed.request.extensions = std::move(read->to_agent);
    relayed.extensions_as = read->to_caller;
    const auto place = ::a2a::place_of_metadata(call.speaks->what, call.speaks->caller);
    // An answer that is edited for another reason has no facts, and does not say so.
    const bool takes_facts = call.bridge != nullptr || relayed.hooks.edits.empty();
    if (!read->facts || place == ::a2a::metadata_place::none || call.card || !takes_facts) {
        return std::nullopt;
    }
    const auto now = request.caller.owner().now();
    call_facts facts{place, facts_of(relayed.agent->record.id, *call.speaks, now), relayed.extensions_as};
    if (call.bridge != nullptr) {
        call.bridge->set_facts(std::move(facts));
    } else {
        relayed.hooks.edits.push_back(std::make_unique<facts_edit>(std::move(facts), settings_.limits.sse_event));
    }
    return std::nullopt;
}

net::routine<> a2a_route::finish(request_context& request, a2a_call& call)
{
    if (call.managed) {
        return answer_managed(request, *call.managed);
    }
    if (auto refusal = enter_chains(request, {.context = call.named.chain})) {
        return std::move(*refusal);
    }
    auto& relayed = call.relayed;
    if (call.speaks) {
        relayed.request.json = true;
        if (auto refusal = set_extensions(request, call)) {
            return std::move(*refusal);
        }
    }
    if (call.card) {
        auto edit = std::make_unique<card_edit>(
            control_,
            request.caller.owner().get_executor(),
            model::answered_card{relayed.agent, {}, *call.card, request.shared_principal(), own_origin(request)}
        );
        if (call.bridge != nullptr) {
            call.bridge->set_card(std::move(edit));
        } else {
            relayed.hooks.edits.push_back(std::move(edit));
        }
    }
    relayed.hooks.tasks = shown_tasks(request, call.named, call.home, control_.tasks);
    return relayed.hooks.tasks.context == 0 ? relays_.pass(request, relayed) : pass_in_context(request, call);
}

// Nobody else gets into the context of the message until the agent has answered.
net::routine<> a2a_route::pass_in_context(request_context& request, a2a_call& call)
{
    const held_context context{call.relayed.hooks.tasks, request.caller.owner().now()};
    if (context.holds()) {
        co_await relays_.pass(request, call.relayed);
        co_return;
    }
    call.named.hidden_context = true;
    co_await respond_named(request, call.named);
}

net::routine<> a2a_route::answer_managed(request_context& request, model::card_position as)
{
    if (as.in_result && request.errors.call_id.empty()) {
        // A notification: whatever comes of it, there is no answer to it (JSON-RPC 2.0 section 4.1).
        responses::answer nothing;
        nothing.status = 204;
        nothing.fields = nobody_keeps;
        co_await respond(request, std::move(nothing));
        co_return;
    }
    auto card = co_await make_managed(request, as.dialect);
    if (!card) {
        co_await respond_call_error(request, std::move(card).error());
        co_return;
    }
    net::budget_share share{request.caller.bodies()};
    if (!share.set(card->size())) {
        co_await respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return;
    }
    co_await respond(request, answer_with(std::move(*card), as.in_result, request.errors.call_id));
}

net::routine<core::result<std::string>> a2a_route::make_managed(request_context& request, ::a2a::card_dialect dialect)
{
    auto found = co_await obtain_card(request);
    if (!found.card) {
        co_return std::move(*found.failure);  // NOLINT(bugprone-unchecked-optional-access): obtain_card() has set it
    }
    if (found.card->whole == nullptr) {
        // The agent has just become one whose extended card is made here.
        co_return core::gateway_error(errc::session_not_ready, "its card is being made again");
    }
    model::extended_request asked{
        .agent = request.agent,
        .card = found.card->whole,
        .caller = request.shared_principal(),
        .overlays = {},
        .dialect = dialect,
        .origin = own_origin(request)
    };
    const auto& overlays = request.agent->record.overlays;
    for (std::size_t i = 0; i < overlays.size(); ++i) {
        if (access::allows(overlays[i].when, request.principal())) {
            asked.overlays.push_back(i);
        }
    }
    auto question = control_.extend(std::move(asked));
    co_return co_await net::ask(control_.card_executor, request.caller.owner().get_executor(), std::move(question));
}

}  // namespace gateway::a2a
