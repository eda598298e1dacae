// What the cards of real servers declare of them is as docs/extensions/mcp-v1.schema.json says.
#include "a2a/extension_header.hpp"
#include "mcp/card/card.hpp"
#include "tests/support/schema_validator.hpp"
#include "tests/unit/mcp/captures.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

using core::card_shape;
using core::json;

TEST_SUITE_BEGIN("mcp/card/extension");

namespace {

json schema()
{
    std::ifstream in{CARDEA_TEST_DATA "/../../docs/extensions/mcp-v1.schema.json", std::ios::binary};
    REQUIRE(in.good());
    auto read = core::parse_json(std::string{std::istreambuf_iterator<char>{in}, {}});
    REQUIRE(read.has_value());
    return std::move(*read);
}

}  // namespace

TEST_CASE("The parameters of the MCP extension are as its schema says, for every captured server and strict shape")
{
    const auto said = schema();
    CHECK(said.at("$id") == a2a::mcp_facts_extension);
    const test_support::validator validator{said};
    std::size_t checked = 0;
    for (const auto& each : tests::captures()) {
        CAPTURE(each.file);
        const auto lists = tests::discovered(each);
        for (const auto shape : {card_shape::v1, card_shape::v03, card_shape::hybrid}) {
            const auto text = mcp::synthesize_card(
                lists,
                {.agent_id = "a", .at = {"https://gw.example/agents/a"}, .shape = shape, .limit = 64 * 1024 * 1024}
            );
            REQUIRE_MESSAGE(text.has_value(), text.error().detail);
            const auto card = core::parse_json(*text, {.bytes = 64 * 1024 * 1024});
            REQUIRE(card.has_value());
            const auto& extension = card->at("capabilities").at("extensions").at(0);
            CHECK(extension.at("uri") == a2a::mcp_facts_extension);
            CHECK(extension.at("required") == false);
            CHECK(validator.takes(extension.at("params")));
            ++checked;
        }
    }
    CHECK(checked > 10);
}

TEST_CASE("A card of a bridged server offers both generations over both bindings, and streams")
{
    const auto lists = tests::discovered(tests::captures().front());
    const std::string base{"https://gw.example/agents/a"};
    auto interfaces = json::array();
    for (const auto& [url, binding] : {std::pair{base, "JSONRPC"}, std::pair{base + "/rest", "HTTP+JSON"}}) {
        for (const auto* version : {"1.0", "0.3"}) {
            interfaces.push_back({{"url", url}, {"protocolBinding", binding}, {"protocolVersion", version}});
        }
    }
    const json of_03{{{"url", base}, {"transport", "JSONRPC"}}, {{"url", base + "/rest"}, {"transport", "HTTP+JSON"}}};
    for (const auto shape : {card_shape::automatic, card_shape::v1, card_shape::v03, card_shape::hybrid}) {
        CAPTURE(core::name(shape));
        const auto text = mcp::synthesize_card(
            lists,
            {.agent_id = "a", .at = {.base = base, .bridged = true}, .shape = shape, .limit = 64 * 1024 * 1024}
        );
        REQUIRE(text.has_value());
        const auto card = *core::parse_json(*text, {.bytes = 64 * 1024 * 1024});
        CHECK(card["capabilities"]["streaming"] == true);
        CHECK(card["capabilities"]["pushNotifications"] == false);
        if (shape != card_shape::v03) {
            CHECK(card["supportedInterfaces"] == interfaces);
        }
        if (shape != card_shape::v1) {
            CHECK(card["url"] == base);
            CHECK(card["preferredTransport"] == "JSONRPC");
            CHECK(card["additionalInterfaces"] == of_03);
        }
    }
}

TEST_CASE("The card of a bridged server offers gRPC where its callers can use it")
{
    const auto lists = tests::discovered(tests::captures().front());
    for (const std::string tenant : {"a", ""}) {
        const a2a::public_address at{
            .base = "https://gw.example/agents/a",
            .bridged = true,
            .grpc = {.authority = "gw.example:443", .tenant = tenant}
        };
        const auto text = mcp::synthesize_card(
            lists,
            {.agent_id = "a", .at = at, .shape = card_shape::automatic, .limit = 64 * 1024 * 1024}
        );
        REQUIRE(text.has_value());
        const auto card = *core::parse_json(*text, {.bytes = 64 * 1024 * 1024});
        const auto& interfaces = card["supportedInterfaces"];
        CHECK(interfaces.size() == (tenant.empty() ? 6 : 5));
        CHECK(interfaces[4]["url"] == "gw.example:443");
        CHECK(interfaces[4]["protocolBinding"] == "GRPC");
        CHECK(interfaces[4]["protocolVersion"] == "1.0");
        CHECK(interfaces[4].value("tenant", "") == tenant);
        CHECK(card["additionalInterfaces"].size() == (tenant.empty() ? 3 : 2));
    }
}

TEST_CASE("The schema of the MCP extension refuses what is not as it says")
{
    const test_support::validator validator{schema()};
    const auto good = *core::parse_json(
        R"({"url":"https://a/mcp","versions":["2025-06-18"],"transports":["streamable-http"],"era":"legacy",
            "protocolVersion":"2025-06-18","serverInfo":{},"capabilities":{},"tools":[{"name":"t"}]})"
    );
    CHECK(validator.takes(good));
    for (const auto* member :
         {"url", "versions", "transports", "era", "protocolVersion", "serverInfo", "capabilities"}) {
        CAPTURE(member);
        auto without = good;
        without.erase(member);
        CHECK_FALSE(validator.takes(without));
        auto other = good;
        other[member] = 7;
        CHECK_FALSE(validator.takes(other));
    }
    auto nameless = good;
    nameless["tools"][0].erase("name");
    CHECK_FALSE(validator.takes(nameless));
}

TEST_SUITE_END();
