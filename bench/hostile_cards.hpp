// Cards that an agent may send to keep the gateway busy: each kind fills its size with what costs most per byte.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bench {

struct hostile_card {
    std::string_view name;
    std::string (*text)(std::size_t bytes);  // at most so long, and nearly
};

std::span<const hostile_card> hostile_cards() noexcept;

}  // namespace bench
