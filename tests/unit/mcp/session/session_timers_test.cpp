#include "mcp/session/session_timers.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <vector>

using mcp::timer_name;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("mcp/session/session_timers");

namespace {

struct watch final {
    void fired(timer_name which)
    {
        seen.push_back(which);
        if (destroys) {
            timers.reset();
        }
    }
    void run_for(std::chrono::milliseconds time)
    {
        loop.io().restart();
        loop.io().run_for(time);
    }

    net::loop loop;
    std::optional<mcp::session_timers> timers{std::in_place, loop, [this](timer_name which) { fired(which); }};
    std::vector<timer_name> seen;
    bool destroys = false;
};

}  // namespace

TEST_CASE("A timer fires once, and one that is armed again starts over")
{
    watch x;
    x.timers->arm(timer_name::ping, 1ms);
    x.timers->arm(timer_name::ping, 2ms);
    x.run_for(50ms);
    CHECK(x.seen == std::vector{timer_name::ping});
}

TEST_CASE("A timer that is due does not fire once it is disarmed")
{
    watch x;
    x.timers->arm(timer_name::ping, 0ms);
    x.timers->disarm(timer_name::ping);
    x.timers->arm(timer_name::stop, 0ms);
    x.timers->disarm_all();
    x.run_for(20ms);
    CHECK(x.seen.empty());
}

TEST_CASE("A timer that is owed runs from arm_owed() on, unless it is disarmed or forgotten before")
{
    watch x;
    x.timers->owe(timer_name::start, 1ms);
    x.run_for(20ms);
    CHECK(x.seen.empty());
    x.timers->arm_owed();
    x.run_for(20ms);
    CHECK(x.seen == std::vector{timer_name::start});
    x.timers->owe(timer_name::start, 1ms);
    x.timers->owe(timer_name::silence, 1ms);
    x.timers->disarm(timer_name::start);
    x.timers->forget_owed();
    x.timers->arm_owed();
    x.run_for(20ms);
    CHECK(x.seen.size() == 1);
}

TEST_CASE("Whoever is told of a timer may destroy them all, and those that are due say nothing more")
{
    watch x;
    x.destroys = true;
    x.timers->arm(timer_name::ping, 0ms);
    x.timers->arm(timer_name::pong, 0ms);
    x.run_for(20ms);
    CHECK(x.seen.size() == 1);
}

TEST_SUITE_END();
