// How many of the places that callers share each principal holds, so that no one takes all of them: it gets at most half of any, and
// there is room for a second one. One table of fixed size for everything in the process that has such places. Any thread, without
// a lock: taking a place and giving it back are one atomic operation each.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace core {

// Tells callers apart: a keyed hash, odd for a principal known by a credential, even for an address. 0: nobody in particular.
using caller_mark = std::uint64_t;

// 0 if both texts are empty. Throws std::runtime_error if the system has no randomness.
caller_mark mark_of_principal(std::string_view provider, std::string_view id);
caller_mark mark_of_address(std::uint64_t number);

// The most places that one principal may hold. A single place may be anybody's; an odd number is rounded down.
constexpr std::uint64_t half_of(std::uint64_t places) noexcept
{
    return std::max<std::uint64_t>(places / 2, 1);
}

class place_shares;

// Places that count for their principal until this is destroyed, or those of a caller that is not counted.
class place_share {
public:
    place_share() = default;
    place_share(place_share&& other) noexcept
        : in_{std::exchange(other.in_, nullptr)},
          places_{other.places_}
    {
    }
    place_share& operator=(place_share&& other) noexcept
    {
        std::swap(in_, other.in_);
        std::swap(places_, other.places_);
        return *this;
    }
    ~place_share() { give_back(); }

    void give_back() noexcept;

private:
    friend class place_shares;
    place_share(std::atomic<std::uint64_t>& in, std::uint64_t places) noexcept
        : in_{&in},
          places_{places}
    {
    }

    std::atomic<std::uint64_t>* in_ = nullptr;  // null: not counted, or given back
    std::uint64_t places_ = 0;
};

class place_shares {
public:
    // Principals that hold places, each once for each kind of place. Places of those beyond are not counted.
    static constexpr std::size_t most_holders = 65'536;

    // Which places they are: those of one object, or of one agent in it.
    static std::uint64_t of_object(const void* object, std::string_view part = {}) noexcept;

    // `places` more of these for the caller. Nothing: it would hold more than `most` then, or takes others at this very moment that
    // reach `most`. A caller that is no principal is never counted.
    std::optional<place_share>
    take(std::uint64_t of, caller_mark whose, std::uint64_t most, std::uint64_t places = 1) noexcept
    {
        return whose % 2 == 0 ? std::optional{place_share{}} : take_counted(of, whose, most, places);
    }

    // How many the caller holds.
    std::uint64_t count(std::uint64_t of, caller_mark whose) const noexcept;

private:
    static constexpr std::size_t row = 8;  // one name is in one row: one line of the cache

    // Each has a name above how many places it holds, and is 0 while there are none.
    struct alignas(64) holder_row {
        std::array<std::atomic<std::uint64_t>, row> holders{};
    };

    std::optional<place_share>
    take_counted(std::uint64_t of, caller_mark whose, std::uint64_t most, std::uint64_t places) noexcept;
    static std::uint64_t held(const holder_row& in, std::uint64_t name) noexcept;

    std::array<holder_row, most_holders / row> rows_{};
};

// The table of the process.
place_shares& all_shares() noexcept;

}  // namespace core
