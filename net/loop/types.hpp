// The Asio types of this project. Concrete executors: type-erased ones cost a fifth of a relayed call.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>

namespace net {

namespace asio = boost::asio;
using error_code = boost::system::error_code;

// The error of the system call that has just failed: errno.
inline error_code last_error()
{
    return {errno, boost::system::system_category()};
}

using executor = asio::io_context::executor_type;
using tcp = asio::ip::tcp;
using tcp_socket = asio::basic_stream_socket<tcp, executor>;

// A coroutine of one loop. Named functions with parameters by value; see docs/architecture.md, coroutines.
template <class T = void>
using task = asio::awaitable<T, executor>;

inline constexpr asio::use_awaitable_t<executor> use_task;

}  // namespace net
