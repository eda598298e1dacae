// A timer on a loop, in steady time.
#pragma once

#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>

namespace mcp {

using timer = net::asio::
    basic_waitable_timer<std::chrono::steady_clock, net::asio::wait_traits<std::chrono::steady_clock>, net::executor>;

}  // namespace mcp
