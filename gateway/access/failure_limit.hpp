// How many credentials from one address may fail, so that guesses and forged tokens cost the gateway little. An IPv6 address
// counts with its /64. Bounded: of the addresses whose credentials fail in one second it tells so many apart as there are
// places, and forgets those with fewest failures beyond that, so that no number of addresses takes the limit of another one.
// Any thread, without a lock: all loops of a listener share one. Credentials that are checked at one moment may all be.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::access {

// Number of an address: all of IPv4, the /64 of IPv6. Text that is not an address has a number too.
std::uint64_t number_of(std::string_view address) noexcept;

class failure_limit {
public:
    static constexpr unsigned questions = 32;  // of one address at a time
    static constexpr std::size_t places = 4096;

    // `failures` of one address are allowed in a second. `seed` is not known to callers, so that none can choose whose row
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
            : under_way_{limit.rows_[row_of(limit.name_of(address))].questions}
        {
            under_way_.fetch_add(1, std::memory_order_relaxed);
        }
        ~question() { under_way_.fetch_sub(1, std::memory_order_relaxed); }
        question(const question&) = delete;
        question& operator=(const question&) = delete;

    private:
        std::atomic<unsigned>& under_way_;
    };

private:
    struct place {
        std::atomic<std::uint64_t> name{0};    // 0: of no address
        std::atomic<std::uint64_t> failed{0};  // the second in the upper half, the failures in it in the lower
    };

    static constexpr std::size_t row = 4;  // the places of one address
    static constexpr std::size_t rows = places / row;

    struct place_row {
        std::array<place, row> places;
        std::atomic<unsigned> questions{0};  // of all addresses of this row
    };

    std::uint64_t name_of(std::string_view address) const noexcept;
    static std::size_t row_of(std::uint64_t name) noexcept { return name % rows; }
    static place* claim(place_row& in, std::uint64_t name, std::uint64_t second) noexcept;

    std::uint64_t failures_;
    std::uint64_t seed_;
    std::array<place_row, rows> rows_{};
};

}  // namespace gateway::access
