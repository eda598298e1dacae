#include "net/loop/poller.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <utility>

namespace net {
namespace {

constexpr int events_at_once = 128;

// While there is always something ready, what else lies on the loop gets its turn after this many looks.
constexpr int looks_per_round = 8;

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

error_code poller::add(int descriptor, watched& who)
{
    ::epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    wanted.data.ptr = &who;
    if (::epoll_ctl(set_.native_handle(), EPOLL_CTL_ADD, descriptor, &wanted) != 0) {
        return last_error();
    }
    ++registered_;
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
        who.on_ready(std::exchange(who.pending_, 0));
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
            who.on_ready(std::exchange(who.pending_, 0));
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
