// Tells all loops what operators contain, and adds up what that cuts. On the control loop's thread.
#pragma once

#include "core/log.hpp"
#include "gateway/admin/admin_guard.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/management/containment.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "gateway/wiring/caller_sessions.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"

#include <memory>
#include <vector>

namespace gateway::wiring {

// Those who hear of it, and where it is kept. All of it outlives the table.
struct containment_audience {
    net::loop& control;
    const std::vector<std::unique_ptr<worker::worker>>& workers;
    admin::admin_guard& admin;
    caller_sessions& callers;
    cards::card_source& cards;
    push::push_plane& deliveries;
    management::registry& registry;
    threads::store_thread& store;
    const core::logger& log;
};

std::unique_ptr<management::containment_table> make_containment_table(const containment_audience& told);

}  // namespace gateway::wiring
