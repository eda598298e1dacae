#include "gateway/cli/access_table.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using gateway::cli::access_table;

core::agent agent(std::string id)
{
    core::agent made;
    made.id = std::move(id);
    return made;
}

TEST_SUITE("access table")
{
    TEST_CASE("Without providers everything that reads is open to anyone")
    {
        config::settings settings;
        settings.agents = {agent("a")};
        CHECK(
            access_table(settings) ==
            "listener        route                   who\n"
            "127.0.0.1:4000  /rpc, to change agents  nobody\n"
            "127.0.0.1:4000  /agent/register         nobody\n"
            "127.0.0.1:4000  everything else         anyone\n"
            "127.0.0.1:4001  everything              anyone\n"
        );
    }

    TEST_CASE("What an address for scraping shows is open to whoever reaches it")
    {
        config::settings settings;
        CHECK(access_table(settings).find("/healthz") == std::string::npos);
        settings.metrics = {"0.0.0.0", 4002};
        CHECK(access_table(settings).ends_with("0.0.0.0:4002    /metrics, /healthz, /readyz  anyone\n"));
    }

    TEST_CASE("Agents with the same policies share a line, and a policy is shown with all its conditions")
    {
        config::settings settings;
        settings.access.providers = {{"ops", core::static_token_provider{}}};
        settings.access.rules = {
            {.agents = {"t*"},
             .discover = core::access_policy{.anyone = true, .any_of = {}},
             .call =
                 core::access_policy{
                     .anyone = false,
                     .any_of =
                         {{.principals = {"alice", "ci"}, .methods = {"message/send"}}, {.claims = {{"plan", "gold"}}}}
                 }}
        };
        settings.agents = {agent("t1"), agent("x"), agent("t2"), agent("t3"), agent("t4"), agent("t5"), agent("t6")};
        settings.agents[1].discover = core::access_policy{.anyone = false, .any_of = {core::access_rule{}}};
        const auto text = access_table(settings);
        CHECK(text.find("card of t1, t2, t3, t4, t5 and 1 more   anyone\n") != std::string::npos);
        CHECK(
            text.find(
                "calls of t1, t2, t3, t4, t5 and 1 more  principal alice, ci; method message/send | claim plan=gold\n"
            ) != std::string::npos
        );
        CHECK(text.find("card of x                               every credential\n") != std::string::npos);
        CHECK(text.find("calls of x                              nobody\n") != std::string::npos);
        CHECK(text.find("/rpc, everything about agents           scope cardea:read\n") != std::string::npos);
        CHECK(text.find("/agent/register                         scope cardea:register\n") != std::string::npos);
        CHECK(text.find("127.0.0.1:4001  everything                              anyone\n") != std::string::npos);
        CHECK(text.find("oauth-protected-resource") == std::string::npos);
        settings.access.providers.push_back(
            {"idp", core::oidc_provider{.issuer = "https://idp.example", .audiences = {}, .algorithms = {}}}
        );
        CHECK(access_table(settings).find("/.well-known/oauth-protected-resource   anyone\n") != std::string::npos);
    }

    TEST_CASE("A bundle is for those who may call an agent of it, and whom its own policy lets in")
    {
        config::settings settings;
        settings.access.providers = {{"ops", core::static_token_provider{}}};
        settings.mcp.bundles.resize(2);
        settings.mcp.bundles[0].name = "default";
        settings.mcp.bundles[1].name = "staff";
        settings.mcp.bundles[1].call = core::access_policy{false, {core::access_rule{.groups = {"staff"}}}};
        const auto text = access_table(settings);
        for (const auto* line :
             {"127.0.0.1:4000  /mcp                           those who may call one of its agents\n",
              "127.0.0.1:4000  /mcp/staff                     group staff; of those who may call one of its agents\n"
             }) {
            CAPTURE(text);
            CHECK(text.find(line) != std::string::npos);
        }
    }

    TEST_CASE("An admin listener that needs scopes has a line for each route")
    {
        config::settings settings;
        settings.access.providers = {{"ops", core::static_token_provider{}}};
        settings.admin_access = core::admin_access::scopes;
        settings.registration.token = core::secret{"0123456789abcdef"};
        const auto text = access_table(settings);
        for (const auto* line :
             {"127.0.0.1:4000  /agent/register                register.token | scope cardea:register\n",
              "127.0.0.1:4001  /healthz, /readyz              anyone\n",
              "127.0.0.1:4001  /metrics                       scope cardea:metrics | scope cardea:read\n",
              "127.0.0.1:4000  /, /.well-known/jwks.json      anyone\n",
              "127.0.0.1:4001  /                              scope cardea:read\n",
              "127.0.0.1:4001  /console/                      anyone\n",
              "127.0.0.1:4001  /try                           scope cardea:read and scope cardea:write\n",
              "127.0.0.1:4001  /events                        scope cardea:read\n",
              "127.0.0.1:4001  /rpc                           scope cardea:read\n",
              "127.0.0.1:4001  /rpc, to change agents         scope cardea:read and scope cardea:write\n",
              "127.0.0.1:4001  /reload                        scope cardea:read and scope cardea:write\n"}) {
            CAPTURE(line);
            CHECK(text.find(line) != std::string::npos);
        }
        CHECK(text.find("everything  ") == std::string::npos);
        CHECK(text.find("0123456789abcdef") == std::string::npos);
        settings.console = false;
        const auto without = access_table(settings);
        CHECK(without.find("/console/") == std::string::npos);
        CHECK(without.find("/try") == std::string::npos);
        CHECK(without.find("/events") != std::string::npos);
    }
}

}  // namespace
