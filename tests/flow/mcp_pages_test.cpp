// What the pages about an MCP server say of it.
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string_view>
#include <thread>

TEST_SUITE_BEGIN("flow/mcp_pages");

using namespace flow;
using namespace flow::mcp_calls;

TEST_CASE("The pages about an MCP server say where it takes messages, in which version, and whether its card is known")
{
    const relayed x{listing_server, [](config::settings& settings) { make_mcp(settings); }};
    const auto page = [&](std::string_view target) { return json::parse(request(x.port(), "GET", target).body); };
    CHECK(page("/agents")["agents"][0]["state"] == "unknown");
    CHECK_FALSE(page("/agents/a")["mcp"].contains("versions"));
    const auto by = std::chrono::steady_clock::now() + patience;
    const auto goes_on = [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        return std::chrono::steady_clock::now() < by;
    };
    while (request(x.port(), "GET", "/agents/a/.well-known/agent-card.json").status != 200 && goes_on()) {
    }
    const auto expected = json{
        {"url", x.gateway.base() + "/agents/a/mcp"},
        {"versions", {"2025-06-18"}},
        {"transports", {"streamable-http"}},
    };
    CHECK(page("/agents/a")["mcp"] == expected);
    auto listed = json::object();
    while (listed.value("state", "") != "ready" && goes_on()) {
        listed = page("/agents")["agents"][0];  // a page is kept for a second
    }
    CHECK(listed["state"] == "ready");
    CHECK(listed["mcp"] == expected);
}

TEST_SUITE_END();
