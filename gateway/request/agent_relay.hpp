// The relay phase of one worker: passes requests on to their agents, and knows the event streams that are open. One thread.
#pragma once

#include "gateway/relay/redirects.hpp"
#include "gateway/relay/relay.hpp"
#include "gateway/request/admission.hpp"
#include "gateway/request/caller_tokens.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::request {

struct request_context;

class agent_relay final : public relay::stream_observer {
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

    // Says why the gateway does not serve the request while it is overloaded, before anything of it is read.
    std::optional<core::error> overload_objection(request_context& request) const
    {
        return admission_.objection(request);
    }

    // Where permanent redirects of this agent led counts no longer.
    void forget_redirects(std::string_view id) { moved_.forget(id); }

    // Tells those who read the event streams that are open that the gateway is about to end.
    void announce_end();

    // The gateway accepts nobody any more: streams that are part of no call end in order, and so do those that begin from now on.
    void end_listening();

    // Cuts the event streams that are open, and those that begin from now on.
    void end_streams();

    // These serve any answer on this worker.
    bool keep_place(relay::open_stream& stream) override;
    void give_place_up(relay::open_stream& stream) override;
    bool stream_began(relay::open_stream& stream) override;
    void stream_ended() override { --open_streams_; }
    void task_changed(const model::agent_entry& agent, ::a2a::task_state state) override;

private:
    using stream_list = boost::intrusive::list<relay::open_stream, boost::intrusive::constant_time_size<false>>;

    void go_where_it_moved(relay::relay_call& call);
    relay::call_deadline deadline_of(const request_context& request, const relay::relay_call& call) const;
    net::routine<> admit(request_context& request, relay::relay_call& call);
    net::routine<> send(request_context& request, relay::relay_call& call);
    // Not inlined, as in relay.hpp.
    [[gnu::noinline]] net::routine<> pass_with_token(request_context& request, relay::relay_call& call);
    [[gnu::noinline]] net::routine<> wait_for_slot(request_context& request, relay::relay_call& call);
    [[gnu::noinline]] net::routine<core::result<>>
    find_token(request_context& request, relay::relay_call& call, core::steady_time due);
    [[gnu::noinline]] net::routine<core::result<>>
    find_caller_token(request_context& request, relay::relay_call& call, core::steady_time due);
    [[gnu::noinline]] static net::routine<>
    respond_outcome(request_context& request, const relay::relay_call& call, relay::relay_outcome& outcome);
    static net::routine<> respond_end(request_context& request, const relay::relay_call& call);
    static void note_outcome(request_context& request, relay::relay_outcome& outcome);
    std::optional<core::error> objection(const request_context& request, const relay::relay_call& call) const;
    void tell_streams(void (relay::open_stream::*what)());
    bool has_room() const noexcept { return open_streams_ + kept_places_ < settings_.limits.streams; }
    std::optional<core::place_share> stream_share(core::caller_mark whose) const noexcept;

    model::control_services& control_;
    caller_tokens caller_tokens_;
    relay::redirect_cache moved_;
    net::upstream_pool& pool_;
    const config::settings& settings_;
    telemetry::worker_metrics& metrics_;
    admission admission_;
    std::uint64_t open_streams_ = 0;
    std::uint64_t kept_places_ = 0;
    bool ending_listening_ = false;
    bool ending_streams_ = false;
    stream_list streams_;
};

}  // namespace gateway::request
