// The agent's side of a relayed call: a connection from the pool, the request with a body that is held or passed through,
// one repetition if the request cannot have arrived, and the head of the answer. On the thread of the caller's loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/relay/call_attempts.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/relay/request_trace.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/upstream/agent_side.hpp"
#include "net/upstream/upstream_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gateway::relay {

class early_events;

class agent_exchange {
public:
    // References outlive the exchange.
    agent_exchange(
        net::caller_exchange& caller,
        net::upstream_pool& pool,
        exchange_wait& wait,
        const relay_settings& settings,
        relay_call& call
    );
    ~agent_exchange();
    agent_exchange(const agent_exchange&) = delete;
    agent_exchange& operator=(const agent_exchange&) = delete;

    // Before begin(): breaks the silence of the agent; outlives the exchange.
    void set_early(early_events& early) noexcept { early_ = &early; }

    // When the answer has to be whole, and until when its head is waited for from now on.
    core::steady_time answer_due() const noexcept { return due_; }
    core::steady_time head_due() const noexcept;

    // Waits for an event of either side until then, as for the head of an answer, with events in a long silence. Fails as
    // begin().
    net::routine<core::result<>> await_event(core::steady_time until);

    // Again after discard(): with what call() is then. Connects, sends the request and reads the answer up to the end of its head. Fails with an upstream_ code, with
    // request_timeout or a fault of a body that is passed through, with circuit_open, or as a wait does: interrupted().
    [[gnu::noinline]] net::routine<core::result<>> begin();

    const relay_call& call() const noexcept { return call_; }
    const call_attempts& attempts() const noexcept { return attempts_; }
    const relay_settings& settings() const noexcept { return settings_; }
    net::upstream_pool& pool() const noexcept { return pool_; }

    // After begin(), until give_back() or discard(). The views in head() hold until consume_head() of the side.
    // Members of head() that are values stay.
    const net::http1::response_head& head() const noexcept { return view_ ? view_->head() : lease_->head(); }
    net::agent_side& side() noexcept { return view_ ? *view_ : *lease_; }

    // The status of the head; of an answer by gRPC that says at once UNAVAILABLE or UNAUTHENTICATED, 503 or 401.
    unsigned counted_status() const;

    // Since begin(): there was a connection, so that the agent may have got something.
    bool connected() const noexcept { return connected_; }

    // The whole request is with the agent.
    bool request_done() const noexcept { return request_done_; }

    // After begin(), of a request whose body is passed on: what has come of it since goes to the agent. Does not wait. Fails as begin()
    // does for such a body.
    core::result<> pass_more();

    // The answer was read, and unless it was not `whole` the connection is kept for another call if it can carry one.
    void give_back(bool whole = true);

    // Closes the connection, if there is one.
    void discard();

    // From outside, while the exchange waits: the agent gets and says nothing more. What it has said stays to be read.
    void sever() noexcept
    {
        if (lease_) {
            lease_->close();
        }
    }

    // When the head of the answer was complete; nullopt: not yet.
    std::optional<core::steady_time> first_byte() const noexcept { return first_byte_; }

private:
    void close();
    core::duration time_left() const;
    core::result<net::request_piece> take_piece();
    bool never_arrived(const core::error& why) const;
    bool goes_on_after(const core::result<>& done);
    bool take_connection();
    void set_view();
    net::routine<core::result<>> make_connection();
    bool begin_request();
    net::routine<core::result<>> finish_request();
    net::routine<core::result<>> pass_request_body();
    net::routine<core::result<>> finish_write();
    core::steady_time silent_until() const;
    [[gnu::noinline]] net::routine<core::result<>> after_wait(woken how, bool in_silence);
    net::routine<core::result<>> read_head();
    core::result<> parse_head();

    net::caller_exchange& caller_;
    net::upstream_pool& pool_;
    exchange_wait& wait_;
    const relay_settings& settings_;
    relay_call& call_;
    call_attempts attempts_;
    attempt_span span_;
    early_events* early_ = nullptr;  // null: of a request beside the call
    core::steady_time due_ = core::steady_time::max();
    bool connected_ = false;
    net::agent_lease lease_;
    std::unique_ptr<net::agent_side> view_;  // of it, by the codec of the call; null: none
    std::optional<core::steady_time> first_byte_;
    bool request_done_ = false;
    bool took_piece_ = false;  // of a body that is passed: the request cannot be sent again
};

}  // namespace gateway::relay
