// Knowledge of one worker about credentials, by their keyed hash, so that one that comes again costs a look. Bounded; no credential
// is kept. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/keyed_hash.hpp"

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
    const Value* find(const core::hash_value& hash, core::steady_time now) const noexcept
    {
        const auto at = place_of(hash);
        return at < slots_.size() && now < slots_[at].until ? &slots_[at].value : nullptr;
    }

    // Also of one that is not known any more, as long as it is kept. Null: it is not.
    const Value* find_kept(const core::hash_value& hash, core::steady_time now) const noexcept
    {
        const auto at = place_of(hash);
        return at < slots_.size() && now < slots_[at].kept ? &slots_[at].value : nullptr;
    }

    // Whether it was known lately, also if it is not any more. What was never inserted is not.
    bool remembers(const core::hash_value& hash) const noexcept
    {
        const auto at = place_of(hash);
        return at < slots_.size() && slots_[at].until != core::steady_time{};
    }

    void forget(const core::hash_value& hash) noexcept
    {
        if (const auto at = place_of(hash); at < slots_.size()) {
            slots_[at] = {};
        }
    }

    // Known until then, and kept. Instead of the one of its row that ends first, if the row is full.
    void insert(const core::hash_value& hash, Value value, core::steady_time until, core::steady_time kept = {})
    {
        slots_.resize(capacity);
        auto at = place_of(hash);
        if (at == capacity) {
            const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(row_of(hash));
            const auto least =
                std::min_element(first, first + row, [](const slot& a, const slot& b) { return a.until < b.until; });
            at = static_cast<std::size_t>(least - slots_.begin());
        }
        slots_[at] = {hash, until, kept, std::move(value)};
    }

    void clear() noexcept { slots_.clear(); }

private:
    static constexpr std::size_t row = 8;

    struct slot {
        core::hash_value hash{};
        core::steady_time until{};  // long ago: empty
        core::steady_time kept{};
        Value value{};
    };

    static std::size_t row_of(const core::hash_value& hash) noexcept { return hash[0] % (capacity / row) * row; }

    // capacity: it has none.
    std::size_t place_of(const core::hash_value& hash) const noexcept
    {
        const auto first = row_of(hash);
        for (auto at = first; at < std::min(first + row, slots_.size()); ++at) {
            if (slots_[at].hash == hash) {
                return at;
            }
        }
        return capacity;
    }

    std::vector<slot> slots_;  // empty until the first is inserted, then `capacity`
};

}  // namespace gateway::access
