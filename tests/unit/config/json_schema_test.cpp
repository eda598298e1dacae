// The JSON Schema takes what the parser takes. The validator knows just the keywords that our schemas use;
// tests/peers/config_schema.test.js asks an independent one.
#include "config/json_schema.hpp"

#include "config/agent_table.hpp"
#include "config/document.hpp"
#include "config/file.hpp"
#include "config/json_value.hpp"
#include "config/schema.hpp"
#include "tests/support/schema_validator.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace config::testing;
using core::json;

TEST_SUITE_BEGIN("config/json_schema");

namespace {

using test_support::validator;

const validator& schema()
{
    static const validator made{config::json_schema()};
    return made;
}

json document(std::string_view text)
{
    config::problem_list problems{"c.yml"};
    const auto root = config::parse_document(text, problems);
    REQUIRE(root.has_value());
    return config::to_json(*root);
}

json document_of(const std::string& name)
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/" + name);
    REQUIRE(text.has_value());
    return document(*text);
}

// Every object below that is a map of the configuration's own, with an unknown member.
void with_unknown_keys(const json& whole, const json::json_pointer& at, std::vector<json>& out)
{
    const auto text = at.to_string();
    const auto free = [&](std::string_view name) { return text.find(name) != std::string::npos; };
    const bool of_card = free("/card/") || text.ends_with("/card") || free("/card_headers");
    if (free("/metadata") || of_card || free("/env") || free("/headers") || free("/rename") || free("/describe") ||
        free("/claims")) {
        return;
    }
    const auto& here = whole[at];
    if (here.is_object() && text != "/agents") {
        auto changed = whole;
        changed[at]["no_such_key"] = 1;
        out.push_back(std::move(changed));
    }
    if (here.is_structured()) {
        for (const auto& [key, value] : here.items()) {
            with_unknown_keys(whole, at / key, out);
        }
    }
}

}  // namespace

TEST_CASE("the examples and a SuperX file are valid, and so is an empty map")
{
    CHECK(schema().takes(document_of("full.yml")));
    CHECK(schema().takes(document_of("access.yml")));
    CHECK(schema().takes(document_of("superx.yml")));
    CHECK(schema().takes(json::object()));
}

TEST_CASE("every key of the full example is known, and no other one is, wherever it stands")
{
    std::vector<json> wrong;
    const auto full = document_of("full.yml");
    with_unknown_keys(full, json::json_pointer{""}, wrong);
    CHECK(wrong.size() >= 12);
    for (const auto& each : wrong) {
        CAPTURE(each.dump());
        CHECK_FALSE(schema().takes(each));
    }
}

TEST_CASE("every key of the tables is in the schema, with what it means")
{
    const auto root = config::json_schema();
    const auto meaning = [](const json& from, std::string_view path) {
        const json* at = &from;
        for (std::size_t begin = 0; begin <= path.size();) {
            const auto end = std::min(path.find('.', begin), path.size());
            at = &(*at)["properties"].at(std::string{path.substr(begin, end - begin)});
            begin = end + 1;
        }
        return at->value("description", "");
    };
    for (const auto& row : config::all_settings()) {
        CAPTURE(row.path);
        CHECK(meaning(root, row.path) == row.meaning);
    }
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        CHECK(meaning(root["$defs"]["agent"], row.name) == row.meaning);
    }
}

TEST_CASE("what the parser refuses for its type, the schema refuses too, and what it takes the schema takes")
{
    for (const auto* text : {
             "workers: 257",
             "workers: -1",
             "workers: many",
             "workers: 3",
             "workers: \"3\"",
             "workers: ${UNSET:-3}",
             "cards: {ttl: soon}",
             "cards: {ttl: 5}",
             "cards: {ttl: 1h30m}",
             "cards: {negative_ttl: 0}",
             "cards:",
             "cards: {shape: v2}",
             "cards: {shape: v0.3}",
             "cards: {max_size: 1}",
             "cards: {max_size: 2 MiB}",
             "cards: {max_size: 2MiB}",
             "log: {level: loud}",
             "log: {level: \"off\"}",
             "reload: {watch: maybe}",
             "reload: {watch: false}",
             "listen: 4000",
             "listen: 127.0.0.1:4000",
             "public_url: ftp://h",
             "public_url: HTTP://h",
             "store: disk",
             "store: memory",
             "audit: stderr",
             "audit: stdout",
             "audit: \"file:\"",
             "audit: file:a",
             "rate_limits: {principal: {rate: 1}}",
             "rate_limits: {principal: 1}",
             "rate_limits: {tenant: {rate: 1}}",
             "hosts: a.test",
             "hosts: [a.test]",
             "agent_hosts: \"{id}.a.test\"",
             "agent_hosts: a.test",
             "agents: {a: {url: \"http://h\", hosts: [a.test]}}",
             "agents: {a: {url: \"http://h\", hosts: {a: b}}}",
             "tls: []",
             "tls: {cert: c}",
             "tls: {cert: c, key: k}",
             "access: open",
             "access: closed",
             "access: []",
             "access:",
             "access: {open: true}",
             "access: {open: perhaps}",
             "access: {providers: []}",
             "access: {providers: [{name: a}]}",
             "access: {providers: [{type: oidc, name: a}]}",
             "access: {providers: [{type: static_token, name: a, token: 0123456789abcdef}]}",
             "access: {providers: [{type: static_token, name: \"a b\", token: 0123456789abcdef}]}",
             "access: {providers: [{type: static_token, name: a, token: 0123456789abcdef, claims: {x: {}}}]}",
             "access: {providers: [{type: static_token, name: a, token: 0123456789abcdef, claims: {x: [1, true]}}]}",
             "access: {providers: [{type: static_token, name: a, token: 0123456789abcdef, keys: []}]}",
             "access: {providers: [{type: api_key, name: 1, keys: []}]}",
             "access: {providers: [{type: api_key, name: a}]}",
             "access: {providers: [{type: api_key, name: a, in: body, parameter: k, keys: []}]}",
             "access: {providers: [{type: api_key, name: a, keys: [{sha256: abc}]}]}",
             "access: {providers: [{type: api_key, name: a, keys: [{name: k, sha256: abc}]}]}",
             "access: {providers: [{type: jwt, name: a, issuer: i, audience: a, jwks_url: \"https://h/\"}]}",
             "access: {providers: [{type: jwt, name: a, issuer: i, jwks_url: \"https://h/\"}]}",
             "access: {providers: [{type: jwt, name: a, issuer: i, audience: a, algorithms: HS256, jwks_file: f}]}",
             "access: {providers: [{type: jwt, name: a, issuer: i, audience: a, algorithms: [ES256], jwks_file: f}]}",
             "access: {providers: [{type: http_verifier, name: a, url: \"https://h/\", timeout: 1s, cache: 0}]}",
             "access: {providers: [{type: http_verifier, name: a}]}",
             "access: {providers: [{type: oidc, name: a, issuer: \"https://h\", audience: a}]}",
             "access: {providers: [{type: azure_ad, name: a, audience: a}]}",
             "access: {providers: [{type: gcp_iap, name: a, audience: [a]}]}",
             "access: {providers: [{type: aws_sigv4, name: a, hosts: [h]}]}",
             "access: {providers: [{type: mtls, name: a, ca_file: f, principal: subject}]}",
             "access: {providers: [{type: mtls, name: a, ca_file: f, principal: cn}]}",
             "access: {rules: [{call: authenticated, discover: {}}]}",
             "access: {rules: [{call: somebody}]}",
             "access: {rules: [{call: [{methods: [a]}, {scopes: b}]}]}",
             "access: {rules: [{call: []}]}",
             "access: {rules: [{call: {role: a}}]}",
             "agents: {a: {url: \"http://h\", call: {principals: [a]}, discover: anyone}}",
             "agents: {a: {url: \"http://h\", call: {principal: [a]}}}",
             "agents: []",
             "agents:",
             "agents: {a: {}}",
             "agents: {a..b: {url: \"http://h\"}}",
             "agents: {a: {url: \"http://h\", disabled: perhaps}}",
             "agents: {a: {url: \"http://h\", protocol: soap}}",
             "agents: {a: {url: \"http://h\", timeout: 3}}",
             "agents: {a: {url: \"http://h\", timeout: 3s, version: 1.0, bearer: 123, disabled: true}}",
             "agents: {a: {url: \"http://h\", card: {}}}",
             "agents: {a: {url: \"http://h\", card: {name: N, more: [1]}}}",
             "agents: {a: {url: \"http://h\", relay_paths: /v1}}",
             "agents: {a: {url: \"http://h\", relay_paths: [/v1]}}",
             "agents: {a: {command: npx, args: [x], env: {A: 1}}}",
             "agents: {a: {command: npx, max_message: 65535}}",
             "agents: {a: {command: npx, max_message: 65536}}",
             "agents: {a: {command: npx, max_message: 1073741824}}",
             "agents: {a: {command: npx, max_message: 1073741825}}",
             "agents: {a: {command: npx, start: lazy, era: modern, timeouts: {ping: 0}, restart: {backoff: 1s}}}",
             "agents: {a: {command: npx, start: soon}}",
             "agents: {a: {command: npx, era: old}}",
             "agents: {a: {command: npx, timeouts: {boot: 1s}}}",
             "mcpServers: {a: {type: stdio, command: npx, args: [x]}}",
             "mcpServers: {a: {type: http, url: \"http://h/mcp\", headers: {A: b}}}",
             "mcpServers: {a: {type: streamableHttp, url: \"http://h/mcp\"}}",
             "mcpServers: {a: {type: pigeon, url: \"http://h/mcp\"}}",
             "agents: {a: {transport: {type: sse, url: \"http://h\", headers: {A: b}}}}",
             "agents: {a: {transport: {type: stdio, command: npx, args: [x], env: {A: b}, cwd: /srv}}}",
             "agents: {a: {transport: {package: {name: x, registryType: oci}, memory: 512m, cpus: \"1\", network: "
             "host}}}",
             "agents: {a: {transport: {type: pigeon, url: \"http://h\"}}}",
             "agents: {a: {transport: {type: sse}}}",
             "agents: {a: {transport: {url: \"http://h\", uri: x}}}",
             "agents: {a: {transport: {command: npx, args: -y}}}",
         }) {
        CAPTURE(std::string{text});
        CHECK(schema().takes(document(text)) == problems_of(text).empty());
    }
}

TEST_SUITE_END();
