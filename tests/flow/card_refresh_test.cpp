#include "tests/flow/access_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/card refresh");

namespace {

using core::json;
using flow::a2a_agent;
using flow::error_of;
using flow::managing;
using flow::parsed;
using flow::post_json;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::scripted_agent;

}  // namespace

TEST_CASE("refreshCard with dryRun fetches, says what would change, and changes nothing")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A","version":"1","skills":[]})"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};
    const json dry{{"id", "a"}, {"dryRun", true}};

    const auto first = flow::manage(gateway, "agents/refreshCard", dry);
    CHECK(first["dryRun"] == true);
    CHECK(first["changed"] == true);
    REQUIRE(first["diff"].size() == 1);
    CHECK(first["diff"][0]["op"] == "add");
    CHECK(first["diff"][0]["path"] == "");
    CHECK(first["diff"][0]["value"]["name"] == "A");
    CHECK(flow::manage(gateway, "agents/get", {{"id", "a"}})["card"].is_null());
    CHECK(gateway.metric(R"(cardea_card_changes_total{agent="a"})") <= 0);

    CHECK(flow::manage(gateway, "agents/refreshCard", {{"id", "a"}, {"dryRun", false}})["changed"] == true);
    const auto same = flow::manage(gateway, "agents/refreshCard", dry);
    CHECK(same["changed"] == false);
    CHECK(same["diff"] == json::array());

    agent.otherwise([](const auto&) { return answer_json(R"({"name":"A","version":"2","skills":[],"x":{"y":1}})"); });
    const auto other = flow::manage(gateway, "agents/refreshCard", dry);
    CHECK(other["changed"] == true);
    const auto before = flow::manage(gateway, "agents/get", {{"id", "a"}})["card"];
    CHECK(before["version"] == "1");
    const auto patched = nlohmann::json(before).patch(nlohmann::json(other["diff"]));
    CHECK(patched["version"] == "2");
    CHECK(patched["x"]["y"] == 1);
    flow::manage(gateway, "agents/refreshCard", {{"id", "a"}});
    CHECK(nlohmann::json(flow::manage(gateway, "agents/get", {{"id", "a"}})["card"]) == patched);

    agent.otherwise([](const auto&) { return answer_json("[]"); });
    CHECK(error_of(gateway, "agents/refreshCard", dry.dump())["data"]["code"] == "card_invalid");
    CHECK(flow::manage(gateway, "agents/get", {{"id", "a"}})["card_status"]["state"] == "fresh");
    CHECK(error_of(gateway, "agents/refreshCard", R"({"id":"a","dryRun":"yes"})")["code"] == -32602);
}

TEST_CASE("refreshCard fetches now and says whether the card has changed")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};
    CHECK(flow::manage(gateway, "agents/refreshCard", {{"id", "a"}})["changed"] == true);
    CHECK(flow::manage(gateway, "agents.refreshCard", {{"name", "a"}})["changed"] == false);
    agent.otherwise([](const auto&) { return answer_json(R"({"name":"B"})"); });
    const auto third = flow::manage(gateway, "agents/refreshCard", {{"agentId", "a"}});
    CHECK(third["changed"] == true);
    CHECK(third["id"] == "a");
    CHECK(third["card_status"]["changes"] == 2);
    CHECK(agent.request_count() == 3);
    CHECK(parsed(flow::get_card(gateway, "a").body)["name"] == "B");
    CHECK(agent.request_count() == 3);
}

TEST_CASE("refreshCard of an agent that fails gives the reason's code")
{
    scripted_agent broken{[](const auto&) { return test_support::answer(500, ""); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("refused", "http://127.0.0.1:" + std::to_string(test_support::unused_port())));
    settings.agents.push_back(a2a_agent("broken", broken.url()));
    settings.agents.push_back(a2a_agent("mcp", broken.url()));
    settings.agents.back().speaks = core::protocol::mcp;
    settings.agents.push_back(a2a_agent("off", broken.url()));
    settings.agents.back().disabled = true;
    const running_gateway gateway{std::move(settings)};
    struct row {
        const char* id;
        int code;
        const char* name;
        bool retryable;
    };
    for (const auto& each : std::vector<row>{
             {"refused", -32603, "upstream_refused", true},
             {"broken", -32603, "upstream_status", false},
             {"mcp", -31503, "session_not_started", true},
             {"off", -31404, "agent_not_found", false},
         }) {
        CAPTURE(each.id);
        const auto error = error_of(gateway, "agents/refreshCard", json{{"id", each.id}}.dump());
        CHECK(error["code"] == each.code);
        CHECK(error["data"] == json{{"code", each.name}, {"agent", each.id}, {"retryable", each.retryable}});
    }
    CHECK(
        flow::manage(gateway, "agents/get", {{"id", "broken"}})["card_status"]["failure"]["code"] == "upstream_status"
    );
    CHECK(flow::manage(gateway, "agents/get", {{"id", "broken"}})["card_status"]["state"] == "failed");
    const auto off = flow::manage(gateway, "agents/get", {{"id", "off"}});
    CHECK(off["disabled"] == true);
    CHECK(off["card_status"] == json{{"state", "disabled"}});
}

TEST_CASE("a refresh that fails leaves the card that callers have")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};
    const auto before = flow::get_card(gateway, "a");
    agent.otherwise([](const auto&) { return test_support::answer(500, ""); });
    CHECK(error_of(gateway, "agents/refreshCard", R"({"id":"a"})")["data"]["code"] == "upstream_status");
    const auto after = flow::get_card(gateway, "a");
    CHECK(after.status == 200);
    CHECK(after.body == before.body);
    CHECK(after.count("Cardea-Card") == 0);
}

TEST_CASE("who only reads has a card fetched at most once in cards.min_ttl, in earnest or not")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = quick_settings();
    settings.cards.min_ttl = std::chrono::minutes{1};
    settings.access.providers = {flow::token("reader", "reader-token-0123456789", {core::scope_read})};
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};
    const auto ask = [&](std::uint16_t port, const char* params) {
        return parsed(flow::rpc(port, flow::reader, "agents/refreshCard", params).body);
    };
    CHECK(ask(gateway.port(), R"({"id":"a"})").contains("result"));
    const auto asked = agent.request_count();
    for (const auto* params : {R"({"id":"a"})", R"({"id":"a","dryRun":true})"}) {
        CHECK(ask(gateway.port(), params)["error"]["data"]["code"] == "overloaded");
    }
    CHECK(agent.request_count() == asked);
    CHECK(ask(gateway.admin_port(), R"({"id":"a"})").contains("result"));
    CHECK(agent.request_count() == asked + 1);
}

TEST_SUITE_END();
