#include "config/compare.hpp"

#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>

using namespace config::testing;

TEST_SUITE_BEGIN("config/compare");

namespace {

using keys = std::vector<std::string_view>;
using ids = std::vector<std::string>;

config::changes changes_of(std::string_view before, std::string_view now)
{
    return config::compare(right(before), right(now));
}

}  // namespace

TEST_CASE("agents are added, changed, removed or unchanged by their ids, whatever their order")
{
    const auto what = changes_of(
        "agents: {same: {url: \"http://s\"}, gone: {url: \"http://g\"}, other: {url: \"http://o\"}, late: {url: "
        "\"http://l\"}}",
        "agents: {new: {url: \"http://n\"}, late: {url: \"http://l\"}, other: {url: \"http://o2\", version: x}, same: "
        "{url: \"http://s\"}}"
    );
    CHECK(what.added == ids{"new"});
    CHECK(what.removed == ids{"gone"});
    REQUIRE(what.changed.size() == 1);
    CHECK(what.changed.front() == config::changed_agent{"other", {"url", "version"}});
    CHECK(what.unchanged == 2);
    CHECK(what.settings.empty());
    CHECK(what.needs_restart.empty());
}

TEST_CASE("the same configuration changes nothing, and every agent can come and go at once")
{
    constexpr const char* text = "workers: 2\nagents: {a: {url: \"http://a\"}}";
    CHECK(changes_of(text, text) == config::changes{{}, {}, {}, 1, {}, {}});
    CHECK(changes_of("{}", "agents: {b: {url: \"http://b\"}, a: {url: \"http://a\"}}").added == ids{"b", "a"});
    CHECK(changes_of("agents: {b: {url: \"http://b\"}, a: {url: \"http://a\"}}", "{}").removed == ids{"b", "a"});
}

TEST_CASE("a change of any part of an agent names its key")
{
    const std::map<std::string, std::string> parts{
        {"url", "url: http://h/other"},
        {"bearer", "bearer: s3cret"},
        {"timeout", "timeout: 3s"},
        {"relay_paths", "relay_paths: [/v1/*]"},
        {"hosts", "hosts: [a.test]"},
        {"discover", "discover: anyone"},
        {"call", "call: nobody"},
        {"extensions", "extensions: {enforce_0_3: true}"},
        {"disabled", "disabled: true"},
        {"shape", "shape: v1"},
        {"trust_card_url", "trust_card_url: never"},
        {"speaks", "speaks: [0.3/rest]"},
        {"bridge", "bridge: false"},
        {"as_tools", "as_tools: off"},
        {"tool_wait", "tool_wait: 44s"},
        {"push", "push: mediate"},
        {"extended_card", "extended_card: proxy"},
        {"skills", "skills: [{id: a}]"},
        {"card_patch", "card_patch: {description: d}"},
        {"signatures", "signatures: strip"},
        {"trusted_keys", "trusted_keys: keys.json"},
        {"key_set_origins", "key_set_origins: [https://h]"},
        {"card_url", "card_url: http://h/card"},
        {"card", "card: {name: N}"},
        {"card_headers", "card_headers: {X-Key: k}"},
        {"tls", "tls: {ca_file: ca.pem}"},
        {"version", "version: v"},
        {"protocol_version", "protocol_version: v"},
        {"metadata", "metadata: {team: t}"},
        {"protocol", "protocol: mcp"},
    };
    for (const auto& [key, line] : parts) {
        CAPTURE(key);
        const auto what = changes_of(
            "agents:\n  a:\n    url: http://h/\n",
            "agents:\n  a:\n" + std::string{key == "url" ? "" : "    url: http://h/\n"} + "    " + line + "\n"
        );
        REQUIRE(what.changed.size() == 1);
        CHECK(what.changed.front().keys == keys{key});
    }
}

TEST_CASE("what is of the process is named, apart by whether it takes a restart")
{
    const auto what = changes_of(
        "listen: 127.0.0.1:1\ncards: {ttl: 1m, shape: v1}",
        "listen: 127.0.0.1:2\nworkers: 3\ntls: {cert: c, key: k}\nlimits: {body: 2MiB}\nreload: {watch: false}\n"
        "cards: {ttl: 2m, shape: v0.3, background: 0}"
    );
    CHECK(what.settings == keys{"reload.watch", "cards.ttl", "cards.background"});
    CHECK(what.needs_restart == keys{"listen", "tls", "workers", "cards.shape", "limits.body"});
}

TEST_CASE("a change of a bundle applies at once")
{
    constexpr const char* agents = "\nagents: {a: {url: \"http://a\"}, b: {url: \"http://b\"}}";
    const auto bundles = [&](const std::string& text) {
        return right("mcp: {bundles: {default: " + text + "}}" + agents);
    };
    auto into = bundles("{agents: [a]}");
    for (const auto* changed : {"{agents: [b]}", "{agents: [a], tools: search}", "{agents: [{id: a, as: x}]}"}) {
        CAPTURE(changed);
        const auto now = bundles(changed);
        CHECK(config::compare(into, now).settings == keys{"mcp.bundles"});
        CHECK(config::compare(into, now).needs_restart.empty());
        config::apply(now, into);
        CHECK(into.mcp.bundles == now.mcp.bundles);
    }
}

TEST_CASE("of a certificate, its key and names count as well as its file")
{
    CHECK(changes_of("tls: {cert: c, key: k}", "tls: {cert: c, key: other}").needs_restart == keys{"tls"});
    CHECK(changes_of("tls: {cert: c, key: k}", "tls: {cert: c, key: k, names: [a.test]}").needs_restart == keys{"tls"});
    CHECK(changes_of("tls: {cert: c, key: k}", "tls: [{cert: c, key: k}]").needs_restart.empty());
}

TEST_CASE("only what applies at once is taken over")
{
    auto into = right("listen: 127.0.0.1:1\ncards: {ttl: 1m}\nagents: {a: {url: \"http://a\"}}");
    const auto now = right("listen: 127.0.0.1:2\ncards: {ttl: 2m, shape: v1}\nreload: {watch: false}");
    config::apply(now, into);
    CHECK(into.cards.ttl == std::chrono::minutes{2});
    CHECK_FALSE(into.reload.watch);
    CHECK(into.listen.port == 1);
    CHECK(into.cards.shape == core::card_shape::automatic);
    CHECK(into.agents.size() == 1);
    CHECK(config::compare(into, now).settings.empty());
    CHECK(config::compare(into, now).needs_restart == keys{"listen", "cards.shape"});
}

TEST_SUITE_END();
