// One call passed on to an agent and its answer passed back, bytes untouched, framing made again in both directions,
// events as they come. Back-pressure is the loop itself: the agent is read again when the caller has taken what came.
#pragma once

#include "core/error.hpp"
#include "gateway/relay/agent_exchange.hpp"
#include "gateway/relay/answer_body.hpp"
#include "gateway/relay/answer_writer.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/relay/early_events.hpp"
#include "gateway/relay/inflight_slot.hpp"
#include "gateway/relay/open_streams.hpp"
#include "gateway/relay/redirects.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/relay/task_watch.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/upstream/upstream_pool.hpp"

#include <cstddef>
#include <string>

namespace gateway::relay {

// One exchange; made per call, on the loop of its caller.
class relay final : public open_stream {
public:
    // References outlive the relay.
    relay(net::caller_exchange& caller, net::upstream_pool& pool, const relay_settings& settings, relay_call& call);
    ~relay() override;

    net::routine<> run();

    // These hold after run().
    relay_outcome& outcome() noexcept { return outcome_; }
    const model::attempt_record& attempts() const noexcept { return agent_.attempts().record(); }

    void announce_end() override
    {
        writer_.announce_end();
        caller_.clock().wake().set();
    }

    void end_listening() override;

    // An answer that is a stream of events is cut.
    void end_stream() override { wait_.end(); }
    bool contain(bool at_once) override;

    // After run() that has failed because of contain(): ends the stream with this event, or comment, with its empty line. False: it is in no
    // state for that, or the caller is gone.
    net::routine<bool> end_with(std::string event);
    const model::agent_entry& agent() const noexcept override { return *call_.agent; }
    core::caller_mark whose() const noexcept override { return call_.slot == nullptr ? 0 : call_.slot->whose(); }

private:
    bool may_renew_token() const noexcept;
    core::result<> accept_answer(bool edited);
    [[gnu::noinline]] net::routine<core::result<>> pass_answer();
    [[gnu::noinline]] net::routine<core::result<>> pass_messages();
    // Routines that few calls need are not inlined: the frame of run(), which an idle stream keeps, would have room for all of it.
    [[gnu::noinline]] net::routine<core::result<>> pass_early();
    [[gnu::noinline]] net::routine<core::result<>> edit_body();
    [[gnu::noinline]] net::routine<> fail(core::error why);
    [[gnu::noinline]] net::routine<> tell_failure(core::error why);
    net::routine<core::result<>> pass_body();
    [[gnu::noinline]] net::routine<core::result<>> edit_answer();
    bool expect_events();
    core::result<> add_body();
    bool settle_gate();

    net::caller_exchange& caller_;
    const relay_settings& settings_;
    relay_call& call_;
    redirects redirects_;
    relay_outcome outcome_;
    exchange_wait wait_;
    agent_exchange agent_;
    task_watch tasks_;
    answer_writer writer_;
    early_events early_;
    net::budget_share held_;  // by call_.hooks.gate
    bool announced_ = false;  // to settings_.streams
    bool headed_ = false;     // the answer has begun that the caller gets
    bool contained_ = false;
};

}  // namespace gateway::relay
