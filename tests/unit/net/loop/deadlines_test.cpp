#include "net/loop/deadlines.hpp"

#include "net/loop/loop.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("net/loop/deadlines");

namespace {

struct probe final : net::timed {
    void on_due() override
    {
        ++fired;
        fired_at = std::chrono::steady_clock::now();
        if (then) {
            then();
        }
    }
    void on_sweep(core::steady_time) override { ++sweeps; }

    int fired = 0;
    int sweeps = 0;
    core::steady_time fired_at{};
    std::function<void()> then;
};

}  // namespace

TEST_CASE("A loop beats when it sweeps, and not before it runs")
{
    net::loop loop;
    probe due;
    loop.timers().add(due);
    CHECK(loop.timers().pulse().last() == core::steady_time::min());
    const auto begun = std::chrono::steady_clock::now();
    due.set_due(begun + 150ms);
    due.then = [&] { loop.stop(); };
    loop.run();
    CHECK(loop.timers().pulse().last() >= begun + 150ms);
}

TEST_CASE("a deadline fires once, never early, and at most two sweeps late")
{
    net::loop loop;
    probe due;
    probe idle;
    loop.timers().add(due);
    loop.timers().add(idle);
    const auto when = std::chrono::steady_clock::now() + 150ms;
    due.set_due(when);
    due.then = [&] { loop.stop(); };
    loop.run();
    CHECK(due.fired == 1);
    CHECK(due.due() == net::never);
    CHECK(due.fired_at >= when);
    CHECK(idle.fired == 0);
    CHECK(idle.sweeps >= 1);
}

TEST_CASE("whoever is due may destroy others that are due, and set itself a new deadline")
{
    net::loop loop;
    probe first;
    auto second = std::make_unique<probe>();
    loop.timers().add(first);
    loop.timers().add(*second);
    first.set_due(std::chrono::steady_clock::now());
    second->set_due(std::chrono::steady_clock::now());
    second->then = [] { FAIL("it was destroyed"); };
    first.then = [&] {
        second.reset();
        if (first.fired == 1) {
            first.set_due(std::chrono::steady_clock::now());
        } else {
            loop.stop();
        }
    };
    loop.run();
    CHECK(first.fired == 2);
}

TEST_CASE("what was destroyed is not told of anything")
{
    net::loop loop;
    probe stays;
    {
        probe gone;
        loop.timers().add(gone);
        gone.set_due(std::chrono::steady_clock::now());
    }
    loop.timers().add(stays);
    stays.set_due(std::chrono::steady_clock::now());
    stays.then = [&] { loop.stop(); };
    loop.run();
    CHECK(stays.fired == 1);
}

TEST_CASE("the date of an HTTP message is in the fixed format")
{
    net::loop loop;
    const auto date = loop.http_date();
    REQUIRE(date.size() == 29);
    CHECK(date.substr(3, 2) == ", ");
    CHECK(date.substr(25) == " GMT");
}

TEST_SUITE_END();
