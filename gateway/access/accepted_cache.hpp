// The credentials that one worker has accepted lately, by their keyed hash, so that one that comes again costs a look. Bounded;
// no credential is kept. One thread.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "gateway/access/keyed_hash.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace gateway::access {

class accepted_cache {
public:
    static constexpr std::size_t capacity = 4096;

    // Null: it is not known, or not any more. Holds until the next change.
    const std::shared_ptr<const core::principal>* find(const hash_value& hash, core::steady_time now) const noexcept;

    // Instead of the one of its row that ends first, if the row is full.
    void insert(const hash_value& hash, std::shared_ptr<const core::principal> owner, core::steady_time until);

    void clear() noexcept { slots_.clear(); }

private:
    static constexpr std::size_t row = 8;

    struct slot {
        hash_value hash{};
        core::steady_time until{};  // long ago: empty
        std::shared_ptr<const core::principal> owner;
    };

    static std::size_t row_of(const hash_value& hash) noexcept { return hash[0] % (capacity / row) * row; }

    std::vector<slot> slots_;  // empty until the first is inserted, then `capacity`
};

}  // namespace gateway::access
