#include "net/listener.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace net {
namespace {

constexpr std::chrono::milliseconds accept_pause{100};

}  // namespace

listener::listener(loop& owner, std::vector<http_service*> services, const core::logger& log)
    : loop_{owner},
      services_{std::move(services)},
      log_{log},
      acceptor_{owner.get_executor()},
      pause_{owner.get_executor()}
{
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
    return {};
}

void listener::start()
{
    accept();
}

void listener::close()
{
    error_code ignored;
    pause_.cancel();
    acceptor_.close(ignored);
}

void listener::accept()
{
    auto* chosen = *std::min_element(services_.begin(), services_.end(), [](const auto* a, const auto* b) {
        return a->open() < b->open();
    });
    acceptor_.async_accept(chosen->owner().get_executor(), [this, chosen](error_code ec, tcp_socket socket) {
        on_accepted(*chosen, ec, std::move(socket));
    });
}

void listener::on_accepted(http_service& chosen, error_code ec, tcp_socket socket)
{
    if (!acceptor_.is_open()) {
        return;
    }
    if (!ec) {
        failing_ = false;
        chosen.expect_one();
        asio::post(chosen.owner().get_executor(), [&chosen, s = std::move(socket)]() mutable {
            chosen.serve(std::move(s));
        });
        accept();
        return;
    }
    if (ec == asio::error::connection_aborted) {
        accept();
        return;
    }
    if (!std::exchange(failing_, true)) {
        log_.write(core::log_level::error, "accept_failed", {{"reason", ec.message()}});
    }
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](error_code cancelled) {
        if (!cancelled && acceptor_.is_open()) {
            accept();
        }
    });
}

std::string to_text(const tcp::endpoint& address)
{
    const auto host = address.address().to_string();
    return (address.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(address.port());
}

}  // namespace net
