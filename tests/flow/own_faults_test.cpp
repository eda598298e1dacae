// What callers see while something fails that is the gateway's own: its store, its certificates, the clock, its log, its threads.
#include "tests/flow/own_faults_fixture.hpp"
#include "tests/support/manager_socket.hpp"
#include "tests/support/test_ca.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <regex>
#include <thread>

using namespace flow;
using namespace flow::own_faults;

TEST_SUITE_BEGIN("flow/own_faults" * doctest::skip(!flow::system_can_fail));

namespace {

const std::string requests = "limits: {requests: 1000000}\n";

core::json written(const faulty_gateway& gateway, const std::string& id)
{
    const core::json agent{{"url", "http://127.0.0.1:9/"}, {"card", {{"name", id}}}};
    return gateway.rpc("agents/upsert", {{"id", id}, {"agent", agent}});
}

struct store_fault {
    std::string what;
    failing kind;
    int error;
    int code;
    std::string name;
};

double age_of_card(const faulty_gateway& gateway)
{
    return gateway.metric(R"(cardea_card_age_seconds{agent="a"})");
}

}  // namespace

TEST_CASE("While the store fails only writes fail, and say so; within a second after it they are taken")
{
    const store_fault rows[] = {
        {"the disk is full", failing::write, ENOSPC, -31507, "store_full"},
        {"the quota is used up", failing::write, EDQUOT, -31507, "store_full"},
        {"the disk fails", failing::write, EIO, -32603, "store_failed"},
        {"the disk has become read-only", failing::write, EROFS, -32603, "store_failed"},
        {"what was written cannot be synced", failing::sync, EIO, -32603, "store_failed"},
        {"the disk cannot be read", failing::read, EIO, -32603, "store_failed"},
    };
    scripted_agent agent{card_or_answer};
    const test_support::scratch_directory disk;
    faulty_gateway gateway{
        quick() + requests + "store: 'sqlite:" + disk.file("records.db") + "'\n" + agent_at(agent.url("/rpc"))
    };
    const auto card = [&] { return test_support::request(gateway.port(), "GET", flow::card_target("a")); };
    const auto directory = [&] { return test_support::request(gateway.port(), "GET", "/agents"); };
    REQUIRE(card().status == 200);
    REQUIRE(written(gateway, "before").contains("result"));
    const auto listed = directory().body;
    int round = 0;
    for (const auto& row : rows) {
        CAPTURE(row.what);
        gateway.faults().only("records.db");
        gateway.faults().set(row.kind, {.error = row.error});
        const auto id = "x" + std::to_string(++round);
        const auto refusal = written(gateway, id);
        if (refusal.contains("error")) {
            CHECK(refusal["error"]["code"] == row.code);
            CHECK(refusal["error"]["data"]["code"] == row.name);
            CHECK(gateway.faults().failed(row.kind) > 0);
        }
        if (row.kind == failing::write) {
            CHECK(refusal.contains("error"));
            CHECK(directory().body == listed);
        }
        CHECK(gateway.call().body == R"({"done":1})");
        CHECK(card().status == 200);
        CHECK(gateway.rpc("agents/get", {{"id", "before"}})["result"]["id"] == "before");
        CHECK(test_support::request(gateway.admin_port(), "GET", "/readyz").status == 200);
        gateway.faults().heal();
        CHECK(faulty_gateway::time_until([&] { return written(gateway, "after").contains("result"); }) <= 1s);
        CHECK(gateway.rpc("agents/delete", {{"id", "after"}}).contains("result"));
        // What was read or synced in vain may be in memory, or on the disk all the same.
        const bool there = gateway.rpc("agents/delete", {{"id", id}}).contains("result");
        CHECK((!there || row.kind != failing::write));
        CHECK(directory().body == listed);
    }
    gateway.end();
}

TEST_CASE("A certificate that has expired is shown all the same, and its end is logged and on the metrics page")
{
    test_support::test_ca ca;
    const auto mine = ca.issue_expired({"localhost"});
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{
        quick() + requests + "store: memory\ntls: {cert: " + mine.cert_file + ", key: " + mine.key_file + "}\n" +
        agent_at(agent.url("/rpc"))
    };
    CHECK(gateway.logs("certificate_expiring"));
    const auto page = test_support::request(gateway.admin_port(), "GET", "/metrics").body;
    std::smatch found;
    REQUIRE(std::regex_search(
        page,
        found,
        std::regex{R"(cardea_tls_certificate_not_after_timestamp_seconds\{[^}]*\} ([0-9.e+]+))"}
    ));
    CHECK(std::stod(found[1]) < static_cast<double>(std::time(nullptr)));
    // The caller's clock is the one by which the certificate is too old.
    CHECK_THROWS_WITH(
        http_client(gateway.port(), test_support::tls_caller{ca.ca_file(), "localhost"}),
        doctest::Contains("verify failed")
    );
    gateway.end();
}

TEST_CASE("An agent whose certificate expires keeps its standing connections and gets no new ones")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    scripted_agent agent{card_or_answer, {.cert_file = shown.cert_file, .key_file = shown.key_file}};
    faulty_gateway gateway{
        quick() + requests + "store: memory\nworkers: 1\n" +
        agent_at(agent.url("/rpc"), ", tls: {ca_file: '" + ca.ca_file() + "'}")
    };
    CHECK(gateway.call().status == 200);
    gateway.faults().move_clock(240h);
    CHECK(gateway.call().status == 200);
    test_support::gate held;
    agent.next(test_support::then({test_support::pass_gate{held.shared()}}, test_support::answer_json("{}")));
    http_client holds{gateway.port()};
    holds.send(call_text(call_body()));
    REQUIRE(held.wait_until_reached());
    flow::check_jsonrpc_error(gateway.call(), flow::tls_failed, "1");  // no connection is idle
    held.release();
    CHECK(holds.read_response().status == 200);
    gateway.faults().move_clock(0h);
    CHECK(faulty_gateway::time_until([&] { return gateway.call().status == 200; }) <= 1s);
    gateway.end();
}

TEST_CASE("Whatever the wall clock does, callers notice nothing, no age is negative, and each step is logged once")
{
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{
        quick() + requests + "store: memory\nworkers: 1\n" + agent_at(agent.url("/rpc"), ", timeout: 1s")
    };
    const auto get_card = [&] { return test_support::request(gateway.port(), "GET", flow::card_target("a")); };
    REQUIRE(get_card().status == 200);
    const auto in_2038 =
        std::chrono::sys_days{std::chrono::January / 19 / 2038} + 3h + 14min + 6s - std::chrono::system_clock::now();
    const std::chrono::nanoseconds offsets[] = {1h, -1h, 87'660h, -87'660h, in_2038, 0h};
    std::size_t steps = 0;
    for (const auto offset : offsets) {
        CAPTURE(offset.count());
        http_client kept{gateway.port()};
        kept.send(call_text(call_body()));
        CHECK(kept.read_response().status == 200);
        const auto asked = agent.request_count();
        agent.next(test_support::silence());
        http_client waits{gateway.port()};
        const auto begun = std::chrono::steady_clock::now();
        waits.send(call_text(call_body()));
        REQUIRE(agent.wait_for_requests(asked + 1));
        gateway.faults().move_clock(offset);
        ++steps;
        kept.send(call_text(call_body()));
        const auto answer = kept.read_response();
        CHECK(answer.status == 200);
        flow::check_jsonrpc_error(waits.read_response(), flow::late, "1");
        const auto took = std::chrono::steady_clock::now() - begun;
        CHECK(took >= 1s);
        CHECK(took < 3s);
        CHECK(get_card().status == 200);
        CHECK(flow::max_age_of(get_card()) >= 0);
        CHECK(age_of_card(gateway) >= 0);
        CHECK(age_of_card(gateway) < 60);
        CHECK(
            gateway.rpc("agents/upsert", {{"id", "x"}, {"agent", {{"url", "http://127.0.0.1:9/"}}}}).contains("result")
        );
    }
    CHECK(gateway.logs(R"("event":"clock_stepped")"));
    gateway.end();
    std::size_t said = 0;
    for (auto at = gateway.process().err().find("clock_stepped"); at != std::string::npos;
         at = gateway.process().err().find("clock_stepped", at + 1)) {
        ++said;
    }
    CHECK(said == steps);
}

TEST_CASE("A log that nobody reads costs lines, which are counted, and no call")
{
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{quick() + requests + "store: memory\nworkers: 1\n" + agent_at(agent.url("/rpc"))};
    // Nobody reads its pipe from here on. A reload that is refused is a line of its own, in a write of its own.
    const auto lost = [&] { return gateway.metric("cardea_log_lines_dropped_total"); };
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (lost() == 0 && std::chrono::steady_clock::now() < until) {
        http_client operators{gateway.admin_port()};
        for (int i = 0; i < 200; ++i) {
            operators.send(test_support::request_text("POST", "/reload"));
            operators.read_response();
        }
        CHECK(gateway.call().status == 200);
    }
    CHECK(lost() > 0);
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) {
        CHECK(gateway.call().status == 200);
    }
    CHECK(std::chrono::steady_clock::now() - begun < 5s);
    gateway.end();  // which reads it
}

TEST_CASE("While the disk of the log is full calls go on, and lines come again when there is room")
{
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{quick() + requests + "store: memory\nworkers: 1\n" + agent_at(agent.url("/rpc"))};
    gateway.faults().only("pipe:");
    gateway.faults().set(failing::write, {.error = ENOSPC});
    CHECK(gateway.call().status == 200);
    CHECK(faulty_gateway::time_until([&] { return gateway.metric("cardea_log_lines_dropped_total") > 0; }) < 5s);
    CHECK(gateway.call().status == 200);
    gateway.faults().heal();
    const auto before = gateway.process().err().size();
    CHECK(gateway.call().status == 200);
    CHECK(faulty_gateway::time_until([&] {
              static_cast<void>(gateway.process().wait_for_line([](auto) { return false; }, 20ms));
              return gateway.process().err().size() > before;
          }) <= 1s);
    gateway.end();
}

TEST_CASE("While one worker is stuck its calls wait, those of others go on, and the watchdog hears nothing")
{
    constexpr auto stuck = 2500ms;
    constexpr std::size_t many = 16;
    const test_support::manager_socket manager;
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{
        quick() + requests + "store: memory\nworkers: 2\n" + agent_at(agent.url("/rpc")),
        {"NOTIFY_SOCKET=" + manager.address(), "WATCHDOG_USEC=1000000"}
    };
    std::vector<http_client> callers;  // on both workers: one that is at work takes no new connection before it is done
    for (std::size_t i = 0; i < many; ++i) {
        callers.emplace_back(gateway.port());
    }
    for (auto& each : callers) {
        each.send(call_text(call_body()));
    }
    for (auto& each : callers) {
        CHECK(each.read_response().status == 200);
    }
    std::vector<std::thread> threads;
    std::array<std::chrono::steady_clock::duration, many> slowest{};
    std::array<int, many> good{};
    std::atomic<bool> over = false;
    for (std::size_t i = 0; i < many; ++i) {
        threads.emplace_back([&, i] {
            while (!over) {
                const auto begun = std::chrono::steady_clock::now();
                callers[i].send(call_text(call_body()));
                good[i] += callers[i].read_response().status == 200 ? 1 : -1'000'000;
                slowest[i] = std::max(slowest[i], std::chrono::steady_clock::now() - begun);
            }
        });
    }
    gateway.faults().stop_another_loop(stuck);  // of those that are busy
    CHECK(flow::becomes_true([&] { return gateway.faults().stopped_loops() == 1; }));
    CHECK(test_support::request(gateway.admin_port(), "GET", "/healthz").status == 200);
    CHECK(gateway.logs(R"("event":"watchdog_withheld")"));
    over = true;
    for (auto& each : threads) {
        each.join();
    }
    CHECK(std::ranges::min(good) > 0);
    CHECK(std::ranges::min(slowest) < stuck / 2);
    CHECK(std::ranges::max(slowest) > stuck / 2);
    CHECK(flow::becomes_true([&] { return manager.next_with("WATCHDOG=1\n").has_value(); }));
    CHECK(faulty_gateway::time_until([&] { return gateway.call().status == 200; }) <= 1s);
    CHECK(gateway.metric("cardea_overload_level") == 0);
    gateway.end();
    CHECK(gateway.process().err().find("overload_changed") == std::string::npos);
}

TEST_CASE("While the control loop is stuck calls go on and cards come from memory")
{
    constexpr auto stuck = 2500ms;
    const test_support::manager_socket manager;
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{
        quick() + requests + "store: memory\nworkers: 1\n" + agent_at(agent.url("/rpc")),
        {"NOTIFY_SOCKET=" + manager.address(), "WATCHDOG_USEC=1000000"}
    };
    const auto card = test_support::request_text("GET", flow::card_target("a"));
    http_client caller{gateway.port()};
    for (int i = 0; i < 2; ++i) {
        caller.send(card);
        CHECK(caller.read_response().status == 200);
    }
    gateway.faults().stop_main_loop(stuck);
    const auto begun = std::chrono::steady_clock::now();
    REQUIRE(flow::becomes_true([&] { return gateway.faults().stopped_loops() == 1; }));
    std::chrono::steady_clock::duration slowest{};
    while (std::chrono::steady_clock::now() - begun < stuck - 500ms) {
        const auto from = std::chrono::steady_clock::now();
        caller.send(call_text(call_body()));
        CHECK(caller.read_response().status == 200);
        caller.send(card);
        CHECK(caller.read_response().status == 200);
        slowest = std::max(slowest, std::chrono::steady_clock::now() - from);
    }
    CHECK(slowest < 1s);
    http_client waits{gateway.port()};
    waits.send(call_text(call_body()));
    CHECK(waits.read_response().status == 200);
    CHECK(std::chrono::steady_clock::now() - begun >= stuck);
    gateway.end();
    CHECK(gateway.process().err().find("overload_changed") == std::string::npos);
}

TEST_SUITE_END();
