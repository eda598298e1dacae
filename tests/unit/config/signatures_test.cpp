#include "config/signatures.hpp"

#include "config/load.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("config/signatures");

namespace {

config::tls_checks checks()
{
    config::tls_checks made;
    const auto usable = [](const std::string& path) -> core::result<> {
        if (path == "bad") {
            return core::gateway_error(core::errc::config_invalid, "cannot be opened");
        }
        return {};
    };
    made.signing_key = usable;
    made.key_set = usable;
    return made;
}

std::string problems_of(const std::string& text)
{
    const auto nothing = [](std::string_view) { return std::optional<std::string>{}; };
    std::string all;
    for (const auto& each : config::load(text, "c.yml", nothing, {}, checks()).problems) {
        all += config::to_text(each) + '\n';
    }
    return all;
}

std::string agent_with(const std::string& members)
{
    return "agents: {a: {url: \"http://h\", " + members + "}}\n";
}

}  // namespace

TEST_CASE("a policy for signatures is one of four, for all agents and for one")
{
    CHECK(
        problems_of("cards: {signatures: all}") ==
        "c.yml:1:21: cards.signatures: \"all\" is not a policy for signatures; expected strip, verify, sign or "
        "verify_and_sign\n"
    );
    CHECK(
        problems_of(agent_with("signatures: \"\"")) ==
        "c.yml:1:43: agents.a.signatures: is empty; expected strip, verify, sign or verify_and_sign\n"
    );
    for (const auto* policy : {"strip", "verify", "sign", "verify_and_sign"}) {
        CAPTURE(policy);
        const auto keys = "cards: {signing_key: k, trusted_keys: t}\n";
        CHECK(problems_of(keys + agent_with("signatures: " + std::string{policy})) == "");
    }
}

TEST_CASE("key files are looked at")
{
    CHECK(
        problems_of("cards: {signing_key: bad}") ==
        "c.yml:1:22: cards.signing_key: \"bad\" cannot be opened; expected the path of a private key (PEM)\n"
    );
    CHECK(
        problems_of(agent_with("trusted_keys: bad")) ==
        "c.yml:1:45: agents.a.trusted_keys: \"bad\" cannot be opened; expected the path of a JWK Set\n"
    );
    CHECK(problems_of("cards: {retired_keys: ok, trusted_keys: ok, signing_key: ok}") == "");
}

TEST_CASE("Pages of other origins are named by scheme and host, with any port of http and https")
{
    CHECK(
        problems_of("cors: {origins: [\"https://app.example.com\", \"http://localhost:*\", \"http://127.0.0.1:*\", "
                    "\"http://[::1]:3000\", "
                    "\"chrome-extension://abcdef\"]}") == ""
    );
    for (const std::string wrong :
         {"*",
          "https://*",
          "https://*.example.com",
          "https://a/",
          "https://a/b",
          "https://u:p@a",
          "https://a?x",
          "a.example",
          "null",
          "file://",
          "chrome-extension://*",
          "http://:*",
          "http://a:**"}) {
        CAPTURE(wrong);
        CHECK(
            problems_of("cors: {origins: [\"" + wrong + "\"]}") ==
            "c.yml:1:18: cors.origins[0]: \"" + wrong +
                "\" is not an origin; expected an origin such as https://app.example.com or "
                "http://localhost:*\n"
        );
    }
}

TEST_CASE("key sets are fetched from https origins and from nothing else")
{
    CHECK(problems_of("cards: {key_set_origins: [\"https://h\", \"https://h:8443/\"]}") == "");
    CHECK(
        problems_of("cards: {key_set_origins: [\"http://h\", \"https://h/keys\", \"*\", \"https://u:p@h\"]}") ==
        "c.yml:1:27: cards.key_set_origins[0]: is not https; expected an https origin such as "
        "https://keys.example.com\n"
        "c.yml:1:39: cards.key_set_origins[1]: has a path; expected an https origin such as https://keys.example.com\n"
        "c.yml:1:57: cards.key_set_origins[2]: is not a URL; expected an https origin such as "
        "https://keys.example.com\n"
        "c.yml:1:62: cards.key_set_origins[3]: has a user name or password in it; expected an https origin such as "
        "https://keys.example.com\n"
    );
}

TEST_CASE("a policy that cannot be followed is a problem at the agent that has it")
{
    CHECK(
        problems_of("cards:\n  signatures: sign\n") ==
        "c.yml:2:15: cards.signatures: is sign without a key; expected `cards.signing_key`\n"
    );
    CHECK(
        problems_of(agent_with("signatures: sign")) ==
        "c.yml:1:10: agents.a.signatures: is sign without a key; expected `cards.signing_key`\n"
    );
    CHECK(
        problems_of(agent_with("signatures: verify")) ==
        "c.yml:1:10: agents.a.signatures: is verify without a key to verify with; expected `trusted_keys` or "
        "`key_set_origins`\n"
    );
    CHECK(
        problems_of("cards: {signing_key: k}\n" + agent_with("signatures: sign, shape: hybrid")) ==
        "c.yml:2:10: agents.a.signatures: is sign, but a card of shape hybrid cannot be signed; expected shape auto or "
        "v1\n"
    );
    CHECK(problems_of("cards: {signing_key: k, signatures: sign}\n" + agent_with("shape: hybrid")) == "");
}

TEST_CASE("an agent's own rules replace those for all, and an inline card is not verified")
{
    config::card_settings all;
    all.signatures = core::signature_policy::verify;
    all.trusted_keys = "all.json";
    all.key_set_origins = {"https://all"};
    core::agent agent;
    auto rules = config::signature_rules_of(agent, all);
    CHECK(rules.verify);
    CHECK_FALSE(rules.sign);
    CHECK(rules.trusted_keys == "all.json");
    CHECK(rules.key_set_origins == std::vector<std::string>{"https://all"});

    agent.signatures = core::signature_policy::verify_and_sign;
    agent.trusted_keys = "one.json";
    agent.key_set_origins = {"https://one"};
    rules = config::signature_rules_of(agent, all);
    CHECK(rules.verify);
    CHECK(rules.sign);
    CHECK(rules.trusted_keys == "one.json");
    CHECK(rules.key_set_origins == std::vector<std::string>{"https://one"});

    agent.card = R"({"name":"inline"})";
    CHECK_FALSE(config::signature_rules_of(agent, all).verify);
    agent.signatures = core::signature_policy::strip;
    CHECK_FALSE(config::signature_rules_of(agent, all).sign);
}

TEST_SUITE_END();
