#include "config/access_providers.hpp"

#include "config/access_table.hpp"
#include "config/file.hpp"
#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("config/access_providers");

TEST_CASE("The full example has every kind of provider")
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/full.yml");
    REQUIRE(text.has_value());
    const auto any_file = [](const std::string& path) {
        return core::result<std::string>{file_text(path, "token-in-a-file-1")};
    };
    const auto read = config::load(*text, "full.yml", variables, any_file);
    REQUIRE(lines(read.problems) == "");
    const auto& all = read.value.access.providers;
    REQUIRE(all.size() == 13);
    const auto& operators = std::get<core::static_token_provider>(all[0].type);
    CHECK(all[0].name == "ops");
    CHECK(operators.token.reveal() == "s3cr3t-of-operators");
    CHECK(
        operators.bearer ==
        core::principal{
            .id = "operators",
            .provider = "ops",
            .tenant = "acme",
            .scopes = {"cardea:read", "cardea:write"},
            .groups = {"staff"},
            .claims = {{"plan", "gold"}, {"level", "3"}, {"beta", "true"}, {"regions", "eu"}, {"regions", "us"}}
        }
    );
    const auto& deploy = std::get<core::static_token_provider>(all[1].type);
    CHECK(deploy.token.reveal() == "token-in-a-file-1");
    CHECK(deploy.bearer == core::principal{"deploy", "deploy", {}, {}, {}, {}});
    const auto& keys = std::get<core::api_key_provider>(all[2].type);
    CHECK(keys.place == core::credential_place::header);
    CHECK(keys.field == "X-Team-Key");
    REQUIRE(keys.keys.size() == 2);
    CHECK(keys.keys[0].sha256 == hash);
    CHECK(keys.keys[0].expires == core::wall_time{std::chrono::sys_days{2027y / 1 / 1}});
    CHECK(
        keys.keys[0].owner ==
        core::principal{
            .id = "ci",
            .provider = "keys",
            .tenant = "acme",
            .scopes = {"words:call"},
            .groups = {"builders"},
            .claims = {{"plan", "silver"}}
        }
    );
    CHECK_FALSE(keys.keys[0].disabled);
    CHECK(keys.keys[1].disabled);
    CHECK_FALSE(keys.keys[1].expires.has_value());
    CHECK(
        std::get<core::api_key_provider>(all[3].type) ==
        core::api_key_provider{core::credential_place::cookie, "session", {}}
    );
    CHECK(
        std::get<core::api_key_provider>(all[4].type) ==
        core::api_key_provider{core::credential_place::query, "key", {}}
    );
    CHECK(
        std::get<core::jwt_provider>(all[5].type) ==
        core::jwt_provider{
            .issuer = "https://idp.example.com",
            .audiences = {"cardea", "agents"},
            .algorithms = {"RS256", "EdDSA"},
            .key_set_url = "https://idp.example.com/jwks.json",
            .key_set_file = "",
            .leeway = 1min,
            .client_ids = {"7lk3"},
            .scope_prefix = "api://cardea/"
        }
    );
    CHECK(
        std::get<core::jwt_provider>(all[6].type) ==
        core::jwt_provider{
            .issuer = "local",
            .audiences = {"cardea"},
            .algorithms = {"RS256", "ES256"},
            .key_set_url = "",
            .key_set_file = "/etc/cardea/local.json",
            .leeway = 30s
        }
    );
    CHECK(
        std::get<core::oidc_provider>(all[7].type) ==
        core::oidc_provider{"https://realm.example.com/a", {"cardea"}, {"ES256"}, 10s, {"a", "b"}, "cardea/"}
    );
    CHECK(
        std::get<core::azure_ad_provider>(all[8].type) ==
        core::azure_ad_provider{"8eaef023-2b34-4da1-9baa-8bc8c9d6a490", {"api://cardea"}, "", 20s, "api://cardea/"}
    );
    CHECK(
        std::get<core::gcp_iap_provider>(all[9].type) ==
        core::gcp_iap_provider{{"/projects/1/apps/a"}, "/etc/cardea/iap.json", 30s}
    );
    CHECK(
        std::get<core::aws_sigv4_provider>(all[10].type) == core::aws_sigv4_provider{{"sts.eu-west-1.amazonaws.com"}}
    );
    CHECK(
        std::get<core::mtls_provider>(all[11].type) ==
        core::mtls_provider{"/etc/cardea/clients.pem", core::certificate_name::spiffe}
    );
    CHECK(
        std::get<core::http_verifier_provider>(all[12].type) ==
        core::http_verifier_provider{"https://check.example.com/tokens?key=s3cr3t", 800ms, 10s}
    );
}

TEST_CASE("A provider has a type and a name")
{
    const auto name = [](const std::string& text) { return "static_token, name: " + text + ", " + token; };
    const std::string expected = "; expected 1 to 64 letters, digits, '.', '_' and '-'\n";
    check_providers({
        {name("a.B_c-9"), ""},
        {name(std::string(64, 'a')), ""},
        {name(std::string(65, 'a')),
         "34: access.providers[0].name: \"" + std::string(40, 'a') + "...\" is not the name of a provider" + expected},
        {name("\"a b\""), "34: access.providers[0].name: \"a b\" is not the name of a provider" + expected},
        {name("\"\""), "34: access.providers[0].name: is empty" + expected},
        {name("register"),
         "34: access.providers[0].name: \"register\" is the name that `register.token` has; expected a name of its "
         "own\n"},
        {"static_token, " + std::string{token}, "7: access.providers[0].name: is missing" + expected},
        {"pigeon, name: a", std::string{"14: access.providers[0].type: \"pigeon\" is not a type of providers"} + types},
        {"\"\", name: a", std::string{"14: access.providers[0].type: is empty"} + types},
        {"[jwt], name: a", std::string{"14: access.providers[0].type: is a list"} + types},
    });
    CHECK(
        problems_of("access: {providers: [{name: a}]}") ==
        "c.yml:1:22: access.providers[0].type: is missing" + std::string{types}
    );
    CHECK(
        problems_of("access: {providers: [a]}") ==
        "c.yml:1:22: access.providers[0]: is a single value; expected a map with type and name\n"
    );
    CHECK(
        problems_of("access:\n  providers:\n    -\n") ==
        "c.yml:3:5: access.providers[0]: has no value; expected a map with type and name\n"
    );
}

TEST_CASE("Names, tokens and hashes of providers are unique")
{
    const std::string first = "access:\n  providers:\n    - {type: static_token, name: a, token: 0123456789abcdef}\n";
    CHECK(
        problems_of(first + "    - {type: static_token, name: a, token: 0123456789abcdeF}\n") ==
        "c.yml:4:34: access.providers[1].name: \"a\" is the name of another provider; expected a name of its own\n"
    );
    CHECK(
        problems_of(first + "    - {type: static_token, name: b, token: 0123456789abcdef}\n") ==
        "c.yml:4:44: access.providers[1].token: is the token of another provider; expected a token of its own\n"
    );
    const std::string one = "{name: k, sha256: " + std::string{hash} + "}";
    CHECK(
        problems_of(
            "access:\n  providers:\n    - {type: api_key, name: a, keys: [" + one +
            "]}\n    - {type: api_key, name: b, "
            "keys: [" +
            one + "]}\n"
        ) == "c.yml:4:57: access.providers[1].keys[0].sha256: is the hash of another key; expected a key of its own\n"
    );
    std::string other{hash};
    other.back() = '5';
    CHECK(
        provider_problem(api_keys("keys: [" + one + ", {name: k, sha256: " + other + "}]")) ==
        "c.yml:3:131: access.providers[0].keys[1].name: \"k\" is the name of another key; expected a name of its own\n"
    );
}

TEST_CASE("A static token is in the file or in a file of its own")
{
    const std::string short_one = ": is shorter than 16 characters; expected a token of at least 16 characters\n";
    check_providers({
        {static_token("token: \"${LONG_TOKEN}\""), ""},
        {static_token("token: \"0123456789abcdef\""), ""},
        {static_token("token: \"0123456789abcde\""), "44: access.providers[0].token" + short_one},
        {static_token("token: \"${EMPTY}\""), "44: access.providers[0].token" + short_one},
        {static_token("token: s3cr3t"), "44: access.providers[0].token" + short_one},
        {static_token("token: Bearer s3cr3t-of-operators"),
         "44: access.providers[0].token: has a character that no bearer has; expected the token alone, without `Bearer "
         "`\n"},
        {static_token("token: [s3cr3t]"),
         "44: access.providers[0].token: is a list; expected a token of at least 16 characters\n"},
        {static_token("token: " + std::string(8 * 1024, 't')), ""},
        {static_token("token: " + std::string(8 * 1024 + 1, 't')),
         "44: access.providers[0].token: is longer than 8KiB, which no request may have; expected a shorter token\n"},
        {static_token("token_file: /run/short"), "49: access.providers[0].token_file" + short_one},
        {static_token("token_file: /run/none"),
         "49: access.providers[0].token_file: \"/run/none\" cannot be opened: No such file or directory; expected the "
         "path of a file with a token\n"},
        {static_token("token: 0123456789abcdef, token_file: /run/token"),
         "74: access.providers[0].token_file: stands beside access.providers[0].token; expected one of the two\n"},
        {"static_token, name: a",
         "7: access.providers[0].token: is missing; expected a token of at least 16 characters, or `token_file`\n"},
        {static_token(std::string{token} + ", key: a"),
         "62: access.providers[0].key: is not a known key; known here: type, name, principal, token, token_file, "
         "scopes, "
         "groups, tenant, claims\n"},
    });
    CHECK(
        type_of<core::static_token_provider>(static_token("token_file: /run/token")).token.reveal() ==
        "token-in-a-file-1"
    );
}

TEST_CASE("A provider of signed tokens has an issuer, an audience and keys")
{
    const std::string url = "; expected an https URL, or an http URL of a loopback host\n";
    const std::string algorithms = "; expected ES256, ES384, ES512, RS256, RS384, RS512, PS256, PS384, PS512, EdDSA\n";
    check_providers({
        {jwt("jwks_url: \"https://h/k?a=b\""), ""},
        {jwt("jwks_url: \"http://127.0.0.1:9/k\""), ""},
        {jwt("jwks_url: \"http://localhost/k\""), ""},
        {jwt("jwks_url: \"http://[::1]:9/k\""), ""},
        {jwt("jwks_url: \"http://s3cr3t.example/k\""),
         "62: access.providers[0].jwks_url: is not safe from changes on its way" + url},
        {jwt("jwks_url: \"ftp://h\""), "62: access.providers[0].jwks_url: is not an http or https URL" + url},
        {jwt("jwks_url: \"https://u:s3cr3t@h/\""),
         "62: access.providers[0].jwks_url: has a user name or password in it" + url},
        {jwt("jwks_file: \"\""), "63: access.providers[0].jwks_file: is empty; expected the path of a JWK Set\n"},
        {jwt("jwks_url: \"https://h\", jwks_file: k"),
         "86: access.providers[0].jwks_file: stands beside access.providers[0].jwks_url; expected one of the two\n"},
        {jwt("leeway: 0"),
         "7: access.providers[0].jwks_url: is missing" + url.substr(0, url.size() - 1) + ", or `jwks_file`\n"},
        {jwt("jwks_file: k, leeway: 0"), ""},
        {jwt("jwks_file: k, leeway: 5m"), ""},
        {jwt("jwks_file: k, leeway: 5m1ms"),
         "74: access.providers[0].leeway: \"5m1ms\" is out of range; expected 0 to 5m\n"},
        {jwt("jwks_file: k, algorithms: HS256"),
         "78: access.providers[0].algorithms: \"HS256\" is not an algorithm with a public key" + algorithms},
        {jwt("jwks_file: k, algorithms: [RS256, none]"),
         "86: access.providers[0].algorithms[1]: \"none\" is not an algorithm with a public key" + algorithms},
        {jwt("jwks_file: k, algorithms: []"), "78: access.providers[0].algorithms: is empty" + algorithms},
        {"jwt, name: a, audience: b, jwks_file: k",
         "7: access.providers[0].issuer: is missing; expected the `iss` of its tokens\n"},
        {"jwt, name: a, issuer: i, jwks_file: k",
         "7: access.providers[0].audience: is missing; expected the `aud` of its tokens, or `client_id` for tokens "
         "that "
         "have none\n"},
        {"jwt, name: a, issuer: i, client_id: c, jwks_file: k", ""},
        {"jwt, name: a, issuer: i, client_id: [], jwks_file: k",
         "50: access.providers[0].client_id: is empty; expected text, or a list of texts\n"},
        {jwt("jwks_file: k, scope_prefix: api://c/"), ""},
        {jwt("jwks_file: k, scope_prefix: \"a b\""),
         "80: access.providers[0].scope_prefix: \"a b\" has a character that scopes do not have, or over 256 of them; "
         "expected what stands in front of a scope, such as api://cardea/\n"},
        {jwt("jwks_file: k, scope_prefix: " + std::string(256, 'p')), ""},
        {"jwt, name: a, issuer: \"\", audience: b, jwks_file: k",
         "36: access.providers[0].issuer: is empty; expected the `iss` of its tokens\n"},
        {"jwt, name: a, issuer: i, audience: [], jwks_file: k",
         "49: access.providers[0].audience: is empty; expected text, or a list of texts\n"},
        {jwt("jwks_file: k, jwks: k"),
         "66: access.providers[0].jwks: is not a known key; known here: type, name, issuer, audience, client_id, "
         "algorithms, jwks_url, jwks_file, leeway, scope_prefix\n"},
    });
    const auto checked = config::load(
        provider_text(jwt("jwks_file: k")),
        "c.yml",
        variables,
        files,
        {.authorities = {},
         .certificate = {},
         .key = {},
         .signing_key = {},
         .key_set =
             [](const std::string&) {
                 return core::result<>{core::gateway_error(core::errc::config_invalid, "has no key")};
             }}
    );
    CHECK(
        lines(checked.problems) ==
        "c.yml:3:63: access.providers[0].jwks_file: \"k\" has no key; expected the path of a JWK Set\n"
    );
}

TEST_SUITE_END();
