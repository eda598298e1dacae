#include "gateway/threads/drain_wait.hpp"

#include <boost/asio/redirect_error.hpp>

namespace gateway::threads {
namespace {

constexpr std::chrono::milliseconds poll_interval{10};

}  // namespace

net::task<> drain_wait::wait(std::function<bool()> done, core::steady_time latest)
{
    while (!done() && std::chrono::steady_clock::now() < latest && (!cut_short_ || latest == net::never)) {
        net::error_code ignored;  // nothing cancels it
        poll_.expires_after(poll_interval);
        co_await poll_.async_wait(net::asio::redirect_error(net::use_task, ignored));
    }
}

}  // namespace gateway::threads
