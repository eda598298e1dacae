// What calls say of the health of agents.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("flow/health");

namespace {

using flow::becomes_true;
using flow::manage;
using flow::running_gateway;

constexpr const char* some_call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";

// An agent whose card the operator wrote, in a gateway with several workers.
struct called_agent {
    called_agent()
    {
        agent.otherwise([this](const auto&) {
            return test_support::answer(status, R"({"jsonrpc":"2.0","id":1,"result":{}})");
        });
        auto settings = flow::quick_settings();
        settings.workers = 2;
        settings.agents.push_back(flow::a2a_agent("a", agent.url()));
        settings.agents.back().card = R"({"name":"A","version":"1"})";
        gateway = std::make_unique<running_gateway>(std::move(settings));
    }

    // Each on a connection of its own, so that all workers get some.
    void call(int times, unsigned answered) const
    {
        for (int i = 0; i < times; ++i) {
            CHECK(flow::post_json(gateway->port(), "/agents/a", some_call).status == answered);
        }
    }

    // The status and the reason.
    std::string health() const
    {
        const auto shown = manage(*gateway, "agents/health", {{"id", "a"}});
        return shown["status"].get<std::string>() + ' ' + shown.value("reason", "");
    }

    bool becomes(const char* wanted) const
    {
        return becomes_true([&] { return health() == wanted; });
    }

    std::atomic<unsigned> status = 200;
    test_support::scripted_agent agent;
    std::unique_ptr<running_gateway> gateway;
};

}  // namespace

TEST_CASE(
    "an agent with an inline card is healthy once a call worked, degraded while most calls fail, and well again after "
    "that"
)
{
    called_agent x;
    CHECK(x.health() == "unknown inline_card");
    x.call(1, 200);
    CHECK(x.becomes("healthy "));
    x.status = 503;
    x.call(5, 503);
    CHECK(x.becomes("degraded calls_failing"));
    const auto page = manage(*x.gateway, "agents/health", {{"status", "degraded"}});
    REQUIRE(page["agents"].size() == 1);
    CHECK(page["summary"]["degraded"] == 1);
    x.status = 200;
    x.call(5, 200);
    CHECK(x.becomes("healthy "));
}

TEST_CASE("an agent that cannot be reached is degraded by its calls alone")
{
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", "http://127.0.0.1:" + std::to_string(test_support::unused_port())));
    settings.agents.back().card = R"({"name":"A","version":"1"})";
    const running_gateway gateway{std::move(settings)};
    for (int i = 0; i < 5; ++i) {
        CHECK(flow::post_json(gateway.port(), "/agents/a", some_call).status == 502);
    }
    CHECK(becomes_true([&] { return manage(gateway, "agents/health", {{"id", "a"}})["reason"] == "calls_failing"; }));
}

TEST_CASE("callers' own mistakes and the answers 500 and 429 degrade no agent")
{
    called_agent x;
    for (int i = 0; i < 10; ++i) {
        CHECK(flow::post_json(x.gateway->port(), "/agents/a", "no JSON").status == 200);
    }
    x.status = 500;
    x.call(10, 500);
    x.status = 429;
    x.call(10, 429);
    // One answer without an error makes it well, the others do not count against it.
    CHECK(x.health() == "unknown inline_card");
    x.status = 200;
    x.call(1, 200);
    CHECK(x.becomes("healthy "));
    CHECK(x.agent.request_count() == 21);
}

TEST_CASE("failures at an agent's former address are not counted for its new one")
{
    const auto answer_with = [](unsigned status) {
        return test_support::scripted_agent{[status](const auto&) {
            return test_support::answer(status, R"({"jsonrpc":"2.0","id":1,"result":{}})");
        }};
    };
    const auto good = answer_with(200);
    const auto bad = answer_with(503);
    auto settings = flow::quick_settings();
    settings.workers = 1;
    const running_gateway gateway{std::move(settings)};
    const auto put = [&](const char* id, const std::string& url) {
        const core::json card{{"name", "A"}, {"version", "1"}};
        manage(gateway, "agents/upsert", {{"id", id}, {"agent", {{"url", url}, {"card", card}}}});
    };
    const auto health = [&](const char* id) {
        const auto shown = manage(gateway, "agents/health", {{"id", id}});
        return shown["status"].get<std::string>() + ' ' + shown.value("reason", "");
    };
    // When its call is known, the worker has told of all that ended before.
    const auto tell = [&](const char* id) {
        put(id, good.url());
        CHECK(flow::post_json(gateway.port(), "/agents/" + std::string{id}, some_call).status == 200);
        REQUIRE(becomes_true([&] { return health(id) == "healthy "; }));
    };
    put("a", bad.url());
    tell("first");
    for (int i = 0; i < 5; ++i) {
        CHECK(flow::post_json(gateway.port(), "/agents/a", some_call).status == 503);
    }
    put("a", good.url());
    tell("second");
    CHECK(health("a") == "unknown inline_card");
}

TEST_SUITE_END();
