#include "mcp/calls/client_capabilities.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/calls/client_capabilities");

using mcp::client_capabilities;
using mcp::client_capability;

TEST_CASE("what a client declares is read and written again")
{
    for (const std::string text : {
             R"({})",
             R"({"roots":{}})",
             R"({"roots":{"listChanged":true},"sampling":{}})",
             R"({"sampling":{"context":{},"tools":{}},"elicitation":{}})",
             R"({"elicitation":{"form":{},"url":{}}})",
             R"({"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}})",
         }) {
        CAPTURE(text);
        CHECK(client_capabilities::read(text).to_text() == text);
    }
}

TEST_CASE("what is unknown or of another type is not declared")
{
    CHECK(client_capabilities::read(R"({"experimental":{"x":{}},"extensions":{},"Sampling":{}})").none());
    CHECK(client_capabilities::read(R"({"sampling":true,"roots":null,"elicitation":[],"tasks":"x"})").none());
    CHECK(client_capabilities::read(R"({"roots":{"listChanged":"true"}})").to_text() == R"({"roots":{}})");
    CHECK(client_capabilities::read("not JSON").none());
    CHECK(client_capabilities::read("").none());
}

TEST_CASE("every set of bits that read() may return survives its text")
{
    for (unsigned bits = 0; bits < (1U << mcp::client_capability_count); ++bits) {
        const client_capabilities some{static_cast<std::uint16_t>(bits)};
        const auto read = client_capabilities::read(some.to_text());
        CHECK(some.missing_from(read).none());
        CHECK(client_capabilities::read(read.to_text()) == read);
    }
}

TEST_CASE("what is missing is what was not declared, and elicitation without a mode is that of forms")
{
    const auto need = client_capabilities::read(R"({"sampling":{},"elicitation":{"form":{}}})");
    CHECK(need.missing_from(client_capabilities::read(R"({"sampling":{},"elicitation":{}})")).none());
    CHECK(!need.missing_from(client_capabilities::read(R"({"sampling":{},"elicitation":{"url":{}}})")).none());
    CHECK(need.missing_from(client_capabilities::read(R"({"elicitation":{}})")).to_text() == R"({"sampling":{}})");
}

TEST_CASE("What has no bit is kept as it is written, without white space, and stands beside the rest")
{
    constexpr std::string_view raw =
        R"({"roots":{}, "extensions" : {"a/b": {"n": 1.50}},"experimental":{},"other":{"x":1},"tasks":[]})";
    const auto further = mcp::further_capabilities(raw);
    CHECK(further == R"("experimental":{},"extensions":{"a/b":{"n":1.50}})");
    const auto declared = client_capabilities::read(raw);
    CHECK(
        mcp::capabilities_text(declared, further) == R"({"experimental":{},"extensions":{"a/b":{"n":1.50}},"roots":{}})"
    );
    CHECK(mcp::capabilities_text({}, further) == "{" + further + "}");
    CHECK(mcp::capabilities_text({}, "") == "{}");
    CHECK(mcp::further_capabilities(R"({"extensions":[],"experimental":true})").empty());
    CHECK(mcp::further_capabilities("").empty());
}

TEST_SUITE_END();
