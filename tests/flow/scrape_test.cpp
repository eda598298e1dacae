// The listener `metrics`, and what `hosts` leaves to operators.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/scrape");

namespace {

using flow::check_refusal;
using flow::quick_settings;
using flow::running_gateway;
using test_support::http_client;
using test_support::request;

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
