// The limits and timeouts of callers' connections.
#pragma once

#include "core/clock.hpp"
#include "net/http1/head.hpp"
#include "net/http2/counters.hpp"
#include "net/loop/shared_budget.hpp"

#include <atomic>
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
    std::uint64_t requests = 1000;   // on one connection of HTTP/1.1

    bool http2 = false;                // is spoken too
    std::size_t http2_streams = 256;   // of one connection, whose work has not ended
    std::uint32_t http2_resets = 100;  // a second, as in http2::session_settings
    std::uint32_t http2_control = 50;
    core::duration http2_age{};                 // of a connection, less up to a fifth; 0: any
    http2::counters* http2_counters = nullptr;  // null: not counted
    std::atomic<std::size_t>* streams =
        nullptr;  // counts those whose work has not ended; any thread reads it. Null: nobody does

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
