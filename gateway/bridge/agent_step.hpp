// The two sides of a bridge: an inner call of an A2A agent, with the JSON-RPC texts that come of it, and the answer to its caller as a stream of
// such texts. On the control loop.
#pragma once

#include "core/error.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/protocol/read_text.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/ask.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/sse/sse_events.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::bridge {

// One inner call of an A2A agent: its texts are the answer, or the events of a stream.
class agent_step final : private net::exchange_observer {
public:
    static constexpr std::size_t most_held = 16 * 1024 * 1024;  // bytes of what nobody has taken yet, and of one answer

    // The call belongs to this caller and this agent. References outlive the step; the caller is not null.
    struct target {
        model::inner_calls& calls;
        model::inner_caller_pointer caller;
        std::string agent;
        net::shared_budget* bodies = nullptr;  // of what is held of answers; null: without limit
    };

    // `wake` is called whenever something has come, or all has; it may destroy the step.
    agent_step(const target& at, std::string request, std::function<void()> wake);
    ~agent_step() override = default;
    agent_step(const agent_step&) = delete;
    agent_step& operator=(const agent_step&) = delete;

    // The next text. Nothing: none has come.
    std::optional<std::string> take();
    bool any() const noexcept { return !texts_.empty(); }

    // A text, or the end.
    bool has_some() const noexcept { return any() || over(); }

    // Nothing more comes. `failure`: why not all has come; nothing: it has.
    bool over() const noexcept { return over_; }
    const std::optional<core::error>& failure() const noexcept { return failure_; }

private:
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override;
    void ended(core::result<> how) override;
    void hold(std::string text);
    void give_up(core::errc why);
    void wake();

    std::function<void()> wake_;
    bool streams_ = false;
    net::sse_splitter events_{most_held + net::sse_reader::extra};
    std::string body_;
    std::deque<std::string> texts_;
    std::size_t held_ = 0;  // bytes of the texts
    net::budget_share share_;
    bool over_ = false;
    std::optional<core::error> failure_;
    std::unique_ptr<net::exchange> exchange_;
};

// The answer of a server within the process as a stream of events, one JSON-RPC message in each. It begins with the first.
class event_answer {
public:
    // `caller` outlives it.
    explicit event_answer(net::caller_exchange& caller)
        : caller_{caller}
    {
    }

    bool begun() const noexcept { return begun_; }

    // Each fails with caller_gone; the stream then cannot go on. `message` is one line; nothing follows the last one.
    net::routine<core::result<>> send(std::string message, bool last);
    net::routine<core::result<>> send_comment();
    net::routine<core::result<>> send_end();

private:
    net::routine<core::result<>> write(std::string event, bool last);

    net::caller_exchange& caller_;
    bool begun_ = false;
};

// Waits until `over()`, or `due`; whoever changes what that says sets caller.clock().wake(). False: the caller has left, or the connection
// was aborted.
template <class Over>
net::routine<bool> wait_for(net::caller_exchange& caller, core::steady_time due, Over over)
{
    auto& clock = caller.clock();
    const auto left = [&caller] { return caller.caller_left() || caller.aborted(); };
    clock.start_until(due);
    while (!over() && !clock.expired() && !left()) {
        caller.watch_caller();
        co_await clock.wait();
    }
    clock.stop();
    co_return !left();
}

// Does what is pure with a text of this size: with a long one away from the loop, which goes on meanwhile.
template <class T>
net::routine<T>
worked_out(net::caller_exchange& caller, threads::side_thread& long_texts, std::size_t size, std::function<T()> work)
{
    if (size <= ::mcp::read_at_once) {
        co_return work();
    }
    const auto here = caller.owner().get_executor();
    auto question = long_texts.ask<T>(std::move(work));
    co_return co_await net::ask(here, here, std::move(question));
}

}  // namespace gateway::bridge
