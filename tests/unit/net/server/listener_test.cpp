#include "net/server/listener.hpp"

#include "tests/support/listening_socket.hpp"
#include "tests/support/script.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

TEST_SUITE_BEGIN("net/server/listener");

namespace {

using test_support::listening_socket;

// Nobody comes as far as a request.
class no_requests final : public net::http_handler {
public:
    net::routine<> handle(net::caller_exchange& caller) override
    {
        caller.cut();
        co_return;
    }
    net::routine<> refuse(net::caller_exchange& caller, core::error) override { co_await handle(caller); }
    void failed(std::string_view what) noexcept override { FAIL(what); }
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}
};

class no_lines final : public core::log_sink {
public:
    void write(std::string_view) override {}
};

// A listener on a socket that the test keeps, as a service manager does.
class sharing {
public:
    sharing() { listener.set_limits({.connections = 0, .refusal = "full"}); }

    core::result<> open()
    {
        number = ::fcntl(socket.number(), F_DUPFD_CLOEXEC, 3);
        return listener.open(core::descriptor{number}, {net::asio::ip::address_v4::loopback(), socket.port()});
    }

    // A connection to it; its handshake is the kernel's alone.
    core::descriptor connect() const
    {
        core::descriptor out{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        const net::tcp::endpoint to{net::asio::ip::address_v4::loopback(), socket.port()};
        REQUIRE(::connect(out.number(), to.data(), static_cast<socklen_t>(to.size())) == 0);
        return out;
    }

    listening_socket socket;
    int number = -1;  // that the listener has it under
    no_lines lines;
    core::logger log{lines, core::log_level::error};
    net::loop loop;
    no_requests handler;
    net::http_service service{loop, handler, net::server_settings{}};
    net::listener listener{loop, {&service}, log};
};

bool has_connection(const listening_socket& socket)
{
    pollfd watched{socket.number(), POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
}

// Whether an epoll of this process has a descriptor that was added with this number (proc_pid_fdinfo(5)).
bool is_watched(int number)
{
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
        std::ifstream file{each.path()};
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("tfd:") && std::stoi(line.substr(4)) == number) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

TEST_CASE("A listener serves a socket that listens already, at its address and with its own options")
{
    sharing x;
    REQUIRE(x.open().has_value());
    CHECK(net::to_text(x.listener.local()) == "127.0.0.1:" + x.socket.port_text());
    CHECK((::fcntl(x.socket.number(), F_GETFL) & O_NONBLOCK) != 0);
    int no_delay = 0;
    socklen_t size = sizeof no_delay;
    REQUIRE(::getsockopt(x.socket.number(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) == 0);
    CHECK(no_delay != 0);
    x.listener.start();
    const auto caller = x.connect();
    const auto until = std::chrono::steady_clock::now() + test_support::patience;
    while (x.listener.refused() == 0 && std::chrono::steady_clock::now() < until) {
        x.loop.io().run_one_until(until);
    }
    CHECK(x.listener.refused() == 1);
    CHECK_FALSE(has_connection(x.socket));
    x.listener.close();
}

TEST_CASE("A socket that others share goes on listening for them after the listener has closed it")
{
    sharing x;
    REQUIRE(x.open().has_value());
    x.listener.start();
    CHECK(is_watched(x.number));
    x.listener.close();
    CHECK_FALSE(is_watched(x.number));
    const auto caller = x.connect();
    for (int i = 0; i < 10; ++i) {
        x.loop.io().poll();
    }
    CHECK(x.listener.refused() == 0);
    CHECK(has_connection(x.socket));
}

TEST_CASE("A descriptor that is no socket is refused with its address")
{
    sharing x;
    const net::tcp::endpoint where{net::asio::ip::address_v4::loopback(), 4000};
    const auto opened = x.listener.open(core::descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)}, where);
    REQUIRE(opened.has_error());
    CHECK(opened.error().code == core::errc::config_invalid);
    CHECK(opened.error().detail.starts_with("cannot use the inherited socket at 127.0.0.1:4000: "));
}

TEST_SUITE_END();
