#include "net/process/child_process.hpp"

#include "tests/support/scratch.hpp"
#include "tests/unit/net/loop/few_descriptors.hpp"
#include "tests/unit/net/process/child_watcher.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <system_error>

TEST_SUITE_BEGIN("net/process/child_process");

namespace {

using namespace std::chrono_literals;
using core::errc;
using net::child_command;
using net::child_process;
using net_test::alive;
using net_test::children;
using net_test::open_descriptors;
using net_test::shell;
using net_test::watched;

std::string failure(const child_command& command, errc code = errc::session_misconfigured)
{
    net::loop loop;
    watched nobody;
    const auto made = child_process::start(loop, command, nobody);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == code);
    return made.error().detail;
}

}  // namespace

TEST_CASE("a child reads what is written and writes what is read, and its end is told once it has all been read")
{
    watched x;
    x.start(shell("cat; echo bye; echo more >&2; exit 3"));
    CHECK(x.child->write("one\n").has_value());
    CHECK(x.child->write(std::string(1'000'000, 'x')).has_value());
    x.child->stop();
    const auto end = x.wait();
    CHECK_FALSE(end.by_signal);
    CHECK(end.number == 3);
    CHECK(net::to_text(end) == "exit code 3");
    CHECK(x.out == "one\n" + std::string(1'000'000, 'x') + "bye\n");
    CHECK(x.complaints == 5);
    CHECK(x.child->queued() == 0);
}

TEST_CASE("a child gets its arguments as they are, no shell between")
{
    watched x;
    x.start(
        {.program = "printf",
         .arguments = {"%s|", "a b", "$(id)", "`id`", ";", "", "ä\n"},
         .environment = {{"PATH", "/usr/bin:/bin"}},
         .directory = {}}
    );
    x.wait();
    CHECK(x.out == "a b|$(id)|`id`|;||ä\n|");
}

TEST_CASE("a child has the environment that it was given and nothing of ours")
{
    ::setenv("CARDEA_TEST_SECRET", "s3cr3t", 1);
    watched x;
    x.start(
        {.program = "/usr/bin/env", .arguments = {}, .environment = {{"A", "1"}, {"B", "two words"}}, .directory = {}}
    );
    x.wait();
    CHECK(x.out == "A=1\nB=two words\n");
}

TEST_CASE("a child has three descriptors, a group of its own, its directory, no core and few descriptors")
{
    const test_support::scratch_directory folder;
    const int kept = ::dup(0);  // one without close-on-exec
    watched x;
    auto command = shell("ls -x /proc/$$/fd; cut -d' ' -f5 /proc/$$/stat; pwd; ulimit -c; ulimit -n");
    command.directory = folder.path().string();
    x.start(command);
    const auto id = std::to_string(x.child->id());
    x.wait();
    ::close(kept);
    CHECK(x.out == "0  1  2\n" + id + "\n" + folder.path().string() + "\n0\n1024\n");
}

TEST_CASE("signals that are ignored here are not ignored there")
{
    watched x;
    x.start(shell("kill -PIPE $$; echo still here"));
    const auto end = x.wait();
    CHECK(end.by_signal);
    CHECK(end.number == SIGPIPE);
    CHECK(net::to_text(end) == "signal 13");
    CHECK(x.out.empty());
}

TEST_CASE("a child is not started with the descriptors that are kept for callers")
{
    const net_test::few_descriptors few;
    CHECK(
        failure(shell("true"), errc::session_crashed) ==
        "sh: the descriptors that are left are kept for callers: " + std::generic_category().message(EMFILE)
    );
}

TEST_CASE("what cannot be started says why, and not with what")
{
    const test_support::scratch_directory folder;
    test_support::write_whole(folder.file("plain"), "no program");
    const auto command = [](std::string program, std::string directory = {}) {
        return child_command{
            .program = std::move(program),
            .arguments = {"--token=s3cr3t"},
            .environment = {{"PATH", "relative:/usr/bin:/bin"}},
            .directory = std::move(directory)
        };
    };
    CHECK(failure(command("no-such-program")) == "no-such-program: No such file or directory");
    CHECK(failure(command("/no/such/program")) == "/no/such/program: No such file or directory");
    CHECK(failure(command("")) == ": No such file or directory");
    CHECK(failure(command(folder.file("plain"))) == folder.file("plain") + ": Permission denied");
    CHECK(failure(command(folder.path().string())) == folder.path().string() + ": Permission denied");
    CHECK(failure(command("cat", "/no/such/folder")) == "/no/such/folder: No such file or directory");
    CHECK(children() == 0);
}

TEST_CASE("a child that does not read fills its queue and no more")
{
    watched x;
    x.start(shell("exec sleep 60"), {.queued = 200'000, .patience = 50ms});
    REQUIRE(x.child->write(std::string(200'000, 'x')).has_value());
    REQUIRE(x.wait_until([&] { return x.child->queued() < 200'000; }));
    const auto room = 200'000 - x.child->queued();
    const auto refused = x.child->write(std::string(room + 1, 'x'));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::overloaded);
    CHECK(x.child->write(std::string(room, 'x')).has_value());
    CHECK(x.child->queued() == 200'000);
    x.child->stop();
    CHECK(x.wait().number == SIGTERM);
}

TEST_CASE("a child that has closed its input takes no more")
{
    watched x;
    x.start(shell("exec <&-; echo closed; exec sleep 60"));
    REQUIRE(x.wait_until([&] { return x.out == "closed\n"; }));
    CHECK(x.child->write("lost").has_value());
    REQUIRE(x.wait_until([&] { return x.child->queued() == 0; }));
    const auto refused = x.child->write("refused");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::upstream_reset);
    x.child->kill();
    CHECK(x.wait().number == SIGKILL);
}

TEST_CASE("one that ignores the end of its input gets TERM, and one that ignores that too gets KILL")
{
    watched polite;
    polite.start(shell("exec sleep 60"), {.patience = 50ms});
    polite.child->stop();
    CHECK(polite.wait().number == SIGTERM);

    watched stubborn;
    stubborn.start(shell("trap '' TERM; echo ready; while :; do sleep 1; done"), {.patience = 50ms});
    REQUIRE(stubborn.wait_until([&] { return stubborn.out == "ready\n"; }));
    stubborn.child->stop();
    CHECK(stubborn.wait().number == SIGKILL);
}

TEST_CASE("what it has started ends with it")
{
    watched x;
    x.start(shell("sleep 60 & echo $!; exit 0"));
    const auto end = x.wait();
    CHECK(end.number == 0);
    const auto grandchild = std::stoi(x.out);
    CHECK(x.wait_until([&] {
        std::ifstream status{"/proc/" + std::to_string(grandchild) + "/stat"};
        std::string line;
        std::getline(status, line);
        return line.empty() || line.find(") Z ") != std::string::npos;
    }));
}

TEST_CASE("one that is destroyed is gone, with its group")
{
    watched x;
    x.start(shell("trap '' TERM; echo ready; sleep 60"));
    REQUIRE(x.wait_until([&] { return x.out == "ready\n"; }));
    const auto id = x.child->id();
    x.child.reset();
    CHECK_FALSE(alive(id));
    x.loop.io().restart();
    x.loop.io().run_for(20ms);
    CHECK_FALSE(x.end.has_value());
}

TEST_CASE("it may be destroyed from within what it tells")
{
    watched x;
    x.on_output = [&] { x.child.reset(); };
    x.start(shell("echo one; exec sleep 60"));
    CHECK(x.wait_until([&] { return x.child == nullptr; }));
    CHECK(children() == 0);
}

TEST_CASE("a flood on both pipes is read to its end, whatever the other does")
{
    watched x;
    x.start(shell("head -c 30000000 /dev/zero >&2 & head -c 30000000 /dev/zero; wait"));
    x.wait();
    CHECK(x.out.size() == 30'000'000);
    CHECK(x.complaints == 30'000'000);
}

TEST_CASE("a thousand starts and ends leave neither processes nor descriptors")
{
    const auto before = open_descriptors();
    {
        net::loop loop;
        for (int i = 0; i < 1000; ++i) {
            watched x;
            x.start({.program = "true", .arguments = {}, .environment = {{"PATH", "/usr/bin:/bin"}}, .directory = {}});
            if (i % 3 == 0) {
                x.child.reset();
            } else {
                x.wait();
            }
        }
    }
    CHECK(children() == 0);
    CHECK(open_descriptors() == before);
}

TEST_SUITE_END();
