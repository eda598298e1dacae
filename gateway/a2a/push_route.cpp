#include "core/ascii.hpp"
#include "gateway/a2a/a2a_routes.hpp"
#include "gateway/request/calls_under_way.hpp"
#include "gateway/responses/content_type.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"
#include "net/upstream/via.hpp"

#include <utility>

namespace gateway::a2a {
namespace {

using core::errc;

// Longer texts are read on another thread.
constexpr std::size_t read_at_once = 256 * 1024;

bool shows_proof(const net::http1::field_list& fields, const model::push_receiver& receiver)
{
    for (const std::string_view name : {"X-A2A-Notification-Token", "A2A-Notification-Token"}) {
        const auto* shown = net::http1::find(fields, name);
        if (shown != nullptr && model::push_addresses::is_proof(receiver, *shown)) {
            return true;
        }
    }
    constexpr std::string_view scheme = "Bearer ";
    const auto* shown = net::http1::find(fields, "Authorization");
    return shown != nullptr && core::equal_ignoring_case(shown->substr(0, scheme.size()), scheme) &&
           model::push_addresses::is_proof(receiver, core::trim(shown->substr(scheme.size())));
}

}  // namespace

std::optional<model::push_receiver> push_route::receiver_of(const request_context& request) const
{
    const auto& addresses = known_.push_addresses();
    return addresses == nullptr ? std::nullopt
                                : addresses->open(request.to.agent, request.to.below.substr(model::push_path.size()));
}

void push_route::recognise(request_context& request) const
{
    if (request.to.where == model::route::push && !receiver_of(request)) {
        request.to.where = model::route::relay;
    }
}

// A notification has no principal: its address is the credential.
bool push_route::meets_containment(request_context& request) const
{
    request.contained = request::met_by(known_.containments(), nullptr, request.agent->record.id);
    return static_cast<bool>(request.contained);
}

net::routine<> push_route::serve(request_context& request)
{
    const auto opened = receiver_of(request);
    if (find_agent(request) == nullptr || !opened) {
        co_await refuse_agent(request);
        co_return;
    }
    const auto& receiver = *opened;
    const auto& head = request.caller.head();
    if (!shows_proof(head.fields, receiver)) {
        auto answer = responses::error_answer(errc::unauthenticated, request.record.agent);
        net::http1::head_writer{answer.fields}.field("WWW-Authenticate", "Bearer");
        co_await request::respond_error(request, core::caller_error(errc::unauthenticated, "push"), std::move(answer));
        co_return;
    }
    if (meets_containment(request)) {
        co_await request::respond_contained(request);
        co_return;
    }
    if (net::way_of(head.fields).passes > 0) {
        // A delivery of ours: somebody named such an address as the caller's.
        co_await request::respond_error(request, core::gateway_error(errc::loop_detected));
        co_return;
    }
    if (!responses::takes_json(head)) {
        co_await request::respond_error(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    model::push_delivery delivery;
    delivery.agent = request.agent->record.id;
    delivery.address = request.to.below.substr(model::push_path.size());
    const auto body = co_await request.caller.read_body(settings_.limits.push_body);
    if (!body) {
        co_await request::respond_error(request, body.error());
        co_return;
    }
    const auto found = co_await read(request, *body);
    if (!found) {
        auto failure = core::caller_error(errc::bad_request, std::string(found.error().why));
        co_await request::respond_error(request, std::move(failure));
        co_return;
    }
    if (meets_containment(request)) {
        co_await request::respond_contained(request);
        co_return;
    }
    delivery.lane = model::push_lane(delivery.agent, receiver, found->task);
    delivery.body = *body;
    auto asked = control_.deliver(std::move(delivery));
    const auto here = request.caller.owner().get_executor();
    const auto accepted = co_await net::ask(control_.executor, here, std::move(asked));
    if (!accepted) {
        co_await request::respond_error(request, accepted.error());
        co_return;
    }
    responses::answer done;
    done.status = 202;
    done.body = "{}";
    net::http1::head_writer{done.fields}.field("Cardea-Delivery", *accepted);
    co_await request::respond(request, std::move(done));
}

net::routine<::a2a::translation<::a2a::push_notification>>
push_route::read(request_context& request, std::string_view body)
{
    const ::a2a::translation_limits any{.bytes = body.size()};
    if (body.size() <= read_at_once) {
        co_return ::a2a::read_notification(body, any);
    }
    const auto here = request.caller.owner().get_executor();
    auto asked = control_.long_bodies.ask<::a2a::translation<::a2a::push_notification>>([body, any] {
        return ::a2a::read_notification(body, any);
    });
    co_return co_await net::ask(here, here, std::move(asked));
}

}  // namespace gateway::a2a
