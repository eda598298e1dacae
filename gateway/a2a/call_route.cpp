#include "gateway/a2a/a2a_routes.hpp"
#include "gateway/a2a/call_fields.hpp"
#include "gateway/a2a/push_hook.hpp"
#include "gateway/a2a/task_guard.hpp"
#include "gateway/responses/content_type.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>

namespace gateway::a2a {
namespace {

using core::errc;

// Numbers and brackets take long to read: a megabyte of them would hold a worker up for 10 ms.
constexpr std::size_t read_at_once = 256 * 1024;

struct long_call {
    core::scan_outcome scanned;
    task_references named{};
};

::a2a::method method_of(const core::jsonrpc_call& call)
{
    return call.method_escaped ? ::a2a::find_method(core::unescape_json(call.method)) : ::a2a::find_method(call.method);
}

// A name that A2A has only had since 1.0.
constexpr bool is_of_1(::a2a::method method) noexcept
{
    return method >= ::a2a::method::send_message && method <= ::a2a::method::get_extended_agent_card;
}

// How a call reaches the agent.
struct call_way {
    ::a2a::dialect caller{};
    const model::agent_interface* to = nullptr;  // null: the agent's call_url
    bool translates = false;
    bool missing = false;  // there is no interface that could know the method
};

// The method says which generation its caller speaks; one of an extension says nothing, and goes to the generation of
// `A2A-Version`, or to any if there is none.
call_way find_way(
    const model::agent_entry& agent,
    ::a2a::method method,
    std::optional<::a2a::generation> said,
    model::task_home home
)
{
    using ::a2a::binding;
    call_way way;
    if (method != ::a2a::method::other) {
        said = ::a2a::generation_of(method);
    }
    way.caller = {said.value_or(::a2a::generation::v03), binding::jsonrpc};
    // An extension may name something that is not a task.
    const bool goes_home = agent.record.bridge && method != ::a2a::method::other;
    const auto* nearest =
        model::interface_for_task(agent.interfaces, way.caller, goes_home ? home : model::task_home{0});
    if (nearest == nullptr) {
        return way;
    }
    if (nearest->speaks == way.caller) {
        way.to = nearest;
    } else if (!agent.record.bridge) {
        way.missing = nearest->speaks.over == binding::grpc;
        return way;
    } else if (method != ::a2a::method::other) {
        way.to = nearest;
        way.translates = true;
    } else {
        const auto any = std::ranges::find_if(agent.interfaces, [](const model::agent_interface& each) {
            return each.speaks.over == binding::jsonrpc;
        });
        way.missing = said.has_value() || any == agent.interfaces.end();
        way.to = way.missing ? nullptr : &*any;
    }
    return way;
}

// That the caller of a method speaks.
::a2a::dialect dialect_of(::a2a::method method) noexcept
{
    return {::a2a::generation_of(method), ::a2a::binding::jsonrpc};
}

// Whether callers may see another answer than the agent's: their own tasks, or their own addresses for push notifications.
constexpr bool edits_answer(::a2a::operation what) noexcept
{
    using enum ::a2a::operation;
    return what == list || what == create_push || what == get_push || what == list_push;
}

::a2a::method note_method(request_context& request, const core::jsonrpc_call& call)
{
    const auto method = method_of(call);
    request.record.rpc_method = method;
    request.errors.uses_a2x_errors = request.errors.uses_a2x_errors && !is_of_1(method);
    return method;
}

net::routine<> respond_unread(request_context& request, core::error problem)
{
    auto answer = responses::jsonrpc_error_answer(problem.code, request.record.agent, request.errors.call_id);
    return request::respond_error(request, std::move(problem), std::move(answer));
}

net::routine<> respond_unknown(request_context& request, std::string_view agent)
{
    auto answer = responses::call_error(errc::agent_not_found, agent, request.errors.call_id);
    return request::respond_error(request, core::caller_error(errc::agent_not_found), std::move(answer));
}

std::string name_of(const core::jsonrpc_call& call)
{
    return call.method_escaped ? core::unescape_json(call.method) : std::string{call.method};
}

}  // namespace

// A call from its head to its relay.
net::routine<> call_route::serve(request_context& request)
{
    a2a_call call{request};
    std::string unknown_agent;
    if (find_agent(request) == nullptr) {
        unknown_agent = asked_agent(request);
    } else if (!request.may_call && !request.contained) {
        co_await request::respond_forbidden(request);
        co_return;
    }
    if (!responses::takes_json(request.caller.head())) {
        co_await respond_unread(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    auto body = request.caller.body_at_hand(settings_.limits.body);
    if (!body) {
        body = co_await request.caller.read_body(settings_.limits.body);
    }
    if (!body) {
        co_await request::respond_error(request, std::move(body).error());
        co_return;
    }
    core::scan_outcome scanned;
    if (body->size() <= read_at_once) {
        scanned = core::scan_jsonrpc(*body);
    } else {
        scanned = co_await read_long_call(request, call, *body);
    }
    if (auto refusal = check(request, call, *body, scanned, unknown_agent)) {
        co_await std::move(*refusal);
        co_return;
    }
    const auto method = *request.record.rpc_method;  // NOLINT(*-optional-access): check() has set it
    if (request.agent->needs_preparation()) {
        co_await prepare_with_steps(request, call, *body, scanned.call);
    } else if (auto answer = prepare(request, call, *body, {method, scanned.call.params})) {
        co_await std::move(*answer);
    }
    if (call.passes() && edits_answer(::a2a::operation_of(method))) {
        add_edits(request, call, method);
    }
    if (call.passes() || call.managed) {
        co_await finish(request, call);
    }
}

// Returns the refusal of a call that has been read; nullopt: it may go to its agent.
std::optional<net::routine<>> call_route::check(
    request_context& request,
    a2a_call& call,
    std::string_view body,
    const core::scan_outcome& scanned,
    std::string_view unknown_agent
) const
{
    request.errors.call_id = scanned.call.id;
    if (scanned.problem) {
        return respond_unread(request, core::caller_error(*scanned.problem, std::string(scanned.why)));
    }
    const auto method = note_method(request, scanned.call);
    if (!request.agent) {
        return respond_unknown(request, unknown_agent);
    }
    if (request.contained) {
        return request::respond_contained(request);
    }
    if (request.sender.access) {
        if (const auto name = name_of(scanned.call); !may_call(request, name)) {
            return request::respond_forbidden(request, name);
        }
    }
    if (body.size() <= read_at_once) {
        note_conversation(request, scanned.call.params);
        call.named =
            task_guard{request, control_.tasks, control_.chains}.look(scanned.call.params, ::a2a::operation_of(method));
    }
    return call.named.refused() ? std::optional{respond_named(request, call.named)} : std::nullopt;
}

// Edits the answer to a call that goes to its agent.
void call_route::add_edits(request_context& request, a2a_call& call, ::a2a::method method) const
{
    const auto caller = dialect_of(method);
    const auto what = ::a2a::operation_of(method);
    const push_hook push{control_, settings_, known_};
    push.restore(request, call, {caller, what, {}, {}, {}});
    filter_task_list(request, call, caller, what);
}

// Prepares the call once the card of its agent is known, and with an address of the gateway's instead of the caller's for push
// notifications, where the agent needs that.
net::routine<>
call_route::prepare_with_steps(request_context& request, a2a_call& call, std::string_view body, core::jsonrpc_call said)
{
    const push_hook push{control_, settings_, known_};
    const auto method = method_of(said);
    const auto name = name_of(said);
    if (request.agent->awaits_card) {
        const bool goes_on = co_await await_card_of_call(request, name);
        if (!goes_on) {
            co_return;
        }
    }
    const push_call asked{dialect_of(method), ::a2a::operation_of(method), body, said.params, name};
    auto mediated = co_await push.mediate(request, call, asked);
    if (!mediated) {
        co_await push_hook::refuse(request, asked.caller, std::move(mediated).error());
        co_return;
    }
    if (!push_hook::has_room(call)) {
        co_await request::respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return;
    }
    if (auto answer = prepare(request, call, mediated->body, {method, mediated->payload})) {
        co_await std::move(*answer);
    }
}

net::routine<core::scan_outcome>
call_route::read_long_call(request_context& request, a2a_call& call, std::string_view body)
{
    const auto here = request.caller.owner().get_executor();
    const task_guard guard{request, control_.tasks, control_.chains};
    auto asked = control_.long_bodies.ask<long_call>([body, guard] {
        long_call read{core::scan_jsonrpc(body)};
        if (!read.scanned.problem) {
            const auto& call = read.scanned.call;
            read.named = guard.look(call.params, ::a2a::operation_of(method_of(call)));
        }
        return read;
    });
    const auto read = co_await net::ask(here, here, std::move(asked));
    call.named = read.named;
    co_return read.scanned;
}

// Sets call.relayed, or returns the routine that does it or answers.
std::optional<net::routine<>>
call_route::prepare(request_context& request, a2a_call& call, std::string_view body, read_call said)
{
    const auto method = said.method;
    const auto dialect = ::a2a::answered_card(method);
    if (dialect && request.sender.access && request.principal() == nullptr) {
        return request::respond_forbidden(request);
    }
    if (dialect) {
        if (auto why = no_extended_card(request)) {
            return request::respond_call_error(request, std::move(*why));
        }
        const auto source = core::extended_card_of(request.agent->record, request.sender.access != nullptr);
        if (source == core::extended_card_access::managed) {
            call.managed = model::card_position{*dialect, /*in_result=*/true};
            return std::nullopt;
        }
    }
    if (!goes_to_agent(request)) {
        return request::respond_no_calls(request);
    }
    const auto version = version_said(request.caller.head().fields, {});
    if (request.agent->record.bridge && version == said_version::garbage) {
        return request::respond_call_error(request, core::caller_error(errc::bad_request, "A2A-Version"));
    }
    if (request.agent->record.bridge && version == said_version::other) {
        return request::respond_call_error(request, core::caller_error(errc::version_not_supported, "A2A-Version"));
    }
    const auto way = find_way(*request.agent, method, generation_said(version), call.named.home);
    if (way.missing) {
        const ::a2a::refusal why{::a2a::rpc_code::method_not_found, {}, "names no method of A2A that the agent has"};
        return request::respond_refusal(request, way.caller, why);
    }
    if (way.translates) {
        return translate_call(request, call, {way.caller, ::a2a::operation_of(method), said.params, nullptr, way.to});
    }
    auto& relayed = call.relayed;
    relayed.agent = request.agent;
    const bool own = way.to != nullptr && !way.to->call_head.empty();
    relayed.request.head = own ? way.to->call_head : request.agent->call_head;
    relayed.request.body = body;
    relayed.traits.repeatable = ::a2a::safe_to_repeat(method);
    relayed.traits.streaming = ::a2a::streaming(method);
    const auto spoken = way.to != nullptr ? way.to->speaks.version : way.caller.version;
    call.speaks = extension_terms_of(request, way.caller.version, spoken);
    call.speaks->what = ::a2a::operation_of(method);
    note_home(request, call, way.to);
    say_version(request, call, spoken);
    if (dialect) {
        call.speaks->required = nullptr;  // the card says what is required
        call.card = model::card_position{*dialect, /*in_result=*/true};
    }
    return std::nullopt;
}

net::routine<> call_route::translate_call(request_context& request, a2a_call& call, bridged asked)
{
    co_await translate(request, call, asked);
    if (asked.what == ::a2a::operation::extended_card) {
        add_card(call, asked.caller);
    }
}

}  // namespace gateway::a2a
