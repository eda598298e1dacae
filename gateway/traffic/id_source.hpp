// Random ids of traces and spans. One for each worker, so that none waits for another; none of them is a secret. One thread.
#pragma once

#include "core/trace_context.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>

namespace gateway::traffic {

class id_source {
public:
    // `entropy` is asked a few times, now.
    explicit id_source(const std::function<std::uint32_t()>& entropy)
    {
        std::array<std::uint32_t, 16> words{};
        std::ranges::generate(words, entropy);
        std::seed_seq seed(words.begin(), words.end());
        numbers_.seed(seed);
    }

    // Never 0, which stands for none.
    core::span_id span() { return std::max<core::span_id>(numbers_(), 1); }

    core::trace_id trace()
    {
        const auto high = numbers_();
        return {high, std::max<std::uint64_t>(numbers_(), 1)};
    }

    // True for this share of calls, from 0 to 1.
    bool chance(double share)
    {
        constexpr unsigned exact_bits = 53;  // of a double
        constexpr double whole = static_cast<double>(std::uint64_t{1} << exact_bits);
        return static_cast<double>(numbers_() >> (64U - exact_bits)) < share * whole;
    }

private:
    std::mt19937_64 numbers_;
};

}  // namespace gateway::traffic
