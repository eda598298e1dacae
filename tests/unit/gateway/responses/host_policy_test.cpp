#include "gateway/responses/host_policy.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/host_policy");

using gateway::responses::host_policy;

TEST_CASE("a loopback listener answers for the loopback names, its address and the host of public_url only")
{
    config::settings settings;
    settings.public_url = "https://Agents.Example.com:8443/base";
    for (const auto* listen : {"127.0.0.1", "::1", "localhost", "127.0.0.2"}) {
        const host_policy policy{settings, {listen, 4000}};
        for (const auto* authority :
             {"localhost",
              "LocalHost:4000",
              "127.0.0.1:4000",
              "127.0.0.1",
              "[::1]:4000",
              "[::1]",
              "agents.example.com",
              "AGENTS.example.com:1",
              ""}) {
            CAPTURE(authority);
            CHECK(policy.answers(authority));
        }
        for (const auto* authority :
             {"attacker.example", "attacker.example:4000", "localhost.attacker.example", "127.0.0.1.example", "[::2]"
             }) {
            CAPTURE(authority);
            CHECK_FALSE(policy.answers(authority));
        }
    }
    CHECK(host_policy{settings, {"127.0.0.2", 4000}}.answers("127.0.0.2:4000"));
}

TEST_CASE("a listener on another address answers for every name until hosts are listed")
{
    config::settings settings;
    CHECK(host_policy{settings, {"0.0.0.0", 4000}}.answers("anything.example"));
    settings.hosts = {"gw.test"};
    const host_policy listed{settings, {"0.0.0.0", 4000}};
    CHECK(listed.answers("gw.test:4000"));
    CHECK(listed.answers("GW.test"));
    CHECK_FALSE(listed.answers("localhost"));
    CHECK_FALSE(listed.answers("xgw.test"));
}

TEST_CASE("listed hosts replace the loopback names, and a star is any name")
{
    config::settings settings;
    settings.hosts = {"gw.test"};
    CHECK_FALSE(host_policy{settings, {"127.0.0.1", 4000}}.answers("localhost"));
    settings.hosts = {"gw.test", "*"};
    CHECK(host_policy{settings, {"127.0.0.1", 4000}}.answers("attacker.example"));
}

TEST_CASE("listed hosts restrict callers: operators use loopback names, and addresses that no page can choose, too")
{
    config::settings settings;
    settings.hosts = {"gw.test"};
    const auto policy = host_policy::of_operators(settings);
    for (const auto* authority :
         {"gw.test", "localhost:4001", "127.0.0.1:4001", "[::1]:4001", "10.0.0.7:4001", "[2001:db8::1]", ""}) {
        CAPTURE(authority);
        CHECK(policy.answers(authority));
    }
    for (const auto* authority : {"attacker.example:4001", "127.0.0.1.example", "localhost.attacker.example"}) {
        CAPTURE(authority);
        CHECK_FALSE(policy.answers(authority));
    }
    settings.admin.host = "cardea.internal";
    CHECK(host_policy::of_operators(settings).answers("cardea.internal:4001"));
}

TEST_CASE("without listed hosts an admin listener on a loopback address answers no other address")
{
    CHECK(host_policy::of_operators({}).answers("127.0.0.1:4001"));
    CHECK_FALSE(host_policy::of_operators({}).answers("10.0.0.7:4001"));
}

TEST_SUITE_END();
