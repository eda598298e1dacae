#include "gateway/balancing/sliding_counts.hpp"

#include <algorithm>
#include <chrono>

namespace gateway::balancing {
namespace {

constexpr unsigned number_bits = 24;
constexpr std::uint64_t largest = (std::uint64_t{1} << number_bits) - 1;
constexpr std::uint64_t turns = std::uint64_t{1} << 16;

std::uint64_t packed(std::uint64_t turn, counted numbers) noexcept
{
    return (turn % turns) << (2 * number_bits) | std::min(numbers.all, largest) << number_bits |
           std::min(numbers.marked, largest);
}

std::uint64_t turn_in(std::uint64_t word) noexcept
{
    return word >> (2 * number_bits);
}

counted numbers_in(std::uint64_t word) noexcept
{
    return {word >> number_bits & largest, word & largest};
}

}  // namespace

sliding_counts::sliding_counts(core::steady_time from, core::duration window) noexcept
    : from_{from},
      width_{std::max(window / static_cast<std::int64_t>(slots), core::duration{1})}
{
}

// From `slots` on, so that an empty slot, whose turn is 0, is none of the ten last.
std::uint64_t sliding_counts::turn_of(core::steady_time now) const noexcept
{
    const auto since = std::chrono::duration_cast<core::duration>(std::max(now, from_) - from_);
    return slots + static_cast<std::uint64_t>(since / width_);
}

counted sliding_counts::add(core::steady_time now, counted more) noexcept
{
    const auto turn = turn_of(now);
    auto& slot = slots_[turn % slots];
    auto word = slot.load(std::memory_order_relaxed);
    counted next;
    do {
        const auto known = turn_in(word) == turn % turns ? numbers_in(word) : counted{};
        next = {known.all + more.all, known.marked + more.marked};
    } while (!slot.compare_exchange_weak(word, packed(turn, next), std::memory_order_relaxed));
    return next;
}

void sliding_counts::take_back(core::steady_time now, counted less) noexcept
{
    const auto turn = turn_of(now);
    auto& slot = slots_[turn % slots];
    auto word = slot.load(std::memory_order_relaxed);
    counted next;
    do {
        if (turn_in(word) != turn % turns) {
            return;
        }
        const auto known = numbers_in(word);
        next = {known.all - std::min(known.all, less.all), known.marked - std::min(known.marked, less.marked)};
    } while (!slot.compare_exchange_weak(word, packed(turn, next), std::memory_order_relaxed));
}

counted sliding_counts::sum(core::steady_time now) const noexcept
{
    const auto turn = turn_of(now);
    counted out;
    for (const auto& slot : slots_) {
        const auto word = slot.load(std::memory_order_relaxed);
        const auto age = (turn - turn_in(word)) % turns;
        if (age < slots) {
            const auto numbers = numbers_in(word);
            out.all += numbers.all;
            out.marked += numbers.marked;
        }
    }
    return out;
}

void sliding_counts::clear() noexcept
{
    for (auto& slot : slots_) {
        slot.store(0, std::memory_order_relaxed);
    }
}

}  // namespace gateway::balancing
