// Services beside A2A's: grpc.health.v1.Health, and those of an agent that pass unread.
#include "gateway/a2a/grpc_route.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/call_wait.hpp"
#include "net/grpc/messages.hpp"
#include "net/http1/head_writer.hpp"
#include "net/server/timed_ask.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gateway::a2a {
namespace {

using core::errc;

// The field `service` of a HealthCheckRequest (grpc/health/v1/health.proto). Nothing: it is not one.
std::optional<std::string_view> asked_service(std::string_view message)
{
    constexpr char tag = '\x0A';
    if (message.empty()) {
        return message;
    }
    const bool named = message.size() >= 2 && message[0] == tag && static_cast<unsigned char>(message[1]) < 128 &&
                       message.size() == 2 + static_cast<std::size_t>(message[1]);
    return named ? std::optional{message.substr(2)} : std::nullopt;
}

}  // namespace

net::routine<> grpc_route::serve_health(request_context& request, grpc_call& call)
{
    if (!call.reading->path.ends_with("/Check")) {
        co_await request::respond_call_error(request, core::caller_error(errc::grpc_method_unknown));
        co_return;
    }
    auto taken = take_message(request, call);
    if (!taken) {
        taken = co_await gather_message(request, call, held_beginning);
    }
    auto ready = std::move(*taken);
    const auto service = ready && call.whole ? asked_service(call.reading->message) : std::nullopt;
    if (ready && !service) {
        ready = core::caller_error(errc::bad_request, "not a HealthCheckRequest");
    }
    const bool of_agent = service == ::a2a::protobuf::v1_service || service == ::a2a::protobuf::v03_service;
    if (ready && of_agent) {
        ready = choose(request, call);
    } else if (ready && !service->empty()) {
        co_await send_health(request, std::nullopt);
        co_return;
    }
    if (!ready) {
        co_await request::respond_call_error(request, std::move(ready).error());
        co_return;
    }
    if (of_agent) {
        if (auto denied = admit(request)) {
            co_await std::move(*denied);
            co_return;
        }
        const auto now = request.caller.owner().now();
        const auto& called = request.agent->grpc ? *request.agent->grpc : *request.agent;
        co_await send_health(request, request.agent->serves_a2a() && model::again_at(called, now) <= now);
        co_return;
    }
    auto asked = control_.ready();
    const auto due = end_of_time(request.caller, call);
    const auto serving = co_await net::ask_until(request.caller, due, control_.executor, std::move(asked));
    if (serving) {
        co_await send_health(request, *serving);
    } else {
        co_await request::respond_call_error(request, net::gave_up(request.caller));
    }
}

// Nothing: Cardea knows no such service.
net::routine<> grpc_route::send_health(request_context& request, std::optional<bool> serving)
{
    std::string message;
    auto& head = request.caller.scratch();
    responses::begin_head(head, request.caller, 200);
    net::http1::head_writer{head}.field("Content-Type", "application/grpc");
    if (serving) {
        net::grpc::append_prefix(message, 2);
        message += '\x08';
        message += *serving ? '\x01' : '\x02';
    } else {
        head += "grpc-status: 5\r\ngrpc-message: No such service.\r\n";
    }
    request.caller.complete_head(head, net::answer_length::open());
    net::answer_part all{.head = head, .last = true, .trailers = serving ? "grpc-status: 0\r\n" : ""};
    all.body.add(message);
    request.record.status = 200;
    auto sent = co_await request.caller.send(all);
    if (!sent) {
        request::note_failure(request, std::move(sent).error());
    }
}

// A service of the agent's that its record lets through. False: the call is answered.
net::routine<bool> grpc_route::prepare_service(request_context& request, grpc_call& call)
{
    request.record.where = model::route::relay;
    if (auto chosen = choose(request, call); !chosen) {
        // Tools ask whoever it is for reflection, and go on without if it is not implemented.
        const bool unnamed = chosen.error().code == errc::agent_unnamed && call.reading->in_metadata.empty();
        auto why = unnamed ? core::caller_error(errc::grpc_method_unknown) : std::move(chosen).error();
        co_await request::respond_call_error(request, std::move(why));
        co_return false;
    }
    if (auto denied = admit(request)) {
        co_await std::move(*denied);
        co_return false;
    }
    constexpr std::string_view no_method;
    const auto& services = request.agent->record.relay_services;
    if (!request.agent->takes_a2a() || std::ranges::find(services, call.reading->service()) == services.end()) {
        co_await request::respond_call_error(request, core::caller_error(errc::grpc_method_unknown));
        co_return false;
    }
    if (!may_call(request, no_method)) {
        co_await request::respond_forbidden(request, no_method);
        co_return false;
    }
    // Nothing waits for more of a request: its agent may have to speak first. One that has come whole may be repeated.
    const auto here = request.caller.body_at_hand(held_request);
    call.whole = here.has_value();
    if (here) {
        grpc::request_messages all{settings_.limits.grpc_message, false};
        if (auto good = all.add(*here, true); !good) {
            co_await request::respond_call_error(request, std::move(good).error());
            co_return false;
        }
        call.reading->framed = *here;
    } else {
        call.coming = std::make_unique<coming_request>(settings_.limits.grpc_message, false);
    }
    pass_service(request, call);
    call.relayed.traits.both_ways = true;
    co_return true;
}

}  // namespace gateway::a2a
