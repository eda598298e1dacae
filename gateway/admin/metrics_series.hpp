// Which agents have series of their own on the metrics pages, for pages that are begun at the same time: one begins after the
// other. On the control loop's thread.
#pragma once

#include "gateway/telemetry/series_share.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/post.hpp>

#include <deque>
#include <utility>

namespace gateway::admin {

class metrics_series {
public:
    // Returns when no other page is begun, to one after the other as they came. leave() has to follow.
    net::task<> enter()
    {
        if (!std::exchange(busy_, true)) {
            co_return;
        }
        net::task_signal called;
        auto waits = called.wait();
        waiting_.push_back(&called);
        co_await std::move(waits);
    }

    // `here`: the control loop. Not inside this call: whoever goes on may be long at it.
    void leave(net::executor here)
    {
        if (waiting_.empty()) {
            busy_ = false;
            return;
        }
        auto* const next = waiting_.front();
        waiting_.pop_front();
        net::asio::post(here, [next] { next->set(); });
    }

    // Between enter() and leave().
    telemetry::series_share& share() noexcept { return share_; }

private:
    telemetry::series_share share_;
    std::deque<net::task_signal*> waiting_;
    bool busy_ = false;
};

}  // namespace gateway::admin
