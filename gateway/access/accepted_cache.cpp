#include "gateway/access/accepted_cache.hpp"

#include <algorithm>
#include <utility>

namespace gateway::access {

const std::shared_ptr<const core::principal>* accepted_cache::find(const hash_value& hash, core::steady_time now)
    const noexcept
{
    if (slots_.empty()) {
        return nullptr;
    }
    const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(row_of(hash));
    const auto found = std::find_if(first, first + row, [&](const slot& each) { return each.hash == hash; });
    return found != first + row && now < found->until ? &found->owner : nullptr;
}

void accepted_cache::insert(
    const hash_value& hash,
    std::shared_ptr<const core::principal> owner,
    core::steady_time until
)
{
    slots_.resize(capacity);
    const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(row_of(hash));
    auto place = std::find_if(first, first + row, [&](const slot& each) { return each.hash == hash; });
    if (place == first + row) {
        place = std::min_element(first, first + row, [](const slot& a, const slot& b) { return a.until < b.until; });
    }
    *place = {hash, until, std::move(owner)};
}

}  // namespace gateway::access
