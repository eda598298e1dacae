// How one exchange between a caller and an agent waits: for any event of either side, until a time, until the caller has
// left, or until the exchange is ended from outside. On the thread of the caller's loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/server/server_connection.hpp"

#include <coroutine>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::relay {

// Why a wait is over.
enum class woken : std::uint8_t { by_event, late, caller_gone, ended };

// The failure of an exchange whose wait ended so; `phase` is its detail.
core::error interrupted(woken how, std::string_view phase);

class exchange_wait {
public:
    // `caller` outlives the wait. `streaming`: as expect_stream().
    exchange_wait(net::server_connection& caller, bool streaming) noexcept;

    // To be awaited at once; gives `woken`. After `by_event`, look at what has changed. Events of the agent's side must set
    // caller.clock().wake(). No routine, whose frame every wait would make.
    auto until(core::steady_time time) noexcept
    {
        struct step {
            exchange_wait& of;
            core::steady_time time;
            core::steady_time wake_at;
            std::optional<woken> over;  // before it has begun

            bool await_ready()
            {
                over = of.begin(time, wake_at);
                return over.has_value();
            }
            void await_suspend(std::coroutine_handle<> who) noexcept { of.suspend(who); }
            woken await_resume() const { return over ? *over : of.ended_by(wake_at == time); }
        };
        return step{*this, time, time, std::nullopt};
    }

    // Every wait ends with woken::ended, the current one at once; the caller has a moment to take what was written.
    void end();
    bool ended() const noexcept { return ended_; }

    // The current wait ends with woken::by_event at once: a stream is over as soon as nothing of an event is under way.
    void end_in_order()
    {
        ends_in_order_ = true;
        caller_.clock().wake().set();
    }
    bool ends_in_order() const noexcept { return ends_in_order_; }

    // A caller that closes its sending half has left: nobody else tells a stream that it is no longer read.
    void expect_stream() noexcept { streaming_ = true; }

    // The caller took a piece of the answer: if it has closed its sending half, its time for the next one begins.
    void caller_took_piece() noexcept { caller_left_at_.reset(); }

private:
    std::optional<woken> begin(core::steady_time time, core::steady_time& wake_at);
    void suspend(std::coroutine_handle<> who) noexcept { caller_.clock().wait().await_suspend(who); }
    woken ended_by(bool due) const;

    net::server_connection& caller_;
    std::optional<core::steady_time> caller_left_at_;
    bool streaming_;
    bool ended_ = false;
    bool ends_in_order_ = false;
};

}  // namespace gateway::relay
