// Agents that are reached through an HTTP proxy. Their names are known to the proxy alone.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_session_server.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"
#include "tests/support/tunnel_proxy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using core::secret;
using flow::call;
using flow::call_body;
using flow::error_answer;
using flow::relayed;
using test_support::answer;
using test_support::answer_json;
using test_support::scripted_agent;
using test_support::tunnel_proxy;

TEST_SUITE_BEGIN("flow/proxies");

namespace {

constexpr std::string_view planted = "planted-value";
constexpr std::string_view shown_to_proxy = "Basic bWU6cGxhbnRlZC12YWx1ZQ==";  // me:planted-value

constexpr error_answer
    no_tunnel{502, -32603, "upstream_proxy", "The proxy did not connect the gateway to the agent.", false};

// The scripted agent is the proxy, of this agent alone or of all.
void be_proxy(config::settings& settings, bool of_all)
{
    auto& agent = settings.agents[0];
    auto proxy = agent.url;
    proxy.erase(proxy.rfind('/'));
    proxy.insert(proxy.find("//") + 2, "me:planted-value@");
    (of_all ? settings.proxy : agent.proxy) = secret{proxy};
    agent.url = "http://agent.test/rpc";
    settings.log_level = core::log_level::debug;
}

void check_hidden(const flow::running_gateway& gateway)
{
    auto seen = flow::manage(gateway, "agents/get", {{"id", "a"}}).dump();
    seen += flow::manage(gateway, "agents/health", {{"id", "a"}}).dump();
    CHECK(seen.find(planted) == std::string::npos);
    for (const auto& line : gateway.log().all()) {
        CHECK(line.find(planted) == std::string::npos);
        CHECK(line.find("bWU6cGxhbnRlZC12YWx1ZQ") == std::string::npos);
    }
}

}  // namespace

TEST_CASE("Calls, streams and cards of an agent go through its proxy, and through the gateway's, in absolute form")
{
    for (const bool of_all : {false, true}) {
        CAPTURE(of_all);
        relayed x{answer_json("{}"), [&](config::settings& settings) {
                      be_proxy(settings, of_all);
                      settings.agents[0].queries = {secret{"code=c"}};
                  }};
        for (int i = 0; i < 2; ++i) {
            const auto got = call(x.port(), call_body());
            CHECK(got.status == 200);
            CHECK(got.body == "{}");
        }
        CHECK(x.agent.accepted_connections() == 1);
        x.agent.otherwise([](const auto&) { return answer_json(R"({"name":"A"})"); });
        CHECK(flow::get_card(x.gateway, "a").status == 200);
        REQUIRE(x.agent.request_count() >= 3);
        CHECK(x.agent.request(0).target == "http://agent.test/rpc?code=c");
        CHECK(x.agent.request(0).body == call_body());
        CHECK(x.agent.requests().back().target == "http://agent.test/rpc/.well-known/agent-card.json?code=c");
        for (const auto& each : x.agent.requests()) {
            CHECK(each.header("Host") == "agent.test");
            CHECK(each.header("Proxy-Authorization") == shown_to_proxy);
            CHECK(each.count("Proxy-Authorization") == 1);
        }
        check_hidden(x.gateway);
    }
}

TEST_CASE("A caller's fields for proxies do not reach the proxy, nor the proxy's the caller")
{
    relayed x{answer_json("{}", {{"Proxy-Authenticate", "Basic realm=x"}}), [](config::settings& settings) {
                  be_proxy(settings, false);
              }};
    test_support::http_client caller{x.port()};
    caller.send(
        flow::call_text(call_body(), {{"Proxy-Authorization", "Basic of-caller"}, {"Proxy-Connection", "close"}})
    );
    const auto got = caller.read_response();
    CHECK(got.status == 200);
    CHECK(got.count("Proxy-Authenticate") == 0);
    const auto seen = x.agent.request(0);
    CHECK(seen.count("Proxy-Authorization") == 1);
    CHECK(seen.header("Proxy-Authorization") == shown_to_proxy);
    CHECK(seen.count("Proxy-Connection") == 0);
}

TEST_CASE("An agent over TLS is called through a tunnel to its name, with its own certificate")
{
    test_support::test_ca ca;
    const auto certificate = ca.issue({"agent.test"});
    scripted_agent agent{
        [](const auto&) { return answer_json(R"({"name":"A"})"); },
        {.cert_file = certificate.cert_file, .key_file = certificate.key_file}
    };
    tunnel_proxy proxy{agent.port()};
    auto settings = flow::quick_settings();
    auto& added = settings.agents.emplace_back(flow::a2a_agent("a", "https://agent.test:8443/rpc"));
    added.ca_file = ca.ca_file();
    added.proxy = secret{proxy.url("me:planted-value@")};
    const flow::running_gateway gateway{std::move(settings)};
    for (int i = 0; i < 2; ++i) {
        CHECK(call(gateway.port(), call_body()).status == 200);
    }
    CHECK(proxy.heads().size() == 1);
    CHECK(flow::get_card(gateway, "a").status == 200);
    for (const auto& head : proxy.heads()) {
        CHECK(head.starts_with("CONNECT agent.test:8443 HTTP/1.1\r\nHost: agent.test:8443\r\n"));
        CHECK(head.find("Proxy-Authorization: " + std::string{shown_to_proxy}) != std::string::npos);
    }
    for (const auto& each : agent.requests()) {
        CHECK(each.target.starts_with("/rpc"));
        CHECK(each.count("Proxy-Authorization") == 0);
    }
    check_hidden(gateway);
}

TEST_CASE("A proxy that refuses or is away is 502, whose line has its status or its address, and opens the breaker")
{
    tunnel_proxy proxy{1, "HTTP/1.1 403 Filtered\r\nContent-Length: 0\r\n\r\n"};
    const auto gone = "http://me:planted-value@127.0.0.1:" + std::to_string(test_support::unused_port());
    struct row {
        std::string through;
        std::string detail;
        error_answer told;
    };
    for (const auto& [through, detail, told] :
         {row{proxy.url("me:planted-value@"), "the proxy answered 403", no_tunnel},
          row{gone, "no connection to the proxy 127.0.0.1:", flow::refused}}) {
        CAPTURE(detail);
        auto settings = flow::quick_settings();
        settings.defaults.breaker = {};
        auto& added = settings.agents.emplace_back(flow::a2a_agent("a", "https://agent.test/rpc"));
        added.proxy = secret{through};
        added.breaker_failures = 2;
        const flow::running_gateway gateway{std::move(settings)};
        for (int i = 0; i < 2; ++i) {
            flow::check_jsonrpc_error(call(gateway.port(), call_body()), told, "1");
        }
        CHECK(call(gateway.port(), call_body()).header("Cardea-Error") == "circuit_open");
        const std::string code{told.name};
        CHECK(gateway.log().wait_for([&](std::string_view line) {
            return line.find(R"("code":")" + code + '"') != line.npos && line.find(detail) != line.npos;
        }));
        CHECK(gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason=")" + code + "\"}") == 2);
        check_hidden(gateway);
    }
}

TEST_CASE("A proxy that does not know the gateway is not taken for the agent")
{
    relayed x{answer(407, "who are you?"), [](config::settings& settings) { be_proxy(settings, false); }};
    flow::check_jsonrpc_error(call(x.port(), call_body()), no_tunnel, "1");
    CHECK(flow::get_card(x.gateway, "a").header("Cardea-Error") == "upstream_proxy");
    CHECK(x.gateway.log().wait_for([](std::string_view line) {
        return line.find(R"("detail":"the proxy answered 407")") != line.npos;
    }));
    check_hidden(x.gateway);
}

TEST_CASE("Sessions of an MCP server go through its proxy, those of callers and the gateway's own")
{
    flow::mcp_calls::session_rig rig{[](config::settings& settings) { be_proxy(settings, false); }};
    rig.begin_session();
    CHECK(rig.call().status == 200);
    const auto seen = rig.x->agent.requests();
    REQUIRE_FALSE(seen.empty());
    CHECK(std::ranges::all_of(seen, [](const auto& each) {
        return each.target == "http://agent.test/rpc" && each.header("Proxy-Authorization") == shown_to_proxy;
    }));
}

TEST_CASE("An agent that registered itself is reached through the proxy by its name, and never at a private address")
{
    relayed x{answer_json("{}"), [](config::settings& settings) {
                  be_proxy(settings, true);
                  settings.agents[0].registered = true;
                  for (const auto* const url :
                       {"http://10.0.0.1/rpc", "http://localhost:1/rpc", "http://2130706433/rpc"}) {
                      auto& other = settings.agents.emplace_back(settings.agents[0]);
                      other.id = "b" + std::to_string(settings.agents.size());
                      other.url = url;
                  }
              }};
    CHECK(call(x.port(), call_body()).status == 200);
    const auto before = x.agent.request_count();
    for (const std::string id : {"b2", "b3", "b4"}) {
        CAPTURE(id);
        const auto got = test_support::request(
            x.port(),
            "POST",
            "/agents/" + id,
            {{"Content-Type", "application/json"}},
            call_body()
        );
        CHECK(got.header("Cardea-Error") == "upstream_forbidden");
    }
    CHECK(x.agent.request_count() == before);
}

TEST_SUITE_END();
