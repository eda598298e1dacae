#include "net/loop/poller.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <utility>

namespace net {
namespace {

constexpr int events_at_once = 128;

// While there is always something ready, what else lies on the loop gets its turn after this many looks.
constexpr int looks_per_round = 8;

// Bits of watched::pending_ that are no events: it is registered; it is not told of room to write.
constexpr std::uint32_t is_known = 1U << 26U;
constexpr std::uint32_t hears_no_room = 1U << 27U;
constexpr std::uint32_t own_bits = is_known | hears_no_room;

// A pair of sockets within the process says that it has room whenever the other end has read, which would wake a thread for nothing.
bool within_process(int descriptor) noexcept
{
    int family = 0;
    ::socklen_t size = sizeof family;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && family == AF_UNIX;
}

std::uint32_t take_events(std::uint32_t& pending) noexcept
{
    return std::exchange(pending, pending & own_bits) & ~own_bits;
}

int new_epoll_set()
{
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    if (set < 0) {
        throw boost::system::system_error{last_error(), "epoll_create1"};
    }
    return set;
}

}  // namespace

poller::poller(asio::io_context& io)
    : io_{io},
      set_{io.get_executor(), new_epoll_set()}
{
}

poller::~poller() = default;

void poller::start()
{
    wait();
}

void poller::stop()
{
    stopping_ = true;
    post_round();
}

// Of room in a socket within the process `who` hears only if it is added again.
error_code poller::add(int descriptor, watched& who)
{
    const bool known = (who.pending_ & is_known) != 0;
    if (known && (who.pending_ & hears_no_room) == 0) {
        return {};
    }
    const bool hears_room = known || !within_process(descriptor);
    ::epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (hears_room ? EPOLLOUT : 0U);
    wanted.data.ptr = &who;
    if (::epoll_ctl(set_.native_handle(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &wanted) != 0) {
        return last_error();
    }
    registered_ += known ? 0 : 1;
    who.pending_ = (who.pending_ & ~own_bits) | is_known | (hears_room ? 0U : hears_no_room);
    return {};
}

// To close the descriptor is not enough: a child that has not executed its program yet holds a copy of every one, and the set
// would go on telling of the file behind it.
void poller::remove(int descriptor, watched& who)
{
    ::epoll_ctl(set_.native_handle(), EPOLL_CTL_DEL, descriptor, nullptr);
    --registered_;
    who.pending_ = 0;
    if (stopping_ && registered_ == 0) {
        post_round();
    }
}

void poller::wake(watched& who)
{
    if (!who.is_linked()) {
        ready_.push_back(who);
    }
    if (!in_round_) {
        post_round();
    }
}

void poller::tell_now(watched& who)
{
    if (who.is_linked()) {
        who.unlink();
        who.on_ready(take_events(who.pending_));
    }
}

void poller::post_round()
{
    if (!std::exchange(posted_, true)) {
        asio::post(io_, [this] {
            posted_ = false;
            round();
        });
    }
}

void poller::wait()
{
    if (waiting_ || (stopping_ && registered_ == 0)) {
        return;
    }
    waiting_ = true;
    set_.async_wait(asio::posix::descriptor_base::wait_read, [this](error_code ec) {
        waiting_ = false;
        if (!ec) {
            round();
        }
    });
}

// Whether anything is ready.
bool poller::collect()
{
    std::array<::epoll_event, events_at_once> events;  // NOLINT(*-member-init): epoll_wait() fills what is read
    const int count = ::epoll_wait(set_.native_handle(), events.data(), events_at_once, 0);
    for (int i = 0; i < count; ++i) {
        const auto& event = events[static_cast<std::size_t>(i)];
        auto& who = *static_cast<watched*>(event.data.ptr);
        who.pending_ |= event.events;
        if (!who.is_linked()) {
            ready_.push_back(who);
        }
    }
    if (ready_.empty()) {
        return false;
    }
    now_ = std::chrono::steady_clock::now();
    return true;
}

void poller::round()
{
    in_round_ = true;
    for (int look = 0; look < looks_per_round && collect(); ++look) {
        told_.splice(told_.end(), ready_);
        while (!told_.empty()) {
            auto& who = told_.front();
            told_.pop_front();
            who.on_ready(take_events(who.pending_));
        }
    }
    in_round_ = false;
    if (!ready_.empty()) {
        post_round();
    }
    if (stopping_ && registered_ == 0) {
        error_code ignored;  // nothing is waited for then
        set_.cancel(ignored);
    }
    wait();
}

}  // namespace net
