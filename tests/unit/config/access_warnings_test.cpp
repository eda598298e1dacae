#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;

TEST_SUITE_BEGIN("config/access_warnings");

namespace {

std::string warnings_of(const std::string& text)
{
    const auto result = loaded(text);
    REQUIRE(lines(result.problems) == "");
    return lines(result.warnings);
}

const std::string tokens =
    "  providers: [{type: jwt, name: idp, issuer: i, audience: b, algorithms: [RS256], "
    "jwks_file: keys.json}, {type: static_token, name: ops, token: 0123456789abcdef}]\n";
const std::string agents = "agents: {words: {url: \"http://a/\"}, numbers: {url: \"http://b/\"}}\n";

std::string with_rules(const std::string& rules)
{
    return warnings_of("access:\n" + tokens + "  rules:\n" + rules + agents);
}

}  // namespace

TEST_CASE("access without a provider is told to open the gateway, unless it says so itself")
{
    const std::string warning =
        "warning: access: has no provider, so that no caller needs a credential; expected providers, or "
        "`access: open`\n";
    CHECK(warnings_of("access: {providers: []}") == "c.yml:1:9: " + warning);
    CHECK(warnings_of("access: {}") == "c.yml:1:9: " + warning);
    CHECK(warnings_of("access:\n").ends_with(warning));
    CHECK(warnings_of("access: {providers: [], open: false}") == "c.yml:1:9: " + warning);
    CHECK(warnings_of("access: open").empty());
    CHECK(warnings_of("access: {providers: [], open: true}").empty());
    CHECK(warnings_of("access:\n" + tokens).empty());
    CHECK(warnings_of("log: {level: info}").empty());
}

TEST_CASE("a rule behind one for all agents is told to never count, for what that one decides")
{
    const std::string never = " never counts: access.rules[0] decides for all agents; expected it in front of that\n";
    CHECK(
        with_rules("    - {call: authenticated}\n    - {agents: words, discover: anyone, call: anyone}\n") ==
        "c.yml:5:47: warning: access.rules[1].call:" + never
    );
    CHECK(
        with_rules("    - {agents: [words, \"**\"], discover: nobody}\n    - {discover: anyone}\n") ==
        "c.yml:5:18: warning: access.rules[1].discover:" + never
    );
    CHECK(with_rules("    - {agents: words, call: anyone}\n    - {call: authenticated}\n").empty());
}

TEST_CASE("a pattern that fits no agent of the file is told, if there are agents")
{
    const std::string unfit = " fits no agent of this file; expected the id of one, unless it is created later\n";
    const std::string rule = "    - {agents: [word, \"w*\", \"*x\"], call: anyone}\n";
    CHECK(
        with_rules(rule) == "c.yml:4:17: warning: access.rules[0].agents[0]:" + unfit +
                                "c.yml:4:29: warning: access.rules[0].agents[2]:" + unfit
    );
    CHECK(with_rules("    - {agents: word, call: anyone}\n") == "c.yml:4:16: warning: access.rules[0].agents:" + unfit);
    CHECK(warnings_of("access:\n" + tokens + "  rules:\n" + rule).empty());
}

TEST_CASE("a claim that tokens have in another place is told, where callers have tokens")
{
    const auto misplaced = [](const std::string& claim, const std::string& expected) {
        return " asks for a claim \"" + claim + "\", which principals of tokens have elsewhere; expected " + expected +
               "\n";
    };
    CHECK(
        with_rules("    - {call: [{claims: {plan: gold}}, {claims: {sub: alice}}]}\n") ==
        "c.yml:4:14: warning: access.rules[0].call:" + misplaced("sub", "principals")
    );
    CHECK(with_rules("    - {call: {providers: ops, claims: {scope: a}}}\n").empty());
    CHECK(
        warnings_of("access:\n" + tokens + "agents:\n  a:\n    url: http://a/\n    discover: {claims: {scope: a}}\n") ==
        "c.yml:4:3: warning: agents.a.discover:" + misplaced("scope", "scopes")
    );
}

TEST_CASE("A server with logins that not everybody may discover is told, where it stands")
{
    const auto said = [](const std::string& rules, const std::string& more) {
        return warnings_of(
            "access:\n" + tokens + "  rules: [" + rules + "]\nagents:\n" +
            "  a: {protocol: mcp, url: \"http://a/mcp\", call: anyone, caller_credentials: [Authorization]" + more +
            "}\n"
        );
    };
    const std::string warning =
        "c.yml:5:3: warning: agents.a.caller_credentials: sends callers to log in at the gateway's issuers instead of "
        "the server's, because not everybody may discover the agent; expected `discover: anyone`, or clients that know "
        "where to log in\n";
    CHECK(said("{discover: authenticated}", "") == warning);
    CHECK(said("", "") == warning);
    CHECK(said("{discover: anyone}", ", discover: authenticated") == warning);
    CHECK(said("{discover: anyone}", "").empty());
    CHECK(said("{discover: authenticated}", ", discover: anyone").empty());
}

TEST_SUITE_END();
