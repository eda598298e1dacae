// How overloaded the gateway is: 0 (not at all) to 3, by how late a loop runs and how much of its memory is used. A level is
// reached at once and left when nothing has reached its mark for a second. Pure; one thread.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace gateway::balancing {

using overload_level = unsigned;

inline constexpr overload_level most_overload = 3;

struct overload_settings {
    std::array<core::duration, most_overload> lag{core::duration{50}, core::duration{200}, core::duration{500}};
    std::array<unsigned, most_overload> memory{85, 92, 95};  // percent of the limit
};

class overload_meter {
public:
    static constexpr core::duration hold{1'000};

    explicit overload_meter(const overload_settings& settings) noexcept
        : settings_{settings}
    {
    }

    // `lag`: of the worker that is least late. `memory`: percent; nothing: there is no limit. Times never go back.
    overload_level sample(core::duration lag, std::optional<unsigned> memory, core::steady_time now) noexcept;

private:
    overload_settings settings_;
    std::array<std::optional<core::steady_time>, most_overload> reached_{};  // when last
};

}  // namespace gateway::balancing
