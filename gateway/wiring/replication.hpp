// Ties a store that replicas share to those who serve what is in it. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/containment.hpp"
#include "gateway/management/management.hpp"
#include "gateway/management/pin_book.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/reload/reload.hpp"
#include "gateway/replicas/replica_plane.hpp"
#include "gateway/threads/drain_wait.hpp"
#include "gateway/threads/side_thread.hpp"
#include "gateway/threads/turns.hpp"
#include "gateway/wiring/task_keeper.hpp"
#include "gateway/wiring/worker_settings.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"
#include "store/feed.hpp"

#include <memory>
#include <vector>

namespace gateway::wiring {

// All of it outlives the plane.
struct replication_parts {
    net::loop& control;
    const config::settings& settings;
    const core::logger& log;
    threads::turns& turns;
    threads::side_thread& long_work;
    const std::vector<std::unique_ptr<worker::worker>>& workers;
    management::registry& registry;
    management::management& methods;
    management::pin_book& pins;
    management::containment_table& containments;
    cards::card_plane& cards;
    task_keeper& tasks;
    push::push_plane& deliveries;
    reload::reloader& reloader;
    worker_settings& shares;  // of rate limits
};

// What the feed says goes to them from start() on, and the registry waits for it. Null: there is no feed.
std::unique_ptr<replicas::replica_plane> make_replica_plane(store::feed* feed, const replication_parts& parts);

// At the end, behind `before`, when tasks are written and deliveries have ended: others take over the rest. `plane` may be null.
net::task<> finish_replica(
    replicas::replica_plane* plane,
    replication_parts parts,
    threads::drain_wait& waiting,
    net::task<> before
);

}  // namespace gateway::wiring
