#include "config/mcp_bundles.hpp"

#include "config/dump.hpp"
#include "config/file.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace config::testing;
using namespace std::chrono_literals;
using core::json;

TEST_SUITE_BEGIN("config/mcp_bundles");

namespace {

using texts = std::vector<std::string>;

// One bundle, whose map begins at column 17 of line 1.
std::string in_bundle(const std::string& members)
{
    return "mcp: {bundles: {b: {" + members + "}}}";
}

std::string of_agents(const std::string& agents)
{
    return in_bundle("agents: [" + agents + "]");
}

std::string agents_text(const std::string& agents)
{
    return "\nagents: {" + agents + "}";
}

std::string warnings_of(const std::string& text)
{
    const auto result = config::load(text, "c.yml", variables);
    REQUIRE(lines(result.problems) == "");
    return lines(result.warnings);
}

core::mcp_bundle only(const std::string& members)
{
    const auto settings = right(in_bundle(members));
    REQUIRE(settings.mcp.bundles.size() == 1);
    return settings.mcp.bundles.front();
}

config::settings full()
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/full.yml");
    REQUIRE(text.has_value());
    const auto files = [](const std::string& path) { return core::result<std::string>{file_text(path, session_key)}; };
    auto loaded = config::load(*text, "full.yml", variables, files);
    REQUIRE(lines(loaded.problems) == "");
    return std::move(loaded.value);
}

std::string repeated(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += (i == 0 ? "a" : ", a") + std::to_string(i);
    }
    return text;
}

}  // namespace

TEST_CASE("every key of a bundle is read")
{
    const auto bundles = full().mcp.bundles;
    REQUIRE(bundles.size() == 2);
    core::mcp_bundle expected;
    expected.name = "default";
    expected.agents = {{"search"}, {"weather.v1_A-b", "weather"}, {"no*"}, {"files", ""}};
    expected.call = core::access_policy{false, {core::access_rule{.groups = {"staff"}}}};
    expected.instructions = "Search before you read.";
    expected.name_length = 64;
    expected.list_wait = 3s;
    expected.tools.allow = {"*__*"};
    expected.tools.deny = {"*delete*"};
    expected.prompts.allow = {"search__*"};
    expected.prompts.deny = {"search__old"};
    expected.resources.deny = {"files+file:///secret*"};
    expected.search = true;
    expected.always = {"search__find"};
    CHECK(bundles[0] == expected);
    core::mcp_bundle small;
    small.name = "small";
    small.agents = {{"search"}};
    small.search = true;
    CHECK(bundles[1] == small);
}

TEST_CASE("what a bundle does not say is as usual, and tools may be a word or a list")
{
    const auto usual = only("agents: [a]");
    CHECK(usual.name_length == 48);
    CHECK(usual.list_wait == 2s);
    CHECK_FALSE(usual.call.has_value());
    CHECK_FALSE(usual.search);
    CHECK(only("agents: [a], tools: search").search);
    CHECK(only("agents: [a], tools: [a__x]").tools.allow == texts{"a__x"});
    CHECK(only("agents: [a], tools:") == usual);
    CHECK(only("agents: [a], prompts: [a__x]").prompts.allow == texts{"a__x"});
    CHECK(right("mcp: {bundles: }").mcp.bundles.empty());
}

TEST_CASE("the dump shows bundles as they are written")
{
    const auto settings = full();
    const auto shown = config::dump(settings, {})["mcp"]["bundles"]["value"];
    CHECK(shown["default"]["agents"][1] == json({{"id", "weather.v1_A-b"}, {"as", "weather"}}));
    CHECK(shown["default"]["tools"]["always"] == json({"search__find"}));
    CHECK(shown["small"]["tools"] == "search");
    const auto again = config::load(json{{"mcp", {{"bundles", shown}}}}.dump(), "dump.json", variables);
    CHECK(lines(again.problems) == "");
    CHECK(again.value.mcp.bundles == settings.mcp.bundles);
}

TEST_CASE("numbers and times of a bundle have limits")
{
    for (const auto* right : {"name_length: 24", "name_length: 128", "list_wait: 0", "list_wait: 1m"}) {
        CAPTURE(right);
        CHECK(problems_of(in_bundle("agents: [a], " + std::string{right})) == "");
    }
    for (const auto& [wrong, meant] : {
             std::pair{"name_length: 23", "name_length: \"23\" is out of range; expected a whole number, 24 to 128"},
             std::pair{"name_length: 129", "name_length: \"129\" is out of range; expected a whole number, 24 to 128"},
             std::pair{"list_wait: 60001ms", "list_wait: \"60001ms\" is out of range; expected 0 to 1m"},
         }) {
        CAPTURE(wrong);
        const auto text = in_bundle("agents: [a], " + std::string{wrong});
        const auto column = std::to_string(text.rfind(": ") + 3);
        CHECK(problems_of(text) == "c.yml:1:" + column + ": mcp.bundles.b." + meant + "\n");
    }
}

TEST_CASE("there are at most 32 bundles of 64 agents, and instructions of 8 KiB")
{
    CHECK(problems_of(of_agents(repeated(64))) == "");
    CHECK(problems_of(of_agents(repeated(65))) == "c.yml:1:29: mcp.bundles.b.agents: has more than 64 agents\n");
    std::string bundles;
    for (int i = 0; i < 33; ++i) {
        bundles += (i == 0 ? "b" : ", b") + std::to_string(i) + ": {agents: [a]}";
        if (i >= 31) {
            CAPTURE(i);
            CHECK(
                problems_of("mcp: {bundles: {" + bundles + "}}") ==
                (i == 31 ? "" : "c.yml:1:16: mcp.bundles: has more than 32 bundles\n")
            );
        }
    }
    CHECK(problems_of(in_bundle("agents: [a], instructions: " + std::string(8192, 'i'))) == "");
    CHECK(
        problems_of(in_bundle("agents: [a], instructions: " + std::string(8193, 'i'))) ==
        "c.yml:1:48: mcp.bundles.b.instructions: is longer than 8192 bytes\n"
    );
}

TEST_CASE("members whose names would be mixed up are problems, and what is expected fits")
{
    struct row {
        std::string agents;
        std::string problem;  // behind "c.yml:1:<column>: mcp.bundles.b.agents"
        std::string at;       // where it is
    };
    for (const auto& each : {
             row{"team.files",
                 "[0]: \"team.files\" cannot stand before names; expected {id: team.files, as: team-files}",
                 "team.files"},
             row{"team-files, team.files",
                 "[1]: \"team.files\" cannot stand before names; expected {id: team.files, as: team-files-2}",
                 "team.files"},
             row{"{id: a, as: b__c}",
                 "[0].as: \"b__c\" cannot stand before names; expected a letter and up to 31 letters, digits, '-' and "
                 "'_', without \"__\" and without '_' at the end",
                 "b__c"},
             row{"a, {id: b, as: A}", "[1].id: \"b\" has the same prefix as \"a\"; expected {id: b, as: b}", "b, as"},
             row{"a_b, {id: c, as: a-b}",
                 "[1].id: \"c\" has the same prefix as \"a_b\"; expected {id: c, as: c}",
                 "c, as"},
             row{"{id: a, as: \"\"}, {id: c, as: \"\"}",
                 "[1].id: \"c\" has the same `as`, \"\", as \"a\"; expected one member with \"\"",
                 "c, as"},
             row{"a, {id: a, as: c}", "[1].id: \"a\" is a member already; expected each agent once", "a, as"},
             row{"{id: \"c-*\", as: c}",
                 "[0].id: \"c-*\" is a pattern, whose agents cannot all have the same `as`; expected the id of one "
                 "agent",
                 "\"c-*"},
             row{"\"a b\"",
                 "[0]: \"a b\" is not an agent's id; expected an agent's id, in which * is any text, or a map with id "
                 "and as",
                 "\"a b"},
             row{"{as: c}", "[0].id: is missing; expected the id of an agent", "{as"},
         }) {
        CAPTURE(each.agents);
        const auto text = of_agents(each.agents);
        const auto column = std::to_string(text.rfind(each.at) + 1);
        CHECK(problems_of(text) == "c.yml:1:" + column + ": mcp.bundles.b.agents" + each.problem + "\n");
    }
}

TEST_CASE("a bundle without agents, an unknown key and a name with a slash are problems")
{
    CHECK(
        problems_of(in_bundle("tools: search")) ==
        "c.yml:1:20: mcp.bundles.b.agents: is missing; expected a list of agents' ids, or of maps such as {id: "
        "team.files, as: files}\n"
    );
    CHECK(
        problems_of(of_agents("")) ==
        "c.yml:1:29: mcp.bundles.b.agents: has no agent; expected a list of agents' ids, "
        "or of maps such as {id: team.files, as: files}\n"
    );
    CHECK(
        problems_of(in_bundle("agents: [a], member: c")).find("mcp.bundles.b.member: is not a known key") !=
        std::string::npos
    );
    CHECK(
        problems_of("mcp: {bundles: {a/b: {agents: [a]}}}").find("is not the name of a bundle; expected 1 to 128") !=
        std::string::npos
    );
    CHECK(
        problems_of(in_bundle("agents: [a], tools: find")) ==
        "c.yml:1:41: mcp.bundles.b.tools: \"find\" is not `search`; expected search, or a map with search, always, "
        "allow and deny\n"
    );
    CHECK(
        problems_of(in_bundle("agents: [a], tools: {always: [a__x]}")) ==
        "c.yml:1:50: mcp.bundles.b.tools.always: stands without `search: true`; expected both\n"
    );
    CHECK(
        problems_of(in_bundle("agents: [thirteen-long], name_length: 24")) ==
        "c.yml:1:29: mcp.bundles.b.agents: has \"thirteen-long\", behind which `name_length` leaves no room for names; "
        "expected at most 12 characters\n"
    );
}

TEST_CASE("an id without an agent, and an agent that a pattern leaves out, are warnings")
{
    const auto agents = agents_text("a: {url: \"http://a\"}, a.b: {url: \"http://b\"}");
    CHECK(
        warnings_of(of_agents("a, c") + agents) ==
        "c.yml:1:33: warning: mcp.bundles.b.agents[1]: is not an agent of this file; expected the id of one, unless it "
        "is created later\n"
    );
    CHECK(
        warnings_of(of_agents("a, \"c*\"") + agents) ==
        "c.yml:1:33: warning: mcp.bundles.b.agents[1]: fits no agent of this file; expected the id of one, unless it "
        "is "
        "created later\n"
    );
    CHECK(
        warnings_of(of_agents("\"a*\"") + agents) ==
        "c.yml:1:29: warning: mcp.bundles.b.agents: leaves out \"a.b\", whose id cannot stand before names; expected "
        "{id: a.b, as: a-b}\n"
    );
    CHECK(warnings_of(of_agents("a, {id: a.b, as: ab}") + agents) == "");
    CHECK(warnings_of(of_agents("a, c")) == "");  // the management API may have them
    CHECK(
        warnings_of(of_agents("a") + agents_text("a: {url: \"http://a\", as_tools: off}")) ==
        "c.yml:1:30: warning: mcp.bundles.b.agents[0]: is an agent that MCP clients cannot call; expected `as_tools: "
        "agent` or `skills` of it\n"
    );
}

TEST_CASE("a bundle's policy names providers that exist")
{
    const auto text = [](const std::string& provider) {
        return in_bundle("agents: [a], call: {providers: [" + provider + "]}") +
               "\naccess: {providers: [{type: static_token, name: ops, token: 0123456789abcdef}]}";
    };
    CHECK(problems_of(text("ops")) == "");
    CHECK(
        problems_of(text("opps")) == "c.yml:1:40: mcp.bundles.b.call: \"opps\" names no provider of access.providers\n"
    );
}

TEST_CASE("how A2A agents are tools is no key of MCP servers, whose bridge can be closed")
{
    const auto server = [](const std::string& key) {
        return problems_of("agents: {a: {protocol: mcp, url: \"http://a\", " + key + "}}");
    };
    CHECK(server("bridge: false") == "");
    CHECK(server("as_tools: agent") == "c.yml:1:56: agents.a.as_tools: is for A2A agents; remove it\n");
    CHECK(server("tool_wait: 1s") == "c.yml:1:57: agents.a.tool_wait: is for A2A agents; remove it\n");
}

TEST_SUITE_END();
