// MCP servers that say without end what each of them may say: the gateway hears them for a part of its time, and the others are
// served.
#include "tests/flow/hostile_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("flow/mcp_floods");

namespace {

using namespace std::chrono_literals;
using flow::hostile_gateway;
using agents = hostile_gateway::agents;

constexpr std::uint64_t some_queues = 48 * 1024 * 1024;

struct load {
    double cpu = 0;  // of one core
    std::chrono::milliseconds slowest_card{0};
};

// What the gateway does for a second, after that in which a flood has its head start.
load load_of(hostile_gateway& gateway)
{
    std::this_thread::sleep_for(1500ms);  // what is measured is a time; nothing is waited for
    const auto begun = std::chrono::steady_clock::now();
    const auto before = flow::facts_of(gateway.id()).cpu_seconds;
    load found;
    while (std::chrono::steady_clock::now() - begun < 1s) {
        found.slowest_card = std::max(found.slowest_card, gateway.served_within());
        std::this_thread::sleep_for(20ms);  // so that asking is not the load
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    found.cpu = (flow::facts_of(gateway.id()).cpu_seconds - before) / took.count();
    return found;
}

}  // namespace

TEST_CASE("a flood of notifications, requests, pings or noise costs a part of a core, no memory, and delays nobody")
{
    for (const std::string habit : {"changes", "requests", "pings", "noise_flood"}) {
        CAPTURE(habit);
        hostile_gateway gateway{agents{}.add("none").add(habit)};
        REQUIRE(gateway.reaches("none", "ready"));
        const auto before = flow::facts_of(gateway.id());
        REQUIRE(gateway.reaches(habit, "ready"));
        const auto found = load_of(gateway);
        const auto after = flow::facts_of(gateway.id());
        MESSAGE(
            habit << ": " << found.cpu << " of a core, slowest card " << found.slowest_card.count() << " ms, "
                  << (after.peak_memory - before.peak_memory) / 1024 << " KiB more"
        );
        CHECK(found.cpu < 0.75);
        CHECK(found.slowest_card < 500ms);
        CHECK(after.peak_memory < before.peak_memory + some_queues);
        CHECK(gateway.skills(habit) == 1);
        CHECK(gateway.pids(habit).size() == 1);
        const auto walks = gateway.pids(habit, ".walks").size();
        CHECK(walks >= (habit == "changes" ? 2 : 1));
        CHECK(walks <= (habit == "changes" ? 20 : 1));  // four in a second
        gateway.process().signal(SIGTERM);
        CHECK(gateway.process().wait(6s) == 0);
        CHECK(gateway.process().err().size() < 100'000);
    }
}

TEST_SUITE_END();
