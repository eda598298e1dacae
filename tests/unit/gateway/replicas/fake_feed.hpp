// A feed of which the tests say what it gives. It is asked on the thread of whoever has it, while the test looks at it.
#pragma once

#include "store/feed.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace replicas_rig {

class fake_feed final : public store::feed {
public:
    explicit fake_feed(store::replica_id self = 7)
        : self_{self}
    {
    }

    store::replica_id self() const noexcept override { return self_; }
    store::feed_position start() const override { return begins_at; }

    core::result<store::feed_batch> poll(store::feed_position from) override
    {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return !hangs_; });
        asked_from_.push_back(from);
        if (failure_) {
            return *failure_;
        }
        if (next_.empty()) {
            store::feed_batch nothing;
            nothing.reached = from;
            nothing.replicas = live_;
            return nothing;
        }
        auto given = std::move(next_.front());
        next_.pop_front();
        return given;
    }

    void wait(core::duration at_most) override
    {
        std::unique_lock lock{mutex_};
        polls_before_wait = ++waits_ == 1 ? asked_from_.size() : polls_before_wait;
        changed_.wait_for(lock, at_most, [this] { return awake_; });
        awake_ = false;
    }

    void wake() noexcept override
    {
        const std::lock_guard guard{mutex_};
        awake_ = true;
        changed_.notify_all();
    }

    core::result<> beat(store::replica_facts own) override
    {
        const std::lock_guard guard{mutex_};
        beats_.push_back(std::move(own));
        return failure_ ? core::result<>{*failure_} : core::result<>{};
    }

    core::result<> leave() override
    {
        const std::lock_guard guard{mutex_};
        left_ = true;
        return {};
    }

    bool is_up() const noexcept override { return up; }
    bool is_notified() const noexcept override { return up; }

    // The next poll gives this.
    void give(store::feed_batch batch)
    {
        const std::lock_guard guard{mutex_};
        next_.push_back(std::move(batch));
        awake_ = true;
        changed_.notify_all();
    }
    void fail(std::optional<core::error> how)
    {
        const std::lock_guard guard{mutex_};
        failure_ = std::move(how);
    }
    void hang(bool now)
    {
        const std::lock_guard guard{mutex_};
        hangs_ = now;
        changed_.notify_all();
    }
    void set_live(std::vector<store::live_replica> live)
    {
        const std::lock_guard guard{mutex_};
        live_ = std::move(live);
    }

    std::vector<store::feed_position> asked_from()
    {
        const std::lock_guard guard{mutex_};
        return asked_from_;
    }
    std::vector<store::replica_facts> beats()
    {
        const std::lock_guard guard{mutex_};
        return beats_;
    }
    std::size_t waits()
    {
        const std::lock_guard guard{mutex_};
        return waits_;
    }
    bool left()
    {
        const std::lock_guard guard{mutex_};
        return left_;
    }

    store::feed_position begins_at;
    bool up = true;
    std::size_t polls_before_wait = 0;

private:
    store::replica_id self_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<store::feed_batch> next_;
    std::optional<core::error> failure_;
    std::vector<store::live_replica> live_;
    std::vector<store::feed_position> asked_from_;
    std::vector<store::replica_facts> beats_;
    std::size_t waits_ = 0;
    bool hangs_ = false;
    bool awake_ = false;
    bool left_ = false;
};

}  // namespace replicas_rig
