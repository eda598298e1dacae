#include "config/access.hpp"

#include "config/access_table.hpp"
#include "config/compare.hpp"
#include "config/dump.hpp"
#include "config/file.hpp"
#include "config/schema.hpp"
#include "jose/signature.hpp"
#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

using namespace config::testing;
using namespace std::chrono_literals;
using core::json;

TEST_SUITE_BEGIN("config/access");

TEST_CASE("access is a map or the word open")
{
    CHECK(right("access: open").access == core::access_settings{true, {}, {}});
    CHECK(right("access: {open: true}").access.open);
    CHECK(right("access:").access == core::access_settings{});
    CHECK(right("access: {providers: [], rules: [], open: false}").access == core::access_settings{});
    const std::string expected = "; expected a map with providers, rules and open, or the word open\n";
    for (const auto& [text, problem] : std::vector<row>{
             {"access: closed", "c.yml:1:9: access: \"closed\" is not `open`" + expected},
             {"access: \"\"", "c.yml:1:9: access: is empty" + expected},
             {"access: []", "c.yml:1:9: access: is a list" + expected},
             {"access: {open: perhaps}",
              "c.yml:1:16: access.open: \"perhaps\" is not a switch; expected true or false\n"},
             {"access: {provider: []}", "c.yml:1:10: access.provider: is not a known key; did you mean `providers`?\n"},
             {"access: {providers: {}}", "c.yml:1:21: access.providers: is a map; expected a list of providers\n"},
             {"access: {rules: anyone}", "c.yml:1:17: access.rules: is a single value; expected a list of rules\n"},
         }) {
        CAPTURE(text);
        CHECK(problems_of(text) == problem);
    }
}

TEST_CASE("The example of access has a provider of each type, and an agent with policies of its own")
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/access.yml");
    REQUIRE(text.has_value());
    const auto read = right(*text);
    const std::vector<std::string> names{"ops", "keys", "idp"};
    REQUIRE(read.access.providers.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(read.access.providers[i].name == names[i]);
        CHECK(read.access.providers[i].type.index() == i);
    }
    CHECK(read.access.rules.at(1).call->any_of.at(0).groups == std::vector<std::string>{"staff"});
    const auto& words = read.agents.at(0);
    CHECK(words.discover->any_of.at(0).principals == std::vector<std::string>{"alice", "ci"});
    CHECK(words.call->any_of.at(0).scopes == std::vector<std::string>{"words:call"});
    CHECK(words.call->any_of.at(0).methods == std::vector<std::string>{"message/send", "SendMessage"});
}

TEST_CASE("A list of providers, keys or rules has a largest size")
{
    const auto providers = [](int count) {
        return problems_of("access: {providers: " + repeated(count, "{type: api_key, keys: [], name: a", "}") + "}");
    };
    CHECK(providers(64) == "");
    CHECK(providers(65) == "c.yml:1:21: access.providers: has more than 64 providers\n");
    const auto keys = [](int count) {
        std::string text = "access:\n  providers:\n    - type: api_key\n      name: a\n      keys:\n";
        for (int i = 0; i < count; ++i) {
            auto digits = std::to_string(i);
            digits.insert(0, 64 - digits.size(), '0');
            text += "        - {name: k" + std::to_string(i) + ", sha256: \"" + digits + "\"}\n";
        }
        return problems_of(text);
    };
    CHECK(keys(10'000) == "");
    CHECK(keys(10'001) == "c.yml:6:9: access.providers[0].keys: has more than 10000 keys\n");
    const auto rules = [](int count) {
        return problems_of("access: {rules: " + repeated(count, "{agents: a", ", call: {}}") + "}");
    };
    CHECK(rules(256) == "");
    CHECK(rules(257) == "c.yml:1:17: access.rules: has more than 256 rules\n");
}

TEST_CASE("A rule for agents has patterns of ids and at least one policy")
{
    const auto access = right(
                            "access: {rules: [{agents: [a-*, b.c_1], call: anyone}, {agents: x, discover: nobody}, "
                            "{call: {}}]}"
    )
                            .access;
    REQUIRE(access.rules.size() == 3);
    CHECK(access.rules[0].agents == std::vector<std::string>{"a-*", "b.c_1"});
    CHECK(access.rules[0].call->anyone);
    CHECK_FALSE(access.rules[0].discover.has_value());
    CHECK(access.rules[1].agents == std::vector<std::string>{"x"});
    CHECK(access.rules[1].discover == core::access_policy{});
    CHECK(access.rules[2].agents.empty());
    const std::string expected = "; expected an agent's id, in which * is any text\n";
    for (const auto& [rule, problem] : std::vector<row>{
             {"{agents: [], call: {}}", "27: access.rules[0].agents: is empty" + expected},
             {"{agents: , call: {}}", "19: access.rules[0].agents: has no value" + expected},
             {"{agents: a/b, call: {}}",
              "27: access.rules[0].agents: \"a/b\" is not a pattern of agents' ids" + expected},
             {"{agents: a}", "18: access.rules[0]: has neither discover nor call; expected at least one of the two\n"},
             {"{}", "18: access.rules[0]: has neither discover nor call; expected at least one of the two\n"},
             {"a", "18: access.rules[0]: is a single value; expected a map with agents, discover and call\n"},
             {"{call: {}, may: {}}", "29: access.rules[0].may: is not a known key; known here: agents, discover, call\n"
             },
         }) {
        CAPTURE(rule);
        CHECK(problems_of("access: {rules: [" + rule + "]}") == "c.yml:1:" + problem);
    }
}

TEST_CASE("A rule names only providers that exist")
{
    const std::string providers = "access:\n  providers: [{type: static_token, name: a, token: 0123456789abcdef}]\n";
    CHECK(problems_of(providers + "  rules: [{call: {providers: a}}]\n") == "");
    CHECK(
        problems_of(providers + "  rules: [{call: [{}, {providers: [a, b]}]}]\n") ==
        "c.yml:3:18: access.rules[0].call: \"b\" names no provider of access.providers\n"
    );
    const std::string agents = "agents: {x: {url: \"http://h\", call: {providers: a}, discover: {providers: [b]}}}\n";
    CHECK(
        problems_of(agents + providers) ==
        "c.yml:1:10: agents.x.discover: \"b\" names no provider of access.providers\n"
    );
    CHECK(problems_of(agents) == "");
    CHECK(problems_of("access: {rules: [{call: {providers: a}}]}") == "");
    CHECK(
        problems_of(
            "access: {providers: [{type: static_token, name: a}], rules: [{call: {providers: b}}]}\n" + agents
        ) ==
        "c.yml:1:22: access.providers[0].token: is missing; expected a token of at least 16 characters, or "
        "`token_file`\n"
    );
}

TEST_CASE("config dump shows access as it is written, without tokens and hashes")
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/full.yml");
    REQUIRE(text.has_value());
    const auto file = [](const std::string& path) {
        return core::result<std::string>{file_text(path, "s3cr3t-in-a-file")};
    };
    const auto read = config::load(*text, "full.yml", variables, file);
    REQUIRE(lines(read.problems) == "");
    const auto dumped = config::dump(read.value, {*text, "full.yml", variables, {}});
    CHECK(dumped.dump().find("s3cr3t") == std::string::npos);
    CHECK(dumped.dump().find("2cf24d") == std::string::npos);
    CHECK(dumped["access"]["origin"] == "full.yml:13, environment LONG_TOKEN");
    const auto& access = dumped["access"]["value"];
    CHECK(access["open"] == true);
    const auto parsed = [](const char* shown) { return core::parse_json(shown).value(); };
    CHECK(access["providers"][0] == parsed(R"({"type":"static_token","name":"ops","principal":"operators",
        "token":"********","scopes":["cardea:read","cardea:write"],"groups":["staff"],"tenant":"acme",
        "claims":{"plan":["gold"],"level":["3"],"beta":["true"],"regions":["eu","us"]}})"));
    CHECK(access["providers"][2] == parsed(R"({"type":"api_key","name":"keys","header":"X-Team-Key","keys":[
        {"name":"ci","sha256":"********","scopes":["words:call"],"groups":["builders"],"tenant":"acme",
         "claims":{"plan":["silver"]},"expires":"2027-01-01T00:00:00Z"},
        {"name":"old","sha256":"********","disabled":true}]})"));
    CHECK(access["providers"][3] == parsed(R"({"type":"api_key","name":"browsers","cookie":"session","keys":[]})"));
    CHECK(
        access["providers"][4] ==
        parsed(R"({"type":"api_key","name":"hooks","in":"query","parameter":"key","keys":[]})")
    );
    CHECK(access["providers"][5] == parsed(R"({"type":"jwt","name":"idp","issuer":"https://idp.example.com",
        "audience":["cardea","agents"],"client_id":["7lk3"],"algorithms":["RS256","EdDSA"],
        "jwks_url":"https://idp.example.com/jwks.json","leeway":"1m","scope_prefix":"api://cardea/"})"));
    CHECK(access["providers"][7] == parsed(R"({"type":"oidc","name":"realm","issuer":"https://realm.example.com/a",
        "audience":["cardea"],"client_id":["a","b"],"algorithms":["ES256"],"leeway":"10s",
        "scope_prefix":"cardea/"})"));
    CHECK(access["providers"][8] == parsed(R"({"type":"azure_ad","name":"entra",
        "tenant":"8eaef023-2b34-4da1-9baa-8bc8c9d6a490","audience":["api://cardea"],"leeway":"20s",
        "scope_prefix":"api://cardea/"})"));
    CHECK(access["providers"][9] == parsed(R"({"type":"gcp_iap","name":"iap","audience":["/projects/1/apps/a"],
        "jwks_file":"/etc/cardea/iap.json","leeway":"30s"})"));
    CHECK(
        access["providers"][10] ==
        parsed(R"({"type":"aws_sigv4","name":"aws","hosts":["sts.eu-west-1.amazonaws.com"]})")
    );
    CHECK(access["providers"][11] == parsed(R"({"type":"mtls","name":"certs","ca_file":"/etc/cardea/clients.pem",
        "principal":"spiffe"})"));
    CHECK(access["providers"][12] == parsed(R"({"type":"http_verifier","name":"check",
        "url":"https://check.example.com/tokens?********","timeout":"800ms","cache":"10s"})"));
    CHECK(
        access["rules"] ==
        parsed(R"([{"agents":["team-*","words"],"discover":"authenticated","call":{"groups":["staff"]}},
        {"discover":"anyone","call":[{"principals":["ci"],"providers":["keys"],"methods":["message/send"]},
         {"tenants":["acme"],"claims":{"plan":["gold"]}}]}])")
    );
    CHECK(config::dump({}, {})["access"]["value"] == parsed(R"({"open":false,"providers":[],"rules":[]})"));
}

TEST_CASE("A change of a token, of a key or of a rule is a change of access, which needs no restart")
{
    const auto with = [](const std::string& secret, const std::string& rule) {
        return right(
            "access: {providers: [{type: static_token, name: a, token: " + secret + "}], rules: [" + rule + "]}"
        );
    };
    const auto before = with("0123456789abcdef", "{call: {}}");
    CHECK(config::compare(before, before).settings.empty());
    for (const auto& now : {with("0123456789abcdeF", "{call: {}}"), with("0123456789abcdef", "{call: nobody}")}) {
        const auto found = config::compare(before, now);
        CHECK(found.settings == std::vector<std::string_view>{"access"});
        CHECK(found.needs_restart.empty());
        auto into = before;
        config::apply(now, into);
        CHECK(into.access == now.access);
    }
}

TEST_CASE("Every key of the tables is in the reference, and says what it means")
{
    const auto reference = config::reference_markdown();
    std::set<std::pair<config::access_map, std::string_view>> seen;
    for (const auto& each : config::all_access_keys()) {
        CAPTURE(each.name);
        CHECK(seen.emplace(each.of, each.name).second);
        CHECK(each.meaning.ends_with('.'));
        CHECK(
            reference.find("\n| `" + std::string{each.name} + "` | " + each.key->form().described + " | ") !=
            reference.npos
        );
    }
}

TEST_CASE("Every algorithm with a public key may be named")
{
    std::set<std::string_view> known;
    for (const auto& each : jose::all_algorithms) {
        known.insert(each.name);
    }
    CHECK(std::set<std::string_view>{config::token_algorithms.begin(), config::token_algorithms.end()} == known);
}

TEST_SUITE_END();
