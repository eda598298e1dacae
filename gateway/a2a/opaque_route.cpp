#include "gateway/a2a/a2a_routes.hpp"
#include "gateway/request/router.hpp"

namespace gateway::a2a {
namespace {

// A body up to this size is read whole before the agent hears of the request: faults in it then cost the agent nothing.
constexpr std::uint64_t held_body = 64 * 1024;

}  // namespace

net::routine<> opaque_route::serve(request_context& request)
{
    const auto& to = request.to;
    request.record.where = model::route::relay;
    const auto* known = visible_agent(request);
    if (known == nullptr) {
        co_await refuse_agent(request);
        co_return;
    }
    request.errors.format = request::error_format::a2a;
    const auto below = to.below.empty() ? std::string_view{"/"} : to.below;
    if (!known->entry->takes_a2a() || !request::fits_any(known->entry->record.relay_paths, below)) {
        co_await request::respond_error(request, core::caller_error(core::errc::not_found));
        co_return;
    }
    request.set_agent(request::chosen_endpoint(known->entry, request));
    if (request.contained) {
        co_await request::respond_contained(request);
        co_return;
    }
    const auto& agent = *request.agent;
    constexpr std::string_view no_method;
    if (!may_call(request, no_method)) {
        co_await request::respond_forbidden(request, no_method);
        co_return;
    }
    const auto verb = request.caller.head().verb;
    a2a_call call{request};
    write_head(request, call, below == "/" ? agent.own_path : agent.base_path + std::string(below));
    auto whole = co_await request.caller.hold_body(held_body, settings_.limits.stream_body);
    core::result<std::string_view> body = std::string_view{};
    if (whole && *whole) {
        body = co_await request.caller.read_body(settings_.limits.stream_body);
    }
    if (!whole || !body) {
        auto failure = whole ? std::move(body).error() : std::move(whole).error();
        co_await request::respond_error(request, std::move(failure));
        co_return;
    }
    auto& relayed = set_call(request, call, *body);
    relayed.traits.opaque = true;
    relayed.request.passed = !*whole;
    relayed.traits.repeatable = request::reads(verb) || verb == net::http1::method::options;
    co_await finish(request, call);
}

}  // namespace gateway::a2a
