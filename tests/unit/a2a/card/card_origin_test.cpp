#include "a2a/card/card_origin.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("a2a/card_origin");

namespace {

constexpr std::string_view from = "https://gw.test/agents/a";
constexpr std::string_view to = "https://a.test";

// "" for a text that cannot be read.
std::string moved(std::string_view text)
{
    const auto got = a2a::move_card(text, from, to);
    return got ? *got : std::string{};
}

}  // namespace

TEST_CASE("Every address for callers moves, with what follows it")
{
    CHECK(moved(R"({"url":"https://gw.test/agents/a"})") == R"({"url":"https://a.test"})");
    CHECK(moved(R"({"url":"https://gw.test/agents/a/"})") == R"({"url":"https://a.test/"})");
    CHECK(
        moved(
            R"({"additionalInterfaces":[{"transport":"JSONRPC","url":"https://gw.test/agents/a"},)"
            R"({"url":"https://gw.test/agents/a/rest"}],"supportedInterfaces":[{"url":"https://gw.test/agents/a/rest/v1"}]})"
        ) == R"({"additionalInterfaces":[{"transport":"JSONRPC","url":"https://a.test"},)"
             R"({"url":"https://a.test/rest"}],"supportedInterfaces":[{"url":"https://a.test/rest/v1"}]})"
    );
    CHECK(
        moved(
            R"({"agentCard":{"url":"https://gw.test/agents/a/.well-known/agent-card.json","agentCard":{"url":"https://gw.test/agents/a"}}})"
        ) ==
        R"({"agentCard":{"url":"https://a.test/.well-known/agent-card.json","agentCard":{"url":"https://a.test"}}})"
    );
    CHECK(
        moved(
            R"({"mcp":{"url":"https://gw.test/agents/a/mcp"},"capabilities":{"extensions":[{"uri":"u"},{"params":{"url":"https://gw.test/agents/a/mcp"}}]}})"
        ) ==
        R"({"mcp":{"url":"https://a.test/mcp"},"capabilities":{"extensions":[{"uri":"u"},{"params":{"url":"https://a.test/mcp"}}]}})"
    );
}

TEST_CASE("Everything else stays as it is, to the digits of numbers")
{
    for (const auto* text : {
             R"({"name":"https://gw.test/agents/a","provider":{"url":"https://gw.test/agents/a"}})",
             R"({"url":"https://gw.test/agents/ab"})",
             R"({"url":"https://other.test/agents/a"})",
             R"({"url":null,"supportedInterfaces":[1.50,"https://gw.test/agents/a",[]],"x":1e400})",
             R"({"additionalInterfaces":{"url":"https://gw.test/agents/a"},"agentCard":[{"url":"https://gw.test/agents/a"}]})",
             R"({"capabilities":{"extensions":[{"uri":"https://gw.test/agents/a","url":"https://gw.test/agents/a"}]}})",
             R"({"skills":[{"url":"https://gw.test/agents/a"}],"signatures":[{"protected":"x"}]})",
             R"({ "url" : "" , "supportedInterfaces" : [ ] })",
             "[]",
             "{}",
         }) {
        CAPTURE(std::string{text});
        CHECK(moved(text) == text);
    }
    CHECK(
        moved(R"({ "supportedInterfaces" : [ { "url" : "https://gw.test/agents/a" } , {} ] , "n" : 1.0 })") ==
        R"({ "supportedInterfaces" : [ { "url" : "https://a.test" } , {} ] , "n" : 1.0 })"
    );
}

TEST_CASE("A text that is no JSON fails")
{
    for (const auto* text : {"{", R"({"url":})", R"({"supportedInterfaces":[{"url":"x"})"}) {
        CAPTURE(std::string{text});
        const auto got = a2a::move_card(text, from, to);
        REQUIRE_FALSE(got.has_value());
        CHECK(got.error().code == core::errc::internal);
    }
}

TEST_SUITE_END();
