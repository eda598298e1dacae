#include "net/loop/descriptor_budget.hpp"

#include "core/descriptor.hpp"
#include "net/loop/tcp_state.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

TEST_SUITE_BEGIN("net/loop/descriptor_budget");

namespace {

// As long as it lives, the process may have so many.
class descriptors {
public:
    explicit descriptors(rlim_t most)
    {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        const ::rlimit now{most, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
    }
    ~descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    descriptors(const descriptors&) = delete;
    descriptors& operator=(const descriptors&) = delete;

private:
    ::rlimit before_{};
};

int option(const core::descriptor& socket, int level, int name)
{
    int value = -1;
    ::socklen_t size = sizeof value;
    REQUIRE(::getsockopt(socket.number(), level, name, &value, &size) == 0);
    return value;
}

}  // namespace

TEST_CASE("sixteen descriptors are kept back, and callers have 45 % of the others")
{
    const descriptors some{256};
    CHECK(net::descriptor_limit() == 256);
    CHECK_FALSE(net::is_reserved(0));
    CHECK_FALSE(net::is_reserved(239));
    CHECK(net::is_reserved(240));
    CHECK(net::is_reserved(255));
    CHECK(net::default_connections() == 108);
}

TEST_CASE("what stays open for agents leaves callers a quarter")
{
    const descriptors some{256};
    CHECK(net::leaves_room_for_callers(0));
    CHECK(net::leaves_room_for_callers(179));
    CHECK_FALSE(net::leaves_room_for_callers(180));
    const descriptors few{8};
    CHECK_FALSE(net::leaves_room_for_callers(0));
}

TEST_CASE("with hardly a descriptor there is still one connection")
{
    const descriptors some{8};
    CHECK(net::is_reserved(0));
    CHECK(net::default_connections() == 1);
}

TEST_CASE("the soft limit is raised to the hard one")
{
    const descriptors some{128};
    ::rlimit limit{};
    net::raise_descriptor_limit();
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(limit.rlim_cur == limit.rlim_max);
}

TEST_CASE("an accepted socket notices a dead peer, and holds as little, as its listening socket says")
{
    const core::descriptor listening{::socket(AF_INET, SOCK_STREAM, 0)};
    REQUIRE(net::watch_for_dead_peer(listening.number()));
    REQUIRE(net::hold_little_unsent(listening.number()));
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof address;
    auto* const where = reinterpret_cast<::sockaddr*>(&address);
    REQUIRE(::bind(listening.number(), where, size) == 0);
    REQUIRE(::listen(listening.number(), 1) == 0);
    REQUIRE(::getsockname(listening.number(), where, &size) == 0);
    const core::descriptor caller{::socket(AF_INET, SOCK_STREAM, 0)};
    REQUIRE(::connect(caller.number(), where, size) == 0);
    const core::descriptor accepted{::accept(listening.number(), nullptr, nullptr)};
    REQUIRE(accepted.open());
    CHECK(option(accepted, SOL_SOCKET, SO_KEEPALIVE) == 1);
    CHECK(option(accepted, IPPROTO_TCP, TCP_KEEPIDLE) == 30);
    CHECK(option(accepted, IPPROTO_TCP, TCP_KEEPINTVL) == 10);
    CHECK(option(accepted, IPPROTO_TCP, TCP_KEEPCNT) == 3);
    CHECK(option(accepted, IPPROTO_TCP, TCP_USER_TIMEOUT) == 30'000);
    CHECK(option(accepted, IPPROTO_TCP, TCP_NOTSENT_LOWAT) == 128 * 1024);
    CHECK_FALSE(net::watch_for_dead_peer(-1));
    CHECK_FALSE(net::hold_little_unsent(-1));
}

TEST_SUITE_END();
