#include "net/loop/deadlines.hpp"

#include <algorithm>

namespace net {

deadlines::deadlines(asio::io_context& io)
    : timer_{io.get_executor()}
{
}

void deadlines::add(timed& t)
{
    all_.push_back(t);
}

void deadlines::start()
{
    stopped_ = false;
    next_sweep_ = core::steady_time::min();
    run();
}

void deadlines::stop()
{
    stopped_ = true;
    timer_.cancel();
}

void deadlines::run()
{
    timer_.expires_at(turn(std::chrono::steady_clock::now()));
    timer_.async_wait([this](error_code ec) {
        if (!ec && !stopped_) {
            run();
        }
    });
}

void deadlines::sweep(core::steady_time now)
{
    next_sweep_ = now + sweep_interval;
    all_.splice(all_.end(), soon_);
    for (auto each = all_.begin(); each != all_.end();) {
        auto& t = *each++;
        t.on_sweep(now);
        if (t.due() < next_sweep_) {
            t.unlink();
            soon_.push_back(t);
        }
    }
}

core::steady_time deadlines::turn(core::steady_time now)
{
    pulse_.beat(now);
    if (now >= next_sweep_) {
        sweep(now);
    }
    auto first = next_sweep_;
    for (auto each = soon_.begin(); each != soon_.end();) {
        auto& t = *each++;
        if (t.due() <= now) {
            t.unlink();
            due_.push_back(t);
        } else {
            first = std::min(first, t.due());
        }
    }
    // on_due() may resume a coroutine that destroys others of the list: what is destroyed unlinks itself.
    while (!due_.empty()) {
        auto& t = due_.front();
        t.unlink();
        soon_.push_back(t);
        t.set_due(never);
        t.on_due();
    }
    return std::max(first, std::min<core::steady_time>(now + shortest_turn, next_sweep_));
}

}  // namespace net
