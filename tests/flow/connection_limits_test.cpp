// How many connections there may be, and what is left of the process when its descriptors run out.
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/connection_limits");

namespace {

// What has arrived for the connection from `caller` and was not read by the gateway (proc(5), net/tcp).
std::optional<std::size_t> unread(std::uint16_t gateway, std::uint16_t caller)
{
    std::ifstream table{"/proc/net/tcp"};
    for (std::string line; std::getline(table, line);) {
        std::istringstream words{line};
        std::string number;
        std::string local;
        std::string remote;
        std::string state;
        std::string queues;
        words >> number >> local >> remote >> state >> queues;
        const auto port = [](const std::string& text) {
            return std::stoul(text.substr(text.find(':') + 1), nullptr, 16);
        };
        if (number != "sl" && port(local) == gateway && port(remote) == caller) {
            return std::stoul(queues.substr(queues.find(':') + 1), nullptr, 16);
        }
    }
    return std::nullopt;
}

bool wait_for_unread(std::uint16_t gateway, std::uint16_t caller, std::size_t wanted)
{
    const auto until = std::chrono::steady_clock::now() + 2s;
    while (std::chrono::steady_clock::now() < until) {
        if (unread(gateway, caller) == wanted) {
            return true;
        }
    }
    return false;
}

// The binary in a process that may have so many descriptors.
struct poor_gateway {
    // `more` is YAML, of further agents.
    explicit poor_gateway(unsigned descriptors, const std::string& agent, const std::string& more = {})
        : process{
              "/bin/sh",
              {"-c",
               "ulimit -n " + std::to_string(descriptors) + "; exec " CARDEA_BIN " run -c /dev/stdin <<'END'\n" +
                   "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nmetrics: 127.0.0.1:0\nstore: memory\n"
                   "timeouts: {drain_streams: 1s, drain: 1s}\ncards: {background: "
                   "0}\nagents: {a: {url: "
                   "'" +
                   agent + "'}" + more + "}\nEND\n"}
          }
    {
        const auto line = process.wait_for_line([](auto each) { return each.find(R"("listening")") != each.npos; });
        if (!line) {
            throw std::runtime_error{"no listening line: " + process.err()};
        }
        traffic = flow::listening_port(*line, "traffic");
        admin = flow::listening_port(*line, "admin");
        metrics = flow::listening_port(*line, "metrics");
    }

    double metric(std::string_view series) const
    {
        const auto page = test_support::request(admin, "GET", "/metrics").body;
        const auto wanted = "\n" + std::string(series) + " ";
        const auto at = page.find(wanted);
        return at == std::string::npos ? -1 : std::stod(page.substr(at + wanted.size()));
    }

    flow::child_process process;
    std::uint16_t traffic = 0;
    std::uint16_t admin = 0;
    std::uint16_t metrics = 0;
};

}  // namespace

TEST_CASE("as many connections are open as the limit says, and one more is told so and closed")
{
    const relayed x{test_support::answer_json("{}"), [](config::settings& s) { s.limits.connections = 2; }};
    http_client first{x.port()};
    http_client second{x.port()};
    for (auto* caller : {&first, &second}) {
        caller->send(call_text(call_body()));
        CHECK(caller->read_response().status == 200);
    }
    http_client third{x.port()};
    const auto refused = third.read_response();
    CHECK(refused.status == 503);
    CHECK(refused.header("Cardea-Error") == "overloaded");
    CHECK(refused.header("Retry-After") == "5");
    CHECK(refused.header("Connection") == "close");
    CHECK(third.closed_by_peer());
    CHECK(x.gateway.metric("cardea_connections_refused_total") == 1);
    CHECK(x.gateway.metric("cardea_connections_open") == 2);
    CHECK(x.gateway.log().wait_for([](auto line) { return line.find("connections_refused") != line.npos; }));
    first.close();
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 1));
    CHECK(flow::call(x.port(), call_body()).status == 200);
}

TEST_CASE("what is sent ahead of an answer is read up to the limit, and not a byte more")
{
    constexpr std::size_t limit = 2048;
    test_support::gate go;
    relayed x{test_support::raw({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}, go), [](config::settings& s) {
                  s.limits.read_ahead = limit;
                  s.timeouts.upstream_head = 1h;
              }};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    REQUIRE(go.wait_until_reached());
    const auto next = call_text(call_body('"' + std::string(3000, 'i') + '"'));
    caller.send(std::string_view{next}.substr(0, limit - 1));
    CHECK(wait_for_unread(x.port(), caller.local_port(), 0));
    caller.send(std::string_view{next}.substr(limit - 1, 1));
    CHECK(wait_for_unread(x.port(), caller.local_port(), 0));
    caller.send(std::string_view{next}.substr(limit, 1));
    CHECK(wait_for_unread(x.port(), caller.local_port(), 1));
    CHECK_FALSE(wait_for_unread(x.port(), caller.local_port(), 0));
    caller.send(std::string_view{next}.substr(limit + 1));
    go.release(2);
    CHECK(caller.read_response().status == 200);
    CHECK(caller.read_response().status == 200);
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("when descriptors run out admin and metrics answer, nothing spins, and it is over when they are back")
{
    constexpr std::size_t flood = 1000;
    const test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    constexpr int most = 108;
    poor_gateway gateway{256, agent.url("/rpc")};
    {
        // As many as may be: 45 % of what is not reserved; each of them with a connection to the agent.
        std::vector<http_client> kept;
        for (int i = 0; i < most; ++i) {
            auto& caller = kept.emplace_back(gateway.traffic);
            caller.send(call_text(call_body()));
            CHECK(caller.read_response().status == 200);
        }
        CHECK(gateway.metric("cardea_connections_open") == most);
        std::vector<http_client> beyond;
        for (std::size_t i = 0; i < flood; ++i) {
            beyond.emplace_back(gateway.traffic);
        }
        CHECK(beyond.back().read_response().status == 503);
        CHECK(gateway.metric("cardea_connections_refused_total") == flood);
        CHECK(test_support::request(gateway.admin, "GET", "/healthz").status == 200);
        CHECK(test_support::request(gateway.metrics, "GET", "/metrics").status == 200);
        CHECK(gateway.metric("process_open_fds") < 256);
        const auto before = gateway.metric("process_cpu_seconds_total");
        CHECK_FALSE(kept.front().closed_by_peer(1000ms));
        CHECK(gateway.metric("process_cpu_seconds_total") - before < 0.2);
        kept.back().send(call_text(call_body()));
        CHECK(kept.back().read_response().status == 200);
    }
    const auto start = std::chrono::steady_clock::now();
    unsigned status = 503;
    while (status == 503 && std::chrono::steady_clock::now() - start < 5s) {
        status = flow::call(gateway.traffic, call_body()).status;
    }
    CHECK(status == 200);
    CHECK(std::chrono::steady_clock::now() - start < 1s);
    gateway.process.signal(SIGTERM);
    CHECK(gateway.process.wait() == 0);
}

TEST_CASE("programs that are MCP servers leave descriptors to callers, say why they are not started, and try again")
{
    const test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    std::string programs;
    for (int i = 0; i < 40; ++i) {
        programs += ", s" + std::to_string(i) + ": {command: sleep, args: ['1000'], era: legacy}";
    }
    poor_gateway gateway{100, agent.url("/rpc"), programs};
    const auto refused = [](auto line) { return line.find("kept for callers") != line.npos; };
    REQUIRE(gateway.process.wait_for_line(refused).has_value());
    std::vector<http_client> callers;
    for (int i = 0; i < 10; ++i) {
        auto& caller = callers.emplace_back(gateway.traffic);
        caller.send(call_text(call_body()));
        CHECK(caller.read_response().status == 200);
    }
    CHECK(gateway.metric("process_open_fds") > 60);
    gateway.process.signal(SIGTERM);
    CHECK(gateway.process.wait() == 0);
}

TEST_CASE("connections to agents leave the reserved descriptors alone")
{
    // Streams of one connection each on both sides would need more than there are.
    test_support::scripted_agent agent{[](const auto&) { return test_support::event_stream(); }};
    poor_gateway gateway{56, agent.url("/rpc")};
    std::vector<http_client> callers;
    std::size_t streams = 0;
    for (int i = 0; i < 14; ++i) {
        auto& caller = callers.emplace_back(gateway.traffic);
        caller.send(call_text(call_body("1", "message/stream")));
        const auto status = caller.read_head().status;
        CHECK((status == 200 || status == 503));
        streams += status == 200 ? 1 : 0;
    }
    CHECK(streams > 0);
    CHECK(gateway.metric("process_open_fds") <= 56 - 12);
    CHECK(test_support::request(gateway.admin, "GET", "/readyz").status == 200);
    gateway.process.signal(SIGTERM);
    gateway.process.signal(SIGTERM);
    CHECK(gateway.process.wait().has_value());
}

TEST_SUITE_END();
