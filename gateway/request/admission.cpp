#include "gateway/request/admission.hpp"

#include "core/place_shares.hpp"
#include "gateway/access/failure_limit.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/request/request_context.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace gateway::request {
namespace {

using core::errc;
using net::http1::framing;
using net::http1::method;
using telemetry::shed_reason;
using state = balancing::call_waiter::state;

constexpr balancing::overload_level no_large_calls = 2;
constexpr balancing::overload_level no_calls = 3;

// A call in the queue, and how it hears of its place: on the thread of its loop.
class queued_call final : public balancing::call_waiter, public std::enable_shared_from_this<queued_call> {
public:
    queued_call(net::executor home, net::signal& wake)
        : home_{std::move(home)},
          wake_{&wake}
    {
    }

    // Its loop's thread: nobody waits for it any more.
    void forget() noexcept { wake_ = nullptr; }

private:
    void decided() noexcept override
    {
        net::asio::post(home_, [self = shared_from_this()] {
            if (self->wake_ != nullptr) {
                self->wake_->set();
            }
        });
    }

    net::executor home_;
    net::signal* wake_;  // null: nobody waits
};

// The holder of a turn in a queue: the principal, else the address.
core::caller_mark caller_of(const request_context& request)
{
    if (request.slot.whose() != 0) {
        return request.slot.whose();
    }
    return core::mark_of_address(access::number_of(request.address()));
}

// Whether its principal has all calls of the agent that it may have, as the agent's gate counts them.
bool has_its_share(const request_context& request) noexcept
{
    const auto calls = core::place_shares::of_object(request.agent->calls.get());
    const auto most = core::half_of(request.agent->terms->limits.in_flight);
    return core::all_shares().count(calls, request.slot.whose()) >= most;
}

// An answer that nobody would ask for but as a stream. Any message to an MCP server may be answered with one, and those that listen are.
bool wants_stream(const relay::relay_call& call) noexcept
{
    return call.traits.listens ||
           (call.traits.streaming && !(call.agent->record.mcp && call.request.verb == method::post));
}

bool is_large(const relay::relay_call& call, const net::http1::request_head& head) noexcept
{
    if (!call.request.passed) {
        return call.request.body.size() > admission::small_body;
    }
    return head.body == framing::chunked || head.content_length > admission::small_body;
}

}  // namespace

core::error admission::shed(request_context& request, telemetry::shed_reason why) const
{
    request.errors.shed = true;
    metrics_.count_shed(why);
    std::string detail{telemetry::name(why)};
    const bool waited = why == telemetry::shed_reason::queue_full || why == telemetry::shed_reason::queue_timeout;
    if (waited && has_its_share(request)) {
        detail += ", the principal has half of limits.in_flight";
    }
    return core::gateway_error(errc::overloaded, std::move(detail));
}

std::optional<core::error> admission::objection(request_context& request) const
{
    const auto level = control_.overload.load(std::memory_order_relaxed);
    if (level == 0) {
        return std::nullopt;
    }
    request.caller.close_after_answer();
    if (level < no_large_calls || !request.way->calls_agent) {
        return std::nullopt;
    }
    const auto& head = request.caller.head();
    const bool large = head.body == framing::length && head.content_length > small_body;
    const bool listens = request.to.where == model::route::mcp && head.verb == method::get;
    return level >= no_calls || large || listens ? std::optional{shed(request, telemetry::shed_reason::overload)}
                                                 : std::nullopt;
}

std::optional<core::result<>> admission::enter(request_context& request, const relay::relay_call& call) const
{
    const auto level = control_.overload.load(std::memory_order_relaxed);
    if (level >= no_large_calls &&
        (level >= no_calls || call.traits.streaming || is_large(call, request.caller.head()))) {
        return shed(request, telemetry::shed_reason::overload);
    }
    if (!request.agent || !request.agent->calls) {
        return core::result<>{};  // it is not called over HTTP
    }
    auto& gate = *request.agent->calls;
    if (wants_stream(call)) {
        const auto given = request.slot.reserve_stream(gate);
        if (given != relay::stream_slot::given) {
            return shed(
                request,
                given == relay::stream_slot::share ? telemetry::shed_reason::stream_share
                                                   : telemetry::shed_reason::streams
            );
        }
    }
    return request.slot.enter(gate) ? std::optional{core::result<>{}} : std::nullopt;
}

net::routine<core::result<>> admission::wait(request_context& request, const relay::relay_call& call) const
{
    auto& caller = request.caller;
    const auto agent = request.agent;
    auto& gate = *agent->calls;
    const auto begun = std::chrono::steady_clock::now();
    const auto& deadline = call.deadline;
    const auto until = std::min(begun + agent->terms->limits.wait, deadline.due);
    const auto waiter = std::make_shared<queued_call>(caller.owner().get_executor(), caller.clock().wake());
    relay::exchange_wait waiting{caller, call.traits.streaming};
    gate.join(waiter, caller_of(request));
    auto how = relay::woken::by_event;
    while (waiter->now() == state::undecided && how == relay::woken::by_event) {
        how = co_await waiting.until(until);
    }
    waiter->forget();
    caller.clock().stop();
    if (waiter->now() == state::undecided) {
        static_cast<void>(gate.give_up(waiter));
    }
    metrics_.observe_queue(std::chrono::steady_clock::now() - begun);
    switch (waiter->now()) {
        case state::admitted:
            request.slot.hold(gate, waiter->take_share());
            if (how == relay::woken::ended || how == relay::woken::caller_gone) {
                break;
            }
            if (deadline.over(caller.owner().now())) {
                how = relay::woken::late;
                break;
            }
            co_return core::result<>{};
        case state::full:
            co_return shed(request, telemetry::shed_reason::queue_full);
        case state::share:
            co_return shed(request, telemetry::shed_reason::queue_share);
        case state::undecided:
        case state::left:
            break;
    }
    request.slot.give_back();
    if (how == relay::woken::late && until < deadline.due && !deadline.over(caller.owner().now())) {
        co_return shed(request, telemetry::shed_reason::queue_timeout);
    }
    co_return deadline.interrupted(how, "queue", std::chrono::steady_clock::now());
}

}  // namespace gateway::request
