// How many of the calls in flight on one connection each principal has. Pure; one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mcp {

class principal_shares {
public:
    // 0: without a limit, and nothing is counted.
    explicit principal_shares(std::size_t most)
        : most_{most}
    {
    }

    // One more, until it is given back. False: the principal has all that it may. One without a name shares nothing.
    bool take(std::string_view principal);
    void give_back(std::string_view principal);

    std::size_t of(std::string_view principal) const;

private:
    std::size_t most_;
    std::map<std::string, std::size_t, std::less<>> taken_;  // never 0
};

}  // namespace mcp
