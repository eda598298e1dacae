// How many credentials from one address may fail, so that guesses and forged tokens cost the gateway little. An IPv6 address
// counts with its /64. Bounded: addresses share a place now and then, and then their limit. One thread, that of a worker.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::access {

// What counts as one address: of IPv4 all of it, of IPv6 its /64. Text that is no address has a number too.
std::uint64_t number_of(std::string_view address) noexcept;

class failure_limit {
    struct place {
        std::int64_t second = 0;  // of the failures
        std::uint64_t failures = 0;
        unsigned questions = 0;
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
    bool allows(std::string_view address, core::steady_time now) noexcept;

    void note_failure(std::string_view address, core::steady_time now) noexcept;

    // A question about a credential of the address, from its beginning to its end.
    class question {
    public:
        question(failure_limit& limit, std::string_view address) noexcept
            : place_{limit.place_of(address)}
        {
            ++place_.questions;
        }
        ~question() { --place_.questions; }
        question(const question&) = delete;
        question& operator=(const question&) = delete;

    private:
        place& place_;
    };

private:
    place& place_of(std::string_view address) noexcept;

    std::uint64_t failures_;
    std::uint64_t seed_;
    std::array<place, places> places_{};
};

}  // namespace gateway::access
