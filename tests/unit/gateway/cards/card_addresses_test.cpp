#include "gateway/cards/card_editor.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/card_addresses");

namespace {

core::agent agent_called(const std::string& id)
{
    core::agent made;
    made.id = id;
    made.url = "http://agent:9000/";
    made.card_url = "http://agent:9000/card";
    return made;
}

}  // namespace

TEST_CASE("Cards of A2A agents and of MCP servers offer what is translated, unless the operator says no")
{
    auto agent = agent_called("a");
    const auto bridged = [&] { return gateway::cards::public_address_of(agent, "https://gw", false).bridged; };
    CHECK(gateway::cards::public_address_of(agent, "https://gw", false).base == "https://gw/agents/a");
    CHECK(bridged());
    agent.bridge = false;
    CHECK_FALSE(bridged());
    agent.speaks = core::protocol::mcp;
    CHECK_FALSE(bridged());
    agent.bridge = true;
    CHECK(bridged());
}

TEST_CASE("An agent whose dialects the operator gives is reached whatever bindings its card names")
{
    auto agent = agent_called("a");
    CHECK_FALSE(gateway::cards::upstream_address_of(agent).reachable);
    agent.dialects = {core::a2a_dialect::v03_rest};
    const auto upstream = gateway::cards::upstream_address_of(agent);
    CHECK(upstream.reachable);
    CHECK(upstream.url == agent.url);
    CHECK(upstream.card_url == agent.card_url);
}

TEST_CASE("A card says of an extended one what the gateway does for callers")
{
    using a2a::extended_card_flag;
    auto agent = agent_called("a");
    const auto flag = [&] { return gateway::cards::public_address_of(agent, "https://gw", true).extended_card; };
    agent.extended_card = core::extended_card_access::off;
    CHECK(flag() == extended_card_flag::no);
    agent.extended_card = core::extended_card_access::managed;
    CHECK(flag() == extended_card_flag::yes);
    agent.extended_card = core::extended_card_access::proxy;
    CHECK(flag() == extended_card_flag::as_written);
}

TEST_SUITE_END();
