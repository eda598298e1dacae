#include "gateway/threads/turns.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/turns");

namespace {

net::task<> work(gateway::threads::turns& by, int steps, int& done)
{
    for (int i = 0; i < steps; ++i) {
        co_await by.wait();
        ++done;
    }
}

}  // namespace

TEST_CASE("Whatever else a loop does waits for one turn, however many tasks take turns")
{
    constexpr int tasks = 10;
    constexpr int steps = 5;
    net::asio::io_context io;
    gateway::threads::turns by;
    int done = 0;
    int most_between = 0;
    for (int i = 0; i < tasks; ++i) {
        net::asio::co_spawn(io, work(by, steps, done), net::asio::detached);
    }
    io.poll_one();
    int before = done;
    std::function<void()> other = [&] {
        most_between = std::max(most_between, done - before);
        before = done;
        if (done < tasks * steps) {
            net::asio::post(io, other);
        }
    };
    net::asio::post(io, other);
    io.run();
    CHECK(done == tasks * steps);
    CHECK(most_between == 1);
}

TEST_CASE("An operator waits for one turn of the callers, however many of them there are")
{
    constexpr int tasks = 100;
    constexpr int steps = 20;
    net::asio::io_context io;
    gateway::threads::turn_lines by;
    int callers_done = 0;
    int operators_done = 0;
    for (int i = 0; i < tasks; ++i) {
        net::asio::co_spawn(io, work(by.callers, steps, callers_done), net::asio::detached);
    }
    net::asio::co_spawn(io, work(by.operators, steps, operators_done), net::asio::detached);
    while (operators_done < steps && io.run_one() > 0) {
    }
    CHECK(operators_done == steps);
    CHECK(callers_done <= steps + 1);
    io.run();
    CHECK(callers_done == tasks * steps);
}

TEST_CASE("A step for each of many names is taken in its order, a turn at a time, until one says that it was the last")
{
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) {
        names.push_back(std::to_string(i));
    }
    for (const std::size_t last : {std::size_t{40}, names.size()}) {
        net::asio::io_context io;
        gateway::threads::turns by{std::chrono::microseconds{0}};
        std::vector<std::string> seen;
        const auto step = [&](const std::string& name) {
            seen.push_back(name);
            return seen.size() < last;
        };
        net::asio::co_spawn(io, gateway::threads::in_turns(by, names, step), net::asio::detached);
        std::size_t before = 0;
        std::size_t most_between = 0;
        while (io.poll_one() > 0) {
            most_between = std::max(most_between, seen.size() - before);
            before = seen.size();
        }
        CHECK(seen == std::vector(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(last)));
        CHECK(most_between == 1);
    }
}

TEST_CASE("A turn is over when its time is")
{
    net::asio::io_context io;
    for (const bool endless : {false, true}) {
        gateway::threads::turns by{
            endless ? std::chrono::microseconds{std::chrono::hours{1}} : std::chrono::microseconds{0}
        };
        int done = 0;
        net::asio::co_spawn(io, work(by, 1, done), net::asio::detached);
        io.restart();
        io.run();
        CHECK(done == 1);
        CHECK(by.over() != endless);
    }
}

TEST_SUITE_END();
