// Histories as sound replicas would have brought them about, from a seed, and ways to make one unsound.
#pragma once

#include "tests/replicas/history.hpp"

#include <array>
#include <cstddef>
#include <random>

namespace replicas {

struct made_history {
    history all;
    std::vector<std::size_t> writers;  // of the lines of the trail: which operation
};

struct made_size {
    int clients = 10;
    int replicas = 3;
    int keys = 20;
    moment length = 2'000'000;
};

made_history make_history(std::uint64_t seed, const made_size& size = {});

enum class mutation : std::uint8_t {
    // What both checkers have to see.
    lost_write,        // in the end there is what an acknowledged write had replaced
    stale_read,        // a fresh read gives what had been replaced before it began
    refused_is_there,  // a text that was refused is read
    phantom,           // a text is read that nobody wrote
    two_winners,       // of two writes on one version both are acknowledged
    comes_back,        // what was removed is read again
    twice,             // what happened with unknown outcome is read again after it was replaced
    gone,              // nothing is read although nobody removed it
    // What only versions show.
    gap,               // a number is missing
    swapped,           // two writes have numbers in the other order
    extra_line,        // the trail has something that nobody asked for
    wrong_end,         // in the end there is another version than the trail's
    goes_back,         // a replica gives an older version than before
    needless_refusal,  // a version is refused although it was there all the time
};

inline constexpr std::array mutations{
    mutation::lost_write,
    mutation::stale_read,
    mutation::refused_is_there,
    mutation::phantom,
    mutation::two_winners,
    mutation::comes_back,
    mutation::twice,
    mutation::gone,
    mutation::gap,
    mutation::swapped,
    mutation::extra_line,
    mutation::wrong_end,
    mutation::goes_back,
    mutation::needless_refusal
};

constexpr bool shows_without_versions(mutation which) noexcept
{
    return which < mutation::gap;
}

// False: this history has no place for it, and is as it was.
bool mutate(made_history& made, mutation which, std::mt19937_64& random);

}  // namespace replicas
