#include "mcp/calls/principal_shares.hpp"

namespace mcp {

bool principal_shares::take(std::string_view principal)
{
    if (most_ == 0 || principal.empty()) {
        return true;
    }
    const auto found = taken_.find(principal);
    if (found == taken_.end()) {
        taken_.emplace(principal, 1);
        return true;
    }
    if (found->second >= most_) {
        return false;
    }
    ++found->second;
    return true;
}

void principal_shares::give_back(std::string_view principal)
{
    const auto found = taken_.find(principal);
    if (found != taken_.end() && --found->second == 0) {
        taken_.erase(found);
    }
}

std::size_t principal_shares::of(std::string_view principal) const
{
    const auto found = taken_.find(principal);
    return found == taken_.end() ? 0 : found->second;
}

}  // namespace mcp
