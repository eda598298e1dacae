// The limits and timeouts of callers' connections.
#pragma once

#include "core/clock.hpp"
#include "net/http1/head.hpp"
#include "net/loop/shared_budget.hpp"

#include <cstddef>
#include <cstdint>

namespace net {

struct server_settings {
    http1::head_limits head;
    core::duration handshake_timeout{};
    core::duration header_timeout{};
    core::duration body_timeout{};
    core::duration idle_timeout{};
    core::duration write_timeout{};
    core::duration body_grace{};     // before body_rate counts
    std::uint64_t body_rate = 0;     // bytes a second of a body, while it is waited for; 0: any
    std::size_t read_ahead = 16384;  // bytes behind a request that is being answered
    std::uint64_t requests = 1000;   // on one connection

    core::duration drain_idle{50};  // for the next request of a kept connection, after drain()

    // A caller whose request was answered before all of it had come: what it still sends is read and dropped, because a
    // reset would take the answer with it.
    core::duration linger{};
    core::duration linger_pause{500};  // in which nothing comes: it ends then, too
    std::uint64_t linger_bytes = 0;
    shared_budget* lingering = nullptr;  // such connections at a time; null: any number
    shared_budget* bodies = nullptr;     // bytes of bodies that are held; null: any number
};

}  // namespace net
