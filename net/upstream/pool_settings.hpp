// How upstream_pool keeps connections.
#pragma once

#include "net/http2/counters.hpp"
#include "net/upstream/connection_life.hpp"

#include <cstddef>
#include <cstdint>

namespace net {

// 0 to less than 1. Any thread.
double random_share();

struct pool_settings {
    std::size_t head_limit = 64 * 1024;  // of an answer
    std::size_t idle_connections = 256;  // per target; HTTP/1.1
    life_settings life{};
    double (*random)() = random_share;
    std::size_t http2_connections = 8;    // per target: those that take calls, or are being made
    std::uint32_t http2_resets = 100;     // as http2::session_settings
    std::uint32_t http2_control = 50;     // the same
    http2::counters* counters = nullptr;  // outlives every connection; null: nobody counts
};

}  // namespace net
