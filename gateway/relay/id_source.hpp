// Random ids of traces and spans. One for each worker, so that none waits for another; none of them is a secret. One thread.
#pragma once

#include "core/trace_context.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

namespace gateway::relay {

class id_source {
public:
    // `entropy` is asked a few times, now.
    explicit id_source(const std::function<std::uint32_t()>& entropy)
    {
        std::uint64_t apart = 0;  // whatever the entropy is
        for (auto* const each : {&high_, &low_, &others_}) {
            each->at = apart += 0xD1B54A32D192ED03U;
            each->at ^= std::uint64_t{entropy()} << 32U;
            each->at ^= entropy();
        }
    }

    // Never 0, which stands for none.
    core::span_id span() { return std::max<core::span_id>(others_.next(), 1); }

    // Two halves that begin apart, so that those of two workers meet as rarely as numbers of 128 bits.
    core::trace_id trace() { return {high_.next(), std::max<std::uint64_t>(low_.next(), 1)}; }

    // True for this share of calls, from 0 to 1.
    bool chance(double share)
    {
        constexpr unsigned exact_bits = 53;  // of a double
        constexpr double whole = static_cast<double>(std::uint64_t{1} << exact_bits);
        return static_cast<double>(others_.next() >> (64U - exact_bits)) < share * whole;
    }

private:
    // SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): every call makes ids, and its state is
    // one number.
    struct sequence {
        std::uint64_t at = 0;

        std::uint64_t next() noexcept
        {
            auto bits = at += 0x9E3779B97F4A7C15U;
            bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
            bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
            return bits ^ (bits >> 31U);
        }
    };

    sequence high_;
    sequence low_;
    sequence others_;
};

}  // namespace gateway::relay
