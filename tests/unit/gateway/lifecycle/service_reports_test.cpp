#include "gateway/lifecycle/service_reports.hpp"

#include "net/loop/deadlines.hpp"
#include "tests/support/manager_socket.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/lifecycle/service_reports");

namespace {

using namespace std::chrono_literals;
using gateway::lifecycle::service_reports;
using gateway::lifecycle::status_of;
using test_support::manager_socket;

constexpr core::steady_time noon{1h};  // any time

class kept_lines final : public core::log_sink {
public:
    void write(std::string_view lines) override { text += std::string{lines} + '\n'; }

    std::size_t count(std::string_view event) const
    {
        std::size_t found = 0;
        for (auto at = text.find(event); at != std::string::npos; at = text.find(event, at + 1)) {
            ++found;
        }
        return found;
    }

    std::string text;
};

// Reports of a gateway with two loops, which beat when the test says so. No timer runs.
class reporting {
public:
    explicit reporting(const std::string& socket, std::chrono::microseconds watchdog = 0us)
    {
        reports.set_manager({socket, watchdog});
    }

    void serve()
    {
        reports.serving({[this] { return state; }, {&control, &worker}});
    }

    void beat(core::steady_time of_control, core::steady_time of_worker)
    {
        control.beat(of_control);
        worker.beat(of_worker);
    }

    kept_lines lines;
    core::logger log{lines, core::log_level::info};
    net::loop loop;
    net::heartbeat control;
    net::heartbeat worker;
    gateway::lifecycle::service_state state{.agents = 3, .connections = 2};
    service_reports reports{loop.get_executor(), log};
};

}  // namespace

TEST_CASE("The status is a sentence about agents, or about connections once the gateway stops")
{
    CHECK(status_of({}) == "Serves 0 agents.");
    CHECK(status_of({.agents = 1, .connections = 7}) == "Serves 1 agent.");
    CHECK(
        status_of({.agents = 2, .rejected = true}) ==
        "Serves 2 agents. The latest configuration was rejected; the previous one is in use."
    );
    CHECK(
        status_of({.agents = 2, .connections = 1, .stopping = true}) ==
        "Stops after the calls in flight; 1 connection open."
    );
    CHECK(
        status_of({.connections = 12, .stopping = true, .rejected = true}) ==
        "Stops after the calls in flight; 12 connections open."
    );
}

TEST_CASE("Loops ran if each of them has beaten at the given time or later")
{
    net::heartbeat one;
    net::heartbeat other;
    const std::vector<const net::heartbeat*> both{&one, &other};
    CHECK(gateway::lifecycle::all_ran({}, noon));
    CHECK_FALSE(gateway::lifecycle::all_ran(both, noon));
    one.beat(noon);
    CHECK_FALSE(gateway::lifecycle::all_ran(both, noon));
    other.beat(noon + 1h);
    CHECK(gateway::lifecycle::all_ran(both, noon));
    CHECK_FALSE(gateway::lifecycle::all_ran(both, noon + 1ns));
}

TEST_CASE("The states are told in their order: ready, reloading and ready again, stopping")
{
    const manager_socket manager;
    reporting gateway{manager.address()};
    gateway.reports.reloading(true);
    gateway.reports.reloading(false);
    CHECK_FALSE(manager.at_hand().has_value());  // before it serves
    gateway.serve();
    CHECK(manager.at_hand() == "READY=1\nSTATUS=Serves 3 agents.\n");
    gateway.reports.reloading(true);
    const auto reloading = manager.at_hand().value_or("");
    CHECK(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(reloading.find_first_not_of("0123456789", reloading.find("USEC=") + 5) == reloading.size() - 1);
    CHECK_FALSE(manager.at_hand().has_value());
    gateway.state.rejected = true;
    gateway.reports.reloading(false);
    CHECK(
        manager.at_hand() ==
        "READY=1\nSTATUS=Serves 3 agents. The latest configuration was rejected; the previous one is in use.\n"
    );
    gateway.reports.stopping();
    CHECK(manager.at_hand() == "STOPPING=1\nSTATUS=Stops after the calls in flight; 2 connections open.\n");
    gateway.reports.reloading(true);
    gateway.reports.reloading(false);
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_CASE("A gateway that is told to stop before it serves is never ready")
{
    const manager_socket manager;
    reporting gateway{manager.address()};
    gateway.reports.stopping();
    gateway.serve();
    CHECK(manager.at_hand() == "STOPPING=1\nSTATUS=Stops after the calls in flight; 0 connections open.\n");
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_CASE("The watchdog hears of loops that all ran within half its time, and of no others")
{
    const manager_socket manager;
    reporting gateway{manager.address(), 30s};
    gateway.serve();
    REQUIRE(manager.at_hand().has_value());
    gateway.beat(noon, noon - 15s);
    CHECK(gateway.reports.turn(noon) == 15s);
    CHECK(manager.at_hand() == "WATCHDOG=1\n");

    for (const bool stuck_worker : {true, false}) {
        CAPTURE(stuck_worker);
        const auto before = gateway.lines.count("watchdog_withheld");
        const auto late = noon - 15s - 1ns;
        gateway.beat(stuck_worker ? noon : late, stuck_worker ? late : noon);
        CHECK(gateway.reports.turn(noon) == 500ms);
        CHECK(gateway.reports.turn(noon) == 500ms);
        CHECK_FALSE(manager.at_hand().has_value());
        CHECK(gateway.lines.count("watchdog_withheld") == before + 1);

        gateway.beat(noon, noon);
        CHECK(gateway.reports.turn(noon) == 15s);
        CHECK(manager.at_hand() == "WATCHDOG=1\n");
    }
}

TEST_CASE("A watchdog that is shorter than some sweeps of the loops asks for no more than these")
{
    const manager_socket manager;
    reporting gateway{manager.address(), 400ms};
    gateway.serve();
    REQUIRE(manager.at_hand().has_value());
    gateway.beat(noon, noon - 5 * net::sweep_interval);
    CHECK(gateway.reports.turn(noon) == 200ms);
    CHECK(manager.at_hand() == "WATCHDOG=1\n");
    gateway.beat(noon, noon - 5 * net::sweep_interval - 1ns);
    CHECK(gateway.reports.turn(noon) == 200ms);
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_CASE("While the gateway stops, the watchdog still hears of its loops")
{
    const manager_socket manager;
    reporting gateway{manager.address(), 30s};
    gateway.serve();
    gateway.reports.stopping();
    REQUIRE(manager.at_hand().has_value());
    REQUIRE(manager.at_hand().has_value());
    gateway.beat(noon, noon);
    gateway.reports.turn(noon);
    CHECK(manager.at_hand() == "WATCHDOG=1\n");
}

TEST_CASE("Without a watchdog only a status that has changed is told")
{
    const manager_socket manager;
    reporting gateway{manager.address()};
    gateway.serve();
    REQUIRE(manager.at_hand().has_value());
    CHECK(gateway.reports.turn(noon) == 10s);
    CHECK_FALSE(manager.at_hand().has_value());
    gateway.state.agents = 4;
    gateway.reports.turn(noon);
    CHECK(manager.at_hand() == "STATUS=Serves 4 agents.\n");
    gateway.reports.turn(noon);
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_CASE("A state that nobody took is told at the next turn, and the failure is logged once")
{
    const auto name = "cardea-test-late-" + std::to_string(::getpid());
    reporting gateway{'@' + name};
    gateway.serve();
    gateway.reports.turn(noon);
    gateway.reports.reloading(true);
    gateway.reports.reloading(false);
    CHECK(gateway.lines.count("notify_failed") == 1);
    const manager_socket manager{name};
    gateway.reports.turn(noon);
    CHECK(manager.at_hand() == "READY=1\nSTATUS=Serves 3 agents.\n");
    CHECK_FALSE(manager.at_hand().has_value());
    CHECK(gateway.lines.count("notify_failed") == 1);
}

TEST_CASE("A manager that took no word is told again after 0.5 s, long before its watchdog's time is over")
{
    const auto name = "cardea-test-busy-" + std::to_string(::getpid());
    reporting gateway{'@' + name, 30s};
    gateway.beat(noon, noon);
    {
        const manager_socket manager{name};
        gateway.serve();
        REQUIRE(manager.at_hand().has_value());
        CHECK(gateway.reports.turn(noon) == 15s);
    }
    CHECK(gateway.reports.turn(noon) == 500ms);
    CHECK(gateway.lines.count("watchdog_withheld") == 0);
    const manager_socket manager{name};
    CHECK(gateway.reports.turn(noon) == 15s);
    CHECK(manager.at_hand() == "WATCHDOG=1\n");
}

TEST_CASE("A state that waits is told before a status that is newer, and a turn comes soon until then")
{
    const auto name = "cardea-test-order-" + std::to_string(::getpid());
    reporting gateway{'@' + name};
    gateway.serve();
    CHECK(gateway.reports.turn(noon) == 500ms);
    gateway.state.agents = 4;
    CHECK(gateway.reports.turn(noon) == 500ms);
    const manager_socket manager{name};
    CHECK(gateway.reports.turn(noon) == 10s);
    CHECK(manager.at_hand() == "READY=1\nSTATUS=Serves 3 agents.\n");
    CHECK(manager.at_hand() == "STATUS=Serves 4 agents.\n");
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_CASE("A reload that the manager did not hear of is told soon, without waiting for the next turn")
{
    const auto name = "cardea-test-soon-" + std::to_string(::getpid());
    reporting gateway{'@' + name};
    gateway.serve();
    gateway.reports.reloading(true);
    gateway.state.agents = 5;
    gateway.reports.reloading(false);
    const manager_socket manager{name};
    const auto until = std::chrono::steady_clock::now() + 5s;  // a turn would come after 10 s
    std::optional<std::string> told;
    while (!told && std::chrono::steady_clock::now() < until) {
        gateway.loop.io().run_one_until(until);
        told = manager.at_hand();
    }
    CHECK(told == "READY=1\nSTATUS=Serves 5 agents.\n");
}

TEST_CASE("A watchdog of microseconds does not occupy the loop")
{
    const manager_socket manager;
    reporting gateway{manager.address(), 1us};
    gateway.serve();
    gateway.beat(noon, noon);
    CHECK(gateway.reports.turn(noon) == 10ms);
}

TEST_CASE("Nothing is told without a service manager, or after the end")
{
    reporting alone{""};
    alone.serve();
    alone.reports.reloading(true);
    alone.reports.stopping();
    alone.reports.turn(noon);
    alone.reports.end();
    CHECK(alone.lines.text.empty());

    const manager_socket manager;
    reporting ended{manager.address(), 30s};
    ended.serve();
    REQUIRE(manager.at_hand().has_value());
    ended.reports.end();
    ended.beat(noon, noon);
    ended.reports.turn(noon);
    ended.reports.stopping();
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_SUITE_END();
