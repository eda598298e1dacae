// The gateway's own binary below a service manager: what it is told on its socket, and sockets that it opened for the gateway.
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/listening_socket.hpp"
#include "tests/support/manager_socket.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/service");

namespace {

using flow::child_process;
using flow::handed_over;
using test_support::listening_socket;
using test_support::manager_socket;
using test_support::scratch_directory;
using test_support::socket_state;
using test_support::write_whole;

using arguments = std::vector<std::string>;

const arguments any_ports{"run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", "memory"};

arguments with(arguments all, const arguments& more)
{
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::string listening_line(child_process& gateway)
{
    const auto line =
        gateway.wait_for_line([](auto each) { return each.find(R"("event":"listening")") != std::string_view::npos; });
    REQUIRE_MESSAGE(line.has_value(), gateway.err());
    return line.value_or("");
}

handed_over sockets(const std::vector<const listening_socket*>& all, const std::string& names)
{
    handed_over out{{"LISTEN_FDS=" + std::to_string(all.size()), "LISTEN_FDNAMES=" + names}, {}};
    for (const auto* each : all) {
        out.descriptors.push_back(each->number());
    }
    return out;
}

// What a gateway that gets this one descriptor says before it ends, which has to be with 2.
std::string refusal_of(int descriptor, const std::string& name)
{
    child_process gateway{CARDEA_BIN, any_ports, {{"LISTEN_FDS=1", "LISTEN_FDNAMES=" + name}, {descriptor}}};
    CHECK(gateway.wait() == 2);
    CHECK(gateway.err().find("listening\"") == std::string::npos);
    return gateway.err();
}

}  // namespace

TEST_CASE("The service manager hears that the gateway serves, reloads and stops, in this order")
{
    const manager_socket manager;
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, "reload: {watch: false}\nagents: {a: {url: \"http://127.0.0.1:1/\"}}\n");
    child_process gateway{CARDEA_BIN, with(any_ports, {"-c", file}), {{"NOTIFY_SOCKET=" + manager.address()}, {}}};
    CHECK(manager.next() == "READY=1\nSTATUS=Serves 1 agent.\n");
    const auto admin = flow::listening_port(listening_line(gateway), "admin");
    CHECK(test_support::request(admin, "GET", "/readyz").status == 200);

    write_whole(
        file,
        "reload: {watch: false}\nagents: {a: {url: \"http://127.0.0.1:1/\"}, b: {url: \"http://127.0.0.1:1/\"}}\n"
    );
    gateway.signal(SIGHUP);
    CHECK(manager.next().value_or("").starts_with("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(manager.next() == "READY=1\nSTATUS=Serves 2 agents.\n");

    write_whole(file, "nonsense: 1\n");
    gateway.signal(SIGHUP);
    CHECK(manager.next().value_or("").starts_with("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(
        manager.next() ==
        "READY=1\nSTATUS=Serves 2 agents. The latest configuration was rejected; the previous one is in use.\n"
    );

    gateway.signal(SIGTERM);
    CHECK(manager.next() == "STOPPING=1\nSTATUS=Stops after the calls in flight; 0 connections open.\n");
    CHECK(gateway.wait() == 0);
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_CASE("The watchdog hears of a gateway that runs, again and again, also at an abstract name")
{
    const manager_socket manager{"cardea-flow-" + std::to_string(::getpid())};
    child_process gateway{CARDEA_BIN, any_ports, {{"NOTIFY_SOCKET=" + manager.address(), "WATCHDOG_USEC=1000000"}, {}}};
    CHECK(manager.next().value_or("").starts_with("READY=1\n"));
    for (int i = 0; i < 3; ++i) {
        CHECK(manager.next_with("WATCHDOG=1\n").has_value());
    }
    gateway.signal(SIGTERM);
    CHECK(manager.next_with("STOPPING=1\n").has_value());
    CHECK(gateway.wait() == 0);
}

TEST_CASE("A manager that cannot be reached is logged once, and the gateway serves")
{
    const scratch_directory here;
    child_process gateway{CARDEA_BIN, any_ports, {{"NOTIFY_SOCKET=" + here.file("nobody")}, {}}};
    const auto line = listening_line(gateway);
    CHECK(test_support::request(flow::listening_port(line, "admin"), "GET", "/readyz").status == 200);
    gateway.signal(SIGTERM);
    CHECK(gateway.wait() == 0);
    const std::string event = R"("event":"notify_failed")";
    const auto first = gateway.err().find(event);
    REQUIRE(first != std::string::npos);
    CHECK(gateway.err().find("No such file or directory", first) != std::string::npos);
    CHECK(gateway.err().find(event, first + 1) == std::string::npos);
}

TEST_CASE("Inherited sockets are served instead of the configured addresses, and outlive the gateway")
{
    const listening_socket traffic;
    const listening_socket admin;
    const listening_socket metrics;
    const auto passed = sockets({&metrics, &traffic, &admin}, "metrics:traffic:admin");
    const auto line_of = [&](child_process& gateway) {
        const auto line = listening_line(gateway);
        CHECK(flow::listening_port(line, "traffic") == traffic.port());
        CHECK(flow::listening_port(line, "admin") == admin.port());
        CHECK(flow::listening_port(line, "metrics") == metrics.port());
    };
    for (const auto* agent : {"a", "b"}) {
        CAPTURE(agent);
        // It connects while no gateway runs, and waits for the next one.
        test_support::http_client early{traffic.port()};
        early.send(test_support::request_text("GET", "/agents/none/.well-known/agent-card.json"));
        child_process gateway{
            CARDEA_BIN,
            with(any_ports, {"--agent", std::string{agent} + "=http://127.0.0.1:1"}),
            passed
        };
        line_of(gateway);
        CHECK(early.read_response().status == 404);
        CHECK(test_support::request(admin.port(), "GET", "/readyz").status == 200);
        CHECK(test_support::request(metrics.port(), "GET", "/readyz").status == 200);
        gateway.signal(SIGTERM);
        CHECK(gateway.wait() == 0);
    }
}

TEST_CASE("One inherited socket leaves the other addresses to the configuration")
{
    const listening_socket traffic;
    child_process gateway{CARDEA_BIN, any_ports, sockets({&traffic}, "traffic")};
    const auto line = listening_line(gateway);
    CHECK(flow::listening_port(line, "traffic") == traffic.port());
    CHECK(flow::listening_port(line, "admin") != 0);
    CHECK(flow::listening_port(line, "admin") != traffic.port());
    CHECK(line.find("metrics") == std::string::npos);
}

TEST_CASE("An inherited socket cannot open to other machines what the configuration forbids")
{
    const listening_socket everywhere{INADDR_ANY};
    CHECK(
        refusal_of(everywhere.number(), "traffic") ==
        "cardea: inherited socket traffic: 0.0.0.0:" + everywhere.port_text() +
            " is open to other machines and no caller needs a credential; expected access.providers, `access: open`, "
            "or a loopback address\n"
    );
    CHECK(
        refusal_of(everywhere.number(), "admin") ==
        "cardea: inherited socket admin: 0.0.0.0:" + everywhere.port_text() +
            " is open to other machines and asks nobody for a credential; expected a loopback address, "
            "`admin_access: scopes`, or `admin_access: open`\n"
    );
}

TEST_CASE("A reload that would leave an inherited socket open to other machines is rejected")
{
    const listening_socket everywhere{INADDR_ANY};
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, "reload: {watch: false}\naccess: open\n");
    child_process gateway{CARDEA_BIN, with(any_ports, {"-c", file}), sockets({&everywhere}, "traffic")};
    CHECK(flow::listening_port(listening_line(gateway), "traffic") == everywhere.port());
    write_whole(file, "reload: {watch: false}\nlisten: 127.0.0.1:4000\n");
    gateway.signal(SIGHUP);
    const auto rejected =
        gateway.wait_for_line([](auto each) { return each.find("config_rejected") != std::string_view::npos; });
    const auto reason = "inherited socket traffic: 0.0.0.0:" + everywhere.port_text() + " is open to other machines";
    CHECK(rejected.value_or("").find(reason) != std::string::npos);
}

TEST_CASE("A descriptor that is no listening TCP socket, or has no known name, ends the start with 2 and one sentence")
{
    const std::string expected = "; expected a TCP socket that listens\n";
    const listening_socket bound{INADDR_LOOPBACK, socket_state::bound};
    CHECK(
        refusal_of(bound.number(), "traffic") ==
        "cardea: inherited socket traffic: descriptor 3 does not listen" + expected
    );
    const listening_socket datagrams{INADDR_LOOPBACK, socket_state::bound, SOCK_DGRAM};
    CHECK(
        refusal_of(datagrams.number(), "admin") ==
        "cardea: inherited socket admin: descriptor 3 is not a TCP socket" + expected
    );
    const core::descriptor local{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    CHECK(
        refusal_of(local.number(), "metrics") ==
        "cardea: inherited socket metrics: descriptor 3 is a Unix-domain socket" + expected
    );
    const listening_socket usable;
    CHECK(
        refusal_of(usable.number(), "web") ==
        "cardea: inherited socket web: descriptor 3 has an unknown name; expected traffic, admin or metrics "
        "(FileDescriptorName)\n"
    );
    const handed_over twice{{"LISTEN_FDS=2", "LISTEN_FDNAMES=admin:admin"}, {usable.number(), usable.number()}};
    child_process gateway{CARDEA_BIN, any_ports, twice};
    CHECK(gateway.wait() == 2);
    CHECK(
        gateway.err() ==
        "cardea: inherited socket admin: descriptor 4 is the second one with this name; expected one address for each "
        "listener\n"
    );
}

TEST_CASE("A program of an MCP server inherits neither the sockets nor the words of the service manager")
{
    const manager_socket manager;
    const listening_socket traffic;
    const scratch_directory here;
    const auto seen = here.file("seen");
    write_whole(
        here.file("c.yml"),
        "mcpServers:\n  looks:\n    command: /bin/sh\n    start: eager\n    args: [-c, 'env >" + seen +
            ".new; ls -l /proc/$$/fd >>" + seen + ".new; mv " + seen + ".new " + seen + "; cat >/dev/null']\n"
    );
    auto passed = sockets({&traffic}, "traffic");
    passed.variables.push_back("NOTIFY_SOCKET=" + manager.address());
    passed.variables.emplace_back("WATCHDOG_USEC=30000000");
    child_process gateway{CARDEA_BIN, with(any_ports, {"-c", here.file("c.yml")}), passed};
    CHECK(manager.next().value_or("").starts_with("READY=1\n"));
    REQUIRE(flow::becomes_true([&] { return !test_support::read_whole(seen).empty(); }));
    const auto text = test_support::read_whole(seen);
    CHECK(text.find("PATH=") != std::string::npos);
    for (const auto* name : {"LISTEN_", "NOTIFY_SOCKET", "WATCHDOG_"}) {
        CAPTURE(name);
        CHECK(text.find(name) == std::string::npos);
    }
    CAPTURE(text);
    CHECK(text.find("0 -> pipe:") != std::string::npos);
    CHECK(text.find("socket:") == std::string::npos);
    gateway.signal(SIGTERM);
    CHECK(gateway.wait() == 0);
}

TEST_CASE("During drain_delay new connections are served while probes fail, and a second SIGTERM ends the process")
{
    const scratch_directory here;
    write_whole(here.file("c.yml"), "timeouts: {drain: 1h, drain_delay: 1h}\n");
    child_process gateway{CARDEA_BIN, with(any_ports, {"-c", here.file("c.yml")})};
    const auto line = listening_line(gateway);
    const auto traffic = flow::listening_port(line, "traffic");
    const auto admin = flow::listening_port(line, "admin");
    gateway.signal(SIGTERM);
    REQUIRE(gateway.wait_for_line([](auto each) { return each.find("draining") != std::string_view::npos; }));
    CHECK(test_support::request(admin, "GET", "/readyz").status == 503);
    CHECK(test_support::request(traffic, "GET", "/agents/none/.well-known/agent-card.json").status == 404);
    gateway.signal(SIGTERM);
    CHECK(gateway.wait() == 0);
}

TEST_SUITE_END();
