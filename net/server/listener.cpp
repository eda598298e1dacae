#include "net/server/listener.hpp"

#include "net/loop/descriptor_budget.hpp"
#include "net/loop/tcp_state.hpp"
#include "net/upstream/own_listeners.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace net {
namespace {

constexpr std::chrono::milliseconds accept_pause{100};
constexpr std::chrono::seconds refusal_pause{10};  // between two lines about it

// The loop has other work, too.
constexpr int accepted_at_once = 64;

}  // namespace

listener::listener(loop& owner, std::vector<http_service*> services, const core::logger& log)
    : loop_{owner},
      services_{std::move(services)},
      log_{log},
      acceptor_{owner.get_executor()},
      pause_{owner.get_executor()}
{
}

// close() says nothing: another process may go on listening there.
listener::~listener()
{
    if (local_ != tcp::endpoint{}) {
        remove_own_listener(local_);
    }
}

core::result<> listener::open(const std::string& host, std::uint16_t port)
{
    const auto fail = [&](const error_code& ec) {
        return core::gateway_error(
            core::errc::config_invalid,
            "cannot listen on " + host + " port " + std::to_string(port) + ": " + ec.message()
        );
    };
    error_code ec;
    asio::ip::basic_resolver<tcp, executor> resolver{loop_.get_executor()};
    const auto found =
        resolver.resolve(host, std::to_string(port), tcp::resolver::passive | tcp::resolver::numeric_service, ec);
    if (ec || found.empty()) {
        return fail(ec);
    }
    const auto address = found.begin()->endpoint();
    acceptor_.open(address.protocol(), ec);
    if (!ec) {
        acceptor_.set_option(asio::socket_base::reuse_address{true}, ec);
    }
    if (!ec) {
        ec = prepare();
    }
    if (!ec) {
        acceptor_.bind(address, ec);
    }
    if (!ec) {
        acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    }
    if (!ec) {
        local_ = acceptor_.local_endpoint(ec);
    }
    if (ec) {
        return fail(ec);
    }
    add_own_listener(local_);
    return {};
}

core::result<> listener::open(core::descriptor socket, const tcp::endpoint& local)
{
    error_code ec;
    acceptor_.assign(local.protocol(), socket.number(), ec);
    if (!ec) {
        socket.release();
        ec = prepare();
    }
    if (ec) {
        return core::gateway_error(
            core::errc::config_invalid,
            "cannot use the inherited socket at " + to_text(local) + ": " + ec.message()
        );
    }
    local_ = local;
    add_own_listener(local_);
    return {};
}

// Options that the sockets that are accepted inherit, but for the last one.
error_code listener::prepare()
{
    error_code ec;
    acceptor_.set_option(tcp::no_delay{true}, ec);
    if (!ec && !(watch_for_dead_peer(acceptor_.native_handle()) && hold_little_unsent(acceptor_.native_handle()))) {
        ec = last_error();
    }
    if (!ec) {
        acceptor_.non_blocking(true, ec);
    }
    return ec;
}

void listener::start()
{
    wait();
}

void listener::close()
{
    error_code ignored;
    pause_.cancel();
    if (acceptor_.is_open()) {
        // Asio's close() would leave a socket that another process shares in the set of epoll.
        const core::descriptor closed{acceptor_.release(ignored)};
    }
}

void listener::wait()
{
    acceptor_.async_wait(asio::socket_base::wait_read, [this](error_code ec) {
        if (!ec && acceptor_.is_open()) {
            accept_all();
        }
    });
}

void listener::accept_all()
{
    if (accept(accepted_at_once)) {
        wait();
    }
}

void listener::accept_waiting()
{
    if (acceptor_.is_open()) {
        accept(asio::socket_base::max_listen_connections);
    }
}

// False after an error, which has said when to go on.
bool listener::accept(int most)
{
    for (int taken = 0; taken < most; ++taken) {
        tcp::endpoint peer;
        auto size = static_cast<::socklen_t>(peer.capacity());
        const int number = ::accept4(acceptor_.native_handle(), peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (number >= 0) {
            failing_ = false;
            peer.resize(size);
            core::descriptor socket{number};
            if (has_room_for(socket)) {
                place({std::move(socket), peer});
            } else {
                refuse(std::move(socket));
            }
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            pause(last_error());
            return false;
        }
    }
    return true;
}

bool listener::has_room_for(const core::descriptor& socket) const noexcept
{
    std::size_t open = 0;
    for (const auto* service : services_) {
        open += service->open();
    }
    return open < limits_.connections && (limits_.may_use_reserve || !is_reserved(socket.number()));
}

// Tells the caller, if that can be done at once, and closes. What has come is read first: closing over unread bytes would
// be a reset, which takes the answer with it.
void listener::refuse(core::descriptor socket)
{
    ++refused_;
    const auto now = std::chrono::steady_clock::now();
    if (refused_ == 1 || now - refusal_said_ > refusal_pause) {
        refusal_said_ = now;
        log_.write(core::log_level::warn, "connections_refused", {{"total", refused_}});
    }
    std::array<char, 4096> scratch;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    ::recv(socket.number(), scratch.data(), scratch.size(), MSG_DONTWAIT);
    ::send(socket.number(), limits_.refusal.data(), limits_.refusal.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::shutdown(socket.number(), SHUT_WR);
}

void listener::place(accepted_socket from)
{
    auto* chosen = *std::min_element(services_.begin(), services_.end(), [](const auto* a, const auto* b) {
        return a->load() < b->load();
    });
    chosen->expect_one();
    asio::post(chosen->owner().get_executor(), [chosen, f = std::move(from)]() mutable {
        chosen->serve(std::move(f));
    });
}

void listener::pause(const error_code& why)
{
    if (!std::exchange(failing_, true)) {
        log_.write(core::log_level::error, "accept_failed", {{"reason", why.message()}});
    }
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](error_code cancelled) {
        if (!cancelled && acceptor_.is_open()) {
            wait();
        }
    });
}

std::string to_text(const tcp::endpoint& address)
{
    const auto host = address.address().to_string();
    return (address.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(address.port());
}

}  // namespace net
