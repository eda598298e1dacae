// The replicas that share a store, as the workers see them (docs/operations/replicas.md). Immutable once it is published.
#pragma once

#include "net/tls/tls_context.hpp"
#include "store/feed.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace gateway::model {

struct replicas {
    store::replica_id self = 0;
    std::vector<store::live_replica> live;  // this one too; in the order of their names
    net::tls_context
        tls;  // net::make_client_tls({}), made once by the publisher; null: replicas with an https address are not reached

    // Null: it does not live.
    const store::live_replica* find(store::replica_id id) const noexcept
    {
        const auto found = std::ranges::find(live, id, [](const auto& each) { return each.facts.id; });
        return found == live.end() ? nullptr : &*found;
    }
};

// Null: the store is not shared.
using replicas_pointer = std::shared_ptr<const replicas>;

}  // namespace gateway::model
