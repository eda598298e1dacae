// How the traffic handler passes requests on to agents.
#include "gateway/traffic/forwarding.hpp"
#include "gateway/traffic/path_pattern.hpp"
#include "gateway/traffic/traffic_handler.hpp"
#include "net/http1/head_writer.hpp"
#include "net/upstream/via.hpp"

#include <chrono>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;

// A body up to this size is read whole before the agent hears of the request: faults in it then cost the agent nothing.
constexpr std::uint64_t held_body = 64 * 1024;

}  // namespace

net::routine<> traffic_handler::relay_opaquely(request_context& request, destination to)
{
    const auto* known = find(to.agent);
    const auto wanted = to.below.empty() ? std::string_view{"/"} : to.below;
    if (known == nullptr) {
        co_await refuse_agent(request, to);
        co_return;
    }
    if (!known->entry->upstream || !fits_any(known->entry->record.relay_paths, wanted)) {
        auto what = model::error_answer(errc::not_found, {});
        co_await answer_error(request, core::caller_error(errc::not_found), std::move(what));
        co_return;
    }
    request.agent = known->entry;
    request.record.agent = request.agent->record.id;
    auto whole = co_await request.caller.hold_body(held_body, settings_.limits.stream_body);
    core::result<std::string_view> body = std::string_view{};
    if (whole && *whole) {
        body = co_await request.caller.read_body(settings_.limits.stream_body);
    }
    if (!whole || !body) {
        auto why = whole ? std::move(body).error() : std::move(whole).error();
        auto what = model::error_answer(why.code, request.record.agent);
        co_await answer_error(request, std::move(why), std::move(what));
        co_return;
    }
    const auto& head = request.caller.head();
    to = find_destination(head.target);  // the head may lie elsewhere since the body was read
    const bool itself = to.below.empty() || to.below == "/";
    const auto path = itself ? request.agent->own_path : request.agent->base_path + std::string(to.below);
    net::http1::head_writer writer{request.head};
    writer.request_line(head.verb, path + std::string(to.query));
    request.head += request.agent->fixed_fields;
    using net::http1::method;
    relay_call what{
        .agent = request.agent,
        .verb = head.verb,
        .head = request.head,
        .body = *body,
        .passed = !*whole,
        .repeatable = head.verb == method::get || head.verb == method::head || head.verb == method::options,
        .streaming = false
    };
    constexpr std::string_view no_id;
    co_await relay_to_agent(request, std::move(what), no_id);
}

// What speaks against passing the request on, by the proxies that it has come through.
std::optional<core::error> traffic_handler::objection_to_way(const request_context& request) const
{
    // Once is no loop: an agent may be another one of this gateway.
    constexpr std::size_t most_passes = 1;
    const auto way = net::way_of(request.caller.head().fields);
    if (way.passes > most_passes) {
        return core::gateway_error(errc::loop_detected);
    }
    if (way.length > settings_.limits.header_value) {
        return core::caller_error(errc::header_too_large, "Via");
    }
    return std::nullopt;
}

net::routine<> traffic_handler::relay_to_agent(request_context& request, relay_call call, std::string_view id)
{
    if (auto objection = objection_to_way(request)) {
        auto what = model::call_error(objection->code, request.record.agent, id);
        co_await answer_error(request, std::move(*objection), std::move(what));
        co_return;
    }
    const relay_settings waits{
        .connect = settings_.timeouts.connect,
        .upstream_idle = settings_.timeouts.upstream_idle,
        .body = settings_.timeouts.body,
        .stream_body = settings_.limits.stream_body,
        .keep_alive = settings_.timeouts.stream_keep_alive,
        .sse_event = settings_.limits.sse_event,
        .observer = this,
        .card_answer = control_.largest_card() + model::card_envelope,
        .control = &control_
    };
    call.from_proxy = !proxies_.empty() && proxies_.trusts(request.caller.peer());
    relay passing{request.caller, pool_, waits, std::move(call)};
    auto outcome = co_await passing.run();
    request.record.status = outcome.status;
    request.record.stream = outcome.stream;
    request.record.upstream_reused = outcome.reused;
    if (outcome.first_byte) {
        request.record.upstream_first_byte = *outcome.first_byte - request.caller.started();
        request.record.first_byte = *request.record.upstream_first_byte;
    }
    if (!outcome.failure) {
        co_return;
    }
    if (outcome.answered || outcome.failure->code == errc::caller_gone) {
        request.caller.cut();
        note_failure(request, std::move(*outcome.failure));
        co_return;
    }
    const auto code = outcome.failure->code;
    auto what = model::call_error(code, request.record.agent, id);
    co_await answer_error(request, std::move(*outcome.failure), std::move(what));
}

bool traffic_handler::stream_began(relay& which)
{
    if (open_streams_ >= settings_.limits.streams) {
        return false;
    }
    ++open_streams_;
    metrics_.stream_started(which.agent().record.id);
    if (ending_streams_) {
        which.end_stream();
    } else {
        streams_.push_back(which);
    }
    return true;
}

void traffic_handler::end_streams()
{
    ending_streams_ = true;
    // Ending one resumes its coroutine, which unlinks it; what goes on meanwhile may unlink others.
    while (!streams_.empty()) {
        auto& first = streams_.front();
        streams_.pop_front();
        first.end_stream();
    }
}

}  // namespace gateway::traffic
