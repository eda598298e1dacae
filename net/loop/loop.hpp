// One thread's world: its io_context, deadlines and buffers. The control side has one, every worker has one; what lives
// on a loop is touched by the thread that runs it and by no other.
#pragma once

#include "net/loop/buffer_pool.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/poller.hpp"
#include "net/loop/resolver.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace net {

// Ends the process with one line on stderr that names the limit; allocates nothing. The process starts it as its new handler, and a service
// manager starts the process again.
[[noreturn]] void end_without_memory() noexcept;

class loop {
public:
    // `names`: of the process; without it the loop has its own.
    explicit loop(std::shared_ptr<dns_cache> names = std::make_shared<dns_cache>());
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    // Runs on the calling thread until stop() and until nothing is left to do.
    void run();

    // The loop's own thread: sweeps no more and lets run() return once the last operation has completed.
    void stop();

    asio::io_context& io() noexcept { return io_; }
    executor get_executor() noexcept { return io_.get_executor(); }
    deadlines& timers() noexcept { return deadlines_; }
    poller& ready() noexcept { return poller_; }
    buffer_pool& buffers() noexcept { return buffers_; }

    // The time, read once for all that happened at once: at most as late as what was done since. For deadlines and ages.
    core::steady_time now() const noexcept { return poller_.now(); }

    // Room for one TLS record, for as long as nothing else runs.
    char* record();

    resolver& names() noexcept { return resolver_; }

    // The value of a Date field (RFC 9110 section 5.6.7), at most a second old.
    std::string_view http_date();

private:
    asio::io_context io_{1};
    asio::executor_work_guard<executor> work_;
    deadlines deadlines_;
    poller poller_;
    buffer_pool buffers_;
    std::unique_ptr<char[]> record_;
    resolver resolver_;
    std::string date_;
    std::time_t date_second_ = 0;
};

}  // namespace net
