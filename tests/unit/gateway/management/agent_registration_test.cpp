#include "gateway/management/write_methods.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/agent_registration");

namespace {

using core::json;
using gateway::management::definition_of;
using gateway::management::may_replace;
using gateway::management::read_registration;

json parsed(std::string_view text)
{
    const auto value = core::parse_json(text);
    REQUIRE(value.has_value());
    return *value;
}

gateway::management::registration sent(const std::string& url, const std::string& card_url = {})
{
    gateway::management::registration out;
    out.id = "a";
    out.url = url;
    out.card_url = card_url;
    out.version = "1.0.0";
    out.name = "A";
    return out;
}

const gateway::model::registrant an_operator{.who = "o", .operates = true};
const gateway::model::registrant alice{.who = "a", .owns_as = "idp alice"};
const gateway::model::registrant bob{.who = "b", .owns_as = "idp bob"};
const gateway::model::registrant token_holder{.who = "t"};

}  // namespace

TEST_CASE("what AgentUp sends is read, and what else is there is not looked at")
{
    const auto read =
        read_registration(parsed(R"({"agent_url":"http://localhost:8000","name":"My agent","version":"0.5.1",
            "agent_card_url":"http://localhost:8000/.well-known/agent-card.json","description":null,"more":[1]})"));
    CHECK(read.problems.empty());
    CHECK(read.id == "My-agent");
    CHECK(read.url == "http://localhost:8000");
    CHECK(read.card_url == "http://localhost:8000/.well-known/agent-card.json");
    CHECK(read.version == "0.5.1");
    CHECK(read.description.empty());
}

TEST_CASE("an id is derived from the name")
{
    for (const auto& [name, id] :
         {std::pair{"weather", "weather"},
          {"Weather.v2_x-1", "Weather.v2_x-1"},
          {"  my  agent! ", "my-agent"},
          {"../../etc", "etc"},
          {"a..b", "a.-b"},
          {"a/b", "a-b"},
          {"caf\xc3\xa9 x", "caf-x"}}) {
        CAPTURE(name);
        const auto read = read_registration({{"agent_url", "http://h"}, {"name", name}});
        CHECK(read.problems.empty());
        CHECK(read.id == id);
    }
    const auto longest = read_registration({{"agent_url", "http://h"}, {"name", std::string(300, 'x')}});
    CHECK(longest.id == std::string(128, 'x'));
}

TEST_CASE("every member that cannot be read is said")
{
    const auto none = read_registration(parsed("[]"));
    REQUIRE(none.problems.size() == 1);
    CHECK(none.problems[0].key == "body");
    const auto read = read_registration(parsed(R"({"name":"","version":1,"agent_card_url":{},"description":false})"));
    REQUIRE(read.problems.size() == 5);
    CHECK(read.problems[0].key == "agent_url");
    CHECK(read.problems[0].what == "is missing; expected text");
    CHECK(read.problems[1].key == "name");
    CHECK(read.problems[2].what == "is no text; expected text");
    const auto nameless = read_registration(parsed(R"({"agent_url":"http://h","name":"\u65e5\u672c"})"));
    REQUIRE(nameless.problems.size() == 1);
    CHECK(nameless.problems[0].key == "name");
}

TEST_CASE("to register again with the same changes nothing")
{
    const auto asked = sent("http://h:1/", "http://h:1/card");
    const auto first = definition_of(asked, json{}, an_operator);
    CHECK(
        first ==
        parsed(R"({"url":"http://h:1/","card_url":"http://h:1/card","version":"1.0.0","metadata":{"name":"A"}})")
    );
    CHECK(definition_of(asked, first, an_operator) == first);
}

TEST_CASE("what an operator has added stays with the agent's origins, and goes along to no other")
{
    const auto stored = parsed(R"({"url":"http://H:1/old","bearer":"s3cret","disabled":true,"version":"0.1",
        "metadata":{"tags":["x"],"description":"old"}})");
    const auto same = definition_of(sent("http://h:1/new"), stored, an_operator);
    CHECK(same["url"] == "http://h:1/new");
    CHECK(same["bearer"] == "s3cret");
    CHECK(same["disabled"] == true);
    CHECK(same["version"] == "1.0.0");
    CHECK(same["metadata"] == parsed(R"({"tags":["x"],"name":"A"})"));
    for (const auto& elsewhere :
         {sent("http://h:2/new"),
          sent("https://h:1/"),
          sent("http://h:1.evil.example/"),
          sent("http://h:1@evil.example/"),
          sent("http://h:1/", "http://h:2/card")}) {
        CAPTURE(elsewhere.url);
        const auto moved = definition_of(elsewhere, stored, an_operator);
        CHECK_FALSE(moved.contains("bearer"));
        CHECK(moved["disabled"] == true);
    }
}

TEST_CASE("an agent belongs to the registrant that registered it, wherever it moves")
{
    const auto first = definition_of(sent("http://h:1/"), json{}, alice);
    CHECK(first["registered"] == true);
    CHECK(first["registered_by"] == "idp alice");
    CHECK(definition_of(sent("http://h:1/"), first, alice) == first);
    CHECK(definition_of(sent("http://h:2/"), first, alice)["registered_by"] == "idp alice");
    CHECK(may_replace(alice, first));
    CHECK_FALSE(may_replace(bob, first));
    CHECK_FALSE(may_replace(token_holder, first));
    CHECK(may_replace(an_operator, first));
}

TEST_CASE("an agent without an owner belongs to the holder of the token")
{
    const auto first = definition_of(sent("http://h:1/"), json{}, token_holder);
    CHECK_FALSE(first.contains("registered_by"));
    CHECK(may_replace(token_holder, first));
    CHECK_FALSE(may_replace(alice, first));
    CHECK(may_replace(an_operator, first));
}

TEST_CASE("an agent that did not register itself is replaced by operators alone")
{
    for (const auto* stored : {R"({"url":"http://h"})", R"({"url":"http://h","registered":false})"}) {
        for (const auto& by : {alice, token_holder}) {
            CHECK_FALSE(may_replace(by, parsed(stored)));
        }
        CHECK(may_replace(an_operator, parsed(stored)));
    }
}

TEST_CASE(
    "an agent that an operator registers at the same origins stays its owner's, and elsewhere becomes the operator's"
)
{
    const auto first = definition_of(sent("http://h:1/"), json{}, alice);
    CHECK(may_replace(alice, definition_of(sent("http://h:1/new"), first, an_operator)));
    const auto moved = definition_of(sent("http://h:2/"), first, an_operator);
    CHECK_FALSE(moved.contains("registered"));
    CHECK_FALSE(moved.contains("registered_by"));
}

TEST_CASE("principals of two providers with one id are two registrants, and the token's holder is a third")
{
    const auto of = [](const char* provider, const char* id) {
        core::principal who;
        who.provider = provider;
        who.id = id;
        return gateway::model::registered_by(who);
    };
    CHECK(of("idp", "alice") == "idp alice");
    CHECK(of("other", "alice") == "other alice");
    CHECK(of("register", "register").empty());
}

TEST_CASE("a problem of the definition is said of the member that was sent")
{
    CHECK(gateway::management::registered_key("agent.url") == "agent_url");
    CHECK(gateway::management::registered_key("agent.card_url") == "agent_card_url");
    CHECK(gateway::management::registered_key("agent.version") == "version");
    CHECK(gateway::management::registered_key("agent") == "agent");
}

TEST_SUITE_END();
