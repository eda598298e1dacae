#include "net/loop/deadlines.hpp"

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
    sweep();
}

void deadlines::stop()
{
    stopped_ = true;
    timer_.cancel();
}

void deadlines::sweep()
{
    const auto now = std::chrono::steady_clock::now();
    pulse_.beat(now);
    for (auto each = all_.begin(); each != all_.end();) {
        auto& t = *each++;
        t.on_sweep(now);
        if (t.due() <= now) {
            t.unlink();
            due_.push_back(t);
        }
    }
    // on_due() may resume a coroutine that destroys others of the list: what is destroyed unlinks itself.
    while (!due_.empty()) {
        auto& t = due_.front();
        t.unlink();
        all_.push_back(t);
        t.set_due(never);
        t.on_due();
    }
    timer_.expires_after(sweep_interval);
    timer_.async_wait([this](error_code ec) {
        if (!ec && !stopped_) {
            sweep();
        }
    });
}

}  // namespace net
