// The callers' connections of one loop: takes accepted sockets in, ends them in order. The loop's thread, except open().
#pragma once

#include "net/server/server_connection.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

namespace net {

class http_service {
public:
    http_service(loop& owner, http_handler& handler, server_settings settings);
    ~http_service();
    http_service(const http_service&) = delete;
    http_service& operator=(const http_service&) = delete;

    void serve(accepted_socket from);

    // Sets the TLS of connections that come from now on; null: none. If it verifies certificates of callers in another way than
    // before, those that have been verified identify nobody any more.
    void set_tls(tls_context tls);

    // Connections open now; any thread.
    std::size_t open() const noexcept { return open_.load(std::memory_order_relaxed); }
    // Those and the streams of HTTP/2 whose work has not ended; any thread.
    std::size_t load() const noexcept { return open() + streams_.load(std::memory_order_relaxed); }
    // A connection was accepted for this service and is on its way here; any thread.
    void expect_one() noexcept { open_.fetch_add(1, std::memory_order_relaxed); }

    // From now on every answer that begins says that its connection ends; connections still come and stay.
    void announce_end();

    // Ends idle connections now and the others after their answer; serves no new ones.
    void drain();

    // Cuts what is still open.
    void abort();

    loop& owner() noexcept { return loop_; }

private:
    void ended(server_connection* connection, const std::exception_ptr& bug);

    loop& loop_;
    http_handler& handler_;
    server_settings settings_;
    request_buffer_pool spaces_;  // outlives the connections
    tls_context tls_;
    std::unordered_map<server_connection*, std::unique_ptr<server_connection>> connections_;
    std::atomic<std::size_t> open_{0};
    std::atomic<std::size_t> streams_{0};
    bool ending_ = false;
    bool draining_ = false;
};

}  // namespace net
