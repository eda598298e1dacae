#include "net/grpc/timeout.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace net::grpc {
namespace {

struct unit {
    char letter;
    std::uint64_t nanoseconds;
};

constexpr std::array units{
    unit{'n', 1},
    unit{'u', 1'000},
    unit{'m', 1'000'000},
    unit{'S', 1'000'000'000},
    unit{'M', 60'000'000'000},
    unit{'H', 3'600'000'000'000},
};

constexpr std::size_t most_digits = 8;
constexpr std::uint64_t most = 99'999'999;
constexpr std::chrono::microseconds longest = std::chrono::days{1'000};

}  // namespace

std::optional<std::chrono::microseconds> parse_timeout(std::string_view value) noexcept
{
    if (value.size() < 2 || value.size() > most_digits + 1) {
        return std::nullopt;
    }
    const auto* const at = std::ranges::find(units, value.back(), &unit::letter);
    value.remove_suffix(1);
    if (at == units.end() || !std::ranges::all_of(value, [](char c) { return core::is_digit(c); })) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    for (const char digit : value) {
        number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    // 99,999,999 hours have fewer nanoseconds than 2^63 has not: microseconds do.
    const auto micros = at->nanoseconds >= 1'000 ? number * (at->nanoseconds / 1'000) : number / 1'000;
    return std::min(longest, std::chrono::microseconds{static_cast<std::int64_t>(micros)});
}

void append_timeout(std::string& out, std::chrono::nanoseconds left)
{
    const auto all = static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 1));
    const auto* const at =
        std::ranges::find_if(units, [all](const unit& each) { return all / each.nanoseconds <= most; });
    out += std::to_string(all / at->nanoseconds);
    out += at->letter;
}

}  // namespace net::grpc
