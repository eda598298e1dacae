#include "gateway/model/version.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

TEST_SUITE_BEGIN("flow/admin");

namespace {

using flow::a2a_agent;
using flow::check_refusal;
using flow::get_card;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::request;
using test_support::scripted_agent;

constexpr const char* some_call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";

config::settings settings_for(const scripted_agent& agent)
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    return settings;
}

test_support::http_response metrics(const running_gateway& gateway)
{
    return request(gateway.admin_port(), "GET", "/metrics");
}

// The families of a page by type, after a check of every line of it (Prometheus text format 0.0.4).
std::map<std::string, std::string> families_of(const std::string& page)
{
    static const std::regex type{R"(# TYPE ([a-z][a-z0-9_]*) (counter|gauge|histogram))"};
    static const std::regex sample{
        R"re(([a-z][a-z0-9_]*)(\{[a-z_]+="[^"\\\n]*"(,[a-z_]+="[^"\\\n]*")*\})? (-?[0-9.e+-]+|\+Inf|NaN))re"
    };
    std::map<std::string, std::string> types;
    std::set<std::string> series;
    std::istringstream in{page};
    for (std::string line; std::getline(in, line);) {
        CAPTURE(line);
        std::smatch found;
        if (line.starts_with("# HELP ")) {
            continue;
        }
        if (std::regex_match(line, found, type)) {
            CHECK(types.emplace(found[1], found[2]).second);
            continue;
        }
        REQUIRE(std::regex_match(line, found, sample));
        auto family = found[1].str();
        if (!types.contains(family)) {
            family = std::regex_replace(family, std::regex{"_(bucket|sum|count)$"}, "");
        }
        CHECK(types.contains(family));
        CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
    }
    return types;
}

}  // namespace

TEST_CASE("the metrics page is Prometheus text with every family, before and after the first request")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    const running_gateway gateway{settings_for(agent)};
    for (int round = 0; round < 2; ++round) {
        const auto page = metrics(gateway);
        CHECK(page.status == 200);
        CHECK(page.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
        CHECK(page.header("Cache-Control") == "no-store");
        const auto types = families_of(page.body);
        for (const auto& [family, type] : std::map<std::string, std::string>{
                 {"cardea_http_requests_total", "counter"},
                 {"cardea_agent_requests_total", "counter"},
                 {"cardea_agent_request_duration_seconds", "histogram"},
                 {"cardea_agent_time_to_first_byte_seconds", "histogram"},
                 {"cardea_streams_active", "gauge"},
                 {"cardea_card_cache_total", "counter"},
                 {"cardea_card_fetch_total", "counter"},
                 {"cardea_card_age_seconds", "gauge"},
                 {"cardea_upstream_errors_total", "counter"},
                 {"cardea_build_info", "gauge"},
                 {"cardea_ready", "gauge"},
                 {"process_resident_memory_bytes", "gauge"},
             }) {
            CAPTURE(family);
            CHECK(types.contains(family));
            CHECK((!types.contains(family) || types.at(family) == type));
        }
        get_card(gateway, "a");
        flow::post_json(gateway.port(), "/agents/a", some_call);
    }
}

TEST_CASE("counters move as requests happen")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = settings_for(agent);
    settings.agents.push_back(a2a_agent("dead", "http://127.0.0.1:" + std::to_string(test_support::unused_port())));
    settings.workers = 2;
    const running_gateway gateway{std::move(settings)};
    CHECK(gateway.metric("cardea_agents") == 2);
    CHECK(gateway.metric("cardea_ready") == 1);
    for (int i = 0; i < 3; ++i) {
        get_card(gateway, "a");
        flow::post_json(gateway.port(), "/agents/a", some_call);
        flow::post_json(gateway.port(), "/agents/dead", some_call);
    }
    get_card(gateway, "dead");
    get_card(gateway, "ghost");
    request(gateway.port(), "GET", "/nothing");
    flow::post_json(gateway.port(), "/rpc", flow::managing("agents/list", "{}"));
    for (const auto& [series, value] : std::map<std::string, double>{
             {R"(cardea_http_requests_total{route="card",method="GET",code="200"})", 3},
             {R"(cardea_http_requests_total{route="card",method="GET",code="404"})", 1},
             {R"(cardea_http_requests_total{route="card",method="GET",code="502"})", 1},
             {R"(cardea_http_requests_total{route="call",method="POST",code="200"})", 3},
             {R"(cardea_http_requests_total{route="call",method="POST",code="502"})", 3},
             {R"(cardea_http_requests_total{route="none",method="GET",code="404"})", 1},
             {R"(cardea_http_requests_total{route="management",method="POST",code="200"})", 1},
             {R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method="message/send",outcome="ok"})", 3},
             {R"(cardea_upstream_errors_total{agent="dead",reason="upstream_refused"})", 3},
             {R"(cardea_card_cache_total{agent="a",result="miss"})", 1},
             {R"(cardea_card_cache_total{agent="a",result="hit"})", 2},
             {R"(cardea_card_fetch_total{agent="dead",outcome="upstream_refused"})", 1},
             {R"(cardea_agent_request_duration_seconds_count{agent="a"})", 3},
         }) {
        CAPTURE(series);
        CHECK(gateway.wait_for_metric(series, value));
    }
    CHECK(gateway.metric(R"(cardea_card_age_seconds{agent="a"})").has_value());
    CHECK_FALSE(gateway.metric(R"(cardea_card_age_seconds{agent="dead"})").has_value());
}

TEST_CASE("no word of a caller becomes a label")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"Evil-name"})"); }};
    const running_gateway gateway{settings_for(agent)};
    get_card(gateway, "evil-agent");
    get_card(gateway, "a");
    request(gateway.port(), "GET", "/evil-path");
    request(gateway.port(), "PROPFIND", "/agents/a");
    flow::post_json(gateway.port(), "/agents/evil-agent", some_call);
    flow::post_json(
        gateway.port(),
        "/agents/a",
        R"({"jsonrpc":"2.0","id":"evil-id","method":"evil/method","params":{"evil":1}})"
    );
    flow::post_json(gateway.port(), "/rpc", R"({"jsonrpc":"2.0","id":1,"method":"evil/management"})");
    CHECK(gateway.wait_for_metric(R"(cardea_http_requests_total{route="management",method="POST",code="200"})", 1));
    const auto page = metrics(gateway).body;
    CHECK(page.find("evil") == std::string::npos);
    // What an agent is called is of its card, and stands in one series.
    const auto name = page.find("Evil");
    CHECK(page.rfind("\ncardea_agent_info{", name) == page.rfind('\n', name));
    CHECK(page.find("Evil", name + 1) == std::string::npos);
    CHECK(page.find("PROPFIND") == std::string::npos);
    CHECK(families_of(page).size() > 10);
}

TEST_CASE("health and readiness are plain words, also for HEAD, while the gateway serves")
{
    const running_gateway gateway{quick_settings()};
    for (const auto& [path, word] :
         std::map<std::string, std::string>{{"/healthz", "alive\n"}, {"/readyz", "ready\n"}}) {
        const auto got = request(gateway.admin_port(), "GET", path + "?probe=1");
        CHECK(got.status == 200);
        CHECK(got.body == word);
        CHECK(got.header("Content-Type") == "text/plain; charset=utf-8");
        const auto head = request(gateway.admin_port(), "HEAD", path);
        CHECK(head.status == 200);
        CHECK(head.body.empty());
        CHECK(head.header("Content-Length") == std::to_string(word.size()));
    }
}

TEST_CASE("while it drains the gateway is alive, not ready, and still gives its metrics")
{
    test_support::gate held;
    scripted_agent agent{[&](const auto&) {
        return test_support::then({test_support::pass_gate{held.shared()}}, answer_json("{}"));
    }};
    running_gateway gateway{settings_for(agent)};
    test_support::http_client caller{gateway.port()};
    caller.send(test_support::request_text("POST", "/agents/a", {{"Content-Type", "application/json"}}, some_call));
    REQUIRE(held.wait_until_reached());
    gateway.stop();
    test_support::http_response ready;
    CHECK(flow::becomes_true([&] {
        ready = request(gateway.admin_port(), "GET", "/readyz");
        return ready.status != 200;
    }));
    CHECK(ready.status == 503);
    CHECK(ready.body == "draining\n");
    CHECK(request(gateway.admin_port(), "GET", "/healthz").status == 200);
    CHECK(gateway.metric("cardea_ready") == 0);
    held.release();
    CHECK(caller.read_response().status == 200);
    CHECK(gateway.wait_until_stopped());
}

TEST_CASE("the index of the admin listener has the version and every route there, each of which answers")
{
    scripted_agent agent;
    const running_gateway gateway{settings_for(agent)};
    const auto page = request(gateway.admin_port(), "GET", "/");
    CHECK(page.status == 200);
    CHECK(page.body.starts_with("Cardea " + std::string{gateway::model::version()} + ", a gateway for "));
    CHECK(request(gateway.admin_port(), "HEAD", "/").status == 200);
    check_refusal(request(gateway.admin_port(), "DELETE", "/"), 405, "method_not_allowed", "");
    const auto described = request(gateway.admin_port(), "GET", "/", {{"Accept", "application/json"}});
    CHECK(flow::parsed(described.body)["version"] == std::string{gateway::model::version()});
    const auto routes = flow::parsed(described.body)["routes"];
    CHECK(routes.size() == 10);
    for (const auto& each : routes) {
        const auto path = each["path"].get<std::string>();
        CAPTURE(path);
        CHECK(page.body.find(each["method"].get<std::string>()) != std::string::npos);
        CHECK(page.body.find(' ' + path + ' ') != std::string::npos);
        // Without a body, which a POST there needs; to the head, since there is a stream without an end.
        test_support::http_client client{gateway.admin_port()};
        client.send(test_support::request_text(
            each["method"].get<std::string>(),
            std::regex_replace(path, std::regex{"<id>"}, "a")
        ));
        const auto status = client.read_head().status;
        CHECK(status != 404);
        CHECK(status != 405);
    }
}

TEST_CASE("no page for operators is for a request that has come through a gateway of this kind")
{
    auto settings = quick_settings();
    settings.metrics = {"127.0.0.1", 0};
    const running_gateway gateway{std::move(settings)};
    struct row {
        std::uint16_t port;
        const char* method;
        const char* target;
    };
    const auto admin = gateway.admin_port();
    for (const auto& [port, method, target] : std::vector<row>{
             {admin, "GET", "/"},
             {admin, "GET", "/healthz"},
             {admin, "HEAD", "/readyz"},
             {admin, "GET", "/metrics"},
             {admin, "POST", "/rpc"},
             {admin, "POST", "/reload"},
             {admin, "POST", "/handover"},
             {admin, "POST", "/agent/register"},
             {admin, "GET", "/nothing"},
             {gateway.metrics_port(), "GET", "/metrics"},
             {gateway.metrics_port(), "GET", "/healthz"},
             {gateway.metrics_port(), "GET", "/nothing"}
         }) {
        CAPTURE(target);
        const auto with = [&](test_support::field_list fields) {
            fields.emplace_back("Content-Type", "application/json");
            return request(port, method, target, fields, flow::managing("agents/list", "{}"));
        };
        for (const auto& via : std::vector<test_support::field_list>{
                 {{"Via", "1.1 cardea-0123456789abcdef"}},
                 {{"via", "1.0 proxy, 1.1 cardea-0123456789abcdef, 1.1 other"}},
                 {{"Via", "1.1 proxy"}, {"Via", "1.1 cardea-0123456789abcdef"}}
             }) {
            const auto refused = with(via);
            CHECK(refused.status == 403);
            CHECK(refused.header("Cardea-Error") == "origin_forbidden");
        }
        CHECK(with({{"Via", "1.1 proxy"}}).header("Cardea-Error") != "origin_forbidden");
    }
}

TEST_CASE("an agent of the management API at the admin listener turns no call into a method of it")
{
    const running_gateway gateway{quick_settings()};
    const auto admin = "http://127.0.0.1:" + std::to_string(gateway.admin_port());
    flow::manage(
        gateway,
        "agents/upsert",
        {{"id", "self"}, {"agent", {{"url", admin + "/rpc"}, {"relay_paths", {"/**"}}, {"headers", {{"X-Any", "x"}}}}}}
    );
    const auto written = R"({"id":"planted","agent":{"url":"http://127.0.0.1:9/"}})";
    const auto called = flow::post_json(gateway.port(), "/agents/self", flow::managing("agents/upsert", written));
    CHECK(called.status == 403);
    CHECK(flow::get_card(gateway, "planted").status == 404);
    for (const auto* path : {"/metrics", "/healthz", "/"}) {
        CAPTURE(path);
        CHECK(request(gateway.port(), "GET", "/agents/self" + std::string{path}).status == 403);
    }
}

TEST_CASE("the admin listener has nothing else, and the traffic listener has none of it")
{
    scripted_agent agent;
    const running_gateway gateway{settings_for(agent)};
    for (const auto* path : {"/x", "/metrics/", "/readyz/x", "/agents/a", "/agents/a/.well-known/agent-card.json"}) {
        CAPTURE(path);
        check_refusal(request(gateway.admin_port(), "GET", path), 404, "not_found", "");
    }
    for (const auto* path : {"/metrics", "/healthz", "/readyz"}) {
        CAPTURE(path);
        check_refusal(request(gateway.port(), "GET", path), 404, "not_found", "");
        const auto posted = request(gateway.admin_port(), "POST", path);
        check_refusal(posted, 405, "method_not_allowed", "");
        CHECK(posted.header("Allow") == "GET, HEAD");
    }
}

TEST_CASE("an agent that is disabled while it streams is on the metrics page once")
{
    scripted_agent agent{[](const auto&) { return test_support::event_stream(); }};
    const running_gateway gateway{flow::quick_settings()};
    const auto write = [&](bool disabled) {
        flow::manage(
            gateway,
            "agents/upsert",
            {{"id", "a"}, {"agent", {{"url", agent.url()}, {"card", {{"name", "A"}}}, {"disabled", disabled}}}}
        );
    };
    write(false);
    test_support::http_client caller{gateway.port()};
    caller.send(test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}})"
    ));
    CHECK(caller.read_head().status == 200);
    write(true);
    families_of(metrics(gateway).body);  // with every series once
    CHECK(gateway.metric(R"(cardea_streams_active{agent="a"})") == 1);
}

TEST_SUITE_END();
