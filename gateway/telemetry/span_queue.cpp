#include "gateway/telemetry/span_queue.hpp"

#include <algorithm>
#include <utility>

namespace gateway::telemetry {

void span_queue::add(model::span_batch came, core::steady_time now)
{
    dropped_ += came.dropped;
    for (auto& each : came.spans) {
        if (waiting_.size() < most) {
            waiting_.push_back({now, std::move(each)});
        } else {
            ++dropped_;
        }
    }
}

bool span_queue::due(core::steady_time now) const noexcept
{
    return waiting_.size() >= batch || (!waiting_.empty() && now - waiting_.front().since >= longest_wait);
}

std::vector<model::span> span_queue::take()
{
    std::vector<model::span> out;
    const auto size = std::min(waiting_.size(), batch);
    out.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        out.push_back(std::move(waiting_.front().what));
        waiting_.pop_front();
    }
    return out;
}

}  // namespace gateway::telemetry
