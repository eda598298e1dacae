// Order of work on cards: agents that have work waiting have one piece done each, in turn. So an agent that gives
// much to do delays every other one by a piece, not by all of it. On one thread.
#pragma once

#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/post.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace gateway::cards {

// All work on a card that is not longer takes a few milliseconds, and is one piece.
inline constexpr std::size_t longest_in_one_piece = 64 * 1024;  // bytes

class card_turns {
public:
    explicit card_turns(net::executor on)
        : executor_{on}
    {
    }
    card_turns(const card_turns&) = delete;
    card_turns& operator=(const card_turns&) = delete;

    // Returns when it is the agent's turn. What the caller does before it waits for anything else is one piece of work.
    net::task<> next(std::string agent)
    {
        net::task_signal turn;
        auto waits = turn.wait();
        auto& queue = waiting_[agent];
        if (queue.empty()) {
            agents_.push_back(std::move(agent));
        }
        queue.push_back(&turn);
        if (!std::exchange(running_, true)) {
            post();
        }
        co_await std::move(waits);
    }

    // How many pieces of the agent's work wait.
    std::size_t waiting(const std::string& agent) const
    {
        const auto found = waiting_.find(agent);
        return found == waiting_.end() ? 0 : found->second.size();
    }

    // Between two pieces of work on a text of so many bytes.
    net::task<> next_if_long(std::string agent, std::size_t bytes)
    {
        if (bytes > longest_in_one_piece) {
            co_await next(std::move(agent));
        }
    }

private:
    void post()
    {
        net::asio::post(executor_, [this] { run_one(); });
    }

    void run_one()
    {
        auto agent = std::move(agents_.front());
        agents_.pop_front();
        const auto found = waiting_.find(agent);
        auto* const turn = found->second.front();
        found->second.pop_front();
        if (found->second.empty()) {
            waiting_.erase(found);
        } else {
            agents_.push_back(std::move(agent));
        }
        turn->set();
        if (agents_.empty()) {
            running_ = false;
        } else {
            post();
        }
    }

    net::executor executor_;
    std::map<std::string, std::deque<net::task_signal*>> waiting_;
    std::deque<std::string> agents_;  // those in `waiting_`, the next one first
    bool running_ = false;
};

}  // namespace gateway::cards
