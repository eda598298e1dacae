#include "core/agent.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("core/agent");

TEST_CASE("an id is one path segment that no normalisation changes")
{
    for (const auto* id : {"a", "weather", "A-1_b.c", "well-known", ".well-knowns", "..." /* has ".." */}) {
        CAPTURE(id);
        CHECK(core::valid_agent_id(id) == (std::string{id} != "..."));
    }
    for (const auto* id : {"", ".", "..", "a/b", "a..b", "a b", "a%2fb", "a;b", "a\\b", "\xC3\xA9", ".well-known"}) {
        CAPTURE(id);
        CHECK_FALSE(core::valid_agent_id(id));
    }
}

TEST_CASE("an id has at most 128 characters")
{
    CHECK(core::valid_agent_id(std::string(127, 'a')));
    CHECK(core::valid_agent_id(std::string(128, 'a')));
    CHECK_FALSE(core::valid_agent_id(std::string(129, 'a')));
}

TEST_CASE(
    "where an extended card comes from follows from the agent, its credentials, and whether callers are principals"
)
{
    using enum core::extended_card_access;
    struct row {
        core::extended_card_access written;
        bool mcp;
        bool credentials;
        core::extended_card_access open;
        core::extended_card_access authenticates;
    };
    for (const auto& each : {
             row{automatic, false, false, proxy, proxy},
             {automatic, false, true, off, proxy},
             {automatic, true, false, off, off},
             {off, false, false, off, off},
             {proxy, false, true, proxy, proxy},
             {proxy, true, false, off, off},
             {managed, false, true, off, managed},
             {managed, true, false, off, managed},
         }) {
        core::agent agent;
        agent.extended_card = each.written;
        agent.speaks = each.mcp ? core::protocol::mcp : core::protocol::a2a;
        CAPTURE(core::name(each.written));
        for (const bool by_certificate : {true, false}) {
            agent.cert_file = each.credentials && by_certificate ? "client.pem" : "";
            agent.bearer = core::secret{each.credentials && !by_certificate ? "token" : ""};
            CHECK(core::extended_card_of(agent, false) == each.open);
            CHECK(core::extended_card_of(agent, true) == each.authenticates);
        }
    }
}

TEST_CASE("What an agent says of its breaker goes before the defaults, key by key")
{
    using namespace std::chrono_literals;
    const core::breaker_settings defaults{.failures = 6, .ratio = 0.25, .volume = 21, .window = 31s};
    core::agent agent;
    CHECK(core::breaker_of(agent, defaults) == defaults);
    agent.breaker_ratio = 0.75;
    agent.breaker_probe = 2s;
    auto expected = defaults;
    expected.ratio = 0.75;
    expected.probe = 2s;
    CHECK(core::breaker_of(agent, defaults) == expected);
}

TEST_SUITE_END();
