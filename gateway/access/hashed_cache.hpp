// What one worker knows of credentials, by their keyed hash, so that one that comes again costs a look. Bounded; no credential
// is kept. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/access/keyed_hash.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gateway::access {

template <class Value>
class hashed_cache {
public:
    static constexpr std::size_t capacity = 4096;

    // Null: it is not known, or not any more. Holds until the next change.
    const Value* find(const hash_value& hash, core::steady_time now) const noexcept
    {
        if (slots_.empty()) {
            return nullptr;
        }
        const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(row_of(hash));
        const auto found = std::find_if(first, first + row, [&](const slot& each) { return each.hash == hash; });
        return found != first + row && now < found->until ? &found->value : nullptr;
    }

    // Instead of the one of its row that ends first, if the row is full.
    void insert(const hash_value& hash, Value value, core::steady_time until)
    {
        slots_.resize(capacity);
        const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(row_of(hash));
        auto place = std::find_if(first, first + row, [&](const slot& each) { return each.hash == hash; });
        if (place == first + row) {
            place =
                std::min_element(first, first + row, [](const slot& a, const slot& b) { return a.until < b.until; });
        }
        *place = {hash, until, std::move(value)};
    }

    void clear() noexcept { slots_.clear(); }

private:
    static constexpr std::ptrdiff_t row = 8;

    struct slot {
        hash_value hash{};
        core::steady_time until{};  // long ago: empty
        Value value{};
    };

    static std::size_t row_of(const hash_value& hash) noexcept { return hash[0] % (capacity / row) * row; }

    std::vector<slot> slots_;  // empty until the first is inserted, then `capacity`
};

}  // namespace gateway::access
