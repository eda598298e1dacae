#include "gateway/traffic/call_endpoint.hpp"

#include "gateway/model/content_type.hpp"
#include "gateway/traffic/task_guard.hpp"
#include "net/loop/ask.hpp"

namespace gateway::traffic {
namespace {

using core::errc;

// Numbers and brackets take long to read: a megabyte of them would hold a worker up for 10 ms.
constexpr std::size_t read_at_once = 256 * 1024;

struct long_call {
    core::scan_outcome scanned;
    bool hides_task = false;  // it names one of another principal
};

a2a::method method_of(const core::jsonrpc_call& call)
{
    return call.method_escaped ? a2a::find_method(core::unescape_json(call.method)) : a2a::find_method(call.method);
}

// Of a long body the thread that read it has said so.
bool names_hidden_task(
    const request_context& request,
    std::string_view body,
    std::string_view params,
    access::task_index* tasks
)
{
    return body.size() > read_at_once ? request.hides_task : task_guard{request, tasks}.hides_any(params);
}

// A name that A2A has only had since 1.0.
constexpr bool is_of_1(a2a::method method) noexcept
{
    return method >= a2a::method::send_message && method <= a2a::method::get_extended_agent_card;
}

std::string name_of(const core::jsonrpc_call& call)
{
    return call.method_escaped ? core::unescape_json(call.method) : std::string{call.method};
}

}  // namespace

net::routine<> call_endpoint::look(request_context& request)
{
    std::string unknown_agent;
    if (find_agent(request) == nullptr) {
        unknown_agent = request.to.agent;
    } else if (!request.may_call) {
        co_await respond_forbidden(request);
        co_return;
    }
    if (!model::takes_json(request.caller.head())) {
        constexpr auto code = errc::unsupported_media_type;
        auto answer = model::jsonrpc_error_answer(code, request.record.agent, /*id=*/{});
        co_await respond_error(request, core::caller_error(code), std::move(answer));
        co_return;
    }
    auto body = request.caller.body_at_hand(settings_.limits.body);
    if (!body) {
        body = co_await request.caller.read_body(settings_.limits.body);
    }
    if (!body) {
        co_await respond_error(request, std::move(body).error());
        co_return;
    }
    core::scan_outcome scanned;
    if (body->size() <= read_at_once) {
        scanned = core::scan_jsonrpc(*body);
    } else {
        scanned = co_await read_long_call(request, *body);
    }
    request.call_id = scanned.call.id;
    if (scanned.problem) {
        auto answer = model::jsonrpc_error_answer(*scanned.problem, request.record.agent, request.call_id);
        auto failure = core::caller_error(*scanned.problem, std::string(scanned.why));
        co_await respond_error(request, std::move(failure), std::move(answer));
        co_return;
    }
    const auto method = method_of(scanned.call);
    request.record.rpc_method = method;
    request.in_words_of_a2x = request.in_words_of_a2x && !is_of_1(method);
    if (!request.agent) {
        auto answer = model::call_error(errc::agent_not_found, unknown_agent, request.call_id);
        co_await respond_error(request, core::caller_error(errc::agent_not_found), std::move(answer));
        co_return;
    }
    if (request.access && !may_call(request, name_of(scanned.call))) {
        co_await respond_forbidden(request);
        co_return;
    }
    if (names_hidden_task(request, *body, scanned.call.params, control_.tasks())) {
        co_await respond_hidden_task(request);
        co_return;
    }
    if (request.agent->awaits_card) {
        co_await await_card(request);
        if (!may_call(request, name_of(scanned.call))) {
            co_await respond_forbidden(request);
            co_return;
        }
    }
    if (auto refusal = prepare(request, *body, method)) {
        co_await std::move(*refusal);
    }
}

net::routine<core::scan_outcome> call_endpoint::read_long_call(request_context& request, std::string_view body)
{
    const auto here = request.caller.owner().get_executor();
    const task_guard guard{request, control_.tasks()};
    auto asked = control_.long_bodies().ask<long_call>([body, guard] {
        long_call read{core::scan_jsonrpc(body)};
        read.hides_task = !read.scanned.problem && guard.hides_any(read.scanned.call.params);
        return read;
    });
    const auto read = co_await net::ask(here, here, std::move(asked));
    request.hides_task = read.hides_task;
    co_return read.scanned;
}

// The first calls of an agent wait for its card, which may say where calls go.
net::routine<> call_endpoint::await_card(request_context& request)
{
    auto asked = control_.card(request.agent->record.id);
    const auto found = co_await net::ask(control_.executor(), request.caller.owner().get_executor(), std::move(asked));
    // Without a card the call goes to the agent's own URL, and the relay says what is wrong with that.
    static_cast<void>(found);
    if (const auto* known = known_.find(request.agent->record.id)) {
        request.set_agent(known->entry);
    }
}

// Sets request.call, or returns the answer that refuses it.
std::optional<net::routine<>>
call_endpoint::prepare(request_context& request, std::string_view body, a2a::method method)
{
    const auto dialect = a2a::answered_card(method);
    if (dialect && request.access && request.principal() == nullptr) {
        return respond_forbidden(request);
    }
    if (dialect) {
        const auto source = core::extended_card_of(request.agent->record, request.access != nullptr);
        if (source == core::extended_card_access::off) {
            return respond_call_error(request, no_extended_card(request));
        }
        if (source == core::extended_card_access::managed) {
            request.managed = model::card_position{*dialect, /*in_result=*/true};
            return std::nullopt;
        }
    }
    if (!request.agent->takes_a2a()) {
        return respond_no_calls(request);
    }
    auto& call = request.call.emplace();
    call.agent = request.agent;
    call.head = request.agent->call_head;
    call.body = body;
    call.repeatable = a2a::safe_to_repeat(method);
    call.streaming = a2a::streaming(method);
    if (dialect) {
        call.card = model::card_position{*dialect, /*in_result=*/true};
        call.caller = request.owner ? *request.owner : nullptr;
    }
    return std::nullopt;
}

}  // namespace gateway::traffic
