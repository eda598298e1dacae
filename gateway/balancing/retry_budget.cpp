#include "gateway/balancing/retry_budget.hpp"

namespace gateway::balancing {
namespace {

constexpr core::duration window{10'000};  // slots of a second

}  // namespace

retry_budget::retry_budget(core::steady_time now) noexcept
    : recent_{now, window}
{
}

bool retry_budget::take(double share, core::steady_time now) noexcept
{
    const auto this_second = recent_.add(now, {0, 1});
    if (this_second.marked <= always) {
        return true;
    }
    const auto recent = recent_.sum(now);
    if (static_cast<double>(recent.marked) <= share * static_cast<double>(recent.all)) {
        return true;
    }
    recent_.take_back(now, {0, 1});
    return false;
}

}  // namespace gateway::balancing
