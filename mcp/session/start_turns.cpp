#include "mcp/session/start_turns.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcp {

start_turns::start_turns(net::loop& on, std::size_t most, core::duration longest)
    : loop_{on},
      most_{std::max<std::size_t>(most, 1)},
      longest_{longest}
{
}

start_turns::~start_turns() = default;

std::unique_ptr<start_turns::turn> start_turns::ask(std::function<void()> begin, bool overlaps)
{
    auto added = std::make_unique<turn>(*this, std::move(begin));
    auto& line = held_ && !overlaps ? held_back_ : waiting_;
    line.push_back(added.get());
    let_next();
    return added;
}

void start_turns::let_go()
{
    held_ = false;
    waiting_.splice(waiting_.end(), held_back_);
    let_next();
}

void start_turns::leave(turn& ended)
{
    if (ended.stage_ == turn::stage::waits) {
        waiting_.remove(&ended);
        held_back_.remove(&ended);
    } else if (ended.stage_ == turn::stage::taken) {
        --taken_;
    }
    ended.stage_ = turn::stage::over;
    let_next();
}

// One at a time, and behind what else the loop has to do: starting a program takes about a millisecond.
void start_turns::let_next()
{
    if (posted_ || waiting_.empty() || taken_ >= most_) {
        return;
    }
    posted_ = true;
    net::asio::post(loop_.get_executor(), [this, alive = std::weak_ptr<bool>{alive_}] {
        if (!alive.expired()) {
            begin_next();
        }
    });
}

void start_turns::begin_next()
{
    posted_ = false;
    if (waiting_.empty() || taken_ >= most_) {
        return;
    }
    auto& next = *waiting_.front();
    waiting_.pop_front();
    ++taken_;
    next.stage_ = turn::stage::taken;
    next.deadline_.expires_after(longest_);
    next.deadline_.async_wait([this, &next, alive = std::weak_ptr<bool>{next.alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            leave(next);
        }
    });
    let_next();
    const auto begin = std::move(next.begin_);
    begin();
}

start_turns::turn::turn(start_turns& of, std::function<void()> begin)
    : of_{of},
      begin_{std::move(begin)},
      deadline_{of.loop_.get_executor()}
{
}

start_turns::turn::~turn()
{
    of_.leave(*this);
}

}  // namespace mcp
