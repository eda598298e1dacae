#include "gateway/cards/card_turns.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_turns");

namespace {

net::task<> work(gateway::cards::card_turns& turns, std::string agent, int pieces, std::vector<std::string>& done)
{
    for (int i = 0; i < pieces; ++i) {
        co_await turns.next(agent);
        done.push_back(agent);
    }
}

}  // namespace

TEST_CASE("An agent with much work delays another one by a single piece")
{
    net::asio::io_context io{1};
    gateway::cards::card_turns turns{io.get_executor()};
    std::vector<std::string> done;
    for (int i = 0; i < 100; ++i) {
        net::asio::co_spawn(io.get_executor(), work(turns, "greedy", 1, done), net::asio::detached);
    }
    net::asio::co_spawn(io.get_executor(), work(turns, "other", 3, done), net::asio::detached);
    io.run();
    REQUIRE(done.size() == 103);
    std::vector<std::size_t> of_other;
    for (std::size_t i = 0; i < done.size(); ++i) {
        if (done[i] == "other") {
            of_other.push_back(i);
        }
    }
    REQUIRE(of_other.size() == 3);
    CHECK(of_other[1] - of_other[0] <= 2);
    CHECK(of_other[2] - of_other[1] <= 2);
    CHECK(of_other[2] < 10);
}

TEST_CASE("Work of one agent is done in the order in which it was asked for, and nothing else runs inside it")
{
    net::asio::io_context io{1};
    gateway::cards::card_turns turns{io.get_executor()};
    std::vector<std::string> done;
    net::asio::co_spawn(io.get_executor(), work(turns, "a", 2, done), net::asio::detached);
    net::asio::co_spawn(io.get_executor(), work(turns, "b", 2, done), net::asio::detached);
    io.run();
    CHECK(done == std::vector<std::string>{"a", "b", "a", "b"});
    io.restart();
    net::asio::co_spawn(io.get_executor(), work(turns, "c", 1, done), net::asio::detached);
    io.run();
    CHECK(done.back() == "c");
}

TEST_SUITE_END();
