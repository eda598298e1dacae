// The listener `metrics`, and what `hosts` leaves to operators.
#include "gateway/telemetry/metric_table.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/scrape");

namespace {

using flow::a2a_agent;
using flow::check_refusal;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::http_client;
using test_support::request;
using test_support::scripted_agent;

constexpr const char* some_call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";

std::string calls_of(std::string_view agent)
{
    return R"(cardea_agent_calls_total{agent=")" + std::string{agent} + R"(",outcome="ok"})";
}

config::settings scraped_settings()
{
    auto settings = quick_settings();
    settings.metrics = {"127.0.0.1", 0};
    return settings;
}

}  // namespace

TEST_CASE("the metrics listener has the pages of probes and of Prometheus, under any Host, whatever hosts says")
{
    auto settings = scraped_settings();
    settings.hosts = {"agents.example.com"};
    const running_gateway gateway{std::move(settings)};
    REQUIRE(gateway.metrics_port() != 0);
    for (const auto* host : {"10.244.1.7:4002", "pod.example", "attacker.example"}) {
        CAPTURE(host);
        const auto page = request(gateway.metrics_port(), "GET", "/metrics", {{"Host", host}});
        CHECK(page.status == 200);
        CHECK(page.body.find("\ncardea_ready 1\n") != std::string::npos);
        CHECK(request(gateway.metrics_port(), "GET", "/healthz", {{"Host", host}}).body == "alive\n");
        CHECK(request(gateway.metrics_port(), "GET", "/readyz", {{"Host", host}}).body == "ready\n");
    }
    CHECK(request(gateway.metrics_port(), "HEAD", "/metrics").status == 200);
}

TEST_CASE("The page is never compressed, and ends with the connection for HTTP/1.0")
{
    const running_gateway gateway{scraped_settings()};
    for (const auto port : {gateway.metrics_port(), gateway.admin_port()}) {
        const auto page = request(port, "GET", "/metrics", {{"Accept-Encoding", "gzip"}});
        CHECK(page.status == 200);
        CHECK(page.count("Content-Encoding") == 0);
        CHECK(page.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
        CHECK(page.body.ends_with('\n'));
    }
    http_client scraper{gateway.metrics_port()};
    scraper.send("GET /metrics HTTP/1.0\r\nHost: a\r\n\r\n");
    CHECK(scraper.read_head().status == 200);
    CHECK(scraper.read_until_closed().find("\ncardea_ready 1\n") != std::string::npos);
}

TEST_CASE("The first metrics_agents agents by id have series, and the others are counted")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})"); }};
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}}) {
        CAPTURE(most);
        auto settings = scraped_settings();
        settings.workers = 2;
        settings.metrics_agents = most;
        for (const auto* id : {"c", "a", "b"}) {
            settings.agents.push_back(a2a_agent(id, agent.url()));
        }
        const running_gateway gateway{std::move(settings)};
        for (const auto* target : {"/agents/a", "/agents/b", "/agents/b", "/agents/c"}) {
            REQUIRE(flow::post_json(gateway.port(), target, some_call).status == 200);
        }
        const auto value = [](bool shown, double calls) { return shown ? std::optional{calls} : std::nullopt; };
        CHECK(gateway.metric("cardea_metrics_agents_omitted") == (most < 3 ? 3.0 - static_cast<double>(most) : 0.0));
        CHECK(gateway.metric(calls_of("a")) == value(most > 0, 1));
        CHECK(gateway.metric(calls_of("b")) == value(most > 0, 2));
        CHECK(gateway.metric(calls_of("c")) == value(most > 2, 1));
        CHECK(gateway.metric(R"(cardea_agent_status{agent="c",status="healthy"})").has_value() == (most > 2));
        CHECK_FALSE(gateway.metric(calls_of("(other)")).has_value());
    }
}

TEST_CASE("The page of more agents than one slice has each family once, and each series once")
{
    auto settings = scraped_settings();
    for (int i = 0; i < 300; ++i) {
        settings.agents.push_back(a2a_agent("agent-" + std::to_string(i), "http://127.0.0.1:1/"));
    }
    const running_gateway gateway{std::move(settings)};
    std::istringstream lines{request(gateway.metrics_port(), "GET", "/metrics").body};
    std::set<std::string> seen;
    std::size_t series = 0;
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(seen.insert(line.starts_with("#") ? line : line.substr(0, line.rfind(' '))).second);
        series += line.starts_with("cardea_agent_calls_total{") ? 1 : 0;
    }
    CHECK(series == 1200);
    const std::set<std::string_view> of_shared_store{
        "cardea_store_up",
        "cardea_store_notify_up",
        "cardea_store_lag_seconds",
        "cardea_store_applied_version",
        "cardea_store_reloads_total",
        "cardea_replicas"
    };
    for (const auto& row : gateway::telemetry::metric_rows::all) {
        CAPTURE(row.name);
        const bool shown = seen.contains("# HELP " + std::string{row.name} + ' ' + std::string{row.help});
        CHECK(shown != of_shared_store.contains(row.name));
    }
}

TEST_CASE("A request is in flight until it has its answer, and is timed then")
{
    std::atomic<std::uint16_t> port{0};
    std::atomic<bool> seen{false};
    scripted_agent agent{[&](const auto&) {
        const auto page = request(port, "GET", "/metrics").body;
        seen = page.find("\ncardea_requests_in_flight 1\n") != page.npos;
        return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    }};
    auto settings = scraped_settings();
    settings.agents = {a2a_agent("a", agent.url())};
    const running_gateway gateway{std::move(settings)};
    port = gateway.metrics_port();
    REQUIRE(flow::post_json(gateway.port(), "/agents/a", some_call).status == 200);
    CHECK(seen);
    CHECK(gateway.wait_for_metric("cardea_requests_in_flight", 0));
    CHECK(gateway.metric(R"(cardea_http_request_duration_seconds_count{route="call"})") == 1);
}

TEST_CASE("An MCP server is one on every page, also if it is called as an agent of A2A")
{
    auto settings = scraped_settings();
    for (const auto* id : {"bridged", "alone"}) {
        auto server = a2a_agent(id, "http://127.0.0.1:1/mcp");
        server.speaks = core::protocol::mcp;
        server.mcp.emplace().start = core::mcp_start::lazy;
        server.bridge = server.id == "bridged";
        settings.agents.push_back(std::move(server));
    }
    const running_gateway gateway{std::move(settings)};
    const auto calls = [&](const std::string& id, const std::string& outcome) {
        return gateway.metric(
            R"(cardea_agent_requests_total{agent=")" + id + R"(",protocol="mcp",rpc_method="message/send",outcome=")" +
            outcome + "\"}"
        );
    };
    const auto status = [&](const std::string& id, const std::string& word) {
        return R"(cardea_agent_status{agent=")" + id + R"(",status=")" + word + "\"}";
    };
    CHECK(flow::post_json(gateway.port(), "/agents/alone", some_call).status == 501);
    CHECK(calls("alone", "gateway_error") == 1);
    CHECK(gateway.metric(status("alone", "unknown")) == 1);
    CHECK(gateway.metric(status("alone", "healthy")) == 0);

    CHECK(flow::post_json(gateway.port(), "/agents/bridged", some_call).status == 200);
    CHECK(calls("bridged", "caller_error") == 1);  // without a message
    CHECK(gateway.metric(status("bridged", "unknown")) == 1);
    const auto* const whole =
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message",)"
        R"("role":"user","messageId":"1","parts":[{"kind":"data","data":{"tool":"t"}}]}}})";
    CHECK(flow::post_json(gateway.port(), "/agents/bridged", whole).status == 200);
    CHECK(calls("bridged", "ok") == 1);  // its answer says that the server is away
    CHECK(calls("bridged", "caller_error") == 1);
    CHECK(gateway.wait_for_metric(status("bridged", "unhealthy"), 1));

    for (const std::string id : {"bridged", "alone"}) {
        CHECK(
            gateway.metric(
                R"(cardea_agent_info{agent=")" + id + R"(",name="",protocol="mcp",version="",source="configuration"})"
            ) == 1
        );
        CHECK_FALSE(gateway.metric(
            R"(cardea_agent_info{agent=")" + id + R"(",name="",protocol="a2a",version="",source="configuration"})"
        ));
    }
}

TEST_CASE("An agent's name and version are those of its card, however hostile")
{
    scripted_agent agent{[](const auto&) {
        return answer_json(R"({"name":"a\"} 1\ncardea_ready 0 #\\","version":"1.0\u0000","url":"http://a/"})");
    }};
    auto settings = scraped_settings();
    settings.agents = {a2a_agent("a", agent.url())};
    const running_gateway gateway{std::move(settings)};
    CHECK(flow::get_card(gateway, "a").status == 200);
    const auto page = request(gateway.metrics_port(), "GET", "/metrics").body;
    const std::string expected =
        R"(cardea_agent_info{agent="a",name="a\"} 1 cardea_ready 0 #\\",protocol="a2a",version="1.0 ",source="configuration"} 1)";
    CHECK(page.find("\n" + expected + "\n") != page.npos);
    CHECK(page.find("\ncardea_ready 1\n") != page.npos);
    CHECK(page.find("\ncardea_agent_status{agent=\"a\",status=\"healthy\"} 1\n") != page.npos);
    for (const auto* severity : {"error", "warning", "note"}) {
        CHECK(
            page.find("\ncardea_card_problems{agent=\"a\",severity=\"" + std::string{severity} + "\"} ") != page.npos
        );
    }
}

TEST_CASE("Pages that are made at the same time are whole")
{
    auto settings = scraped_settings();
    settings.metrics_agents = 300;
    for (int i = 0; i < 900; ++i) {
        settings.agents.push_back(a2a_agent("agent-" + std::to_string(i), "http://127.0.0.1:1/"));
    }
    const running_gateway gateway{std::move(settings)};
    std::vector<http_client> scrapers;
    for (int i = 0; i < 8; ++i) {
        scrapers.emplace_back(gateway.metrics_port()).send(test_support::request_text("GET", "/metrics"));
    }
    for (auto& each : scrapers) {
        const auto page = each.read_response().body;
        CHECK(page.find("\ncardea_metrics_agents_omitted 600\n") != page.npos);
        CHECK(page.find("\ncardea_agent_status{agent=\"agent-0\",status=\"unknown\"} 1\n") != page.npos);
    }
}

TEST_CASE("A page shows the certificates of its listeners, and writes to the store from 0")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    auto settings = scraped_settings();
    settings.admin_tls = {{shown.cert_file, shown.key_file, {}}};
    const running_gateway gateway{std::move(settings)};
    const auto page = request(gateway.metrics_port(), "GET", "/metrics").body;
    CHECK(
        page.find(
            "\ncardea_tls_certificate_not_after_timestamp_seconds{listener=\"admin\",cert=\"" + shown.cert_file + "\"} "
        ) != page.npos
    );
    CHECK(page.find("{listener=\"traffic\"") == page.npos);
    for (const auto* outcome : {"ok", "store_failed", "store_full"}) {
        CAPTURE(outcome);
        const auto series = "\ncardea_store_writes_total{outcome=\"" + std::string{outcome} + "\"} 0\n";
        CHECK(page.find(series) != page.npos);
    }
    CHECK(page.find("\ncardea_config_restart_needed 0\n") != page.npos);
    CHECK(page.find(",revision=\"\"") == page.npos);
}

TEST_CASE("The page describes the process")
{
    const running_gateway gateway{scraped_settings()};
    const auto value = [&](const std::string& series) { return gateway.metric(series).value_or(-1); };
    CHECK(value("process_resident_memory_bytes") > 1e6);
    CHECK(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
    CHECK(value("process_open_fds") > 3);
    CHECK(value("process_max_fds") >= value("process_open_fds"));
    CHECK(value("process_threads") >= 3);
    CHECK(value("process_cpu_seconds_total") > 0);
    const auto now = std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
    CHECK(value("cardea_start_time_seconds") == doctest::Approx(now).epsilon(1e-6));
    CHECK(value("process_start_time_seconds") == value("cardea_start_time_seconds"));
    CHECK(value("cardea_config_last_success_timestamp_seconds") == doctest::Approx(now).epsilon(1e-6));
    CHECK(value("cardea_config_last_reload_successful") == 1);
}

TEST_CASE("Writes of agents count, and one that is refused for its version does not")
{
    const running_gateway gateway{scraped_settings()};
    const std::string params = R"({"id":"new","agent":{"url":"http://127.0.0.1:1/"})";
    CHECK(flow::error_of(gateway, "agents/upsert", params + "}").is_null());
    CHECK_FALSE(flow::error_of(gateway, "agents/upsert", params + R"(,"ifVersion":99})").is_null());
    CHECK(gateway.metric(R"(cardea_store_writes_total{outcome="ok"})") == 1);
    CHECK(
        gateway.metric(R"(cardea_agent_info{agent="new",name="",protocol="a2a",version="",source="management"})") == 1
    );
}

TEST_CASE("the metrics listener can do nothing but show")
{
    const running_gateway gateway{scraped_settings()};
    for (const auto* path : {"/", "/rpc", "/reload", "/agent/register", "/agents", "/metrics/"}) {
        for (const auto* method : {"GET", "POST", "DELETE"}) {
            CAPTURE(path);
            CAPTURE(method);
            check_refusal(request(gateway.metrics_port(), method, path), 404, "not_found", "");
        }
    }
    const auto posted = request(gateway.metrics_port(), "POST", "/metrics");
    check_refusal(posted, 405, "method_not_allowed", "");
    CHECK(posted.header("Allow") == "GET, HEAD");
}

TEST_CASE("without `metrics` there is no such listener")
{
    CHECK(running_gateway{quick_settings()}.metrics_port() == 0);
}

TEST_CASE("as many connections to metrics are open as the limit says, and one more is told so and closed")
{
    for (const std::size_t most : {1U, 2U, 3U}) {
        auto settings = scraped_settings();
        settings.limits.metrics_connections = most;
        const running_gateway gateway{std::move(settings)};
        std::vector<http_client> scrapers;
        for (std::size_t i = 0; i < most; ++i) {
            auto& each = scrapers.emplace_back(gateway.metrics_port());
            each.send(test_support::request_text("GET", "/healthz"));
            CHECK(each.read_response().status == 200);
        }
        http_client beyond{gateway.metrics_port()};
        CHECK(beyond.read_response().status == 503);
        CHECK(beyond.closed_by_peer());
        CHECK(request(gateway.admin_port(), "GET", "/healthz").status == 200);
    }
}

TEST_CASE("the metrics listener serves over TLS too")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    auto settings = scraped_settings();
    settings.metrics_tls = {{shown.cert_file, shown.key_file, {}}};
    const running_gateway gateway{std::move(settings)};
    http_client scraper{gateway.metrics_port(), test_support::tls_caller{ca.ca_file()}};
    scraper.send(test_support::request_text("GET", "/readyz"));
    CHECK(scraper.read_response().status == 200);
    CHECK(request(gateway.admin_port(), "GET", "/readyz").status == 200);
}

TEST_CASE("hosts restricts callers: operators reach admin by loopback names and its address as before")
{
    auto settings = quick_settings();
    settings.hosts = {"agents.example.com"};
    const running_gateway gateway{std::move(settings)};
    for (const auto* host : {"127.0.0.1:4001", "localhost", "[::1]:4001", "10.1.2.3", "agents.example.com"}) {
        CAPTURE(host);
        CHECK(request(gateway.admin_port(), "GET", "/readyz", {{"Host", host}}).status == 200);
    }
    CHECK(request(gateway.admin_port(), "GET", "/readyz", {{"Host", "attacker.example"}}).status == 421);
    CHECK(request(gateway.port(), "GET", "/agents", {{"Host", "localhost"}}).status == 421);
    CHECK(request(gateway.port(), "GET", "/agents", {{"Host", "agents.example.com"}}).status == 200);
}

TEST_SUITE_END();
