// Children that do what no good one does.
#include "net/process/child_process.hpp"
#include "tests/unit/net/process/child_watcher.hpp"

#include <doctest/doctest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("net/child_abuse");

namespace {

using namespace std::chrono_literals;
using net_test::children;
using net_test::shell;
using net_test::watched;

// Keeps a process from being reaped by its parent. False: that is not allowed here.
std::pair<pid_t, bool> traced(pid_t child)
{
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    const auto tracer = ::fork();
    if (tracer == 0) {
        const char good = ::ptrace(PTRACE_SEIZE, child, nullptr, nullptr) == 0 ? 'y' : 'n';
        [[maybe_unused]] const auto written = ::write(ready[1], &good, 1);
        for (;;) {
            ::pause();
        }
    }
    char good = 'n';
    CHECK(::read(ready[0], &good, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
    return {tracer, good == 'y'};
}

void end(pid_t tracer)
{
    ::kill(tracer, SIGKILL);
    ::waitpid(tracer, nullptr, 0);
}

}  // namespace

TEST_CASE("one that closes its output, or its input that something is written to, is of no use and is stopped")
{
    for (const auto* script : {"exec >&-; exec sleep 60", "exec <&-; echo closed; exec sleep 60"}) {
        CAPTURE(script);
        watched x;
        x.start(shell(script), {.patience = 50ms});
        REQUIRE(x.wait_until([&] { return x.end || x.out == "closed\n"; }));
        if (!x.end) {
            CHECK(x.child->write("lost").has_value());
        }
        CHECK(net::to_text(x.wait()) == "signal 15 after its input or output was closed");
    }
    watched orderly;
    orderly.start(shell("exec >&-; cat; exit 3"), {.patience = 5s});
    CHECK(net::to_text(orderly.wait()) == "exit code 3");
}

TEST_CASE("one whose pipes are held by a process that has left its group keeps nobody waiting")
{
    watched x;
    x.start(shell("setsid sh -c 'echo $$; exec sleep 5' & exec sleep 60"));
    REQUIRE(x.wait_until([&] { return x.out.ends_with('\n'); }));
    const auto begun = std::chrono::steady_clock::now();
    x.child->kill();
    CHECK(x.wait().number == SIGKILL);
    CHECK(std::chrono::steady_clock::now() - begun < 2s);
    ::kill(std::stoi(x.out), SIGKILL);
}

TEST_CASE("a child that writes without end is read for a part of the time")
{
    watched x;
    x.start(shell("cat /dev/zero >&2 & exec cat /dev/zero"), {.patience = 50ms});
    x.on_output = [&] { x.out.clear(); };
    const auto cpu = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    const auto run = [&](std::chrono::milliseconds time) {
        const auto before = cpu();
        x.loop.io().restart();
        x.loop.io().run_for(time);
        return cpu() - before;
    };
    run(1500ms);
    const auto bytes = x.complaints;
    CHECK(run(1000ms) < 0.75);
    CHECK(x.complaints > bytes);
    x.child->stop();
    CHECK(x.wait().number == SIGTERM);
}

TEST_CASE("one that somebody else holds by tracing it keeps nobody waiting, and is reaped when it can be")
{
    for (const bool destroyed : {false, true}) {
        CAPTURE(destroyed);
        watched x;
        x.start(shell("exec sleep 60"));
        const auto [tracer, holds] = traced(x.child->id());
        if (!holds) {
            MESSAGE("tracing is not allowed here");
            return end(tracer);
        }
        const auto begun = std::chrono::steady_clock::now();
        if (destroyed) {
            x.child.reset();
        } else {
            x.child->kill();
            CHECK(net::to_text(x.wait()) == "ended, and is kept by who traces it");
        }
        CHECK(std::chrono::steady_clock::now() - begun < 1s);
        CHECK(children() == 2);
        end(tracer);
        watched next;
        next.start(shell("exit 0"));
        next.wait();
        CHECK(children() == 0);
    }
}

TEST_SUITE_END();
