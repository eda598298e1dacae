// How many credentials from one address may fail, so that guesses and forged tokens cost the gateway little. An IPv6 address
// counts with its /64. Bounded: addresses share a place now and then, and then their limit. Any thread, without a lock: all loops
// of a listener share one. Credentials that are checked at one moment may all be.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::access {

// What counts as one address: of IPv4 all of it, of IPv6 its /64. Text that is no address has a number too.
std::uint64_t number_of(std::string_view address) noexcept;

class failure_limit {
    struct place {
        std::atomic<std::uint64_t> failed{0};  // the second in the upper half, the failures in it in the lower
        std::atomic<unsigned> questions{0};
    };

public:
    static constexpr unsigned questions = 32;  // of one address at a time
    static constexpr std::size_t places = 1024;

    // `failures` of one address are allowed in a second. `seed` is not known to callers, so that none can choose whose place
    // it shares.
    failure_limit(std::uint64_t failures, std::uint64_t seed) noexcept
        : failures_{failures},
          seed_{seed}
    {
    }

    // Whether one more credential of the address is looked at.
    bool allows(std::string_view address, core::steady_time now) const noexcept;

    void note_failure(std::string_view address, core::steady_time now) noexcept;

    // A question about a credential of the address, from its beginning to its end.
    class question {
    public:
        question(failure_limit& limit, std::string_view address) noexcept
            : place_{limit.place_of(address)}
        {
            place_.questions.fetch_add(1, std::memory_order_relaxed);
        }
        ~question() { place_.questions.fetch_sub(1, std::memory_order_relaxed); }
        question(const question&) = delete;
        question& operator=(const question&) = delete;

    private:
        place& place_;
    };

private:
    std::size_t index_of(std::string_view address) const noexcept;
    place& place_of(std::string_view address) noexcept { return places_[index_of(address)]; }

    std::uint64_t failures_;
    std::uint64_t seed_;
    std::array<place, places> places_{};
};

}  // namespace gateway::access
