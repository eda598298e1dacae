#include "config/agent_cards.hpp"

#include "config/agents.hpp"
#include "config/json_value.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace config::testing;
using core::json;

TEST_SUITE_BEGIN("config/agent_cards");

namespace {

// What an operator reads about these keys of an agent.
std::string problems_with(const std::string& keys)
{
    return problems_of("agents: {a: {url: \"http://h\", " + keys + "}}");
}

core::agent read(const std::string& keys)
{
    return right("agents: {a: {url: \"http://h\", " + keys + "}}").agents[0];
}

// `count` times the text, with commas between.
std::string repeated(const std::string& text, std::size_t count)
{
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        all += (i == 0 ? "" : ", ") + text;
    }
    return all;
}

config::loaded with_file(const std::string& content)
{
    const auto files = [content](const std::string& path) {
        return path == "gold.json"
                   ? core::result<std::string>{content}
                   : core::gateway_error(core::errc::config_invalid, "cannot be opened: No such file or directory");
    };
    return config::load(
        "agents: {a: {url: \"http://h\", extended_card: managed, overlays: [{when: authenticated, file: gold.json}]}}",
        "c.yml",
        variables,
        files
    );
}

}  // namespace

TEST_CASE("a rule for skills has an id, and scopes only where it hides them")
{
    const auto rules = read("skills: [{id: a}, {id: b*, visibility: extended, required_scopes: gold}]").skills;
    CHECK(
        rules ==
        std::vector<core::skill_rule>{
            {"a", core::skill_visibility::everyone, {}},
            {"b*", core::skill_visibility::extended, {"gold"}}
        }
    );
    CHECK(
        problems_with("skills: [{visibility: extended}]") ==
        "c.yml:1:40: agents.a.skills[0]: has no id; expected the id of a skill or tool, in which * is any text\n"
    );
    CHECK(
        problems_with("skills: [{id: a, visibility: secret}]") ==
        "c.yml:1:60: agents.a.skills[0].visibility: \"secret\" is not one of the two; expected public or extended\n"
    );
    CHECK(
        problems_with("skills: [{id: a, required_scopes: [gold]}]") ==
        "c.yml:1:65: agents.a.skills[0].required_scopes: stands without `visibility: extended`; expected both\n"
    );
    CHECK(
        problems_with("skills: [{id: a, scopes: [gold]}]").find("agents.a.skills[0].scopes: is not a known key") !=
        std::string::npos
    );
    CHECK(problems_with("skills: {id: a}") != "");
}

TEST_CASE("an agent has at most 64 rules for skills, overlays and patched skills")
{
    const std::string tail = "]";
    for (const auto& [head, element] :
         {std::pair<std::string, std::string>{"skills: [", "{id: a}"},
          {"extended_card: managed, overlays: [", "{when: authenticated, card: {}}"},
          {"card_patch: {skills: [", "{id: a, tags: [t]}"}}) {
        CAPTURE(head);
        const auto with = [&](std::size_t count) {
            return problems_with(head + repeated(element, count) + (head.starts_with("card_patch") ? "]}" : "]"));
        };
        CHECK(with(config::most_overlays - 1) == "");
        CHECK(with(config::most_overlays) == "");
        CHECK(with(config::most_overlays + 1).find("has more than 64 elements") != std::string::npos);
    }
}

TEST_CASE("an overlay has a policy, and a card or a file")
{
    const auto overlays =
        read("extended_card: managed, overlays: [{when: {groups: gold}, card: {version: 2, name: null}}]").overlays;
    REQUIRE(overlays.size() == 1);
    CHECK(overlays[0].when.any_of.at(0).groups == std::vector<std::string>{"gold"});
    CHECK(overlays[0].card == R"({"version":2,"name":null})");
    const auto problem = [&](const std::string& overlay) {
        const auto all = problems_with("extended_card: managed, overlays: [" + overlay + "]");
        return all.substr(all.find("agents.a"));
    };
    CHECK(
        problem("{card: {}}") ==
        "agents.a.overlays[0]: has no when; expected a policy such as {groups: [gold]}, or authenticated\n"
    );
    CHECK(
        problem("{when: authenticated}") ==
        "agents.a.overlays[0]: has neither a card nor a file; expected one of the two\n"
    );
    CHECK(
        problem("{when: authenticated, card: {}, file: f}") ==
        "agents.a.overlays[0]: has a card and a file; expected one of the two\n"
    );
    CHECK(
        problem("{when: {methods: GetTask}, card: {}}") ==
        "agents.a.overlays[0].when.methods: is about calls; expected it below `call`\n"
    );
    CHECK(problem("{when: authenticated, card: text}").find("agents.a.overlays[0].card") == 0);
}

TEST_CASE("overlays are for extended cards that the gateway makes")
{
    CHECK(
        problems_with("overlays: [{when: authenticated, card: {}}]") ==
        "c.yml:1:10: agents.a.overlays: stands without `extended_card: managed`; expected both\n"
    );
}

TEST_CASE("an overlay that names no provider of the configuration is a problem")
{
    const std::string text =
        "access: {providers: [{type: static_token, name: ops, token: 0123456789abcdef}]}\n"
        "agents: {a: {url: \"http://h\", extended_card: managed, overlays: "
        "[{when: {providers: idp}, card: {}}]}}";
    CHECK(problems_of(text).find("agents.a.overlays: \"idp\"") != std::string::npos);
}

TEST_CASE("an overlay can be a file in JSON or YAML with one map")
{
    for (const std::string content : {"{\"version\": \"2\"}", "version: \"2\"\n"}) {
        const auto loaded = with_file(content);
        REQUIRE(lines(loaded.problems) == "");
        CHECK(loaded.value.agents[0].overlays[0].card == R"({"version":"2"})");
    }
    for (const std::string content : {"[1]", "text", "{", "", "a: 1\n---\nb: 2\n"}) {
        CAPTURE(content);
        CHECK(
            lines(with_file(content).problems).find("overlays[0].file: names a file that is not one map") !=
            std::string::npos
        );
    }
    CHECK(
        lines(config::load(
                  "agents: {a: {url: \"http://h\", extended_card: managed, overlays: "
                  "[{when: authenticated, file: other}]}}",
                  "c.yml",
                  variables
        )
                  .problems) != ""
    );
}

TEST_CASE("an overlay has at most 64 KiB as JSON")
{
    const auto with = [](std::size_t size) {
        const std::string around = R"({"description":""})";
        return problems_with(
            R"(extended_card: managed, overlays: [{when: authenticated, card: {"description": ")" +
            std::string(size - around.size(), 'x') + "\"}}]"
        );
    };
    CHECK(with(config::longest_overlay - 1) == "");
    CHECK(with(config::longest_overlay) == "");
    CHECK(with(config::longest_overlay + 1).find("is longer than 65536 bytes as JSON") != std::string::npos);
}

TEST_CASE("a patch has a closed list of members")
{
    CHECK(
        read(R"(card_patch: {description: d, documentationUrl: "HTTPS://Docs.example", )"
             R"(provider: {organization: O, url: "http://o"}, skills: [{id: a*, tags: t}]})")
            .patch ==
        core::card_patch{
            .description = "d",
            .documentation_url = "https://docs.example",
            .provider_organization = "O",
            .provider_url = "http://o",
            .skills = {{"a*", {"t"}}}
        }
    );
    const auto problem = [&](const std::string& patch) {
        const auto all = problems_with("card_patch: " + patch);
        return all.substr(all.find("agents.a"));
    };
    CHECK(problem("{name: n}").find("agents.a.card_patch.name: is not a known key") == 0);
    CHECK(problem("{description: \"\"}").find("agents.a.card_patch.description: is empty") == 0);
    CHECK(problem("{documentationUrl: \"javascript:x\"}").find("agents.a.card_patch.documentationUrl") == 0);
    CHECK(
        problem("{provider: {organization: O}}") ==
        "agents.a.card_patch.provider: needs an organization and a url; expected both\n"
    );
    CHECK(problem("{skills: [{id: a}]}") == "agents.a.card_patch.skills[0]: has no tags; expected a list of texts\n");
    CHECK(problem("{skills: [{id: a, name: n, tags: t}]}").find("agents.a.card_patch.skills[0].name") == 0);
}

TEST_CASE("a description of a patch has at most 16 KiB")
{
    const auto with = [](std::size_t size) {
        return problems_with("card_patch: {description: " + std::string(size, 'x') + "}");
    };
    CHECK(with(config::longest_description - 1) == "");
    CHECK(with(config::longest_description) == "");
    CHECK(with(config::longest_description + 1).find("is longer than 16KiB") != std::string::npos);
}

TEST_CASE("what is shown of these keys is read as the same")
{
    const auto agent = read(
        R"(extended_card: managed, skills: [{id: a}, {id: b*, visibility: extended, required_scopes: [x, y]}], )"
        R"(overlays: [{when: [{groups: g}, {claims: {plan: gold}}], card: {skills: [{id: c}], name: null}}], )"
        R"(card_patch: {description: d, documentationUrl: "http://d", provider: {organization: O, url: "http://o"}, )"
        R"(skills: [{id: a*, tags: [t, u]}]})"
    );
    const json definition{
        {"url", "http://h"},
        {"extended_card", "managed"},
        {"skills", config::shown_skill_rules(agent.skills)},
        {"overlays", config::shown_overlays(agent.overlays)},
        {"card_patch", config::shown_card_patch(*agent.patch)}
    };
    const auto again = config::read_agent("a", definition, "agent", {});
    REQUIRE(lines(again.problems) == "");
    CHECK(again.agent == agent);
    CHECK(config::shown_card_patch({}).is_null());
}

TEST_CASE("callers of the management API cannot name files")
{
    const json definition{
        {"url", "http://h"},
        {"extended_card", "managed"},
        {"overlays", {{{"when", "authenticated"}, {"file", "/etc/passwd"}}}}
    };
    CHECK(
        lines(config::read_agent("a", definition, "agent", {}).problems).find("agent.overlays[0].file") !=
        std::string::npos
    );
}

TEST_SUITE_END();
