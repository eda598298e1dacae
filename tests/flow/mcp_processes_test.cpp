// What the programs of MCP servers may do as processes: fork, leave, hold on, close what they are talked to through.
#include "tests/flow/hostile_fixture.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_processes");

namespace {

using namespace std::chrono_literals;
using flow::hostile_gateway;
using agents = hostile_gateway::agents;

// Ends what has left the process group of a server, and that the gateway therefore cannot end.
class ended_at_last {
public:
    explicit ended_at_last(std::vector<pid_t> processes)
        : processes_{std::move(processes)}
    {
    }
    ~ended_at_last()
    {
        for (const auto each : processes_) {
            ::kill(each, SIGKILL);
        }
    }
    ended_at_last(const ended_at_last&) = delete;
    ended_at_last& operator=(const ended_at_last&) = delete;

private:
    std::vector<pid_t> processes_;
};

void check_gone(hostile_gateway& gateway, const std::vector<pid_t>& processes)
{
    for (const auto each : processes) {
        CHECK(flow::becomes_true(gateway, [each] { return !flow::is_running(each); }, 1s));
    }
}

// How long the gateway takes to end after this signal.
std::chrono::milliseconds ended_within(hostile_gateway& gateway, int signal)
{
    const auto begun = std::chrono::steady_clock::now();
    gateway.process().signal(signal);
    CHECK(gateway.process().wait() == 0);
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
}

constexpr auto quick = ", restart: {backoff: 10ms, max_backoff: 10ms}";

}  // namespace

TEST_CASE("what a server has forked is killed with it, when it dies and at the stop")
{
    hostile_gateway gateway{agents{}.add("fork", quick)};
    REQUIRE(gateway.reaches("fork", "ready"));
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("fork", ".forked").size() == 3; }));
    const auto first = gateway.pids("fork", ".forked");
    ::kill(gateway.pids("fork").at(0), SIGKILL);
    check_gone(gateway, first);
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("fork", ".forked").size() == 6; }));
    REQUIRE(gateway.reaches("fork", "ready"));
    CHECK(ended_within(gateway, SIGTERM) < 2s);
    check_gone(gateway, gateway.pids("fork", ".forked"));
    check_gone(gateway, gateway.pids("fork"));
}

TEST_CASE("who leaves the group of a server and holds its output keeps neither the session nor the stop")
{
    hostile_gateway gateway{agents{}.add("escape", quick)};
    REQUIRE(gateway.reaches("escape", "ready"));
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("escape", ".escaped").size() == 1; }));
    const ended_at_last first{gateway.pids("escape", ".escaped")};
    const auto descriptors = flow::facts_of(gateway.id()).descriptors;
    const auto begun = std::chrono::steady_clock::now();
    ::kill(gateway.pids("escape").at(0), SIGKILL);
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("escape").size() == 2; }));
    REQUIRE(gateway.reaches("escape", "ready"));
    CHECK(std::chrono::steady_clock::now() - begun < 2s);
    // Those of the callers above go a moment after them.
    CHECK(flow::becomes_true(gateway, [&] { return flow::facts_of(gateway.id()).descriptors <= descriptors; }));
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("escape", ".escaped").size() == 2; }));
    const ended_at_last second{gateway.pids("escape", ".escaped")};
    gateway.served_within();
    CHECK(ended_within(gateway, SIGTERM) < 2s);
    check_gone(gateway, gateway.pids("escape"));
}

TEST_CASE("a server that ignores the end of its input and TERM is killed within five seconds of the stop")
{
    hostile_gateway gateway{agents{}.add("stubborn").add("none")};
    REQUIRE(gateway.reaches("stubborn", "ready"));
    REQUIRE(gateway.reaches("none", "ready"));
    const auto took = ended_within(gateway, SIGTERM);
    CHECK(took > 1s);
    CHECK(took < 5s);
    check_gone(gateway, gateway.pids("stubborn"));
    check_gone(gateway, gateway.pids("none"));
}

TEST_CASE("a server that closes its output and lives on is ended, and its session begins again")
{
    hostile_gateway gateway{agents{}.add("silent", quick)};
    REQUIRE(gateway.reaches("silent", "ready"));
    CHECK(flow::becomes_true(gateway, [&] { return gateway.pids("silent").size() >= 2; }, 5s));
    CHECK(gateway.event("mcp_session", R"("reason":"exited")", "signal 15 after its input or output was closed"));
    check_gone(gateway, {gateway.pids("silent").at(0)});
    gateway.served_within();
}

TEST_CASE("a server that asks without end and reads no answers is given up, and costs no memory")
{
    hostile_gateway gateway{
        agents{}.add("none").add("deaf", ", max_message: 64KiB, timeouts: {ping: 300ms, request: 300ms}")
    };
    REQUIRE(gateway.reaches("none", "ready"));
    const auto before = flow::facts_of(gateway.id()).peak_memory;
    REQUIRE(gateway.reaches("deaf", "ready"));
    CHECK(flow::becomes_true(gateway, [&] { return gateway.session("deaf")["reason"] == "ping_timeout"; }, 5s));
    CHECK(flow::becomes_true(gateway, [&] { return gateway.session("deaf")["state"] == "backoff"; }, 5s));
    constexpr std::uint64_t some_queues = 16 * 1024 * 1024;
    CHECK(flow::facts_of(gateway.id()).peak_memory < before + some_queues);
    gateway.served_within();
}

TEST_CASE("a server that is held by who traces it keeps nothing from going on")
{
    hostile_gateway gateway{agents{}.add("traced", quick)};
    REQUIRE(gateway.reaches("traced", "ready"));
    const ended_at_last first{gateway.pids("traced", ".tracers")};
    if (gateway.pids("traced", ".tracers").at(0) == 0) {
        MESSAGE("tracing is not allowed here");
        return;
    }
    ::kill(gateway.pids("traced").at(0), SIGKILL);
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("traced", ".tracers").size() == 2; }));
    const ended_at_last second{gateway.pids("traced", ".tracers")};
    REQUIRE(gateway.reaches("traced", "ready"));
    CHECK(gateway.event("mcp_session", R"("detail":"ended, and is kept by who traces it")"));
    gateway.served_within();
    CHECK(ended_within(gateway, SIGTERM) < 2s);
}

TEST_CASE("servers die with a gateway that is killed")
{
    hostile_gateway gateway{agents{}.add("none").add("stubborn").add("mute")};
    REQUIRE(gateway.reaches("none", "ready"));
    REQUIRE(gateway.reaches("stubborn", "ready"));
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("mute").size() == 1; }));
    gateway.process().signal(SIGKILL);
    CHECK(gateway.process().wait() == -SIGKILL);
    for (const auto* agent : {"none", "stubborn", "mute"}) {
        check_gone(gateway, gateway.pids(agent));
    }
}

TEST_CASE("an interrupt of the gateway's process group reaches no server before the gateway ends it in order")
{
    hostile_gateway gateway{agents{}.add("none")};
    REQUIRE(gateway.reaches("none", "ready"));
    const auto server = gateway.pids("none").at(0);
    CHECK(::getpgid(server) == server);
    CHECK(::getpgid(server) != ::getpgid(gateway.id()));
    CHECK(ended_within(gateway, SIGINT) < 2s);
    check_gone(gateway, {server});
    CHECK(gateway.event("mcp_session", R"("state":"stopped")"));
    CHECK(gateway.process().err().find(R"("state":"backoff")") == std::string::npos);
}

TEST_SUITE_END();
