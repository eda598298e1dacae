#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/mcp_eras");

using namespace flow;
using namespace flow::mcp_calls;

TEST_CASE("An initialize whose _meta names the modern version begins a session")
{
    const auto x = mcp_gateway();
    auto body = initialize_body;
    body.insert(body.find(R"("capabilities")"), R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},)");
    const auto got = post(x, body);
    CHECK(got.status == 200);
    CHECK(got.body == initialized);
    CHECK_FALSE(got.header("Mcp-Session-Id").empty());
    CHECK(passed_on(x).at(0).body == body);
}

TEST_CASE("An initialize with the version field of the modern era hears which versions have it")
{
    const auto x = mcp_gateway();
    const auto got = post(x, initialize_body, {{"MCP-Protocol-Version", "2026-07-28"}});
    check_error(got, 400, -32022, "version_unsupported");
    const auto data = json::parse(got.body)["error"]["data"];
    CHECK(data["supported"] == json{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"});
    CHECK(data["requested"] == "2026-07-28");
}

TEST_CASE("A request with another version than its session's is refused with a sentence that names the version")
{
    const auto x = mcp_gateway();
    const auto id = begin(x);
    const auto got = post(x, call_of("1"), {{"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "2026-07-28"}});
    check_error(got, 400, -32602, "invalid_params");
    const auto said = json::parse(got.body)["error"]["message"].get<std::string>();
    CHECK(said.find("MCP-Protocol-Version is 2026-07-28") == 0);
}

TEST_SUITE_END();
