// What callers see while something fails that is the gateway's own: the clock, its log.
#include "tests/flow/own_faults_fixture.hpp"
#include "tests/support/manager_socket.hpp"
#include "tests/support/test_ca.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <regex>
#include <thread>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::faulty_gateway;
using test_support::failing;
using test_support::http_client;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("flow/own_faults" * doctest::skip(!flow::system_can_fail));

namespace {

const std::string quick = "timeouts: {drain: 2s, drain_idle: 50ms, drain_streams: 300ms}\ncards: {background: 0}\n";

std::string agent_at(const std::string& url, const std::string& more = {})
{
    return "agents: {a: {url: '" + url + "'" + more + "}}\n";
}

test_support::script card_or_answer(const test_support::recorded_request& asked)
{
    const bool is_card = asked.method == "GET";
    return test_support::answer_json(is_card ? flow::card_text("Words", "http://127.0.0.1/rpc") : R"({"done":1})");
}

double age_of_card(const faulty_gateway& gateway)
{
    return gateway.metric(R"(cardea_card_age_seconds{agent="a"})");
}

}  // namespace

TEST_CASE("Whatever the wall clock does, callers notice nothing, no age is negative, and each step is logged once")
{
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{quick + "store: memory\nworkers: 1\n" + agent_at(agent.url("/rpc"), ", timeout: 1s")};
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

TEST_CASE("While the disk of the log is full calls go on, and lines come again when there is room")
{
    scripted_agent agent{card_or_answer};
    faulty_gateway gateway{quick + "store: memory\nworkers: 1\n" + agent_at(agent.url("/rpc"))};
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

TEST_SUITE_END();
