#include "config/access.hpp"
#include "config/agents.hpp"
#include "config/dump.hpp"
#include "config/json_value.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace config::testing;
using core::json;

TEST_SUITE_BEGIN("config/access_policy");

namespace {

using texts = std::vector<std::string>;

std::string agent_text(const std::string& members)
{
    return "agents:\n  a:\n    url: http://h\n    " + members + "\n";
}

core::access_policy call_of(const std::string& policy)
{
    return right(agent_text("call: " + policy)).agents.at(0).call.value();
}

std::string problem_of(const std::string& members)
{
    return problems_of(agent_text(members));
}

std::string repeated(int count, const std::string& element)
{
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ", ") + element;
    }
    return '[' + text + ']';
}

}  // namespace

TEST_CASE("Three words are policies, and a map without conditions is every principal")
{
    CHECK(call_of("anyone") == core::access_policy{true, {}});
    CHECK(call_of("authenticated") == core::access_policy{false, {{}}});
    CHECK(call_of("{}") == core::access_policy{false, {{}}});
    CHECK(call_of("nobody") == core::access_policy{});
    CHECK(call_of("${UNSET:-nobody}") == core::access_policy{});
    const auto agent = right(agent_text("discover: anyone")).agents.at(0);
    CHECK(agent.discover == core::access_policy{true, {}});
    CHECK_FALSE(agent.call.has_value());
}

TEST_CASE("A map has conditions, and a list of maps has alternatives")
{
    const auto all = call_of(
        "{principals: [a, b], providers: keys, scopes: [s:1], groups: g, tenants: [t], claims: {plan: gold, level: [1, "
        "true]}, methods: [message/send, SendMessage]}"
    );
    REQUIRE(all.any_of.size() == 1);
    const auto& rule = all.any_of.front();
    CHECK(rule.principals == texts{"a", "b"});
    CHECK(rule.providers == texts{"keys"});
    CHECK(rule.scopes == texts{"s:1"});
    CHECK(rule.groups == texts{"g"});
    CHECK(rule.tenants == texts{"t"});
    CHECK(rule.claims == std::vector<core::claim>{{"plan", "gold"}, {"level", "1"}, {"level", "true"}});
    CHECK(rule.methods == texts{"message/send", "SendMessage"});
    const auto two = call_of("[{groups: a}, {groups: b}]");
    REQUIRE(two.any_of.size() == 2);
    CHECK(two.any_of[1].groups == texts{"b"});
    CHECK(call_of("[{}]") == call_of("authenticated"));
}

TEST_CASE("What is no policy is reported, and an empty condition lets nobody in by mistake")
{
    const std::string expected =
        "; expected anyone, authenticated, nobody, a map of conditions, or a list of such maps\n";
    const std::string map = "; expected a map of conditions such as {scopes: [words:call]}\n";
    const std::string list = "; expected text, or a list of texts\n";
    for (const auto& [members, problem] : std::vector<std::pair<std::string, std::string>>{
             {"call: everyone", "4:11: agents.a.call: \"everyone\" is not a policy" + expected},
             {"call: \"\"", "4:11: agents.a.call: is empty" + expected},
             {"call:", "4:5: agents.a.call: has no value" + expected},
             {"discover: true", "4:15: agents.a.discover: \"true\" is not a policy" + expected},
             {"call: []", "4:11: agents.a.call: is empty; expected nobody, or at least one map of conditions\n"},
             {"call: [anyone]", "4:12: agents.a.call[0]: is a single value" + map},
             {"call: [[]]", "4:12: agents.a.call[0]: is a list" + map},
             {"call: [{}, ]\n    discover: [~]", "5:15: agents.a.discover[0]: has no value" + map},
             {"call: {groups: []}", "4:20: agents.a.call.groups: is empty" + list},
             {"call: {groups: }", "4:12: agents.a.call.groups: has no value" + list},
             {"call: {groups: [\"\"]}", "4:21: agents.a.call.groups[0]: is empty; expected text\n"},
             {"call: {groups: {a: b}}", "4:20: agents.a.call.groups: is a map" + list},
             {"call: {groups: \"${EMPTY}\"}", "4:20: agents.a.call.groups: is empty; expected text\n"},
             {"call: {scopes: a b}",
              "4:20: agents.a.call.scopes: \"a b\" has a blank; expected a scope such as cardea:read, or a list of "
              "scopes\n"},
             {"call: {claims: {}}",
              "4:20: agents.a.call.claims: is empty; expected a map from names of claims to values\n"},
             {"call: {claims: }",
              "4:12: agents.a.call.claims: has no value; expected a map from names of claims to values\n"},
             {"call: {claims: {plan: []}}",
              "4:27: agents.a.call.claims.plan: is empty; expected a value, or a list of values\n"},
             {"call: {group: a}", "4:12: agents.a.call.group: is not a known key; did you mean `groups`?\n"},
             {"discover: {methods: [a]}", "4:25: agents.a.discover.methods: is about calls; expected it below `call`\n"
             },
         }) {
        CAPTURE(members);
        CHECK(problem_of(members) == "c.yml:" + problem);
    }
}

TEST_CASE("A policy has at most 256 rules, and a condition 64 elements")
{
    CHECK(problem_of("call: " + repeated(256, "{groups: a}")) == "");
    CHECK(
        problem_of("call: " + repeated(257, "{groups: a}")) ==
        "c.yml:4:11: agents.a.call: has more than 256 rules; expected fewer\n"
    );
    for (const std::string key : {"principals", "providers", "scopes", "groups", "tenants", "methods"}) {
        CAPTURE(key);
        CHECK(problem_of("call: {" + key + ": " + repeated(64, "a") + "}") == "");
        CHECK(
            problem_of("call: {" + key + ": " + repeated(65, "a") + "}") ==
            "c.yml:4:" + std::to_string(14 + key.size()) + ": agents.a.call." + key + ": has more than 64 elements\n"
        );
    }
}

TEST_CASE("A policy is shown so that it is read back as the same policy")
{
    for (const auto* text : {
             "anyone",
             "authenticated",
             "nobody",
             "{groups: a}",
             "[{}, {groups: [a, b]}]",
             "{principals: [a, b], providers: keys, scopes: [s:1], groups: g, tenants: [t], claims: {plan: gold, "
             "level: "
             "[1, true]}, methods: [message/send]}",
         }) {
        CAPTURE(text);
        const auto policy = call_of(text);
        const auto shown = config::shown_policy(policy);
        CHECK(call_of(core::to_text(shown)) == policy);
        const auto added = config::read_agent("a", {{"url", "http://h"}, {"call", shown}}, "", {});
        REQUIRE(added.problems.empty());
        CHECK(added.agent.call == policy);
        CHECK(config::given_values(added.agent)["call"] == shown);
    }
    CHECK(config::shown_policy(call_of("{groups: a}")) == json{{"groups", {"a"}}});
    CHECK(config::shown_policy(call_of("{}")) == "authenticated");
}

TEST_CASE("The management API gets the same problems with a policy as the file")
{
    const auto read = config::read_agent(
        "a",
        {{"url", "http://h"}, {"call", {{"groups", json::array()}}}, {"discover", "all"}},
        "params",
        {}
    );
    REQUIRE(read.problems.size() == 2);
    CHECK(read.problems[0].key == "params.call.groups");
    CHECK(read.problems[0].what == "is empty; expected text, or a list of texts");
    CHECK(read.problems[1].key == "params.discover");
}

TEST_CASE("The first provider that does not exist is found in any rule")
{
    const std::vector<core::access_provider> providers{{"a", core::jwt_provider{}}, {"b", core::jwt_provider{}}};
    CHECK(config::missing_provider(call_of("[{providers: [a, b]}, {groups: c}]"), providers).empty());
    CHECK(config::missing_provider(call_of("[{providers: [a]}, {providers: [b, d, c]}]"), providers) == "d");
    CHECK(config::missing_provider(call_of("anyone"), providers).empty());
}

TEST_SUITE_END();
