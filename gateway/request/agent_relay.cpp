#include "gateway/request/agent_relay.hpp"

#include "gateway/a2a/card_edit.hpp"
#include "gateway/a2a/facts_edit.hpp"
#include "gateway/a2a/task_guard.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/endpoint_entries.hpp"
#include "gateway/model/sent_credentials.hpp"
#include "gateway/relay/deadline_fields.hpp"
#include "gateway/request/endpoint.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"
#include "net/server/timed_ask.hpp"
#include "net/upstream/via.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gateway::request {

using core::errc;

namespace {

// In the words of docs/extensions/gateway-v1.md.
std::string facts_of(const relay::relay_call& call, const relay::extension_terms& terms, core::steady_time now)
{
    auto facts = R"({"agent":")" + call.agent->record.id + R"(","translated":)";  // an id needs no escapes
    facts += terms.translated ? "true" : "false";
    if (terms.card_fetched) {
        const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *terms.card_fetched);
        facts += R"(,"cardAge":)" + std::to_string(age.count());
    }
    return facts + '}';
}

// Sets what the agent and the caller hear of extensions, or returns the answer that refuses the call.
std::optional<net::routine<>> set_extensions(request_context& request, std::uint64_t longest_answer)
{
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    if (!call.speaks) {
        return std::nullopt;
    }
    auto read = relay::read_extension_fields(request.caller.head().fields, *call.speaks);
    if (!read) {
        return respond_call_error(request, std::move(read).error());
    }
    if (!read->missing.empty()) {
        return respond_extension_required(request, read->missing);
    }
    call.extensions = std::move(read->fields);
    const auto place = ::a2a::place_of_metadata(call.speaks->what, call.speaks->caller);
    // An answer that is edited for another reason has no facts, and does not say so.
    const bool takes_facts = request.bridge != nullptr || call.edit == nullptr;
    if (read->facts && place != ::a2a::metadata_place::none && !call.card && takes_facts) {
        auto facts = facts_of(call, *call.speaks, request.caller.owner().now());
        if (request.bridge != nullptr) {
            request.bridge->set_facts({place, std::move(facts), call.extensions.to_caller});
            return std::nullopt;
        }
        request.edit =
            std::make_unique<a2a::facts_edit>(place, std::move(facts), call.extensions.to_caller, longest_answer);
        call.edit = request.edit.get();
    }
    return std::nullopt;
}

}  // namespace

agent_relay::agent_relay(
    model::control_services& control,
    net::upstream_pool& pool,
    const config::settings& settings,
    telemetry::worker_metrics& metrics
)
    : control_{control},
      caller_tokens_{control},
      pool_{pool},
      settings_{settings},
      metrics_{metrics},
      admission_{control, metrics}
{
}

// A call to the agent's own address goes where earlier ones have been redirected for good.
void agent_relay::go_where_it_moved(request_context& request)
{
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    if (call.head.data() != call.agent->call_head.data()) {
        return;
    }
    call.moved = &moved_;
    if (const auto* path = moved_.find(*call.agent)) {
        request.head = relay::head_at(call, *path);
        call.head = request.head;
    }
}

// What the relay has to know of the request, besides the call.
void agent_relay::complete(request_context& request) const
{
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    call.from_proxy = request.from_proxy;
    call.credentials = request.access ? &request.access->reader() : nullptr;
    if (call.agent->siblings != nullptr) {
        call.caller_hash = caller_hash(request);
    }
    call.tasks = a2a::shown_tasks(request, control_.tasks());
    call.trace = request.trace.joined() ? &request.trace : nullptr;
}

// Of the agent's own time, what comes before the request counts too; not so where the body comes piece by piece, or where what the
// server is asked for in a session may be asked for again.
relay::call_deadline agent_relay::deadline_of(const request_context& request) const
{
    const auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    const auto& server = call.agent->record.mcp;
    const auto timeout = server && call.begins ? server->initialize_timeout : relay::head_time(call);
    relay::call_deadline out;
    if (!call.passed && (!server || call.begins)) {
        out.due = request.caller.owner().now() + timeout;
    }
    const auto asked = relay::requested_deadline(request.caller.head().fields, settings_.deadlines.fields);
    if (asked && *asked < timeout && request.caller.started() + *asked < out.due) {
        out = {request.caller.started() + *asked, true};
    }
    return out;
}

// What speaks against sending the request to the agent at all.
std::optional<core::error> agent_relay::objection(const request_context& request) const
{
    const bool streaming = request.call->streaming;  // NOLINT(*-optional-access): only what is relayed comes here
    if (streaming && (!has_room() || !stream_share(request.place.whose()))) {
        // What the agent would begin could not be passed on.
        return core::gateway_error(errc::overloaded, "streams, of all or of this principal");
    }
    // Once is no loop: an agent may be another one of this gateway.
    constexpr std::size_t most_passes = 1;
    const auto way = net::way_of(request.caller.head().fields);
    if (way.passes > most_passes) {
        return core::gateway_error(errc::loop_detected);
    }
    if (way.hops > settings_.limits.hops) {
        return core::gateway_error(errc::loop_detected, "hops");
    }
    if (way.length > settings_.limits.header_value) {
        return core::caller_error(errc::header_too_large, "Via");
    }
    return std::nullopt;
}

// The answer to a request that does not go to the agent at all.
std::optional<net::routine<>> agent_relay::refuse(request_context& request) const
{
    if (auto why = objection(request)) {
        return respond_call_error(request, std::move(*why));
    }
    return set_extensions(request, settings_.limits.sse_event);
}

// Waits for a token of the agent's OAuth server.
net::routine<core::result<>> agent_relay::find_token(request_context& request, core::steady_time due)
{
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    auto asked = control_.agent_with_token(call.agent->record.id, core::secret{});
    const auto entry = co_await net::ask_until(request.caller, due, control_.executor(), std::move(asked));
    if (!entry) {
        co_return net::gave_up(request.caller);
    }
    if (*entry == nullptr || (*entry)->record != call.agent->record) {
        co_return core::upstream_error(errc::upstream_credentials, "no token");
    }
    auto endpoint = model::endpoint_of(*entry, call.agent->number);
    request.head = relay::head_with_token(call.head, *endpoint);
    call.head = request.head;
    call.agent = std::move(endpoint);
    co_return core::result<>{};
}

// Puts a token for the caller into the head.
net::routine<core::result<>> agent_relay::find_caller_token(request_context& request, core::steady_time due)
{
    const auto known = caller_tokens_.find(request);
    if (!known) {
        co_return known.error();
    }
    if (!*known) {
        co_return co_await caller_tokens_.ask(request, due);
    }
    co_return core::result<>{};
}

// How the exchange ended, and what a translation came to.
void agent_relay::note_outcome(request_context& request, const relay::relay_outcome& outcome)
{
    auto& record = request.record;
    record.status = outcome.status;
    record.stream = outcome.stream;
    if (outcome.first_byte) {
        record.upstream_first_byte = *outcome.first_byte - request.caller.started();
        record.first_byte = *record.upstream_first_byte;
    }
    if (request.bridge == nullptr) {
        return;
    }
    record.lost = request.bridge->lost();
    if (request.bridge->status() != 0 && outcome.answered) {
        record.status = request.bridge->status();
    }
    const auto& refused = request.bridge->failure();
    if (refused && !outcome.failure) {
        note_failure(request, *refused);
    }
}

// No routine of its own: mostly there is nothing to wait for in front of the call, which may wait for long.
net::routine<> agent_relay::pass(request_context& request)
{
    if (ending_listening_ && request.call->listens) {  // NOLINT(*-optional-access): only what is relayed comes here
        return respond_end(request);
    }
    if (auto refusal = refuse(request)) {
        return std::move(*refusal);
    }
    go_where_it_moved(request);
    const auto& agent = *request.call->agent;  // NOLINT(*-optional-access): only what is relayed comes here
    if (model::exchanges_tokens(agent.record) || agent.awaits_token) {
        return pass_with_token(request);
    }
    return admit(request);
}

net::routine<> agent_relay::pass_with_token(request_context& request)
{
    const auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    const auto& caller = request.caller;
    const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
    core::result<> found;
    if (model::exchanges_tokens(call.agent->record)) {
        found = co_await find_caller_token(request, due);
    }
    if (found && call.agent->awaits_token) {
        found = co_await find_token(request, due);
    }
    if (found) {
        co_await admit(request);
    } else {
        co_await respond_call_error(request, std::move(found).error());
    }
}

// A client that asks now what a server says unasked gets a stream that is over, and asks elsewhere for the next one; a subscription
// gets its result (MCP 2026-07-28, basic/patterns/subscriptions).
net::routine<> agent_relay::respond_end(request_context& request)
{
    responses::answer ended;
    ended.content_type = "text/event-stream";
    const auto text = request.repair->end_text();  // NOLINT(*-optional-access): only messages to MCP servers listen
    if (!text.empty()) {
        ended.body = "data: " + text + "\n\n";
    }
    return respond_error(request, core::gateway_error(errc::draining, "a stream that listens"), std::move(ended));
}

net::routine<> agent_relay::admit(request_context& request)
{
    complete(request);
    request.call->deadline = deadline_of(request);  // NOLINT(*-optional-access): only what is relayed comes here
    auto admitted = admission_.enter(request);
    if (!admitted) {
        return wait_for_place(request);
    }
    return *admitted ? send(request) : respond_call_error(request, std::move(*admitted).error());
}

net::routine<> agent_relay::wait_for_place(request_context& request)
{
    auto admitted = co_await admission_.wait(request);
    if (admitted) {
        co_await send(request);
    } else {
        co_await respond_call_error(request, std::move(admitted).error());
    }
}

// With its place, which the stream of an answer changes.
net::routine<> agent_relay::send(request_context& request)
{
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    const a2a::held_context context{call.tasks, request.caller.owner().now()};
    if (!context.holds()) {
        request.named.hidden_context = true;
        co_await a2a::respond_named(request, request.named);
        co_return;
    }
    call.place = &request.place;
    const relay::relay_settings settings{
        .timeouts = settings_.timeouts,
        .limits = settings_.limits,
        .observer = *this,
        .control = control_,
        .deadlines = settings_.deadlines.fields
    };
    std::optional<a2a::card_edit> card;
    if (call.card) {
        const auto here = request.caller.owner().get_executor();
        card.emplace(control_, here, model::answered_card{call.agent, {}, *call.card, call.caller, call.card_origin});
        if (request.bridge != nullptr) {
            request.bridge->set_card(*card);
        } else {
            call.edit = &*card;
        }
    }
    const bool listens = call.listens;
    relay::relay passing{request.caller, pool_, settings, std::move(call)};
    if (listens) {
        streams_.push_back(passing);  // its server may leave it without an answer
    }
    auto outcome = co_await passing.run();
    request.record.sent = passing.attempts();
    request.record.endpoint = static_cast<unsigned>(passing.agent().number) + 1;
    note_outcome(request, outcome);
    if (outcome.replaced) {
        co_await request.repair->end_session();  // NOLINT(*-optional-access): only a DELETE of a session is replaced
        responses::answer done;
        co_await respond(request, std::move(done));
        co_return;
    }
    if (!outcome.failure) {
        co_return;
    }
    if (outcome.told) {
        note_failure(request, std::move(*outcome.failure));
        co_return;
    }
    if (outcome.answered || outcome.failure->code == errc::caller_gone) {
        request.caller.cut();
        note_failure(request, std::move(*outcome.failure));
        co_return;
    }
    if (listens && outcome.failure->code == errc::draining) {
        co_await respond_end(request);
    } else if (outcome.refused) {
        co_await respond_replaced(request, std::move(*outcome.failure), *outcome.refused);
    } else {
        co_await respond_call_error(request, std::move(*outcome.failure));
    }
}

std::optional<core::place_share> agent_relay::stream_share(core::caller_mark whose) const noexcept
{
    return core::all_shares().take(core::place_shares::of_object(this), whose, core::half_of(settings_.limits.streams));
}

bool agent_relay::keep_place(relay::open_stream& stream)
{
    auto share = stream_share(stream.whose());
    if (!share || !has_room()) {
        return false;
    }
    stream.share() = std::move(*share);
    ++kept_places_;
    return true;
}

void agent_relay::give_place_up(relay::open_stream& stream)
{
    stream.share().give_back();
    --kept_places_;
}

bool agent_relay::stream_began(relay::open_stream& stream)
{
    auto share = stream_share(stream.whose());
    if (!share || !has_room()) {
        return false;
    }
    stream.share() = std::move(*share);
    ++open_streams_;
    metrics_.stream_started(stream.agent().record.id);
    if (ending_streams_) {
        stream.end_stream();
        return true;
    }
    if (!stream.is_linked()) {
        streams_.push_back(stream);
    }
    if (ending_listening_) {
        stream.end_listening();
    }
    return true;
}

void agent_relay::tell_streams(void (relay::open_stream::*what)())
{
    // As in end_streams(), but they stay.
    stream_list open;
    open.swap(streams_);
    while (!open.empty()) {
        auto& first = open.front();
        open.pop_front();
        streams_.push_back(first);
        (first.*what)();
    }
}

void agent_relay::announce_end()
{
    tell_streams(&relay::open_stream::announce_end);
}

void agent_relay::end_listening()
{
    ending_listening_ = true;
    tell_streams(&relay::open_stream::end_listening);
}

void agent_relay::task_changed(const model::agent_entry& agent, ::a2a::task_state state)
{
    metrics_.count_task_state(agent.record.id, state);
}

void agent_relay::end_streams()
{
    ending_streams_ = true;
    // Ending one resumes its coroutine, which unlinks it; what goes on meanwhile may unlink others.
    while (!streams_.empty()) {
        auto& first = streams_.front();
        streams_.pop_front();
        first.end_stream();
    }
}

}  // namespace gateway::request
