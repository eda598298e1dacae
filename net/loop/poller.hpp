// Readiness of the sockets of one loop: an edge-triggered epoll set of its own that lives inside the loop's io_context.
// A socket is registered once for its whole life, and nothing is set up or torn down per operation: an Asio operation
// costs an allocation, a read that finds nothing, and a completion through the queue, a tenth of a relayed call.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>

namespace net {

// Something with a descriptor. Whoever is destroyed is told nothing more.
class watched : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    // `events` are the changes since the last call, in the bits of epoll_ctl(2); none after poller::wake(). May destroy anything.
    virtual void on_ready(std::uint32_t events) = 0;

protected:
    ~watched() = default;

private:
    friend class poller;

    std::uint32_t pending_ = 0;
};

class poller {
public:
    explicit poller(asio::io_context& io);  // throws boost::system::system_error when the system has no descriptor left
    ~poller();
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    // Watches until stop(), and then for as long as a descriptor is registered.
    void start();
    void stop();

    // From here to remove(), which comes before it is closed: `who` hears of every change, and of the state at first.
    error_code add(int descriptor, watched& who);
    void remove(int descriptor, watched& who);

    // The time when what is being told now was found ready; anywhere else, the time.
    core::steady_time now() const noexcept { return in_round_ ? now_ : std::chrono::steady_clock::now(); }

    // on_ready() soon, but not inside this call.
    void wake(watched& who);

    // on_ready() inside this call, if it was to come anyway: for who cannot wait for its turn.
    static void tell_now(watched& who);

private:
    using ready_list = boost::intrusive::list<watched, boost::intrusive::constant_time_size<false>>;

    void wait();
    void post_round();
    void round();
    bool collect();

    asio::io_context& io_;
    asio::posix::basic_stream_descriptor<executor> set_;
    ready_list ready_;
    ready_list told_;  // of the round under way
    core::steady_time now_{};
    std::size_t registered_ = 0;
    bool waiting_ = false;
    bool posted_ = false;
    bool in_round_ = false;
    bool stopping_ = false;
};

}  // namespace net
