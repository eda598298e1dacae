#include "net/upstream/connect_race.hpp"

#include "net/loop/descriptor_budget.hpp"
#include "net/loop/tcp_state.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace net {

address_list in_turns(const address_list& found, const family_history* memory, core::steady_time now)
{
    address_list out;
    if (found.empty()) {
        return out;
    }
    const auto fails = [&](family which) { return memory != nullptr && memory->failed(which, now); };
    const auto first_family = family_of(found.front());
    const auto is_first = [&](const auto& each) { return family_of(each) == first_family; };
    address_list first;
    address_list other;
    std::ranges::copy_if(found, std::back_inserter(first), is_first);
    std::ranges::remove_copy_if(found, std::back_inserter(other), is_first);
    const auto other_family = first_family == family::v4 ? family::v6 : family::v4;
    if (fails(first_family) != fails(other_family)) {
        out = fails(first_family) ? other : first;
        const auto& last = fails(first_family) ? first : other;
        out.insert(out.end(), last.begin(), last.end());
        return out;
    }
    for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
        for (const auto* const list : {&first, &other}) {
            if (i < list->size()) {
                out.push_back((*list)[i]);
            }
        }
    }
    return out;
}

std::optional<std::size_t> connect_plan::next(core::steady_time now) noexcept
{
    if (begun_ == addresses_ || now < due_) {
        return std::nullopt;
    }
    due_ = now + head_start;
    return begun_++;
}

void connect_plan::failed(std::size_t place) noexcept
{
    ++failed_;
    if (place + 1 == begun_) {
        due_ = core::steady_time::min();
    }
}

core::steady_time connect_plan::due() const noexcept
{
    return begun_ == addresses_ ? core::steady_time::max() : due_;
}

namespace {

struct begun_socket {
    core::descriptor socket;
    error_code ec;
};

begun_socket begin_to_connect(const tcp::endpoint& to)
{
    core::descriptor socket{::socket(to.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP)};
    if (!socket.open()) {
        return {{}, last_error()};
    }
    if (is_reserved(socket.number())) {
        return {{}, asio::error::no_descriptors};
    }
    const int yes = 1;
    if (!watch_for_dead_peer(socket.number()) || !hold_little_unsent(socket.number()) ||
        ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        (::connect(socket.number(), to.data(), static_cast<::socklen_t>(to.size())) != 0 && errno != EINPROGRESS)) {
        return {{}, last_error()};
    }
    return {std::move(socket), {}};
}

error_code pending_error(int socket)
{
    int number = 0;
    ::socklen_t size = sizeof number;
    if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size) != 0) {
        return last_error();
    }
    return {number, boost::system::system_category()};
}

}  // namespace

class connect_race::attempt final : private watched {
public:
    attempt(connect_race& race, std::size_t place, core::descriptor socket) noexcept
        : race_{race},
          place_{place},
          socket_{std::move(socket)}
    {
    }
    ~attempt()
    {
        if (watched_) {
            race_.loop_.ready().remove(socket_.number(), *this);
        }
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    error_code watch()
    {
        const auto ec = race_.loop_.ready().add(socket_.number(), *this);
        watched_ = !ec;
        return ec;
    }

    core::descriptor take_socket()
    {
        watched_ = false;
        race_.loop_.ready().remove(socket_.number(), *this);
        return std::move(socket_);
    }

    std::size_t place() const noexcept { return place_; }

private:
    void on_ready(std::uint32_t events) override
    {
        if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) == 0) {
            return;
        }
        if (const auto ec = pending_error(socket_.number())) {
            race_.lost(*this, ec);
        } else {
            race_.won(*this);
        }
    }

    connect_race& race_;
    std::size_t place_;
    core::descriptor socket_;
    bool watched_ = false;
};

connect_race::connect_race(loop& owner, std::vector<tcp::endpoint> addresses, end told)
    : loop_{owner},
      addresses_{std::move(addresses)},
      told_{std::move(told)},
      plan_{addresses_.size()}
{
}

connect_race::~connect_race() = default;

bool connect_race::passed_over(std::size_t place) const noexcept
{
    const auto family = family_of(addresses_[place].address());
    const auto end = addresses_.begin() + static_cast<std::ptrdiff_t>(place);
    return std::any_of(addresses_.begin(), end, [&](const auto& each) { return family_of(each.address()) != family; });
}

void connect_race::go_on()
{
    while (const auto place = plan_.next(loop_.now())) {
        if (const auto ec = begin_attempt(*place)) {
            last_error_ = ec;
            plan_.failed(*place);
        }
    }
    if (plan_.over()) {
        const auto told = told_;
        told(last_error_, {}, 0);
        return;
    }
    wait_for_next();
}

error_code connect_race::begin_attempt(std::size_t place)
{
    auto [socket, ec] = begin_to_connect(addresses_[place]);
    if (ec) {
        return ec;
    }
    auto made = std::make_unique<attempt>(*this, place, std::move(socket));
    ec = made->watch();
    if (!ec) {
        attempts_.push_back(std::move(made));
    }
    return ec;
}

// A timer of its own: the loop's deadlines are too coarse for a quarter of a second.
void connect_race::wait_for_next()
{
    if (plan_.due() == core::steady_time::max()) {
        return;
    }
    if (!timer_) {
        timer_.emplace(loop_.get_executor());
        alive_ = std::make_shared<const bool>(true);
    }
    timer_->expires_at(plan_.due());
    timer_->async_wait([this, alive = std::weak_ptr{alive_}](error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            go_on();
        }
    });
}

void connect_race::won(attempt& by)
{
    const auto place = by.place();
    auto socket = by.take_socket();
    timer_.reset();
    alive_.reset();
    const auto told = told_;
    told({}, std::move(socket), place);
}

void connect_race::lost(attempt& by, error_code ec)
{
    last_error_ = ec;
    plan_.failed(by.place());
    std::erase_if(attempts_, [&](const auto& each) { return each.get() == &by; });
    go_on();
}

}  // namespace net
