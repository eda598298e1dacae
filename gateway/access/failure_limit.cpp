#include "gateway/access/failure_limit.hpp"

#include "core/ip.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

namespace gateway::access {
namespace {

std::int64_t second_of(core::steady_time now) noexcept
{
    return std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
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

bool failure_limit::allows(std::string_view address, core::steady_time now) noexcept
{
    const auto& of = place_of(address);
    return of.questions < questions && (of.failures < failures_ || of.second != second_of(now));
}

void failure_limit::note_failure(std::string_view address, core::steady_time now) noexcept
{
    auto& of = place_of(address);
    const auto second = second_of(now);
    of.failures = of.second == second ? of.failures + 1 : 1;
    of.second = second;
}

failure_limit::place& failure_limit::place_of(std::string_view address) noexcept
{
    return places_[mixed(number_of(address) ^ seed_) % places];
}

}  // namespace gateway::access
