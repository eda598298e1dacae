#include "gateway/access/explanation.hpp"

#include "config/document.hpp"
#include "config/load.hpp"
#include "gateway/access/explain_request.hpp"
#include "gateway/access/policy.hpp"
#include "mcp/pins/pinned_server.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace gateway::access;
using core::json;

constexpr std::string_view text = R"(access:
  providers:
    - {name: ops, type: static_token, token: operator-token-0123456789, principal: op, scopes: [a, b], tenant: t}
    - name: keys
      type: api_key
      keys:
        - {name: ci, sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, scopes: [k]}
        - {name: off, sha256: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, disabled: true}
        - {name: old, sha256: cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc, expires: 2020-01-01}
  rules:
    - agents: ["w*"]
      discover: authenticated
    - call:
        - {scopes: [z]}
        - {groups: [g1, g2], tenants: [t]}
agents:
  words:
    url: http://127.0.0.1:9/
    call:
      - {scopes: [a], methods: [GetTask]}
      - {scopes: [a], groups: [g]}
  other: {url: "http://127.0.0.1:9/", discover: anyone}
  lone: {url: "http://127.0.0.1:9/"}
  tools:
    url: http://127.0.0.1:9/mcp
    protocol: mcp
    discover: anyone
    call: anyone
    tools: {deny: [drop]}
    skills:
      - {id: gold, visibility: extended, required_scopes: [a, z]}
)";

struct world {
    config::settings settings = [] {
        auto loaded = config::load(text, "c.yml", {});
        REQUIRE(loaded.problems.empty());
        return std::move(loaded.value);
    }();
    std::shared_ptr<const access_plan> plan = access_plan::make(settings.access);
    std::shared_ptr<const gateway::model::snapshot> agents =
        *gateway::model::make_snapshot(settings, "http://127.0.0.1:4000");

    access_facts facts(const std::string& agent) const
    {
        const auto found = agents->agents.find(agent);
        return {
            .plan = plan,
            .agent = found == agents->agents.end() ? nullptr : found->second,
            .places = settings.rules
        };
    }

    json explain(const json& params, std::shared_ptr<const gateway::model::containments> contained = {}) const
    {
        const auto asked = read_explain_request(params);
        REQUIRE(asked.has_value());
        const auto owner = named_owner(*asked, settings.access, std::chrono::system_clock::now());
        auto now = facts(asked->asked.agent);
        now.contained = std::move(contained);
        return to_json(gateway::access::explain(asked->asked, owner, now));
    }
};

json step(const json& explained, std::string_view check)
{
    for (const auto& each : explained["steps"]) {
        if (each["check"] == check) {
            return each;
        }
    }
    return nullptr;
}

std::string problem_of(const json& params)
{
    const auto read = read_explain_request(params);
    return read ? std::string{} : read.error().detail;
}

json by_op(std::string_view agent, json more = json::object())
{
    more["agent"] = agent;
    more["principal"] = {{"provider", "ops"}, {"id", "op"}};
    return more;
}

TEST_SUITE("access explanation")
{
    TEST_CASE("A rule that lets a caller pass is named by its place in the file")
    {
        const world x;
        const auto said = x.explain(by_op("words", {{"method", "GetTask"}}));
        CHECK(said["allowed"] == true);
        CHECK(said["status"] == 200);
        CHECK_FALSE(said.contains("code"));
        CHECK(said["principal"]["scopes"] == json{"a", "b"});
        CHECK(said["principal"]["tenant"] == "t");
        CHECK(step(said, "discover")["rule"] == "c.yml:12:17 access.rules[0].discover");
        CHECK(step(said, "call")["rule"] == "c.yml:20:9 agents.words.call[0]");
        CHECK(step(said, "tool")["outcome"] == "skip");
    }

    TEST_CASE("A denial names the rule that lacks the least, and what that is")
    {
        const world x;
        const auto said = x.explain(by_op("words", {{"method", "SendMessage"}}));
        CHECK(said["allowed"] == false);
        CHECK(said["status"] == 403);
        CHECK(said["code"] == "forbidden");
        CHECK(step(said, "call")["rule"] == "c.yml:20:9 agents.words.call[0]");
        CHECK(step(said, "call")["missing"] == "the method GetTask");

        const auto other = x.explain(by_op("other"));
        CHECK(step(other, "discover")["rule"] == "c.yml:22:49 agents.other.discover");
        CHECK(step(other, "call")["rule"] == "c.yml:14:11 access.rules[1].call[0]");
        CHECK(step(other, "call")["missing"] == "the scope z");
    }

    TEST_CASE("A hidden agent, and one for which no rule is, are not found; an anonymous caller lacks a credential")
    {
        const world x;
        const auto lone = x.explain(by_op("lone"));
        CHECK(lone["status"] == 404);
        CHECK(lone["code"] == "agent_not_found");
        CHECK(step(lone, "discover")["rule"] == "none");
        CHECK(step(lone, "discover")["missing"] == "a policy for this agent");
        CHECK(step(lone, "call") == json{{"check", "call"}, {"outcome", "skip"}, {"rule", "none"}});

        const auto none = x.explain(by_op("nothing"));
        CHECK(none["status"] == 404);
        CHECK(step(none, "discover")["missing"] == "an agent with this id");

        for (const auto* agent : {"words", "lone", "nothing", "other"}) {
            const auto said = x.explain({{"agent", agent}, {"anonymous", true}});
            CHECK(said["status"] == 401);
            CHECK(said["code"] == "unauthenticated");
            CHECK(step(said, "identity")["outcome"] == "pass");
        }
        const auto anonymous = x.explain({{"agent", "other"}, {"anonymous", true}});
        CHECK(step(anonymous, "call")["missing"] == "a credential");
        CHECK(step(anonymous, "call")["rule"] == "c.yml:14:11 access.rules[1].call[0]");
    }

    TEST_CASE("A record of the store is named with its version, and its rules by number only if it has several")
    {
        const world x;
        auto facts = x.facts("words");
        facts.agent = gateway::model::with_version(facts.agent, 12);
        const auto rule = [&](const core::principal* caller) {
            return call_rule(*x.plan, *facts.agent, caller, "SendMessage", facts.places.get()).rule;
        };
        const core::principal op{"op", "ops", "", {"a"}, {"g"}, {}};
        CHECK(rule(&op) == "store agents.words.call[1] version 12");
        auto one = *facts.agent;
        one.record.call->any_of.pop_back();
        CHECK(
            call_rule(*x.plan, one, &op, "SendMessage", facts.places.get()).rule == "store agents.words.call version 12"
        );
        one.record.call.reset();
        CHECK(
            call_rule(*x.plan, one, &op, "SendMessage", facts.places.get()).rule ==
            "c.yml:14:11 access.rules[1].call[0]"
        );
        CHECK(call_rule(*x.plan, one, &op, "SendMessage", nullptr).rule == "access.rules[1].call");
    }

    TEST_CASE("Keys and static tokens are completed, unless the question says otherwise")
    {
        const world x;
        const json key{{"provider", "keys"}, {"id", "ci"}};
        CHECK(x.explain({{"agent", "words"}, {"principal", key}})["principal"]["scopes"] == json{"k"});
        auto said = key;
        said["scopes"] = {"a"};
        said["groups"] = {"g"};
        said["claims"] = {{"n", 1}, {"list", {"x", true}}};
        const auto explained = x.explain({{"agent", "words"}, {"principal", said}, {"method", "SendMessage"}});
        CHECK(explained["allowed"] == true);
        CHECK(explained["principal"]["claims"] == json{{"n", {"1"}}, {"list", {"x", "true"}}});
        CHECK(step(explained, "call")["rule"] == "c.yml:21:9 agents.words.call[1]");
    }

    TEST_CASE("A key that is unknown, disabled or expired is refused with words for operators")
    {
        const world x;
        const auto missing = [&](const char* id, const char* provider = "keys") {
            const auto said = x.explain({{"agent", "words"}, {"principal", {{"provider", provider}, {"id", id}}}});
            CHECK(said["status"] == 401);
            CHECK(step(said, "identity")["outcome"] == "deny");
            CHECK_FALSE(said.contains("principal"));
            return step(said, "identity")["missing"].get<std::string>();
        };
        CHECK(missing("nobody") == "a key with this name: the provider has none");
        CHECK(missing("off") == "a key that is not disabled");
        CHECK(missing("old") == "a key that has not expired");
        CHECK(missing("nobody", "ops") == "the name of the token's owner");
        const auto asked = read_explain_request({{"agent", "w"}, {"principal", {{"provider", "no"}, {"id", "x"}}}});
        const auto owner = named_owner(*asked, x.settings.access, std::chrono::system_clock::now());
        REQUIRE_FALSE(owner.has_value());
        CHECK(owner.error().code == core::errc::invalid_params);
        CHECK(owner.error().detail == "principal.provider: names no provider of access.providers");
    }

    TEST_CASE("A tool that callers do not get is an unknown one, with status 200")
    {
        const world x;
        const auto filtered = x.explain(by_op("tools", {{"tool", "drop"}}));
        CHECK(filtered["status"] == 200);
        CHECK(filtered["code"] == "invalid_params");
        CHECK(step(filtered, "tool")["rule"] == "c.yml:29:12 agents.tools.tools");
        CHECK(step(filtered, "tool")["missing"] == "a name that callers get (denied)");
        const auto hidden = x.explain(by_op("tools", {{"tool", "gold"}}));
        CHECK(hidden["allowed"] == false);
        CHECK(step(hidden, "tool")["rule"] == "c.yml:31:9 agents.tools.skills[0]");
        CHECK(step(hidden, "tool")["missing"] == "all of the scopes a, z");
        CHECK(x.explain(by_op("tools", {{"tool", "plain"}}))["allowed"] == true);
    }

    TEST_CASE("A contained principal is refused before the agent is looked for, a contained agent after that")
    {
        const world x;
        const auto contained = std::make_shared<gateway::model::containments>();
        contained->agents["words"] = {};
        contained->agents["lone"] = {};
        auto said = x.explain(by_op("words"), contained);
        CHECK(said["status"] == 403);
        CHECK(said["code"] == "agent_contained");
        CHECK(step(said, "discover")["outcome"] == "pass");
        CHECK(step(said, "contained")["missing"] == "the release of the agent");
        CHECK(said["steps"].size() == 5);
        CHECK(x.explain(by_op("lone"), contained)["code"] == "agent_not_found");

        contained->principals[{"ops", "op"}] = {{}, core::wall_time{std::chrono::hours{24}}};
        said = x.explain(by_op("nothing"), contained);
        CHECK(said["code"] == "principal_contained");
        CHECK(step(said, "contained")["missing"] == "the release of the principal, or 1970-01-02T00:00:00.000Z");
        CHECK(step(said, "discover")["outcome"] == "skip");
    }

    TEST_CASE("A held tool is an unknown one and a held agent waits, both by the rule `pin`")
    {
        const world x;
        auto facts = x.facts("tools");
        auto entry = std::make_shared<gateway::model::agent_entry>(*facts.agent);
        mcp::approved_server approved;
        approved.seen = true;
        approved.tools["plain"].variants.push_back({"shape", "{}"});
        entry->pins =
            std::make_shared<const mcp::pinned_server>(std::move(approved), std::vector<std::string>{"free*"});
        facts.agent = entry;
        const core::principal op{"op", "ops", "", {"a", "z"}, {}, {}};
        const identified owner{std::make_shared<const core::principal>(op)};
        const auto said = [&](const char* tool) {
            return to_json(gateway::access::explain({"tools", "tools/call", tool}, owner, facts));
        };
        CHECK(said("plain")["allowed"] == true);
        CHECK(said("free_one")["allowed"] == true);
        CHECK(said("swapped")["code"] == "invalid_params");
        CHECK(said("swapped")["status"] == 200);
        CHECK(step(said("swapped"), "tool")["rule"] == "pin");
        CHECK(step(said("drop"), "tool")["rule"] == "c.yml:29:12 agents.tools.tools");

        entry->held = true;
        CHECK(said("plain")["code"] == "card_held");
        CHECK(said("plain")["status"] == 503);
        CHECK(step(said("plain"), "contained")["rule"] == "pin");
        CHECK(step(said("plain"), "discover")["outcome"] == "pass");
        CHECK(step(said("plain"), "call")["outcome"] == "skip");
    }

    TEST_CASE("Where callers need no credential everything passes, and an unknown agent is not found")
    {
        const world x;
        auto facts = x.facts("words");
        facts.plan = nullptr;
        const identified nobody{std::shared_ptr<const core::principal>{}};
        CHECK(to_json(gateway::access::explain({"words", "SendMessage", {}}, nobody, facts))["allowed"] == true);
        facts.agent = nullptr;
        CHECK(gateway::access::explain({"words", "SendMessage", {}}, nobody, facts).status == 404);
    }

    TEST_CASE("Parameters that do not fit are refused with their path")
    {
        const json who{{"provider", "p"}, {"id", "i"}};
        CHECK(problem_of({{"principal", who}}) == "agent: is missing; expected text");
        CHECK(problem_of({{"agent", "a"}}).starts_with("principal: "));
        CHECK(problem_of({{"agent", "a"}, {"principal", who}, {"anonymous", true}}).starts_with("principal: "));
        CHECK(problem_of({{"agent", "a"}, {"anonymous", false}}) == "anonymous: is not true");
        CHECK(problem_of({{"agent", 1}, {"anonymous", true}}) == "agent: is not text; expected 1 to 8192 bytes");
        CHECK(problem_of({{"agent", "a"}, {"anonymous", true}, {"x", 1}}) == "x: is not a parameter of access/explain");
        CHECK(problem_of({{"agent", "a"}, {"principal", 1}}) == "principal.: is not an object");
        CHECK(
            problem_of({{"agent", "a"}, {"principal", {{"id", "i"}}}}) ==
            "principal.provider: is missing; expected text"
        );
        CHECK(problem_of({{"agent", "a"}, {"principal", {{"provider", "p"}, {"id", "i\n"}}}}
        ).starts_with("principal.id: is not the id of a principal"));
        CHECK(
            problem_of({{"agent", "a"}, {"principal", {{"provider", "p"}, {"id", "i"}, {"scopes", "s"}}}}) ==
            "principal.scopes: is not a list of at most 256 texts"
        );
        CHECK(
            problem_of({{"agent", "a"}, {"credential", {{"field", "x"}}}}) ==
            "credential.value: is missing; expected text"
        );
        CHECK(read_explain_request({{"agent", "a"}, {"tool", "t"}, {"anonymous", true}})->asked.method == "tools/call");
    }

    TEST_CASE("A credential is judged by its kind and place, and is asked about where only a provider knows")
    {
        const world x;
        gateway::model::presented_credential presented;
        const auto now = std::chrono::system_clock::now();
        const auto shown = [&](json credential) {
            return shown_owner(
                *read_explain_request({{"agent", "a"}, {"credential", credential}}),
                x.plan.get(),
                now,
                presented
            );
        };
        CHECK((*shown({{"value", "operator-token-0123456789"}}))->get()->id == "op");
        CHECK(shown({{"value", "another"}})->error().code == core::errc::unauthenticated);
        CHECK(shown({{"value", "x"}, {"field", "X-API-Key"}})->error().code == core::errc::unauthenticated);
        CHECK(shown({{"value", "x"}, {"field", "X-Other"}})->error().code == core::errc::invalid_params);
        CHECK(presented.text.empty());
    }

    TEST_CASE("A verdict agrees with the decision, whatever a policy asks for")
    {
        const core::principal
            who{.id = "i", .provider = "p", .tenant = "t", .scopes = {"s"}, .groups = {"g"}, .claims = {{"c", "v"}}};
        const core::access_rule fits{{"i"}, {"p"}, {"s"}, {"g"}, {"t"}, {{"c", "v"}}, {"m"}};
        core::access_policy policy{.anyone = false, .any_of = {fits}};
        CHECK(judge(policy, &who, "m").allowed);
        CHECK(judge(policy, &who, std::nullopt).allowed);
        CHECK(judge(policy, &who, "n").missing == "the method m");
        core::access_rule none{{"x"}, {"x"}, {"x"}, {"x"}, {"x"}, {{"x", "y"}}, {"x", "y", "z", "1", "2", "3", "4"}};
        policy.any_of = {none};
        CHECK(
            judge(policy, &who, "m").missing ==
            "the provider x, and the principal x, and the tenant x, and the group x, and the claim x=y, and the scope "
            "x, "
            "and one of the methods x, y, z, 1, 2 and 2 more"
        );
        policy.any_of = {none, {.scopes = {"a", "b"}}, {.groups = {"h"}}};
        CHECK(judge(policy, &who, "m").rule == 1);
        CHECK(judge(policy, &who, "m").missing == "one of the scopes a, b");
        CHECK(judge({}, &who, "m").missing == "a policy that allows somebody");
        CHECK(judge(policy, nullptr, "m").missing == "a credential");
    }
}

}  // namespace
