// How often servers have asked clients for something, by method and by who has it. A value of one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcp {

// `passed`: to a client. `answered`: by the gateway, because it is a ping that no client reads, or because no client can be asked.
enum class question_end : std::uint8_t { passed, answered };

struct question_tally {
    static constexpr std::size_t ends = 2;
    static constexpr std::array<std::string_view, 5> methods{
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "ping",
        "other",
    };

    std::array<std::array<std::uint64_t, ends>, methods.size()> counts{
    };  // by the position in `methods`, and by question_end

    void count(std::string_view method, question_end end)
    {
        const auto known = std::ranges::find(methods, method);
        const auto at = known == methods.end() ? methods.size() - 1 : static_cast<std::size_t>(known - methods.begin());
        ++counts[at][static_cast<std::size_t>(end)];
    }
};

}  // namespace mcp
