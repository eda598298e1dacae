// How HTTP/2 goes on the connections of one loop to one side, for metrics. The loop's thread.
#pragma once

#include "net/http2/codes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace net::http2 {

struct counters {
    static constexpr std::size_t codes = 15;  // the last: any that RFC 9113 does not know
    static constexpr std::size_t limits = 7;
    using by_code = std::array<std::array<std::uint64_t, codes>, 2>;  // by whom, then by code

    std::uint64_t connections = 0;  // open now
    std::uint64_t streams = 0;      // whose work has not ended
    by_code resets{};
    by_code goaways{};
    std::array<std::uint64_t, limits> refused{};

    void merge(const counters& other) noexcept
    {
        connections += other.connections;
        streams += other.streams;
        for (std::size_t whom = 0; whom < resets.size(); ++whom) {
            for (std::size_t code = 0; code < codes; ++code) {
                resets[whom][code] += other.resets[whom][code];
                goaways[whom][code] += other.goaways[whom][code];
            }
        }
        for (std::size_t which = 0; which < limits; ++which) {
            refused[which] += other.refused[which];
        }
    }

    static std::uint64_t& of(by_code& table, by whom, error_code code) noexcept
    {
        return table[static_cast<std::size_t>(whom)][std::min(static_cast<std::size_t>(code), codes - 1)];
    }
};

}  // namespace net::http2
