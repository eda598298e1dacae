// The gateway's own binary while calls of its C library fail, one after another: it answers, or cuts, and goes on. The long form goes
// through more of them: CARDEA_FAULTS_FULL in the environment (./dev faults).
#include "tests/flow/own_faults_fixture.hpp"

#include <atomic>
#include <cerrno>
#include <exception>
#include <thread>

using namespace flow;
using namespace flow::own_faults;

TEST_SUITE_BEGIN("flow/failing_calls" * doctest::skip(!flow::system_can_fail));

namespace {

std::string quiet_with(const scripted_agent& agent)
{
    return quiet() + "store: memory\nworkers: 1\n" + agent_at(agent.url("/rpc"), ", timeout: 1s");
}

// What became of a request: the status and the code of a refusal, or "cut".
std::string outcome_of(std::uint16_t port, const std::string& request)
{
    try {
        http_client caller{port, 5s};
        caller.send(request);
        const auto got = caller.read_response();
        return std::to_string(got.status) + ' ' + got.header("Cardea-Error");
    } catch (const std::exception&) {
        return "cut";
    }
}

}  // namespace

TEST_CASE("While accept fails nothing spins, standing connections are served, and the others when it is over")
{
    scripted_agent agent{card_or_answer};
    for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
        CAPTURE(error);
        faulty_gateway gateway{quiet_with(agent)};
        http_client kept{gateway.port()};
        http_client operators{gateway.admin_port()};
        const auto ask = [&](http_client& who, const std::string& what) {
            who.send(what);
            return who.read_response();
        };
        const auto metrics = test_support::request_text("GET", "/metrics");
        CHECK(ask(kept, call_text(call_body())).status == 200);
        CHECK(ask(operators, metrics).status == 200);
        gateway.faults().set(failing::accept, {.error = error});
        http_client waits{gateway.port()};
        waits.send(call_text(call_body()));
        const auto cpu = [&] {
            const auto page = ask(operators, metrics).body;
            const std::string name = "\nprocess_cpu_seconds_total ";
            return std::stod(page.substr(page.find(name) + name.size()));
        };
        const auto before = cpu();
        CHECK_FALSE(waits.closed_by_peer(500ms));
        CHECK(cpu() - before < 0.1);
        CHECK(gateway.faults().failed(failing::accept) > 1);
        CHECK(gateway.faults().failed(failing::accept) < 30);
        CHECK(ask(kept, call_text(call_body())).status == 200);
        gateway.faults().heal();
        CHECK(faulty_gateway::time_until([&] { return gateway.call().status == 200; }) <= 1s);
        CHECK(waits.read_response().status == 200);
        gateway.end();
    }
}

TEST_CASE("Whichever read or write fails, or socket cannot be opened, a call is answered or cut, and the next succeeds")
{
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{quiet_with(agent)};
    const struct {
        failing kind;
        int error;
        std::string only;
    } rows[] = {
        {failing::open, EMFILE, "socket:"},
        {failing::open, ENOMEM, "socket:"},
        {failing::read, ECONNRESET, "socket:"},
        {failing::read, EIO, "socket:"},
        {failing::read, ENOMEM, "socket:"},
        {failing::write, EPIPE, "socket:"},
        {failing::write, ENOBUFS, "socket:"},
        {failing::write, ENOMEM, "socket:"},
    };
    for (const auto& row : rows) {
        for (std::uint64_t n = 1; n <= 6; ++n) {
            CAPTURE(static_cast<int>(row.kind));
            CAPTURE(row.error);
            CAPTURE(n);
            gateway.faults().only(row.only);
            gateway.faults().set(row.kind, {.first = n, .last = n, .error = row.error});
            const auto outcome = outcome_of(gateway.port(), call_text(call_body()));
            // What was written to an agent in vain is answered by the connection's end, which a made-up failure lacks.
            CHECK(
                (outcome == "200 " || outcome == "cut" || outcome == "503 overloaded" ||
                 outcome == "502 upstream_refused" || outcome == "502 upstream_reset" ||
                 outcome == "504 upstream_timeout")
            );
            gateway.faults().heal();
            CHECK(outcome_of(gateway.port(), call_text(call_body())) == "200 ");
            CHECK(outcome_of(gateway.admin_port(), test_support::request_text("GET", "/readyz")) == "200 ");
        }
    }
    gateway.end();
}

TEST_CASE("What is interrupted without end by signals goes on: no call fails, and no time is longer")
{
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{quiet_with(agent)};
    std::atomic<bool> over = false;
    std::atomic<int> sent = 0;
    std::thread storm{[&, id = gateway.process().id()] {
        while (!over) {  // 10,000 a second
            for (int i = 0; i < 10; ++i) {
                ::kill(id, SIGURG);
                ++sent;
            }
            std::this_thread::sleep_for(1ms);
        }
    }};
    for (int i = 0; i < 300; ++i) {
        CHECK(gateway.call().status == 200);
        CHECK(test_support::request(gateway.port(), "GET", card_target("a")).status == 200);
    }
    over = true;
    storm.join();
    CHECK(sent > 100);
    gateway.end();
}

TEST_SUITE_END();
