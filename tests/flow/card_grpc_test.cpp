#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http2_agent.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/cards/grpc");

namespace {

using core::json;
using flow::a2a_agent;
using flow::get_card;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;
using test_support::http2_agent;
using test_support::scripted_agent;

// An interface of 1.0 at an address that only the agent knows.
std::string modern_card(const std::string& binding, const std::string& more = "")
{
    return R"({"name":"Words","description":"d","version":"1","capabilities":{},"defaultInputModes":["text"],)"
           R"("defaultOutputModes":["text"],"skills":[],"supportedInterfaces":[{"url":"10.9.8.7:50051",)"
           R"("protocolBinding":")" +
           binding + R"(","protocolVersion":"1.0")" + more + "}]}";
}

test_support::h2::script json_answer(const std::string& text)
{
    return test_support::h2::answer(200, text, {{"content-type", "application/json"}});
}

config::settings with_agent(const std::string& url)
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", url));
    return settings;
}

std::string dialled(const running_gateway& gateway)
{
    const auto base = gateway.base();
    return base.substr(base.find("//") + 2);
}

// "1.0 GRPC a", with `!` where the URL is not `at`, for each interface by gRPC; the others by their bindings.
std::string offered(const json& card, const std::string& at)
{
    std::string all;
    for (const auto& each : card["supportedInterfaces"]) {
        const auto binding = each["protocolBinding"].get<std::string>();
        const auto tenant = each.value("tenant", "");
        all += (all.empty() ? "" : ", ") + each["protocolVersion"].get<std::string>() + ' ' + binding;
        all += (tenant.empty() ? "" : ' ' + tenant) + (binding == "GRPC" && each["url"] != at ? "!" : "");
    }
    return all;
}

}  // namespace

TEST_CASE("The card of an agent of gRPC alone is fetched over HTTP/2 and offers every binding, its own first")
{
    http2_agent agent{[](const auto&) { return json_answer(modern_card("GRPC", R"(,"tenant":"t")")); }};
    const running_gateway gateway{with_agent("grpc://127.0.0.1:" + std::to_string(agent.port()))};
    const auto answer = get_card(gateway, "a");
    REQUIRE(answer.status == 200);
    CHECK(
        offered(parsed(answer.body), dialled(gateway)) ==
        "1.0 GRPC a/t, 1.0 JSONRPC t, 1.0 HTTP+JSON t, 0.3 JSONRPC, 0.3 HTTP+JSON"
    );
    CHECK(answer.body.find("50051") == std::string::npos);
    CHECK(answer.body.find(std::to_string(agent.port())) == std::string::npos);
    const auto old = parsed(get_card(gateway, "a", {{"A2A-Version", "0.3"}}).body);
    CHECK(old["url"] == gateway.base() + "/agents/a");
    CHECK(old["additionalInterfaces"].size() == 2);
    CHECK(agent.request(0).target == "/.well-known/agent-card.json");
}

TEST_CASE(
    "An agent with a URL for gRPC beside its own is served with both, and a card that leads elsewhere changes nothing"
)
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json(modern_card("GRPC")); }};
    auto settings = with_agent(agent.url("/rpc"));
    settings.agents.push_back(settings.agents.front());
    settings.agents.back().id = "b";
    settings.agents.back().grpc_url = "grpc://127.0.0.1:1";
    const running_gateway gateway{std::move(settings)};
    flow::check_refusal(get_card(gateway, "a"), 502, "card_unrewritable", "a");
    const auto answer = get_card(gateway, "b");
    REQUIRE(answer.status == 200);
    CHECK(
        offered(parsed(answer.body), dialled(gateway)) ==
        "1.0 GRPC b, 1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"
    );
}

TEST_CASE("The health of an agent has the breaker of its own address for gRPC")
{
    auto settings = with_agent("http://127.0.0.1:1/rpc");
    settings.agents.front().grpc_url = "grpc://127.0.0.1:2";
    const running_gateway gateway{std::move(settings)};
    const auto endpoints = flow::manage(gateway, "agents/health", {{"id", "a"}})["endpoints"];
    REQUIRE(endpoints.size() == 2);
    CHECK(endpoints[0]["url"] == "http://127.0.0.1:1/rpc");
    CHECK(endpoints[1]["endpoint"] == "grpc");
    CHECK(endpoints[1]["breaker"] == "closed");
    CHECK(endpoints[1]["url"] == "grpc://127.0.0.1:2");
}

TEST_CASE("A card offers gRPC where SDKs dial: at the agent's name, at grpc.public, or nowhere")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json(modern_card("JSONRPC")); }};
    const std::string json = "1.0 JSONRPC, 1.0 HTTP+JSON";
    const std::string by_tenant = json + ", 1.0 GRPC a, 0.3 JSONRPC, 0.3 HTTP+JSON";
    const std::string by_name = json + ", 1.0 GRPC, 0.3 JSONRPC, 0.3 HTTP+JSON, 0.3 GRPC";
    struct row {
        const char* what;
        void (*set)(config::settings& settings);
        std::string at;
        std::string expected;
    };
    const row rows[]{
        {"public_url", [](config::settings& s) { s.public_url = "https://gw.test/base"; }, "gw.test:443", by_tenant},
        {"another port", [](config::settings& s) { s.public_url = "http://gw.test:8080"; }, "gw.test:8080", by_tenant},
        {"hosts",
         [](config::settings& s) {
             s.public_url = "https://gw.test:8443";
             s.agents[0].hosts = {"words.test", "other.test"};
         },
         "words.test:8443",
         by_name},
        {"agent_hosts",
         [](config::settings& s) {
             s.public_url = "https://gw.test";
             s.agent_hosts = "{id}.agents.test";
         },
         "a.agents.test:443",
         by_name},
        {"default_agent",
         [](config::settings& s) {
             s.public_url = "https://gw.test";
             s.grpc.default_agent = "a";
         },
         "gw.test:443",
         by_name},
        {"another default_agent",
         [](config::settings& s) {
             s.public_url = "https://gw.test";
             s.grpc.default_agent = "b";
         },
         "gw.test:443",
         by_tenant},
        {"grpc.public", [](config::settings& s) { s.grpc.public_address = "Grpc.test:1"; }, "Grpc.test:1", by_tenant},
        {"grpc.public beside a name",
         [](config::settings& s) {
             s.grpc.public_address = "grpc.test:1";
             s.agents[0].hosts = {"words.test"};
         },
         "grpc.test:1",
         by_tenant},
        {"grpc.public at a name",
         [](config::settings& s) {
             s.grpc.public_address = "Words.test:1";
             s.agents[0].hosts = {"words.test"};
         },
         "Words.test:1",
         by_name},
        {"http2: false", [](config::settings& s) { s.http2 = false; }, "", json + ", 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {"bridge: false", [](config::settings& s) { s.agents[0].bridge = false; }, "", "1.0 JSONRPC"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.what);
        auto settings = with_agent(agent.url("/rpc"));
        each.set(settings);
        const running_gateway gateway{std::move(settings)};
        const auto answer = get_card(gateway, "a", {{"A2A-Version", "1.0"}});
        REQUIRE(answer.status == 200);
        CHECK(offered(parsed(answer.body), each.at) == each.expected);
    }
}

TEST_CASE("A card by gRPC of the agent's own host and port is followed, and by another port it is not")
{
    scripted_agent agent;
    std::string named;
    agent.otherwise([&named](const auto&) {
        return test_support::answer_json(
            R"({"name":"n","supportedInterfaces":[{"url":")" + named +
            R"(","protocolBinding":"GRPC","protocolVersion":"1.0"}]})"
        );
    });
    for (const bool own : {true, false}) {
        CAPTURE(own);
        named = "127.0.0.1:" + std::to_string(own ? agent.port() : 1);
        auto settings = with_agent(agent.url());
        settings.agents[0].trust = core::card_trust::same_origin;
        const running_gateway gateway{std::move(settings)};
        CHECK(get_card(gateway, "a").status == (own ? 200 : 502));
    }
}

TEST_CASE("An agent of gRPC that the management API adds is shown with its URL and served")
{
    http2_agent agent{[](const auto&) { return json_answer(modern_card("GRPC")); }};
    const running_gateway gateway{quick_settings()};
    const auto url = "grpc://127.0.0.1:" + std::to_string(agent.port());
    const json definition{{"url", url}, {"http", 2}, {"relay_services", {"a.B"}}};
    flow::manage(gateway, "agents/upsert", {{"id", "a"}, {"agent", definition}});
    CHECK(get_card(gateway, "a").status == 200);
    const auto shown = flow::manage(gateway, "agents/get", {{"id", "a"}});
    CHECK(core::to_text(shown).find('"' + url + '"') != std::string::npos);
    CHECK(core::to_text(shown).find("call_url") == std::string::npos);
    const auto refused = flow::error_of(
        gateway,
        "agents/upsert",
        R"({"id":"b","agent":{"url":"http://h","grpc_url":"grpc://h:1/path"}})"
    );
    CHECK(core::to_text(refused).find("has a path, which gRPC does not have") != std::string::npos);
}

TEST_SUITE_END();
