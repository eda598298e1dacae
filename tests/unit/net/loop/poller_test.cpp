#include "net/loop/loop.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

TEST_SUITE_BEGIN("net/loop/poller");

namespace {

struct counted final : net::watched {
    void on_ready(std::uint32_t) override { ++told; }

    int told = 0;
};

struct socket_pair {
    socket_pair()
    {
        std::array<int, 2> both{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both.data()) == 0);
        ours = core::descriptor{both[0]};
        theirs = core::descriptor{both[1]};
    }

    core::descriptor ours;
    core::descriptor theirs;
};

void run_a_little(net::loop& loop)
{
    loop.io().restart();
    loop.io().run_for(std::chrono::milliseconds{5});
}

}  // namespace

TEST_CASE("who was removed is told nothing, also when somebody else still holds a copy of the descriptor")
{
    net::loop loop;
    loop.ready().start();
    counted who;
    socket_pair sockets;
    REQUIRE_FALSE(loop.ready().add(sockets.ours.number(), who));
    run_a_little(loop);
    REQUIRE(::write(sockets.theirs.number(), "x", 1) == 1);
    run_a_little(loop);
    REQUIRE(who.told > 0);
    const core::descriptor copy{::dup(sockets.ours.number())};  // as a child has it until it executes its program
    loop.ready().remove(sockets.ours.number(), who);
    sockets.ours = {};
    const int before = who.told;
    REQUIRE(::write(sockets.theirs.number(), "x", 1) == 1);
    sockets.theirs = {};
    run_a_little(loop);
    CHECK(who.told == before);
}

TEST_SUITE_END();
