#include "net/loop/deadlines.hpp"

#include "net/loop/loop.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

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

TEST_CASE("a deadline fires once and never early")
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

TEST_CASE("a deadline is told within a turn of its time if a sweep has seen it before, else with the next sweep")
{
    net::loop loop;
    auto& timers = loop.timers();
    core::steady_time begun{1h};
    probe far;
    probe soon;
    timers.add(far);
    timers.add(soon);
    far.set_due(begun + 203ms);
    auto next = timers.turn(begun);
    CHECK(next == begun + net::sweep_interval);
    soon.set_due(begun + 1ms);  // after the sweep
    while (soon.fired + far.fired < 2) {
        REQUIRE(next <= begun + 220ms);
        const auto now = next;
        const auto before_soon = soon.fired;
        const auto before_far = far.fired;
        next = timers.turn(now);
        CHECK(next > now);
        CHECK(next <= now + net::sweep_interval);
        if (soon.fired > before_soon) {
            CHECK(now == begun + net::sweep_interval);
        }
        if (far.fired > before_far) {
            CHECK(now >= begun + 203ms);
            CHECK(now <= begun + 203ms + net::shortest_turn);
        }
    }
    CHECK(far.sweeps == 3);
}

TEST_CASE("many deadlines in a row make a turn for each shortest time, not for each of them")
{
    net::loop loop;
    std::vector<std::unique_ptr<probe>> all;
    const core::steady_time begun{1h};
    for (int i = 0; i < 1000; ++i) {
        all.push_back(std::make_unique<probe>());
        loop.timers().add(*all.back());
        all.back()->set_due(begun + i * 80us);
    }
    int turns = 0;
    auto now = begun;
    for (; now < begun + 80ms; ++turns) {
        now = loop.timers().turn(now);
    }
    CHECK(turns == 8);
    loop.timers().turn(now);
    CHECK(std::ranges::all_of(all, [](const auto& each) { return each->fired == 1; }));
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
