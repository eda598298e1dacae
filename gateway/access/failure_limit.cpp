#include "gateway/access/failure_limit.hpp"

#include "core/ip.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

namespace gateway::access {
namespace {

constexpr unsigned half = 32;
constexpr std::uint64_t lower_half = (std::uint64_t{1} << half) - 1;

std::uint64_t second_of(core::steady_time now) noexcept
{
    const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    return static_cast<std::uint64_t>(second) & lower_half;
}

// Mixes all bits into all others (the finalizer of SplitMix64).
std::uint64_t mixed(std::uint64_t bits) noexcept
{
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31U);
}

}  // namespace

std::uint64_t number_of(std::string_view address) noexcept
{
    const auto parsed = core::parse_ip(address);
    if (!parsed) {
        return std::hash<std::string_view>{}(address);
    }
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    const bool v4 = std::equal(mapped.begin(), mapped.end(), parsed->bytes.begin());
    std::uint64_t number = 0;
    std::memcpy(&number, parsed->bytes.data() + (v4 ? sizeof(number) : 0), sizeof(number));
    return number;
}

bool failure_limit::allows(std::string_view address, core::steady_time now) const noexcept
{
    const auto name = name_of(address);
    const auto& in = rows_[row_of(name)];
    if (in.questions.load(std::memory_order_relaxed) >= questions) {
        return false;
    }
    for (const auto& each : in.places) {
        if (each.name.load(std::memory_order_relaxed) == name) {
            const auto failed = each.failed.load(std::memory_order_relaxed);
            return (failed & lower_half) < failures_ || failed >> half < second_of(now);
        }
    }
    return true;
}

void failure_limit::note_failure(std::string_view address, core::steady_time now) noexcept
{
    const auto name = name_of(address);
    const auto second = second_of(now);
    auto* const of = claim(rows_[row_of(name)], name, second);
    if (of == nullptr) {
        return;
    }
    auto before = of->failed.load(std::memory_order_relaxed);
    std::uint64_t after = 0;
    do {
        // A loop whose clock is behind must not forget what the others have counted.
        after = before >> half < second ? (second << half) + 1 : before + 1;
    } while (!of->failed.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

// The place of this name, be it that of another one before. Null: other threads took one place after the other.
failure_limit::place* failure_limit::claim(place_row& in, std::uint64_t name, std::uint64_t second) noexcept
{
    for (std::size_t tries = 0; tries <= row; ++tries) {
        place* best = nullptr;
        std::uint64_t taken_by = 0;
        std::uint64_t least = 0;
        for (auto& each : in.places) {
            const auto whose = each.name.load(std::memory_order_relaxed);
            if (whose == name) {
                return &each;
            }
            // A place of a past second is as good as free.
            const auto failed = each.failed.load(std::memory_order_relaxed);
            const auto weight = failed >> half < second ? 0 : failed;
            if (best == nullptr || weight < least) {
                best = &each;
                taken_by = whose;
                least = weight;
            }
        }
        if (best->name.compare_exchange_strong(taken_by, name, std::memory_order_relaxed)) {
            // The failures were another's. If a thread has counted one of this name meanwhile, they stay for this second.
            auto others = least;
            best->failed.compare_exchange_strong(others, second << half, std::memory_order_relaxed);
            return best;
        }
    }
    return nullptr;
}

std::uint64_t failure_limit::name_of(std::string_view address) const noexcept
{
    return std::max<std::uint64_t>(mixed(number_of(address) ^ seed_), 1);
}

}  // namespace gateway::access
