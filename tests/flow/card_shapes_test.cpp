#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

TEST_SUITE_BEGIN("flow/cards/shapes");

namespace {

using flow::a2a_agent;
using flow::parsed;
using flow::running_gateway;
using test_support::answer_json;
using test_support::scripted_agent;

constexpr const char* old_card =
    R"({"name":"A","description":"d","url":"http://x/","protocolVersion":"0.3.0","version":"1",
    "capabilities":{"stateTransitionHistory":true},"defaultInputModes":["a/b"],"defaultOutputModes":["a/b"],"skills":[],
    "x-own":1})";

test_support::http_response
card_for(const running_gateway& gateway, const std::string& version, const std::string& etag = "")
{
    test_support::field_list fields;
    if (!version.empty()) {
        fields.emplace_back("A2A-Version", version);
    }
    if (!etag.empty()) {
        fields.emplace_back("If-None-Match", etag);
    }
    return flow::get_card(gateway, "a", fields);
}

}  // namespace

TEST_CASE("by default a caller gets the shape of the A2A-Version it names, else the hybrid")
{
    scripted_agent agent{[](const auto&) { return answer_json(old_card); }};
    auto settings = flow::quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{settings};
    const auto own = card_for(gateway, "");
    const auto modern = card_for(gateway, "1.0");
    const auto old = card_for(gateway, "0.3");
    CHECK(parsed(own.body)["x-own"] == 1);
    CHECK(parsed(own.body)["protocol"] == "a2a");
    CHECK(parsed(own.body)["supportedInterfaces"] == parsed(modern.body)["supportedInterfaces"]);
    CHECK(parsed(own.body)["url"] == parsed(old.body)["url"]);
    CHECK_FALSE(parsed(modern.body).contains("url"));
    CHECK_FALSE(parsed(modern.body).contains("x-own"));
    CHECK(parsed(modern.body)["supportedInterfaces"][0]["protocolVersion"] == "1.0");
    CHECK(parsed(modern.body)["supportedInterfaces"].size() == 5);
    CHECK(parsed(old.body)["preferredTransport"] == "JSONRPC");
    CHECK(parsed(old.body)["additionalInterfaces"].size() == 2);
    CHECK_FALSE(parsed(old.body).contains("supportedInterfaces"));
    // The card is where a caller learns which versions there are.
    CHECK(card_for(gateway, "2.0").body == own.body);
    std::set<std::string> tags;
    for (const auto& each : {own, modern, old}) {
        CHECK(each.status == 200);
        CHECK(parsed(each.body)["capabilities"]["extensions"] == parsed("[" + flow::own_extension("a") + "]"));
        CHECK(each.header("Vary") == "A2A-Version");
        CHECK(each.header("Content-Length") == std::to_string(each.body.size()));
        tags.insert(each.header("ETag"));
    }
    CHECK(tags.size() == 3);
    const auto unchanged = card_for(gateway, "1.0", modern.header("ETag"));
    CHECK(unchanged.status == 304);
    CHECK(unchanged.header("Vary") == "A2A-Version");
    CHECK(unchanged.header("ETag") == modern.header("ETag"));
    CHECK(card_for(gateway, "0.3", modern.header("ETag")).status == 200);
    CHECK(agent.request_count() == 1);
    const auto line = gateway.log().wait_for([](std::string_view each) {
        return each.find("card_members_lost") != each.npos && each.find("\"v1\"") != each.npos;
    });
    REQUIRE(line.has_value());
    CHECK(parsed(*line)["lost"] == "capabilities.stateTransitionHistory, x-own");
    CHECK(parsed(*line)["agent"] == "a");
}

TEST_CASE("without bridging who names no version gets what the agent wrote, and no card offers what it does not speak")
{
    scripted_agent agent{[](const auto&) { return answer_json(old_card); }};
    auto settings = flow::quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    settings.agents.back().bridge = false;
    const running_gateway gateway{settings};
    const auto own = parsed(card_for(gateway, "").body);
    CHECK_FALSE(own.contains("supportedInterfaces"));
    CHECK_FALSE(own.contains("additionalInterfaces"));
    CHECK_FALSE(own.contains("protocol"));
    CHECK_FALSE(own["capabilities"].contains("extensions"));
    const auto modern = parsed(card_for(gateway, "1.0").body);
    REQUIRE(modern["supportedInterfaces"].size() == 1);
    CHECK(modern["supportedInterfaces"][0]["protocolVersion"] == "0.3");
}

TEST_CASE("a plain card of 1.0 loses nothing that the log would tell of")
{
    scripted_agent agent{[](const auto&) {
        return answer_json(
            R"({"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"http://x/",
                "protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},
                "defaultInputModes":["a/b"],"defaultOutputModes":["a/b"],"skills":[]})"
        );
    }};
    scripted_agent lossy{[](const auto&) { return answer_json(old_card); }};
    for (const bool bridge : {true, false}) {
        CAPTURE(bridge);
        auto settings = flow::quick_settings();
        settings.agents = {a2a_agent("a", agent.url()), a2a_agent("lossy", lossy.url())};
        settings.agents.front().bridge = bridge;
        const running_gateway gateway{settings};
        CHECK(card_for(gateway, "0.3").status == 200);
        CHECK(flow::get_card(gateway, "lossy").status == 200);
        // Lines stand in the order in which they were written.
        const auto line =
            gateway.log().wait_for([](std::string_view each) { return each.find("card_members_lost") != each.npos; });
        REQUIRE(line.has_value());
        CHECK(parsed(*line)["agent"] == "lossy");
    }
}

TEST_CASE("a shape that is configured is everybody's, and an agent's own setting goes before that of all")
{
    scripted_agent agent{[](const auto&) { return answer_json(old_card); }};
    auto settings = flow::quick_settings();
    settings.cards.shape = core::card_shape::v03;
    settings.agents.push_back(a2a_agent("a", agent.url()));
    settings.agents.back().shape = core::card_shape::v1;
    const running_gateway gateway{settings};
    const auto first = card_for(gateway, "");
    CHECK(parsed(first.body).contains("supportedInterfaces"));
    CHECK_FALSE(parsed(first.body).contains("url"));
    CHECK(first.count("Vary") == 0);
    CHECK(card_for(gateway, "0.3").body == first.body);
    CHECK(card_for(gateway, "1.0").header("ETag") == first.header("ETag"));
}

TEST_SUITE_END();
