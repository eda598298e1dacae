// The relay phase of one worker: passes requests on to their agents. One thread.
#pragma once

#include "gateway/model/inner_calls.hpp"
#include "gateway/relay/open_streams.hpp"
#include "gateway/relay/redirects.hpp"
#include "gateway/relay/relay.hpp"
#include "gateway/request/admission.hpp"
#include "gateway/request/caller_tokens.hpp"
#include "gateway/request/calls_under_way.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::request {

struct request_context;

// The caller of the request as whoever calls further agents for it within the process knows it. `by`: the bridge that does; nullopt: none.
model::inner_caller_pointer inner_caller_of(const request_context& request, std::optional<model::bridge_direction> by);

class agent_relay {
public:
    // References outlive the object.
    agent_relay(
        model::control_services& control,
        net::upstream_pool& pool,
        const config::settings& settings,
        telemetry::worker_metrics& metrics
    );

    // Sends the call to its agent and passes the answer on, or answers with what failed. Both outlive the routine.
    net::routine<> pass(request_context& request, relay::relay_call& call);

    // Sends the call to another replica. It is no call of an agent here, whose limits and queue are those of the other one.
    net::routine<> forward(request_context& request, relay::relay_call& call);

    // Says why the gateway does not serve the request while it is overloaded, before anything of it is read.
    std::optional<core::error> overload_objection(request_context& request) const
    {
        return admission_.objection(request);
    }

    // Where permanent redirects of this agent led counts no longer.
    void forget_redirects(std::string_view id) { moved_.forget(id); }

    // The event streams of any answer on this worker.
    relay::open_streams& streams() noexcept { return streams_; }

    // The requests of this worker that containments may end.
    calls_under_way& calls() noexcept { return calls_; }

private:
    void go_where_it_moved(relay::relay_call& call);
    relay::call_deadline deadline_of(const request_context& request, const relay::relay_call& call) const;
    net::routine<> admit(request_context& request, relay::relay_call& call);
    net::routine<> send(request_context& request, relay::relay_call& call);
    // Not inlined, as in relay.hpp.
    [[gnu::noinline]] net::routine<> pass_inside(request_context& request, relay::relay_call& call);
    [[gnu::noinline]] net::routine<> pass_with_token(request_context& request, relay::relay_call& call);
    [[gnu::noinline]] net::routine<> wait_for_slot(request_context& request, relay::relay_call& call);
    [[gnu::noinline]] net::routine<core::result<>>
    find_token(request_context& request, relay::relay_call& call, core::steady_time due);
    [[gnu::noinline]] net::routine<core::result<>>
    find_caller_token(request_context& request, relay::relay_call& call, core::steady_time due);
    [[gnu::noinline]] static net::routine<>
    respond_outcome(request_context& request, const relay::relay_call& call, relay::relay_outcome& outcome);
    [[gnu::noinline]] static net::routine<>
    end_contained(request_context& request, const relay::relay_call& call, relay::relay& passing);
    static net::routine<> respond_end(request_context& request, const relay::relay_call& call);
    static void note_outcome(request_context& request, relay::relay_outcome& outcome);
    std::optional<core::error> objection(const request_context& request, const relay::relay_call& call) const;

    model::control_services& control_;
    caller_tokens caller_tokens_;
    relay::redirect_cache moved_;
    net::upstream_pool& pool_;
    const config::settings& settings_;
    admission admission_;
    relay::open_streams streams_;
    calls_under_way calls_;
};

}  // namespace gateway::request
