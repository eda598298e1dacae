// What a scripted agent's thread and the test share. Internal to the scripted agent.
#pragma once

#include "tests/support/script.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

// A coroutine waits for `wake` to expire. Waking moves the expiry into the past instead of cancelling: a wait that
// begins only afterwards is then over at once.
inline void rearm(boost::asio::steady_timer& wake)
{
    wake.expires_at(boost::asio::steady_timer::time_point::max());
}

inline void rouse(boost::asio::steady_timer& wake)
{
    wake.expires_at(boost::asio::steady_timer::time_point::min());
}

struct gate::state {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t passes = 0;
    std::size_t reached = 0;
    std::vector<std::weak_ptr<boost::asio::steady_timer>> waiting;
};

// What the test sends to one connection in an `events` step. Agent's thread only.
struct outbox {
    explicit outbox(const boost::asio::any_io_executor& executor)
        : wake{executor}
    {
    }

    std::deque<std::string> data;
    bool ends = false;
    bool cut = false;
    boost::asio::steady_timer wake;
};

struct agent_ledger {
    // Guarded by `mutex`; `changed` tells of every change.
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    std::vector<recorded_request> requests;
    std::deque<script> queued;
    handler fallback;
    std::size_t accepted = 0;
    std::size_t open = 0;
    std::size_t most_open = 0;
    std::size_t closed_by_peer = 0;
    std::size_t streams = 0;

    std::vector<outbox*> outboxes;  // agent's thread only

    template <class Change>
    void update(Change change)
    {
        {
            const std::lock_guard guard{mutex};
            change();
        }
        changed.notify_all();
    }

    template <class Condition>
    bool wait(std::chrono::milliseconds timeout, Condition condition) const
    {
        std::unique_lock lock{mutex};
        return changed.wait_for(lock, timeout, condition);
    }

    std::size_t value(std::size_t agent_ledger::* which) const
    {
        const std::lock_guard guard{mutex};
        return this->*which;
    }

    // Records the request and gives its script: the next queued one, else the default handler's.
    script enter(recorded_request request)
    {
        handler ask;
        script answer;
        update([&] {
            requests.push_back(request);
            if (queued.empty()) {
                ask = fallback;
            } else {
                answer = std::move(queued.front());
                queued.pop_front();
            }
        });
        return ask ? ask(request) : answer;
    }
};

// An open connection, in the books.
class open_connection {
public:
    explicit open_connection(agent_ledger& ledger)
        : ledger_{ledger}
    {
        ledger_.update([this] {
            ++ledger_.accepted;
            ++ledger_.open;
            ledger_.most_open = std::max(ledger_.most_open, ledger_.open);
        });
    }
    ~open_connection()
    {
        ledger_.update([this] { --ledger_.open; });
    }
    open_connection(const open_connection&) = delete;
    open_connection& operator=(const open_connection&) = delete;

private:
    agent_ledger& ledger_;
};

// An open event stream, in the books.
class open_stream {
public:
    open_stream(agent_ledger& ledger, outbox& box)
        : ledger_{ledger},
          box_{box}
    {
        ledger_.outboxes.push_back(&box_);
        ledger_.update([this] { ++ledger_.streams; });
    }
    ~open_stream()
    {
        std::erase(ledger_.outboxes, &box_);
        ledger_.update([this] { --ledger_.streams; });
    }
    open_stream(const open_stream&) = delete;
    open_stream& operator=(const open_stream&) = delete;

private:
    agent_ledger& ledger_;
    outbox& box_;
};

}  // namespace test_support
