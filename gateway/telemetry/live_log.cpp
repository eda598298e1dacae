#include "gateway/telemetry/live_log.hpp"

#include <algorithm>
#include <utility>

namespace gateway::telemetry {

live_log::live_log(core::log_sink& behind, std::uint64_t first, live_log_limits limits)
    : behind_{behind},
      first_{first},
      limits_{limits},
      next_{first}
{
}

void live_log::write(std::string_view lines)
{
    behind_.write(lines);
    keep(lines);
}

void live_log::keep(std::string_view lines)
{
    if (lines.empty()) {
        return;
    }
    auto text = std::make_shared<std::string>();
    text->reserve(lines.size() + 1);
    text->append(lines).push_back('\n');
    const auto count = static_cast<std::size_t>(std::ranges::count(*text, '\n'));
    const auto bytes = text->size();
    // Memory may be waited for: nobody else is to wait for that.
    std::list<batch> one;
    one.push_back({.first = 0, .count = count, .text = std::move(text), .begin = 0});
    std::list<batch> dropped;
    const std::lock_guard lock{mutex_};
    one.front().first = next_;
    kept_.splice(kept_.end(), one);
    next_ += count;
    lines_ += count;
    bytes_ += bytes;
    drop_old(dropped);
    if (wake_) {
        std::exchange(wake_, nullptr)();
    }
}

// What is over the limits, from the oldest line on.
void live_log::drop_old(std::list<batch>& dropped)
{
    while (lines_ > limits_.lines || bytes_ > limits_.bytes) {
        auto& oldest = kept_.front();
        if (read_ && oldest.first >= wanted_ && bytes_ <= limits_.unread) {
            return;
        }
        const auto end = oldest.text->find('\n', oldest.begin) + 1;
        bytes_ -= end - oldest.begin;
        --lines_;
        oldest.begin = end;
        ++oldest.first;
        if (--oldest.count == 0) {
            dropped.splice(dropped.end(), kept_, kept_.begin());
        }
    }
}

std::vector<live_log::batch> live_log::since(std::uint64_t from, std::size_t most) const
{
    std::vector<batch> out;
    std::size_t bytes = 0;
    const std::lock_guard lock{mutex_};
    for (const auto& each : kept_) {
        if (bytes >= most) {
            break;
        }
        if (each.first + each.count > from) {
            out.push_back(each);
            bytes += each.lines().size();
        }
    }
    return out;
}

live_log::numbers live_log::range() const
{
    const std::lock_guard lock{mutex_};
    return {first_, next_ - lines_, next_};
}

void live_log::await(std::uint64_t from, std::function<void()> wake)
{
    std::list<batch> dropped;
    const std::lock_guard lock{mutex_};
    read_ = wake != nullptr;
    wanted_ = from;
    wake_ = std::move(wake);
    drop_old(dropped);
    if (wake_ && next_ > from) {
        std::exchange(wake_, nullptr)();
    }
}

}  // namespace gateway::telemetry
