#include "net/upstream/happy_eyeballs.hpp"

#include <algorithm>

namespace net {

address_list in_turns(const address_list& found, const family_memory* memory, core::steady_time now)
{
    address_list out;
    if (found.empty()) {
        return out;
    }
    const auto fails = [&](family which) { return memory != nullptr && memory->failed(which, now); };
    const auto first_family = family_of(found.front());
    const auto is_first = [&](const auto& each) { return family_of(each) == first_family; };
    address_list first;
    address_list other;
    std::ranges::copy_if(found, std::back_inserter(first), is_first);
    std::ranges::remove_copy_if(found, std::back_inserter(other), is_first);
    const auto other_family = first_family == family::v4 ? family::v6 : family::v4;
    if (fails(first_family) != fails(other_family)) {
        out = fails(first_family) ? other : first;
        const auto& last = fails(first_family) ? first : other;
        out.insert(out.end(), last.begin(), last.end());
        return out;
    }
    for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
        for (const auto* const list : {&first, &other}) {
            if (i < list->size()) {
                out.push_back((*list)[i]);
            }
        }
    }
    return out;
}

std::optional<std::size_t> connect_plan::next(core::steady_time now) noexcept
{
    if (begun_ == addresses_ || now < due_) {
        return std::nullopt;
    }
    due_ = now + head_start;
    return begun_++;
}

void connect_plan::failed(std::size_t place) noexcept
{
    ++failed_;
    if (place + 1 == begun_) {
        due_ = core::steady_time::min();
    }
}

core::steady_time connect_plan::due() const noexcept
{
    return begun_ == addresses_ ? core::steady_time::max() : due_;
}

}  // namespace net
