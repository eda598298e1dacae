// Gateways restart while callers call, in three ways, and nothing is lost: a hand-over, two gateways behind a load balancer that watches
// /readyz, and a supervisor that holds the sockets.
// The long form has more of everything: CARDEA_HANDOVERS, CARDEA_HANDOVER_CALLS and CARDEA_HANDOVER_STREAMS in the environment (./dev handover).
#include "tests/flow/handover_fixture.hpp"
#include "tests/flow/restart_load.hpp"
#include "tests/support/listening_socket.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/handover_load");

namespace {

using namespace std::chrono_literals;
using flow::child_process;
using flow::comes_true;
using flow::has_ended;
using flow::number_from;
using flow::restart_load;
using flow::succession;

struct amount {
    std::uint64_t restarts = number_from("CARDEA_HANDOVERS", 3);
    std::uint64_t calls = number_from("CARDEA_HANDOVER_CALLS", 3000);
    std::uint64_t streams = number_from("CARDEA_HANDOVER_STREAMS", 8);

    // So many calls are before the restart.
    std::uint64_t before(std::uint64_t restart) const { return calls * (restart + 1) / (restarts + 1); }
};

// A slow machine would make it overloaded, which sheds calls.
std::string with_agent(const test_support::plain_agent& agent)
{
    return "store: memory\nlog: {level: warn}\noverload: {lag: [1h, 1h, 1h]}\nagents: {a: {url: \"" + agent.url("/") +
           "\", limits: {in_flight: 2000, streams: 2000, queue: 4000}}}\n";
}

// A gateway's own process, at addresses that the test knows.
class gateway_process {
public:
    gateway_process(
        const std::string& configuration,
        std::string listen,
        std::string admin,
        flow::handed_over more = {}
    )
        : process_{
              CARDEA_BIN,
              {"run", "-c", configuration, "--listen", std::move(listen), "--admin", std::move(admin)},
              std::move(more)
          }
    {
        const auto line = process_.wait_for_line([](auto each) {
            return each.find(R"("event":"listening")") != std::string_view::npos;
        });
        REQUIRE_MESSAGE(line.has_value(), process_.err());
        traffic_ = flow::listening_port(*line, "traffic");
        admin_ = flow::listening_port(*line, "admin");
    }

    std::uint16_t port() const noexcept { return traffic_; }
    std::uint16_t admin_port() const noexcept { return admin_; }

    // The exit code.
    std::optional<int> end()
    {
        process_.signal(SIGTERM);
        return process_.wait(1min);
    }

private:
    child_process process_;
    std::uint16_t traffic_ = 0;
    std::uint16_t admin_ = 0;
};

std::string address(std::uint16_t port)
{
    return "127.0.0.1:" + std::to_string(port);
}

// A port of the system's choice that is free again. Somebody else may take it before it is used.
std::uint16_t free_port()
{
    return test_support::listening_socket{INADDR_LOOPBACK, test_support::socket_state::bound}.port();
}

// HAProxy as operators configure it: it takes a gateway out when /readyz is not 200, and repeats nothing.
std::string balancer_configuration(std::uint16_t port, const std::vector<gateway_process*>& gateways)
{
    std::string text =
        "global\n  maxconn 4000\ndefaults\n  mode http\n  retries 0\n  timeout connect 5s\n  timeout client 60s\n"
        "  timeout server 60s\nfrontend f\n  bind " +
        address(port) +
        "\n  default_backend b\n"
        "backend b\n  balance roundrobin\n  option httpchk GET /readyz\n";
    for (const auto* each : gateways) {
        text += "  server s" + std::to_string(each->port()) + ' ' + address(each->port()) +
                " check addr 127.0.0.1 port " + std::to_string(each->admin_port()) + " inter 100ms fall 1 rise 1\n";
    }
    return text;
}

}  // namespace

TEST_CASE("No call and no stream is lost while gateways hand over to each other")
{
    const amount of;
    const test_support::plain_agent agent{flow::serve_numbered};
    succession gateways{with_agent(agent)};
    restart_load load{gateways.port(), of.streams};
    for (std::uint64_t i = 0; i < of.restarts; ++i) {
        CHECK(load.wait_for_calls(of.before(i)));
        const auto old = gateways.now();
        gateways.hand_over();
        CHECK(comes_true([&] { return has_ended(old); }, 1min));
    }
    CHECK(load.wait_for_calls(of.calls));
    load.check_nothing_lost();
}

TEST_CASE("No call and no stream is lost while two gateways behind HAProxy restart in turn")
{
    const std::string balancer = "/usr/sbin/haproxy";
    if (!std::filesystem::exists(balancer)) {
        MESSAGE("not run: there is no ", balancer);
        return;
    }
    const amount of;
    const test_support::plain_agent agent{flow::serve_numbered};
    const test_support::scratch_directory here;
    const auto configuration = here.file("c.yml");
    test_support::write_whole(configuration, with_agent(agent) + "timeouts: {drain_delay: 1s}\n");
    std::array<std::unique_ptr<gateway_process>, 2> gateways;
    for (auto& each : gateways) {
        each = std::make_unique<gateway_process>(configuration, "127.0.0.1:0", "127.0.0.1:0");
    }
    const auto port = free_port();
    test_support::write_whole(
        here.file("haproxy.cfg"),
        balancer_configuration(port, {gateways[0].get(), gateways[1].get()})
    );
    child_process haproxy{balancer, {"-db", "-f", here.file("haproxy.cfg")}};
    REQUIRE(comes_true(
        [&] {
            try {
                return test_support::request(port, "GET", "/agents/none/.well-known/agent-card.json").status == 404;
            } catch (const std::exception&) {
                return false;
            }
        },
        10s
    ));
    restart_load load{port, of.streams};
    for (std::uint64_t i = 0; i < of.restarts; ++i) {
        CHECK(load.wait_for_calls(of.before(i)));
        auto& each = gateways.at(i % 2);
        const auto traffic = address(each->port());
        const auto admin = address(each->admin_port());
        CHECK(each->end() == 0);
        each = std::make_unique<gateway_process>(configuration, traffic, admin);
        // The other one goes only when this one gets calls again.
        CHECK(comes_true(
            [&] {
                const auto page = test_support::request(each->admin_port(), "GET", "/metrics").body;
                return page.find(R"(cardea_http_requests_total{route="call")") != std::string::npos;
            },
            1min
        ));
    }
    CHECK(load.wait_for_calls(of.calls));
    load.check_nothing_lost();
}

TEST_CASE("No call and no stream is lost while a supervisor that holds the sockets restarts the gateway")
{
    const amount of;
    const test_support::plain_agent agent{flow::serve_numbered};
    const test_support::scratch_directory here;
    const auto configuration = here.file("c.yml");
    test_support::write_whole(configuration, with_agent(agent));
    const test_support::listening_socket traffic;
    const test_support::listening_socket admin;
    REQUIRE(::listen(traffic.number(), SOMAXCONN) == 0);
    const auto start = [&] {
        return std::make_unique<gateway_process>(
            configuration,
            "127.0.0.1:0",
            "127.0.0.1:0",
            flow::handed_over{{"LISTEN_FDS=2", "LISTEN_FDNAMES=traffic:admin"}, {traffic.number(), admin.number()}}
        );
    };
    auto gateway = start();
    restart_load load{traffic.port(), of.streams};
    for (std::uint64_t i = 0; i < of.restarts; ++i) {
        CHECK(load.wait_for_calls(of.before(i)));
        CHECK(gateway->end() == 0);
        gateway = start();
    }
    CHECK(load.wait_for_calls(of.calls));
    load.check_nothing_lost();
}

TEST_CASE("No call and no stream is lost while gateways hand over below the real systemd-socket-activate")
{
    const std::string activator = "/usr/bin/systemd-socket-activate";
    if (!std::filesystem::exists(activator)) {
        MESSAGE("not run: there is no ", activator);
        return;
    }
    const amount of;
    const test_support::plain_agent agent{flow::serve_numbered};
    const test_support::scratch_directory here;
    test_support::write_whole(here.file("c.yml"), with_agent(agent));
    const auto port = free_port();
    const auto admin = free_port();
    child_process first{
        activator,
        {"-l",
         address(port),
         "-l",
         address(admin),
         "--fdname=traffic:admin",
         CARDEA_BIN,
         "run",
         "-c",
         here.file("c.yml")}
    };
    const auto line =
        first.wait_for_line([](auto each) { return each.find("Listening on") != std::string_view::npos; });
    REQUIRE_MESSAGE(line.has_value(), first.err());
    // The first connection starts it.
    REQUIRE(test_support::request(admin, "GET", "/readyz").status == 200);
    auto now = first.id();
    {
        restart_load load{port, of.streams};
        for (std::uint64_t i = 0; i < of.restarts; ++i) {
            CHECK(load.wait_for_calls(of.before(i)));
            const auto answer = test_support::request(admin, "POST", "/handover");
            REQUIRE_MESSAGE(answer.status == 200, answer.body);
            const auto old = std::exchange(now, core::json::parse(answer.body).at("process").get<pid_t>());
            CHECK(comes_true([&] { return has_ended(old); }, 1min));
        }
        CHECK(load.wait_for_calls(of.calls));
        load.check_nothing_lost();
    }
    ::kill(now, SIGTERM);
    CHECK(comes_true([&] { return has_ended(now); }, 1min));
}

TEST_SUITE_END();
