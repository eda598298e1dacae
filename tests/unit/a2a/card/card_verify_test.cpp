#include "a2a/card/card_verify.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using core::json;

TEST_SUITE_BEGIN("a2a/card verification");

namespace {

const a2a::public_address gateway{"https://gw.example/agents/x"};
const std::vector<std::string> hidden{"agent.internal:9000", "other.internal:80"};

json parsed(const std::string& text)
{
    const auto value = core::parse_json(text);
    REQUIRE(value.has_value());
    return *value;
}

std::string leak(const std::string& text)
{
    return a2a::find_leak(parsed(text), gateway, hidden).value_or("none");
}

}  // namespace

TEST_CASE("a leak is found at every traffic position, whatever its type and spelling")
{
    const std::pair<std::string, std::string> rows[]{
        {R"({"url":"http://agent.internal:9000"})", "url"},
        {R"({"url":"http://elsewhere.example"})", "url"},
        {R"({"url":"https://gw.example/agents/x//"})", "url"},
        {R"({"url":"https://gw.example/agents/x/y"})", "url"},
        {R"({"url":"https://gw.example/agents/xy"})", "url"},
        {R"({"url":"https://gw.example"})", "url"},
        {R"({"url":""})", "url"},
        {R"({"url":7})", "url"},
        {R"({"url":["https://gw.example/agents/x"]})", "url"},
        {R"({"url":"https://gw.example/agents/x","URL":"http://agent.internal:9000"})", "URL"},
        {R"({"url":"https://gw.example/agents/x","additionalInterfaces":7})", "additionalInterfaces"},
        {R"({"supportedInterfaces":[7]})", "supportedInterfaces[0]"},
        {R"({"supportedInterfaces":[{}]})", "supportedInterfaces[0]"},
        {R"({"supportedInterfaces":[{"url":"https://gw.example/agents/x"},{"Url":"http://a"}]})",
         "supportedInterfaces[1].Url"},
        {R"({"supported_interfaces":[{"url":"http://a"}]})", "supported_interfaces[0].url"},
        {R"({"additional-interfaces":[{"url":"http://a"}]})", "additional-interfaces[0].url"},
        {"{\"\xC5\xBFupportedInterfaces\":[{\"url\":\"http://a\"}]}", "\xC5\xBFupportedInterfaces[0].url"},
        {R"({"SUPPORTED_INTERFACE\u017f":[{"url":"http://a"}]})", "SUPPORTED_INTERFACE\xC5\xBF[0].url"},
        {R"({"additionalInterface\u017F":[{"url":"http://a"}]})", "additionalInterface\xC5\xBF[0].url"},
        {R"({"supportedInterfaces":[{"url":"https://gw.example/agents/x","x":{"y":[1,"ws://Other.internal/"]}}]})",
         "supportedInterfaces[0].x"},
        {R"({"supportedInterfaces":[{"url":"https://gw.example/agents/x","tenant":"agent.internal:9000"}]})",
         "supportedInterfaces[0].tenant"},
        {R"({"supportedInterfaces":[{"url":"https://gw.example/agents/x","x":{"http://agent.internal:9000":1}}]})",
         "supportedInterfaces[0].x"},
        {R"({"url":"https://gw.example/agents/x","agentCard":"http://agent.internal:9000"})", "agentCard"},
        {R"({"url":"https://gw.example/agents/x","agent_card":{"agentCard":{"url":"http://a"}}})",
         "agent_card.agentCard.url"},
        {R"([])", ""},
        {R"({})", "no endpoint"},
        {R"({"supportedInterfaces":[]})", "no endpoint"},
        {R"({"agentCard":{"url":"https://gw.example/agents/x"}})", "no endpoint"},
    };
    for (const auto& [text, path] : rows) {
        CAPTURE(text);
        CHECK(leak(text) == path);
    }
}

TEST_CASE("the gateway's address is no leak, with a slash at its end either")
{
    CHECK(leak(R"({"url":"https://gw.example/agents/x"})") == "none");
    CHECK(leak(R"({"url":"https://gw.example/agents/x/"})") == "none");
    CHECK(leak(R"({"supportedInterfaces":[{"url":"https://gw.example/agents/x/"}]})") == "none");
    const std::string card = R"({"url":"https://gw.example/agents/x/.well-known/agent-card.json"})";
    CHECK(leak(card) == "url");
    CHECK(leak(R"({"url":"https://gw.example/agents/x","agentCard":)" + card + "}") == "none");
}

TEST_CASE("cards in cards are followed to the limit and not beyond")
{
    const auto nested = [](unsigned depth) {
        std::string text = R"({"url":"https://gw.example/agents/x"})";
        for (unsigned i = 0; i < depth; ++i) {
            text = R"({"url":"https://gw.example/agents/x","agentCard":)" + text + "}";
        }
        return text;
    };
    CHECK(leak(nested(a2a::max_nested_cards - 1)) == "none");
    CHECK(leak(nested(a2a::max_nested_cards)) == "none");
    CHECK(leak(nested(a2a::max_nested_cards + 1)) == "agentCard.agentCard.agentCard.agentCard.agentCard");
}

TEST_CASE("identity URLs are no traffic")
{
    CHECK(
        leak(R"({"url":"https://gw.example/agents/x","provider":{"url":"http://agent.internal:9000"},"x":
        ["http://agent.internal:9000"],"documentationUrl":"http://agent.internal:9000","skills":[{"url":"http://agent.internal:9000"}],
        "supportedInterfaces":[{"url":"https://gw.example/agents/x","note":"see http://agent.internal:9000"}]})") ==
        "none"
    );
}

TEST_CASE("what must be hidden is named by the record and by every traffic URL, and is never the gateway")
{
    const auto original = parsed(R"({"url":"http://a","URL":"http://b:1","additionalInterfaces":[{"url":"grpc.c:443"},7,
        {"url":8}],"supported_interfaces":[{"url":"https://d"},{"url":"https://gw.example/agents/x"}],
        "provider":{"url":"http://not.this"},"agentCard":{"\u017fupportedInterfaces":[{"URL":"//e"}]}})");
    CHECK(
        a2a::hidden_authorities(original, gateway, {"http://a:80/x", "https://f/card"}) ==
        std::vector<std::string>{"a:80", "b:1", "d:443", "e", "f:443", "grpc.c:443"}
    );
    CHECK(a2a::hidden_authorities(json{7}, gateway, {"https://GW.example:443/x", ""}).empty());
}

TEST_SUITE_END();
