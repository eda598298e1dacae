#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/cards/rewriting");

namespace {

using core::json;
using flow::a2a_agent;
using flow::get_card;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;
using test_support::scripted_agent;

// The text with every @ made the agent's own origin.
std::string at_agent(std::string text, const scripted_agent& agent)
{
    for (auto at = text.find('@'); at != std::string::npos; at = text.find('@')) {
        text.replace(at, 1, agent.url());
    }
    return text;
}

// The card as the gateway serves it; nothing of the agent's address is left in it.
json served(const std::string& card, std::string& public_address, const std::string& public_url = "")
{
    scripted_agent agent;
    agent.otherwise([text = at_agent(card, agent)](const auto&) { return test_support::answer_json(text); });
    auto settings = quick_settings();
    settings.public_url = public_url;
    settings.agents.push_back(a2a_agent("a", agent.url("/rpc")));
    const running_gateway gateway{std::move(settings)};
    public_address = (public_url.empty() ? gateway.base() : public_url) + "/agents/a";
    const auto answer = get_card(gateway, "a");
    REQUIRE(answer.status == 200);
    CHECK(answer.body.find(std::to_string(agent.port())) == std::string::npos);
    return parsed(answer.body);
}

}  // namespace

TEST_CASE("a card of 0.2 points at the gateway and keeps what it says")
{
    std::string here;
    const auto card = served(
        R"({"name":"Two","description":"d","url":"@/rpc","version":"1","capabilities":{},
            "defaultInputModes":["text"],"defaultOutputModes":["text"],
            "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"x-more":1.50}],
            "provider":{"organization":"O","url":"https://example.com"},
            "documentationUrl":"https://docs.example.com/","x-unknown":{"deep":[1,"2",null]}})",
        here
    );
    CHECK(card["url"] == here);
    CHECK(card["provider"]["url"] == "https://example.com");
    CHECK(card["documentationUrl"] == "https://docs.example.com/");
    CHECK(card["x-unknown"] == parsed(R"({"deep":[1,"2",null]})"));
    CHECK(card["skills"][0]["x-more"] == 1.5);
}

TEST_CASE("a card of 0.3 has all its interfaces at the gateway, and no others")
{
    std::string here;
    const auto card = served(
        R"({"protocolVersion":"0.3.0","name":"Three","description":"d","url":"@/rpc","preferredTransport":"JSONRPC",
            "additionalInterfaces":[{"url":"@/rpc","transport":"JSONRPC"},{"url":"@/grpc","transport":"GRPC"},
            {"url":"@/rest","transport":"HTTP+JSON"}],"version":"1","capabilities":{"streaming":true},
            "defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[],
            "signatures":[{"protected":"e30","signature":"AA"}]})",
        here
    );
    CHECK(card["url"] == here);
    CHECK(card["preferredTransport"] == "JSONRPC");
    CHECK(card["additionalInterfaces"] == parsed(flow::both_bindings(here)));
    CHECK_FALSE(card.contains("signatures"));
    CHECK(card["capabilities"]["streaming"] == true);
}

TEST_CASE("a card of 1.0 has its supported interfaces at the gateway")
{
    std::string here;
    const auto card = served(
        R"({"name":"One","description":"d","supportedInterfaces":[
            {"url":"@/grpc","protocolBinding":"GRPC","protocolVersion":"1.0"},
            {"url":"@/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"version":"1","capabilities":{},
            "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
            "skills":[{"id":"s","name":"S","description":"d","tags":["t"]}],"iconUrl":"https://icons.example.com/i.png"})",
        here
    );
    REQUIRE(card["supportedInterfaces"].size() == 5);
    CHECK(card["supportedInterfaces"][0]["url"] == here);
    CHECK(card["supportedInterfaces"][0]["protocolBinding"] == "JSONRPC");
    CHECK(card["supportedInterfaces"][0]["protocolVersion"] == "1.0");
    CHECK(card["iconUrl"] == "https://icons.example.com/i.png");
}

TEST_CASE("both halves of a hybrid card point at the gateway")
{
    std::string here;
    const auto card = served(
        R"({"protocolVersion":"0.3.0","name":"Both","description":"d","url":"@/v0","preferredTransport":"JSONRPC",
            "supportedInterfaces":[{"url":"@/v1","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
            "additionalInterfaces":[{"url":"@/v0","transport":"JSONRPC"}],"version":"1","capabilities":{},
            "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]})",
        here
    );
    CHECK(card["url"] == here);
    REQUIRE(card["supportedInterfaces"].size() == 5);
    for (const auto& each : card["supportedInterfaces"]) {
        const bool grpc = each["protocolBinding"] == "GRPC";
        const auto host = here.substr(here.find("//") + 2);
        CHECK(
            each["url"] ==
            (grpc ? host.substr(0, host.find('/')) : here + (each["protocolBinding"] == "JSONRPC" ? "" : "/rest"))
        );
        CHECK(each.value("tenant", "") == (grpc ? "a" : ""));
    }
}

TEST_CASE("a nested agentCard points at the card here, or where calls go if it says how")
{
    std::string here;
    const auto card = served(
        R"({"name":"Outer","url":"@/rpc","version":"1","agentCard":{"name":"Inner","url":"@/rpc","version":"2",
            "agentCard":{"url":"@/rpc","preferredTransport":"JSONRPC"}}})",
        here
    );
    CHECK(card["url"] == here);
    CHECK(card["agentCard"]["url"] == here + "/.well-known/agent-card.json");
    CHECK(card["agentCard"]["agentCard"]["url"] == here);
    CHECK(card["agentCard"]["name"] == "Inner");
}

TEST_CASE("a card that points elsewhere still leads to the gateway")
{
    std::string here;
    const auto card = served(R"({"name":"Astray","url":"https://other.example.com/rpc","version":"1"})", here);
    CHECK(card["url"] == here);
}

TEST_CASE("a card that offers nothing but gRPC is refused, and the log names the binding, unless speaks says otherwise")
{
    scripted_agent agent{[](const auto&) {
        return test_support::answer_json(
            R"({"name":"Far","supportedInterfaces":[{"url":"a:1","protocolBinding":"GRPC","protocolVersion":"1.0"}]})"
        );
    }};
    auto settings = quick_settings();
    settings.agents = {a2a_agent("a", agent.url("/rpc")), a2a_agent("b", agent.url("/rpc"))};
    settings.agents.back().dialects = {core::a2a_dialect::v1_jsonrpc};
    const running_gateway gateway{std::move(settings)};
    flow::check_refusal(get_card(gateway, "a"), 502, "card_unrewritable", "a");
    CHECK(gateway.log().wait_for([](std::string_view line) {
        return line.find("card_fetch_failed") != line.npos &&
               line.find("the card offers only GRPC, which the gateway cannot reach") != line.npos;
    }));
    CHECK(get_card(gateway, "b").status == 200);
}

TEST_CASE("a card that offers nothing but HTTP+JSON is served, and prefers it")
{
    std::string here;
    const auto card =
        served(R"({"name":"Rest","protocolVersion":"0.3.0","url":"@/rest","preferredTransport":"HTTP+JSON"})", here);
    CHECK(card["url"] == here + "/rest");
    CHECK(card["preferredTransport"] == "HTTP+JSON");
    CHECK(card["supportedInterfaces"][0]["protocolBinding"] == "HTTP+JSON");
    CHECK(card["supportedInterfaces"].size() == 5);
}

TEST_CASE("public_url stands in cards when it is set")
{
    std::string here;
    const auto card = served(R"({"name":"P","url":"@/rpc"})", here, "https://agents.example.com/base");
    CHECK(card["url"] == "https://agents.example.com/base/agents/a");
}

TEST_SUITE_END();
