#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/rate_limits");

namespace {

using namespace flow;

// A second token comes after many seconds: what is refused here would be refused on a slow machine too.
config::settings limited(const std::string& url, core::rate_limits limits)
{
    auto settings = guarded(url);
    settings.rate_limits = limits;
    return settings;
}

struct limited_gateway {
    explicit limited_gateway(core::rate_limits limits)
        : gateway{limited(agent.url("/rpc"), limits)}
    {
    }

    test_support::scripted_agent agent{answer_of_agent};
    running_gateway gateway;
};

// Of a rate of 1: what comes after a pause of a second is admitted.
constexpr core::rate_limit burst_of_three{.rate = 1, .burst = 3};

int refused_of(int count, const auto& send)
{
    int refused = 0;
    for (int i = 0; i < count; ++i) {
        refused += send().status == 429 ? 1 : 0;
    }
    return refused;
}

}  // namespace

TEST_CASE("a principal over its limit gets 429 with the limit, while others are answered")
{
    limited_gateway with{{.principal = burst_of_three, .agent = {}, .address = {}}};
    const auto port = with.gateway.port();
    CHECK(refused_of(30, [&] { return call(port, "seen", ci); }) >= 20);
    const auto refused = call(port, "seen", ci);
    REQUIRE(refused.status == 429);
    CHECK(refused.header("Cardea-Error") == "rate_limited");
    CHECK(refused.header("Retry-After") == "1");
    CHECK(refused.header("RateLimit-Policy") == R"("principal";q=1;w=1)");
    CHECK(refused.header("RateLimit") == R"("principal";r=0;t=1)");
    CHECK(refused.header("Cache-Control") == "no-store");
    CHECK(parsed(refused.body)["error"]["code"] == "rate_limited");
    CHECK(parsed(refused.body)["error"]["retryable"] == true);
    // Whatever it asks for, and nobody else.
    CHECK(request(port, "GET", card_target("open"), ci).status == 429);
    CHECK(request(port, "GET", "/agents", ci).status == 429);
    CHECK(request(port, "GET", "/nothing", ci).status == 429);
    CHECK(request(port, "GET", card_target("seen"), mallory).status == 200);
    CHECK(request(port, "GET", "/agents", operators).status == 200);
    CHECK(request(port, "GET", card_target("open"), nobody).status == 200);
    CHECK(*with.gateway.metric(R"(cardea_rate_limited_total{limit="principal"})") >= 24);
    CHECK_FALSE(with.gateway.metric(R"(cardea_rate_limited_total{limit="agent"})"));
    const auto line = with.gateway.log().wait_for([](auto text) { return text.find(R"("status":429)") != text.npos; });
    REQUIRE(line);
    CHECK(line->find(R"("principal":"ci","provider":"keys")") != std::string::npos);
    CHECK(line->find("over rate_limits.principal") != std::string::npos);
}

TEST_CASE("the metadata of an agent, which is for anyone, uses up no limit of the agent and tells of none")
{
    limited_gateway with{{.principal = {}, .agent = burst_of_three, .address = {}}};
    const auto port = with.gateway.port();
    const auto metadata = [&] {
        return request(port, "GET", "/.well-known/oauth-protected-resource/agents/secret", nobody);
    };
    CHECK(refused_of(10, metadata) == 0);
    CHECK(request(port, "GET", card_target("secret"), ci).status == 200);
}

TEST_CASE("an agent over its limit is spared, whoever calls it, and other agents are called")
{
    limited_gateway with{{.principal = {}, .agent = burst_of_three, .address = {}}};
    const auto port = with.gateway.port();
    // Who may not know of an agent, or has no credential, does not use it up.
    CHECK(refused_of(10, [&] { return call(port, "secret", mallory); }) == 0);
    CHECK(refused_of(10, [&] { return call(port, "secret", nobody); }) == 0);
    CHECK(call(port, "secret", ci).status == 200);
    CHECK(refused_of(30, [&] { return call(port, "seen", ci); }) >= 20);
    const auto refused = call(port, "seen", mallory);
    CHECK(refused.status == 429);
    CHECK(refused.header("RateLimit-Policy") == R"("agent";q=1;w=1)");
    CHECK(parsed(refused.body)["error"]["agent"] == "seen");
    CHECK(call(port, "open", nobody).status == 200);
    CHECK(*with.gateway.metric(R"(cardea_rate_limited_total{limit="agent"})") >= 20);
}

TEST_CASE("an address over its limit gets 429 before its credential is looked at")
{
    limited_gateway with{{.principal = {}, .agent = {}, .address = burst_of_three}};
    const auto port = with.gateway.port();
    CHECK(refused_of(30, [&] { return call(port, "seen", unknown); }) >= 20);
    const auto refused = call(port, "seen", ci);
    CHECK(refused.status == 429);
    CHECK(refused.header("RateLimit-Policy") == R"("address";q=1;w=1)");
    CHECK(refused.count("WWW-Authenticate") == 0);
    // The admin listener has no limits.
    for (int i = 0; i < 10; ++i) {
        CHECK(request(with.gateway.admin_port(), "GET", "/healthz").status == 200);
        CHECK(request(with.gateway.admin_port(), "GET", "/readyz").status == 200);
    }
}

TEST_CASE("requests whose heads cannot be read count for their address too")
{
    limited_gateway with{{.principal = {}, .agent = {}, .address = burst_of_three}};
    const auto port = with.gateway.port();
    const auto garbage = [&] {
        test_support::http_client client{port};
        client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
        return client.read_response();
    };
    CHECK(garbage().status == 400);
    CHECK(refused_of(29, garbage) >= 19);
    const auto refused = garbage();
    CHECK(refused.status == 429);
    CHECK(refused.header("RateLimit-Policy") == R"("address";q=1;w=1)");
    CHECK(refused.header("Connection") == "close");
    CHECK(request(port, "GET", card_target("open"), nobody).status == 429);
}

TEST_CASE("without access agents and addresses are limited too")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = quick_settings();
    settings.agents = {a2a_agent("one", agent.url("/rpc")), a2a_agent("two", agent.url("/rpc"))};
    settings.rate_limits.agent = burst_of_three;
    running_gateway gateway{settings};
    CHECK(refused_of(30, [&] { return call(gateway.port(), "one", {}); }) >= 20);
    CHECK(call(gateway.port(), "two", {}).status == 200);
    CHECK(call(gateway.port(), "none", {}).status == 404);
}

TEST_CASE("what access denied is counted by reason")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    auto two = ci;
    two.emplace_back("Authorization", "Bearer operator-token-0123456789");
    CHECK(call(port, "seen", nobody).status == 401);
    CHECK(call(port, "seen", unknown).status == 401);
    CHECK(call(port, "seen", two).status == 400);
    CHECK(call(port, "secret", mallory).status == 404);
    CHECK(request(port, "GET", card_target("secret"), mallory).status == 404);
    CHECK(call(port, "never-there", mallory).status == 404);
    CHECK(call(port, "seen", mallory).status == 403);
    CHECK(call(port, "sends", ci, "tasks/get").status == 403);
    CHECK(rpc(port, mallory, "agents/list", "{}").status == 200);
    CHECK(call(port, "seen", ci).status == 200);
    const auto denied = [&](std::string_view reason) {
        return with.gateway.metric("cardea_denied_total{reason=\"" + std::string{reason} + "\"}");
    };
    CHECK(denied("unauthenticated") == 1);
    CHECK(denied("refused") == 1);
    CHECK(denied("ambiguous") == 1);
    CHECK(denied("hidden") == 2);
    CHECK(denied("forbidden") == 2);
}

TEST_SUITE_END();
