#include "gateway/telemetry/live_log.hpp"

#include <utility>

namespace gateway::telemetry {
namespace {

// By find(), which is fifteen times as fast as std::count() here: lines are long.
std::size_t breaks_in(std::string_view text)
{
    std::size_t found = 0;
    for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
        ++found;
    }
    return found;
}

}  // namespace

live_log::live_log(core::log_sink& behind, std::uint64_t first, live_log_limits limits)
    : behind_{behind},
      first_{first},
      limits_{limits},
      next_{first}
{
}

void live_log::write(std::string_view lines)
{
    if (replica_.empty()) {
        behind_.write(lines);
        keep(lines);
        return;
    }
    const auto named = replica_.added_to(lines);
    behind_.write(named);
    keep(named);
}

void live_log::keep(std::string_view lines)
{
    if (lines.empty()) {
        return;
    }
    auto text = std::make_shared<std::string>();
    text->reserve(lines.size() + 1);
    text->append(lines).push_back('\n');
    const auto count = breaks_in(*text);
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
    drop_batches(dropped);
    if (wake_) {
        std::exchange(wake_, nullptr)();
    }
}

bool live_log::is_unread(const batch& oldest) const noexcept
{
    return read_ && oldest.first + oldest.count > wanted_ && bytes_ <= limits_.unread;
}

// Whole batches without which there is enough: lines are not looked for on the way of a writer.
void live_log::drop_batches(std::list<batch>& dropped)
{
    while (!kept_.empty()) {
        const auto& oldest = kept_.front();
        const auto bytes = oldest.lines().size();
        if ((lines_ - oldest.count < limits_.lines && bytes_ - bytes < limits_.bytes) || is_unread(oldest)) {
            return;
        }
        lines_ -= oldest.count;
        bytes_ -= bytes;
        dropped.splice(dropped.end(), kept_, kept_.begin());
    }
}

// Drops lines over the limits, from the oldest one on.
void live_log::drop_lines(std::list<batch>& dropped)
{
    while (lines_ > limits_.lines || bytes_ > limits_.bytes) {
        auto& oldest = kept_.front();
        if (oldest.first >= wanted_ && is_unread(oldest)) {
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

std::vector<live_log::batch> live_log::since(std::uint64_t from, std::size_t most)
{
    std::vector<batch> out;
    std::size_t bytes = 0;
    std::list<batch> dropped;
    const std::lock_guard lock{mutex_};
    drop_lines(dropped);
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

live_log::numbers live_log::range()
{
    std::list<batch> dropped;
    const std::lock_guard lock{mutex_};
    drop_lines(dropped);
    return {first_, next_ - lines_, next_};
}

void live_log::keep_for_reader(std::optional<std::uint64_t> from)
{
    std::list<batch> dropped;
    const std::lock_guard lock{mutex_};
    read_ = from.has_value();
    wanted_ = from.value_or(0);
    drop_lines(dropped);
}

void live_log::await(std::uint64_t from, std::function<void()> wake)
{
    const std::lock_guard lock{mutex_};
    wake_ = std::move(wake);
    if (wake_ && next_ > from) {
        std::exchange(wake_, nullptr)();
    }
}

}  // namespace gateway::telemetry
