// The store on a thread of its own: the control loop asks and goes on; what it asked is carried out in that order. The store can be
// closed for a while, so that another process may have it.
#pragma once

#include "core/clock.hpp"
#include "gateway/threads/side_thread.hpp"
#include "store/engine.hpp"
#include "store/feed.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace gateway::threads {

// How many writes the store has carried out, and how many it could not. A write that was refused for what is there is neither.
struct store_writes {
    // The reasons that are counted.
    static constexpr std::array failures{
        core::errc::store_failed,
        core::errc::store_full,
        core::errc::store_unreachable,
        core::errc::write_unknown,
        core::errc::store_newer
    };

    std::uint64_t ok = 0;
    std::array<std::uint64_t, failures.size()> failed{};  // by reason
    std::optional<core::errc> trouble = std::nullopt;     // of the latest, if it was one of these

    // Nothing: it is not counted.
    std::uint64_t* of(core::errc reason) noexcept
    {
        const auto found = std::ranges::find(failures, reason);
        return found == failures.end() ? nullptr : &failed[static_cast<std::size_t>(found - failures.begin())];
    }
};

class store_thread {
public:
    using opener = std::function<core::result<std::unique_ptr<store::engine>>()>;

    // A request to a closed store waits for `patience`.
    explicit store_thread(std::unique_ptr<store::engine> engine, core::duration patience = std::chrono::seconds{5})
        : engine_{std::move(engine)},
          durable_{engine_->durable()},
          feed_{engine_->shared()},
          patience_{patience}
    {
    }
    ~store_thread() { leave(); }
    store_thread(const store_thread&) = delete;
    store_thread& operator=(const store_thread&) = delete;

    bool durable() const noexcept { return durable_; }

    // How it is heard of what other replicas write to it, for as long as this lives; null: nobody else does.
    store::feed* feed() const noexcept { return feed_; }
    bool shared() const noexcept { return feed_ != nullptr; }

    // From now on what has waited for so long is not tried any more, if the store is shared: others may hold it up.
    void set_longest_wait(core::duration longest) noexcept { longest_wait_ = longest; }

    // The engine itself, for as long as nothing has been asked yet: at the start.
    store::engine& engine() noexcept { return *engine_; }

    // Works as side_thread::ask(). T is a core::result; fails with draining if the store is closed and does not open in time.
    template <class T>
    net::task<T> ask(std::function<T(store::engine&)> question)
    {
        const auto asked = std::chrono::steady_clock::now();
        return thread_.ask<T>([this, asked, question = std::move(question)]() -> T {
            if (shared() && std::chrono::steady_clock::now() - asked >= longest_wait_) {
                return core::gateway_error(core::errc::store_unreachable, "others were waiting for the store");
            }
            if (auto open = wait_until_open(asked + patience_); !open) {
                return std::move(open).error();
            }
            return question(*engine_);
        });
    }

    // The same for a write, which counts and is timed, with its wait for those before it.
    template <class T>
    net::task<T> write(std::function<T(store::engine&)> question)
    {
        const auto asked = std::chrono::steady_clock::now();
        auto answer = ask(std::move(question));
        auto outcome = co_await std::move(answer);
        note_write(outcome);
        if (write_timer_) {
            write_timer_(std::chrono::steady_clock::now() - asked);
        }
        co_return outcome;
    }

    // From now on it is told how long each write took, on the thread that asks.
    void set_write_timer(std::function<void(std::chrono::nanoseconds took)> timer) { write_timer_ = std::move(timer); }

    // Carries out what was asked before, and `last`; from then on the store is closed, and a durable one belongs to nobody. Returns what
    // `last` says; if it fails, the store stays open.
    net::task<core::result<>> close(std::function<core::result<>(store::engine&)> last)
    {
        const auto here = co_await net::asio::this_coro::executor;
        auto outcome = std::make_shared<closing>();
        // The side thread answers behind what was asked meanwhile, and that waits for the store to open.
        auto asked = thread_.ask<bool>([this, outcome, last = std::move(last)] {
            outcome->what = close_here(last);
            outcome->known.store(true, std::memory_order_release);
            return true;
        });
        net::asio::co_spawn(here, std::move(asked), [outcome](const std::exception_ptr& bug, bool) {
            if (bug != nullptr) {
                outcome->what = core::gateway_error(core::errc::internal, "the store does not close");
                outcome->known.store(true, std::memory_order_release);
            }
        });
        poll_timer timer{here};
        while (!outcome->known.load(std::memory_order_acquire)) {
            net::error_code ignored;  // nothing cancels it
            timer.expires_after(poll_interval);
            co_await timer.async_wait(net::asio::redirect_error(net::use_task, ignored));
        }
        co_return outcome->what;
    }

    // Opens it again, a durable one with `how`. If that fails, it is tried again with each question, which fails with the same.
    net::task<core::result<>> open(opener how)
    {
        {
            const std::lock_guard guard{mutex_};
            opener_ = std::move(how);
            state_ = state::opens;
        }
        changed_.notify_all();
        return thread_.ask<core::result<>>([this] { return wait_until_open(core::steady_time{}); });
    }

    // Closes it for good: requests, also waiting ones, fail with draining. Any thread.
    void leave()
    {
        {
            const std::lock_guard guard{mutex_};
            if (state_ == state::open) {
                return;
            }
            state_ = state::left;
        }
        changed_.notify_all();
    }

    const store_writes& writes() const noexcept { return writes_; }

private:
    template <class T>
    void note_write(const core::result<T>& outcome) noexcept
    {
        if (outcome) {
            ++writes_.ok;
            writes_.trouble.reset();
            return;
        }
        if (auto* const count = writes_.of(outcome.error().code)) {
            ++*count;
            writes_.trouble = outcome.error().code;
        }
    }

    enum class state : std::uint8_t { open, closed, opens, left };
    using poll_timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;
    static constexpr std::chrono::milliseconds poll_interval{2};

    // Result of closing, from the store's thread.
    struct closing {
        core::result<> what;
        std::atomic<bool> known = false;
    };

    core::result<> close_here(const std::function<core::result<>(store::engine&)>& last)
    {
        if (auto open = wait_until_open(core::steady_time{}); !open) {
            return open;
        }
        if (auto done = last(*engine_); !done) {
            return done;
        }
        const std::lock_guard guard{mutex_};
        if (durable_) {
            engine_.reset();
        }
        state_ = state::closed;
        return {};
    }

    // On the store's thread: what is asked meanwhile waits behind this, so that the order stays.
    core::result<> wait_until_open(core::steady_time latest)
    {
        std::unique_lock lock{mutex_};
        changed_.wait_until(lock, latest, [this] { return state_ != state::closed; });
        if (state_ == state::opens) {
            if (durable_) {
                auto opened = opener_();
                if (!opened) {
                    return std::move(opened).error();
                }
                engine_ = std::move(*opened);
            }
            state_ = state::open;
        }
        return state_ == state::open ? core::result<>{}
                                     : core::result<>{core::gateway_error(core::errc::draining, "the store is closed")};
    }

    std::unique_ptr<store::engine> engine_;
    bool durable_;
    store::feed* feed_;
    core::duration longest_wait_ = std::chrono::hours{24};
    core::duration patience_;
    store_writes writes_;
    std::function<void(std::chrono::nanoseconds took)> write_timer_;  // empty: nobody wants to know
    std::mutex mutex_;
    std::condition_variable changed_;
    state state_ = state::open;
    opener opener_;
    side_thread thread_;  // last: what it still does uses the engine
};

}  // namespace gateway::threads
