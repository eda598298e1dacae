#include "mcp/protocol/server_facts.hpp"

#include "tests/unit/mcp/captures.hpp"

#include <doctest/doctest.h>

#include <string>

using mcp::index_of;
using mcp::list_kind;

TEST_SUITE_BEGIN("mcp/protocol/server_facts");

TEST_CASE("what a server says of itself is read, and what it offers")
{
    const auto facts = mcp::read_initialize_result(
        R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":null,
            "x": 1.0},"instructions":"Do.","serverInfo":{"name":"n","title":"T","version":"1","description":"d",
            "websiteUrl":"https://w.example","icons":[{"src":"https://i.example/a"},5,{"src":""},{"src":"data:x"}]}})"
    );
    REQUIRE(facts.has_value());
    CHECK(facts->speaks == mcp::era::legacy);
    CHECK(facts->protocol_version == "2025-06-18");
    CHECK(facts->name == "n");
    CHECK(facts->title == "T");
    CHECK(facts->version == "1");
    CHECK(facts->description == "d");
    CHECK(facts->website == "https://w.example");
    CHECK(facts->instructions == "Do.");
    CHECK(facts->icons == std::vector<std::string>{"https://i.example/a", "data:x"});
    CHECK(facts->capabilities == R"({"tools":{"listChanged":true},"resources":{},"prompts":null,"x":1.0})");
    CHECK(facts->offers[index_of(list_kind::tools)]);
    CHECK(facts->offers[index_of(list_kind::resources)]);
    CHECK(facts->offers[index_of(list_kind::templates)]);
    CHECK_FALSE(facts->offers[index_of(list_kind::prompts)]);
}

TEST_CASE("A server announces changes of the lists that it offers with listChanged, and of no others")
{
    const auto facts = mcp::read_initialize_result(
        R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":false},"resources":{"listChanged":true},)"
        R"("prompts":{"listChanged":"true"}}})"
    );
    REQUIRE(facts.has_value());
    CHECK(facts->offers.all());
    CHECK_FALSE(facts->announces[index_of(list_kind::tools)]);
    CHECK(facts->announces[index_of(list_kind::resources)]);
    CHECK(facts->announces[index_of(list_kind::templates)]);
    CHECK_FALSE(facts->announces[index_of(list_kind::prompts)]);
}

TEST_CASE("members of a wrong type are as good as absent")
{
    const auto facts = mcp::read_initialize_result(
        R"({"protocolVersion":"2024-11-05","capabilities":[],"instructions":5,"serverInfo":{"name":["n"],"version":1}})"
    );
    REQUIRE(facts.has_value());
    CHECK(facts->name.empty());
    CHECK(facts->version.empty());
    CHECK(facts->instructions.empty());
    CHECK(facts->capabilities == "{}");
    CHECK(facts->offers.none());
    const auto bare = mcp::read_initialize_result(R"({"protocolVersion":"2024-11-05","serverInfo":"n"})");
    REQUIRE(bare.has_value());
    CHECK(bare->info == "{}");
}

TEST_CASE("a server that speaks no version of the gateway's is refused")
{
    for (const std::string version :
         {R"("2024-10-07")", R"("2026-07-28")", R"("9999-01-01")", R"("")", "null", "20241105"}) {
        CAPTURE(version);
        const auto facts = mcp::read_initialize_result(R"({"capabilities":{},"protocolVersion":)" + version + "}");
        REQUIRE(facts.has_error());
        CHECK(facts.error().code == core::errc::upstream_protocol);
        CHECK(facts.error().detail.starts_with("no version in common"));
    }
    for (const auto version : mcp::legacy_versions) {
        CHECK(mcp::read_initialize_result(R"({"protocolVersion":")" + std::string{version} + R"("})").has_value());
    }
    CHECK(mcp::read_initialize_result("[]").has_error());
    CHECK(mcp::read_initialize_result(R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{"x":1e999}}})")
              .has_error());
}

TEST_CASE("a server of the modern era is discovered, and says who it is in the result's _meta")
{
    const auto facts = mcp::read_discover_result(
        R"({"resultType":"complete","supportedVersions":["2099-01-01","2026-07-28"],"capabilities":{"tools":{}},
            "ttlMs":5,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}})"
    );
    REQUIRE(facts.has_value());
    CHECK(facts->speaks == mcp::era::modern);
    CHECK(facts->protocol_version == "2026-07-28");
    CHECK(facts->name == "m");
    CHECK(facts->offers[index_of(list_kind::tools)]);
    CHECK(mcp::read_discover_result(R"({"supportedVersions":["2026-07-28"]})").has_value());
    CHECK(mcp::read_discover_result(R"({"supportedVersions":["2025-11-25"],"capabilities":{}})").has_error());
    CHECK(mcp::read_discover_result(R"({"capabilities":{}})").has_error());
}

TEST_CASE("A result of a handshake may have 256 KiB, and one that is longer is refused")
{
    const auto padded = [](std::string text, std::size_t size) {
        return text + std::string(size - text.size() - 2, 'x') + R"("})";
    };
    const std::string opened = R"({"protocolVersion":"2025-11-25","capabilities":{},"instructions":")";
    const std::string discovered = R"({"supportedVersions":["2026-07-28"],"capabilities":{},"instructions":")";
    for (const auto size : {mcp::longest_handshake - 1, mcp::longest_handshake, mcp::longest_handshake + 1}) {
        CAPTURE(size);
        const bool fits = size <= mcp::longest_handshake;
        CHECK(mcp::read_initialize_result(padded(opened, size)).has_value() == fits);
        CHECK(mcp::read_discover_result(padded(discovered, size)).has_value() == fits);
    }
    const auto refused = mcp::read_initialize_result(padded(opened, mcp::longest_handshake + 1));
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == core::errc::upstream_protocol);
    CHECK(refused.error().detail == "the result of the handshake is over 256 KiB");
}

TEST_CASE("every server of the captures is read")
{
    REQUIRE(tests::captures().size() >= 16);
    for (const auto& each : tests::captures()) {
        CAPTURE(each.file);
        const auto facts = mcp::read_initialize_result(each.initialize);
        REQUIRE(facts.has_value());
        CHECK_FALSE(facts->name.empty());
        CHECK_FALSE(facts->version.empty());
        CHECK(facts->offers[index_of(list_kind::tools)]);
        for (const auto& message : each.server_messages) {
            CHECK(mcp::read_message(message).has_value());
        }
    }
}

TEST_SUITE_END();
