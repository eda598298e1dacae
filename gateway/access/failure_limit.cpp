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
    const auto& of = places_[index_of(address)];
    const auto failed = of.failed.load(std::memory_order_relaxed);
    return of.questions.load(std::memory_order_relaxed) < questions &&
           ((failed & lower_half) < failures_ || failed >> half < second_of(now));
}

void failure_limit::note_failure(std::string_view address, core::steady_time now) noexcept
{
    auto& failed = place_of(address).failed;
    const auto second = second_of(now);
    auto before = failed.load(std::memory_order_relaxed);
    std::uint64_t after = 0;
    do {
        // A loop whose clock is behind must not forget what the others have counted.
        after = before >> half < second ? (second << half) + 1 : before + 1;
    } while (!failed.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

std::size_t failure_limit::index_of(std::string_view address) const noexcept
{
    return mixed(number_of(address) ^ seed_) % places;
}

}  // namespace gateway::access
