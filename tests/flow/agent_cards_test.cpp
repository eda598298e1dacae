// agents/card and agents/history: why callers get another card than the agent wrote, and which ones they got before.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/agent_cards");

namespace {

using core::json;
using flow::a2a_agent;
using flow::becomes_true;
using flow::error_of;
using flow::manage;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::scratch_directory;
using test_support::scripted_agent;

json reason_of(const json& answer, std::string_view op, std::string_view path)
{
    for (const auto& each : answer["changes"]) {
        if (each["op"] == op && each["path"] == path) {
            return each["why"];
        }
    }
    return nullptr;
}

// A card of 0.3 whose members callers get in other words.
std::string card_of(const std::string& url, const std::string& version)
{
    return R"({"name":"A","description":"d","version":")" + version + R"(","protocolVersion":"0.3.0","url":")" + url +
           R"(","preferredTransport":"JSONRPC","capabilities":{},"defaultInputModes":["text"],)"
           R"("defaultOutputModes":["text"],"signatures":[{"protected":"e30","signature":"AA"}],)"
           R"("skills":[{"id":"open","name":"Open","description":"o","tags":["t"]},{"id":"hidden","name":7}]})";
}

std::size_t cards_of(const running_gateway& gateway, std::string_view id)
{
    return manage(gateway, "agents/history", {{"id", id}})["cards"].size();
}

}  // namespace

TEST_CASE(
    "agents/card shows the raw card beside the served one, each difference with its reason, and what is wrong with it"
)
{
    for (const bool durable : {false, true}) {
        CAPTURE(durable);
        const scratch_directory scratch;
        scripted_agent agent;
        const auto raw = card_of(agent.url(), "1");
        agent.otherwise([&](const auto&) { return answer_json(raw); });
        auto settings = quick_settings();
        if (durable) {
            settings.store = "sqlite:" + scratch.file("s.db");
        }
        settings.agents.push_back(a2a_agent("a", agent.url()));
        const running_gateway gateway{std::move(settings)};
        const auto own = manage(gateway, "agents/card", {{"id", "a"}});
        CHECK(own["id"] == "a");
        CHECK(own["a2a_version"].is_null());
        CHECK(becomes_true([&] { return manage(gateway, "agents/card", {{"id", "a"}})["raw"] == flow::parsed(raw); }));
        const auto shown = manage(gateway, "agents/card", {{"id", "a"}, {"a2aVersion", "0.3"}});
        CHECK(shown["a2a_version"] == "0.3");
        CHECK(shown["served"] == flow::parsed(flow::get_card(gateway, "a", {{"A2A-Version", "0.3"}}).body));
        CHECK(reason_of(shown, "replace", "/url") == "rewritten");
        CHECK(reason_of(shown, "remove", "/signatures") == "signature");
        CHECK(reason_of(shown, "replace", "/skills/1/name") == "repaired");
        const auto modern = manage(gateway, "agents/card", {{"id", "a"}, {"a2aVersion", "1.0"}});
        CHECK(modern["served"] == flow::parsed(flow::get_card(gateway, "a", {{"A2A-Version", "1.0"}}).body));
        CHECK_FALSE(modern["served"].contains("url"));
        CHECK(reason_of(modern, "remove", "/url") == "translated");
        CHECK(reason_of(modern, "add", "/supportedInterfaces") == "translated");
        REQUIRE_FALSE(shown["lint"].empty());
        const auto& first = shown["lint"][0];
        CHECK(first["severity"] == "error");
        CHECK(first["path"] == "skills[1].name");
        CHECK(first["section"].get<std::string>().find("A2A 0.3.0") == 0);
        CHECK_FALSE(first["message"].get<std::string>().empty());
    }
}

TEST_CASE("The card that the operator wrote is shown as written, and secrets of the agent are masked in a raw card")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A","echo":"hunter2-and-more"})"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("written", "http://127.0.0.1:1/"));
    settings.agents.back().card = R"({"name":"W","version":"1"})";
    settings.agents.push_back(a2a_agent("echoing", agent.url()));
    settings.agents.back().headers.emplace_back("X-Key", core::secret{"hunter2-and-more"});
    const running_gateway gateway{std::move(settings)};
    CHECK(manage(gateway, "agents/card", {{"id", "written"}})["raw"] == json{{"name", "W"}, {"version", "1"}});
    CHECK(becomes_true([&] { return manage(gateway, "agents/card", {{"id", "echoing"}})["raw"].is_object(); }));
    const auto raw = manage(gateway, "agents/card", {{"id", "echoing"}})["raw"];
    CHECK(core::to_text(raw).find("hunter2") == std::string::npos);
    CHECK(raw["name"] == "A");
}

TEST_CASE("Without a card agents/card fails with the code of the failure")
{
    scripted_agent agent{[](const auto&) { return answer_json("[]"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("odd", agent.url()));
    settings.agents.push_back(a2a_agent("down", "http://127.0.0.1:1/"));
    const running_gateway gateway{std::move(settings)};
    CHECK(error_of(gateway, "agents/card", R"({"id":"odd"})")["data"]["code"] == "card_invalid");
    CHECK(error_of(gateway, "agents/card", R"({"id":"down"})")["data"]["code"] == "upstream_refused");
    CHECK(error_of(gateway, "agents/card", R"({"id":"none"})")["data"]["code"] == "agent_not_found");
    CHECK(error_of(gateway, "agents/card", R"({"id":"odd","a2aVersion":1})")["code"] == -32602);
    for (const auto* method : {"agents/card", "agents/history"}) {
        const auto answer = flow::post_json(gateway.port(), "/rpc", flow::managing(method, R"({"id":"odd"})"));
        CHECK(flow::parsed(answer.body)["error"]["data"]["code"] == "admin_only");
    }
}

TEST_CASE("agents/history has the last cards with their patches, the latest first, also after a restart")
{
    const scratch_directory scratch;
    scripted_agent agent;
    std::string card = R"({"name":"A","version":"1"})";
    agent.otherwise([&](const auto&) { return answer_json(card); });
    const auto started = [&] {
        auto settings = quick_settings();
        settings.store = "sqlite:" + scratch.file("s.db");
        settings.public_url = "https://agents.example.com";  // else another port would be another card
        settings.agents.push_back(a2a_agent("a", agent.url()));
        return std::make_unique<running_gateway>(std::move(settings));
    };
    {
        const auto gateway = started();
        manage(*gateway, "agents/refreshCard", {{"id", "a"}});
        manage(*gateway, "agents/refreshCard", {{"id", "a"}});
        CHECK(becomes_true([&] { return cards_of(*gateway, "a") == 1; }));
        card = R"({"name":"A","version":"2"})";
        manage(*gateway, "agents/refreshCard", {{"id", "a"}});
        CHECK(becomes_true([&] { return cards_of(*gateway, "a") == 2; }));
    }
    const auto gateway = started();
    manage(*gateway, "agents/refreshCard", {{"id", "a"}});
    card = R"({"name":"A","version":"3"})";
    manage(*gateway, "agents/refreshCard", {{"id", "a"}});
    CHECK(becomes_true([&] { return cards_of(*gateway, "a") == 3; }));
    const auto all = manage(*gateway, "agents/history", {{"id", "a"}})["cards"];
    const json patch{{{"op", "replace"}, {"path", "/version"}, {"value", "3"}}};
    CHECK(all[0]["patch"] == patch);
    CHECK(all[1]["patch"][0]["value"] == "2");
    CHECK(all[2]["patch"].is_null());
    CHECK(all[0]["size"] == flow::get_card(*gateway, "a").body.size());
    CHECK(all[0]["sha256"].get<std::string>().size() == 64);
    CHECK(all[0]["at"] >= all[1]["at"]);
}

TEST_SUITE_END();
