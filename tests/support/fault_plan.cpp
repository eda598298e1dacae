#include "tests/support/fault_plan.hpp"

#include <algorithm>

namespace test_support {
namespace {

constexpr std::uint64_t pieces_per_second = 50;  // of a limited bandwidth: it flows evenly

}  // namespace

fault_plan::fault_plan(const direction_faults& faults, std::uint64_t seed)
    : faults_{faults},
      random_{seed}
{
    next_flip_ = below(faults_.corrupt_every);
}

std::vector<fault_plan::piece> fault_plan::take(std::string_view block)
{
    if (faults_.limit) {
        const auto left = *faults_.limit - std::min(*faults_.limit, passed_);
        block = block.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), left)));
    }
    std::vector<piece> pieces;
    if (block.empty()) {
        return pieces;
    }
    std::string data{block};
    corrupt(data, passed_);
    passed_ += data.size();
    const auto size = piece_size(data.size());
    auto pause = delay();
    for (std::size_t at = 0; at < data.size(); at += size) {
        auto part = data.substr(at, size);
        pause += time_of(part.size());
        pieces.push_back({std::move(part), pause});
        pause = std::chrono::milliseconds{0};
    }
    return pieces;
}

void fault_plan::corrupt(std::string& block, std::uint64_t from)
{
    if (faults_.corrupt_every == 0) {
        return;
    }
    while (next_flip_ < from + block.size()) {
        auto& byte = block[static_cast<std::size_t>(next_flip_ - from)];
        byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << below(8)));
        span_ += faults_.corrupt_every;
        next_flip_ = span_ + below(faults_.corrupt_every);
    }
}

std::chrono::milliseconds fault_plan::delay()
{
    if (faults_.jitter.count() == 0) {
        return faults_.latency;
    }
    const auto range = static_cast<std::uint64_t>(2 * faults_.jitter.count() + 1);
    const std::chrono::milliseconds off{static_cast<std::int64_t>(below(range)) - faults_.jitter.count()};
    return std::max(faults_.latency + off, std::chrono::milliseconds{0});
}

std::chrono::milliseconds fault_plan::time_of(std::size_t bytes)
{
    if (faults_.bytes_per_second == 0) {
        return std::chrono::milliseconds{0};
    }
    owed_us_ += bytes * 1'000'000ULL / faults_.bytes_per_second;
    const std::chrono::milliseconds whole{owed_us_ / 1000};
    owed_us_ %= 1000;
    return whole;
}

std::size_t fault_plan::piece_size(std::size_t block) const noexcept
{
    if (faults_.slice > 0) {
        return faults_.slice;
    }
    if (faults_.bytes_per_second > 0) {
        return static_cast<std::size_t>(std::max<std::uint64_t>(faults_.bytes_per_second / pieces_per_second, 1));
    }
    return block;
}

}  // namespace test_support
