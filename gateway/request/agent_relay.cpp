#include "gateway/request/agent_relay.hpp"

#include "core/ascii.hpp"
#include "core/redaction.hpp"
#include "core/trace_context.hpp"
#include "core/url.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/credential_reader.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/request/contained_answer.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"
#include "gateway/request/route_base.hpp"
#include "net/http1/fields.hpp"
#include "net/http1/head_writer.hpp"
#include "net/server/timed_ask.hpp"
#include "net/upstream/via.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::request {

using core::errc;

namespace {

// What is about one message or one connection, or what the gateway says itself.
bool is_of_message(std::string_view name) noexcept
{
    constexpr std::array<std::string_view, 9>
        beginnings{"content-", "accept", "mcp-", "a2a-", "x-a2a-", "cardea-", "if-", "proxy-", "x-forwarded-"};
    constexpr std::array<std::string_view, 15> names{
        "host",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
        "range",
        "origin",
        "last-event-id",
        "cookie2",
        "max-forwards",
        "forwarded",
        "x-real-ip"
    };
    const auto begins = [&](std::string_view with) {
        return core::equal_ignoring_case(name.substr(0, with.size()), with);
    };
    const auto is = [&](std::string_view other) { return core::equal_ignoring_case(name, other); };
    return std::ranges::any_of(beginnings, begins) || std::ranges::any_of(names, is);
}

// Where the caller came, as the agent is told of it.
void note_origin(model::inner_caller& out, const request_context& request)
{
    const auto& head = request.caller.head();
    out.host = head.authority;
    out.secure = request.caller.secure();
    if (!request.sender.from_proxy) {
        return;
    }
    if (const auto* const scheme = net::http1::find(head.fields, "X-Forwarded-Proto")) {
        out.secure = core::equal_ignoring_case(*scheme, "https");
    }
    const auto* const host = net::http1::find(head.fields, "X-Forwarded-Host");
    const auto parsed = host == nullptr ? std::nullopt : core::http_url::parse("http://" + std::string{*host} + '/');
    if (parsed && parsed->authority() == *host) {
        out.host = *host;
    }
}

// The fields of a request that one within the process has too. Credentials and the way that it came have room first.
void copy_fields(model::inner_caller& out, const request_context& request)
{
    constexpr std::size_t most_bytes = 16 * 1024;
    constexpr std::array<std::string_view, 4> always{"authorization", "cookie", "via", "x-api-key"};
    const auto& fields = request.caller.head().fields;
    const auto& plan = request.sender.access;
    std::size_t bytes = 0;
    const auto needed = [&](const net::http1::field& each) {
        return std::ranges::any_of(always, [&](auto name) { return core::equal_ignoring_case(name, each.name); }) ||
               (plan && plan->reader().is_key_header(each.name));
    };
    for (const bool first : {true, false}) {
        for (const auto& each : fields) {
            const auto size = each.name.size() + each.value.size();
            if (needed(each) != first || is_of_message(each.name) || each.name.find('_') != each.name.npos ||
                (request.trace.joined() && request.trace.replaces(each.name)) ||
                net::http1::named_by_connection(fields, each.name) || (!first && bytes + size > most_bytes)) {
                continue;
            }
            bytes += size;
            out.fields.emplace_back(each.name, core::secret{std::string{each.value}});
        }
    }
}

}  // namespace

model::inner_caller_pointer inner_caller_of(const request_context& request, std::optional<model::bridge_direction> by)
{
    model::inner_caller out;
    out.principal = request.shared_principal();
    out.address = request.address();
    out.bridge = by;
    out.bundle = request.record.bundle;
    out.home = &request.caller.owner();
    note_origin(out, request);
    copy_fields(out, request);
    if (request.trace.joined()) {
        std::string parent;
        core::append_traceparent(parent, request.trace.at());
        out.fields.emplace_back("traceparent", core::secret{std::move(parent)});
    }
    return std::make_shared<const model::inner_caller>(std::move(out));
}

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
      admission_{control, metrics},
      streams_{
          settings.limits,
          {[&metrics](const auto& agent) {
               if (!agent.record.id.empty()) {  // else of a bundle
                   metrics.stream_started(agent.record.id);
               }
           },
           [&metrics](const auto& agent, auto state) { metrics.count_task_state(agent.record.id, state); }}
      }
{
}

// A call to the agent's own address goes where earlier ones have been redirected for good.
void agent_relay::go_where_it_moved(relay::relay_call& call)
{
    if (call.request.head.data() != call.agent->call_head.data()) {
        return;
    }
    call.moved = &moved_;
    if (const auto* path = moved_.find(*call.agent)) {
        call.request.set_head(relay::head_at(call, *path));
    }
}

// The agent's own time includes the time before the request, but not if the body comes piece by piece, or if a server may be asked again
// for a message of a session.
relay::call_deadline agent_relay::deadline_of(const request_context& request, const relay::relay_call& call) const
{
    const auto& server = call.agent->record.mcp;
    const auto timeout = server && call.traits.begins ? server->initialize_timeout : relay::head_time(call);
    relay::call_deadline out;
    if (!call.request.passed && (!server || call.traits.begins)) {
        out.due = request.caller.owner().now() + timeout;
    }
    auto asked = relay::requested_deadline(request.caller.head().fields, settings_.deadlines.fields);
    if (call.times.asked > core::duration{}) {
        asked = relay::shortened(call.times.asked, asked);
    }
    // The agent's own time does not run yet while a request of gRPC comes; its caller's does.
    const bool comes = call.request.passed && call.times.asked > core::duration{};
    if (asked && (*asked < timeout || comes) && request.caller.started() + *asked < out.due) {
        out = {request.caller.started() + *asked, true};
    }
    return out;
}

// Says why the request may not be sent to the agent at all.
std::optional<core::error> agent_relay::objection(const request_context& request, const relay::relay_call& call) const
{
    if (call.traits.streaming && !streams_.takes_another(request.slot.whose())) {
        // The stream that the agent would begin could not be passed on.
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

// Waits for a token of the agent's OAuth server.
net::routine<core::result<>>
agent_relay::find_token(request_context& request, relay::relay_call& call, core::steady_time due)
{
    auto asked = control_.agent_with_token(call.agent->record.id, core::secret{});
    const auto entry = co_await net::ask_until(request.caller, due, control_.executor, std::move(asked));
    if (!entry) {
        co_return net::gave_up(request.caller);
    }
    if (*entry == nullptr || (*entry)->record != call.agent->record) {
        co_return core::upstream_error(errc::upstream_credentials, "no token");
    }
    auto endpoint = model::endpoint_of(*entry, call.agent->number);
    if (call.traits.by_grpc && endpoint->grpc) {
        endpoint = endpoint->grpc;
    }
    call.request.set_head(relay::head_with_token(call.request.head, *endpoint));
    call.agent = std::move(endpoint);
    co_return core::result<>{};
}

// Puts a token for the caller into the head.
net::routine<core::result<>>
agent_relay::find_caller_token(request_context& request, relay::relay_call& call, core::steady_time due)
{
    const auto known = caller_tokens_.find(request, call);
    if (!known) {
        co_return known.error();
    }
    if (!*known) {
        co_return co_await caller_tokens_.ask(request, call, due);
    }
    co_return core::result<>{};
}

// Notes how the exchange ended, and what an edit made of the answer.
void agent_relay::note_outcome(request_context& request, relay::relay_outcome& outcome)
{
    auto& record = request.record;
    record.status = outcome.status;
    record.stream = outcome.stream;
    if (outcome.first_byte) {
        record.upstream_first_byte = *outcome.first_byte - request.caller.started();
        record.first_byte = *record.upstream_first_byte;
    }
    record.lost = outcome.lost;
    record.rounded = outcome.rounded;
    if (outcome.edited_status != 0 && outcome.answered) {
        record.status = outcome.edited_status;
    }
    if (outcome.refusal && !outcome.failure) {
        note_failure(request, std::move(*outcome.refusal));
    }
}

// No routine of its own: mostly there is nothing to wait for in front of the call, which may wait for long.
net::routine<> agent_relay::pass(request_context& request, relay::relay_call& call)
{
    if (call.traits.listens && streams_.ends_listening()) {
        return respond_end(request, call);
    }
    if (auto why = objection(request, call)) {
        return respond_call_error(request, std::move(*why));
    }
    if (call.agent->upstream->dial) {
        return pass_inside(request, call);
    }
    go_where_it_moved(call);
    return call.agent->needs_token() ? pass_with_token(request, call) : admit(request, call);
}

net::routine<> agent_relay::forward(request_context& request, relay::relay_call& call)
{
    if (call.traits.listens && streams_.ends_listening()) {
        return respond_end(request, call);
    }
    if (!streams_.takes_another(request.slot.whose())) {
        auto why = core::gateway_error(errc::overloaded, "streams, of all or of this principal");
        return respond_call_error(request, std::move(why));
    }
    call.caller.from_proxy = request.sender.from_proxy;
    call.slot = &request.slot;
    call.deadline = deadline_of(request, call);
    return send(request, call);
}

// To a server within the process, which hears for whom it acts.
net::routine<> agent_relay::pass_inside(request_context& request, relay::relay_call& call)
{
    using enum model::bridge_direction;
    request.record.bridge = call.agent->record.mcp ? mcp_a2a : a2a_mcp;
    const auto place = control_.inner.put(inner_caller_of(request, request.record.bridge));
    net::http1::head_writer{call.request.inside}.field(model::inner_callers::field_name, place.text());
    co_await admit(request, call);
}

net::routine<> agent_relay::pass_with_token(request_context& request, relay::relay_call& call)
{
    const auto& caller = request.caller;
    const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
    core::result<> found;
    if (call.agent->exchanges_tokens) {
        found = co_await find_caller_token(request, call, due);
    }
    if (found && call.agent->awaits_token) {
        found = co_await find_token(request, call, due);
    }
    if (found) {
        co_await admit(request, call);
    } else {
        co_await respond_call_error(request, std::move(found).error());
    }
}

// A client that asks now what a server says unasked gets a stream that is over, and asks elsewhere for the next one; a subscription
// gets its result (MCP 2026-07-28, basic/patterns/subscriptions). Only messages to MCP servers listen, which have a repair.
net::routine<> agent_relay::respond_end(request_context& request, const relay::relay_call& call)
{
    responses::answer ended;
    ended.content_type = "text/event-stream";
    const auto text = call.hooks.repair->end_text();
    if (!text.empty()) {
        ended.body = "data: " + text + "\n\n";
    }
    return respond_error(request, core::gateway_error(errc::draining, "a stream that listens"), std::move(ended));
}

net::routine<> agent_relay::admit(request_context& request, relay::relay_call& call)
{
    call.caller.from_proxy = request.sender.from_proxy;
    call.caller.credentials = request.sender.access ? &request.sender.access->reader() : nullptr;
    call.caller.principal = request.principal();
    call.caller.address = request.address();
    call.caller.trace = request.trace.joined() ? &request.trace : nullptr;
    call.slot = &request.slot;
    call.deadline = deadline_of(request, call);
    auto admitted = admission_.enter(request, call);
    if (!admitted) {
        return wait_for_slot(request, call);
    }
    return *admitted ? send(request, call) : respond_call_error(request, std::move(*admitted).error());
}

net::routine<> agent_relay::wait_for_slot(request_context& request, relay::relay_call& call)
{
    auto admitted = co_await admission_.wait(request, call);
    if (admitted) {
        co_await send(request, call);
    } else {
        co_await respond_call_error(request, std::move(admitted).error());
    }
}

// With its slot, which the stream of an answer changes.
net::routine<> agent_relay::send(request_context& request, relay::relay_call& call)
{
    if (request.contained) {
        co_await respond_contained(request);
        co_return;
    }
    const relay::relay_settings settings{
        .timeouts = settings_.timeouts,
        .limits = settings_.limits,
        .streams = streams_,
        .control = control_,
        .deadlines = settings_.deadlines.fields
    };
    if (call.times.asked > core::duration{}) {
        const auto until = request.caller.started() + call.times.asked;
        call.times.longest = relay::call_deadline::left(until, request.caller.owner().now());
    }
    relay::relay passing{request.caller, pool_, settings, call};
    if (call.traits.listens) {
        streams_.add(passing);
    }
    request.passing = &passing;
    co_await passing.run();
    auto& outcome = passing.outcome();
    request.passing = nullptr;
    request.record.sent = passing.attempts();
    request.record.endpoint = static_cast<unsigned>(call.agent->number) + 1;
    note_outcome(request, outcome);
    if (request.contained && outcome.answered && outcome.failure && outcome.failure->code != errc::caller_gone) {
        co_await end_contained(request, call, passing);
    } else if (outcome.replaced || outcome.failure) {
        co_await respond_outcome(request, call, outcome);
    }
}

// Ends an answer that had begun: a stream of the caller's protocol says why.
net::routine<>
agent_relay::end_contained(request_context& request, const relay::relay_call& call, relay::relay& passing)
{
    bool told = false;
    if (request.record.stream && !call.traits.opaque) {
        auto event = contained_event(request, call.traits.listens && request.errors.call_id.empty());
        told = co_await passing.end_with(std::move(event));
    }
    auto failure = contained_failure(request);
    if (!told) {
        co_await cut_off(request, failure.code);
    }
    if (request.record.stream) {
        request.record.stream = model::end_of_stream(failure);
    }
    note_failure(request, std::move(failure));
}

// Answers a call whose answer did not go to the caller, or not whole.
net::routine<>
agent_relay::respond_outcome(request_context& request, const relay::relay_call& call, relay::relay_outcome& outcome)
{
    if (outcome.replaced) {
        co_await call.hooks.repair->end_session();  // only a DELETE of a session is replaced
        responses::answer empty;
        co_await respond(request, std::move(empty));
        co_return;
    }
    auto& failure = *outcome.failure;  // NOLINT(*-optional-access): by the promise above
    if (call.token && failure.from == core::side::upstream) {
        failure.detail = core::redaction{{call.token->text.reveal()}}.apply(failure.detail);
    }
    if (outcome.told) {
        note_failure(request, std::move(failure));
    } else if (outcome.answered || failure.code == errc::caller_gone) {
        co_await cut_off(request, failure.code);
        note_failure(request, std::move(failure));
    } else if (call.traits.listens && failure.code == errc::draining && !request.contained) {
        co_await respond_end(request, call);
    } else if (outcome.refused || (request.grpc != nullptr && failure.code == errc::upstream_status)) {
        const auto challenge = call.hooks.repair == nullptr ? std::string_view{} : call.hooks.repair->challenge();
        const auto came = outcome.refused.value_or(relay::replaced_answer{outcome.status, {}});
        co_await respond_replaced(request, std::move(failure), came, challenge);
    } else {
        co_await respond_call_error(request, std::move(failure));
    }
}

}  // namespace gateway::request
