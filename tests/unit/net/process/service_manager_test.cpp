#include "net/process/service_manager.hpp"

#include "tests/support/manager_socket.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>

TEST_SUITE_BEGIN("net/process/service_manager");

namespace {

using namespace std::chrono_literals;
using test_support::manager_socket;

using environment = std::map<std::string, std::string, std::less<>>;

constexpr pid_t self = 4711;

net::service_manager manager_in(const environment& all)
{
    const auto variables = [&](std::string_view name) -> std::optional<std::string> {
        const auto at = all.find(name);
        return at == all.end() ? std::nullopt : std::optional{at->second};
    };
    return net::service_manager_of(variables, self);
}

}  // namespace

TEST_CASE("The environment names the socket, and a watchdog that is for this process")
{
    CHECK(manager_in({}) == net::service_manager{});
    CHECK(manager_in({{"NOTIFY_SOCKET", "/run/n"}}) == net::service_manager{"/run/n", 0us});
    CHECK(manager_in({{"NOTIFY_SOCKET", "@n"}, {"WATCHDOG_USEC", "30000000"}}) == net::service_manager{"@n", 30s});
    CHECK(manager_in({{"WATCHDOG_USEC", "1"}, {"WATCHDOG_PID", "4711"}}) == net::service_manager{"", 1us});
}

TEST_CASE("A watchdog of another process, or without a positive time, is none")
{
    CHECK(manager_in({{"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", "4712"}}).watchdog == 0us);
    CHECK(manager_in({{"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", ""}}).watchdog == 0us);
    for (const auto* time : {"", "0", "-1", "30s", "30000000 ", "99999999999999999999"}) {
        CAPTURE(time);
        CHECK(manager_in({{"WATCHDOG_USEC", time}}).watchdog == 0us);
    }
}

TEST_CASE("A watchdog with more than a day counts as one with a day")
{
    CHECK(manager_in({{"WATCHDOG_USEC", "86399999999"}}).watchdog == 24h - 1us);
    CHECK(manager_in({{"WATCHDOG_USEC", "86400000000"}}).watchdog == 24h);
    CHECK(manager_in({{"WATCHDOG_USEC", "86400000001"}}).watchdog == 24h);
    CHECK(manager_in({{"WATCHDOG_USEC", "9223372036854775807"}}).watchdog == 24h);
}

TEST_CASE("Messages are lines of assignments, and a status cannot add one")
{
    CHECK(net::ready_message("Serves 3 agents.") == "READY=1\nSTATUS=Serves 3 agents.\n");
    CHECK(net::main_process_message(12) == "MAINPID=12\n");
    CHECK(net::stopping_message("Stops.") == "STOPPING=1\nSTATUS=Stops.\n");
    CHECK(net::status_message("a\nMAINPID=1") == "STATUS=a MAINPID=1\n");
    CHECK(net::reloading_message(core::steady_time{12'345'678'901ns}) == "RELOADING=1\nMONOTONIC_USEC=12345678\n");
    CHECK(net::watchdog_message == "WATCHDOG=1\n");
}

TEST_CASE("The time of a reload is that of CLOCK_MONOTONIC")
{
    timespec before{};
    timespec after{};
    ::clock_gettime(CLOCK_MONOTONIC, &before);
    const auto now =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch());
    ::clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK(now.count() >= before.tv_sec * 1'000'000 + before.tv_nsec / 1000);
    CHECK(now.count() <= after.tv_sec * 1'000'000 + after.tv_nsec / 1000);
}

TEST_CASE("A message arrives as one datagram, at a path and at an abstract name")
{
    const manager_socket at_path;
    const manager_socket abstract{"cardea-test-" + std::to_string(::getpid())};
    for (const auto* manager : {&at_path, &abstract}) {
        net::service_notifier notifier{manager->address()};
        CHECK(notifier.send("READY=1\nSTATUS=a\n").has_value());
        CHECK(notifier.send("WATCHDOG=1\n").has_value());
        CHECK(manager->at_hand() == "READY=1\nSTATUS=a\n");
        CHECK(manager->at_hand() == "WATCHDOG=1\n");
        CHECK_FALSE(manager->at_hand().has_value());
    }
}

TEST_CASE("An address of another kind, or longer than a socket's can be, fails with what was expected")
{
    const std::string expected = "NOTIFY_SOCKET: expected the path of a socket of at most 107 bytes, or @ and a name";
    for (const auto& address :
         {std::string{"vsock:2:1234"},
          std::string{"run/notify"},
          std::string{"/"},
          std::string{"@"},
          '/' + std::string(107, 'a'),
          '@' + std::string(108, 'a')}) {
        CAPTURE(address);
        net::service_notifier notifier{address};
        const auto sent = notifier.send("READY=1\n");
        REQUIRE(sent.has_error());
        CHECK(sent.error().detail == expected);
    }
    for (const auto& address : {'/' + std::string(106, 'a'), '@' + std::string(107, 'a')}) {
        net::service_notifier notifier{address};
        const auto sent = notifier.send("READY=1\n");
        REQUIRE(sent.has_error());
        CHECK(sent.error().detail != expected);  // nobody listens there
    }
}

TEST_CASE("A manager that does not read is not waited for")
{
    const manager_socket manager;
    net::service_notifier notifier{manager.address()};
    const std::string message(1000, 'a');
    auto sent = notifier.send(message);
    int taken = 0;
    while (sent && taken < 1'000'000) {
        ++taken;
        sent = notifier.send(message);
    }
    REQUIRE(sent.has_error());
    CHECK(sent.error().code == core::errc::internal);
    REQUIRE(manager.at_hand().has_value());
    CHECK(notifier.send(message).has_value());
}

TEST_SUITE_END();
