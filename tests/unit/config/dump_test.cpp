#include "config/dump.hpp"

#include "config/agents.hpp"
#include "config/document.hpp"
#include "config/file.hpp"
#include "config/json_schema.hpp"
#include "config/mcp_flag.hpp"
#include "config/schema.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;
using core::json;

TEST_SUITE_BEGIN("config/dump");

namespace {

core::result<std::string> file_token(const std::string& path)
{
    return file_text(path, "file-token-of-operators");
}

json dumped(std::string_view text, std::map<std::string, std::string> flags = {})
{
    const auto loaded = config::load(text, "c.yml", variables, file_token);
    REQUIRE(lines(loaded.problems) == "");
    return config::dump(loaded.value, {text, "c.yml", variables, std::move(flags)});
}

std::string full_text()
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/full.yml");
    REQUIRE(text.has_value());
    return *text;
}

json leaf(const json& value, const std::string& origin)
{
    return {{"value", value}, {"origin", origin}};
}

}  // namespace

TEST_CASE("every key has a value and says where it is from")
{
    const auto all = dumped(
        "listen: 127.0.0.1:1\ncards:\n  ttl: ${TTL}\n  min_ttl: ${UNSET:-3s}\nworkers: 2\n",
        {{"listen", "--listen"}}
    );
    CHECK(all["listen"] == leaf("127.0.0.1:1", "flag --listen"));
    CHECK(all["admin"] == leaf("127.0.0.1:4001", "default"));
    CHECK(all["cards"]["ttl"] == leaf("7m", "c.yml:3, environment TTL"));
    CHECK(all["cards"]["min_ttl"] == leaf("3s", "c.yml:4"));
    CHECK(all["workers"] == leaf(2, "c.yml:5"));
    CHECK(all["reload"]["watch"] == leaf(true, "default"));
    CHECK(all["public_url"] == leaf(nullptr, "default"));
    CHECK(all["hosts"] == leaf(json::array(), "default"));
    CHECK(all["agents"] == json::object());
    for (const auto& row : config::all_settings()) {
        CAPTURE(row.path);
        std::string path{"/"};
        for (const char c : row.path) {
            path += c == '.' ? '/' : c;
        }
        CHECK(all.contains(json::json_pointer{path + "/value"}));
        CHECK(all.contains(json::json_pointer{path + "/origin"}));
    }
}

TEST_CASE("an agent's key that is not given has the value of what stands in for it")
{
    const auto all = dumped(
        "timeouts: {upstream_head: 9s}\n"
        "agents:\n"
        "  a:\n"
        "    url: http://h/\n"
        "    shape: v1\n"
        "  b: {url: \"http://b/\", timeout: 1s}\n",
        {{"agents.b", "--agent"}}
    );
    const auto& a = all["agents"]["a"];
    CHECK(a["url"] == leaf("http://h/", "c.yml:4"));
    CHECK(a["shape"] == leaf("v1", "c.yml:5"));
    CHECK(a["timeout"] == leaf("9s", "default: timeouts.upstream_head"));
    CHECK(a["signatures"] == leaf("strip", "default: cards.signatures"));
    CHECK(a["protocol"] == leaf("a2a", "default"));
    CHECK(a["bearer"] == leaf(nullptr, "default"));
    CHECK(a["tls"]["ca_file"] == leaf(nullptr, "default"));
    CHECK(all["agents"]["b"]["url"]["origin"] == "flag --agent");
    CHECK(all["agents"]["b"]["timeout"] == leaf("1s", "c.yml:6"));
}

TEST_CASE("no secret is shown, wherever a configuration may have one")
{
    const auto full = dumped(full_text());
    const auto more = dumped(
        "agents:\n"
        "  a: {url: \"http://h/\", bearer: s3cr3t-token, card_headers: {X-Key: s3cr3t-token}, card_url: "
        "\"http://h/?k=s3cr3t-token\"}\n"
        "  b: {url: \"http://h/\", metadata: {key: \"${TOKEN}\", list: [\"x ${TOKEN}\", plain]}, bearer_file: /run/t}\n"
        "  c: {url: \"http://h/\", card: {name: N, key: {deep: \"${TOKEN}\"}}}\n"
        "  d: {command: npx, args: [--key, s3cr3t-token], env: {KEY: s3cr3t-token}}\n"
        "  e: {transport: {type: sse, url: \"http://h/\", headers: {A: s3cr3t-token}}}\n"
        "  f: {url: \"http://h/\", metadata: {agentCard: {name: N, key: \"${TOKEN}\"}}}\n"
    );
    for (const auto* each : {&full, &more}) {
        for (const auto& text : {each->dump(), config::dump_text(*each)}) {
            CHECK(text.find("s3cr3t") == std::string::npos);
            CHECK(text.find("file-token") == std::string::npos);
            CHECK(text.find(core::masked) != std::string::npos);
        }
    }
    CHECK(full["agents"]["weather.v1_A-b"]["bearer"]["value"] == core::masked);
    CHECK(full["agents"]["weather.v1_A-b"]["bearer"]["origin"].get<std::string>().ends_with(", environment TOKEN"));
    CHECK(full["agents"]["inline"]["bearer"]["value"] == core::masked);
    CHECK(full["agents"]["inline"]["bearer_file"]["value"] == "/run/secrets/inline");
    CHECK(full["agents"]["inline"]["card"]["value"] == json{{"name", "Inline"}, {"skills", json::array()}});
    CHECK(full["agents"]["files"]["transport"]["value"]["command"] == "npx");
    CHECK(more["agents"]["b"]["metadata"]["value"] == json{{"key", core::masked}, {"list", {core::masked, "plain"}}});
    CHECK(more["agents"]["b"]["metadata"]["origin"] == "c.yml:3, environment TOKEN");
    CHECK(more["agents"]["c"]["card"]["value"] == json{{"name", "N"}, {"key", {{"deep", core::masked}}}});
}

TEST_CASE("A proxy is shown without its name and password, and the mask is no proxy")
{
    const auto all = dumped(
        "proxy: \"http://me:${TOKEN}@proxy:3128\"\n"
        "agents: {a: {url: \"http://h\", proxy: \"http://me:s3cr3t-token@other:1\"}, b: {url: \"http://h\"}}\n"
    );
    CHECK(all["proxy"] == leaf("http://********@proxy:3128", "c.yml:1, environment TOKEN"));
    CHECK(all["agents"]["a"]["proxy"] == leaf("http://********@other:1", "c.yml:2"));
    CHECK(all["agents"]["b"]["proxy"] == leaf("http://********@proxy:3128", "default: proxy"));
    CHECK(all.dump().find("s3cr3t") == std::string::npos);
    const auto read = config::read_agent("a", {{"url", "http://h"}, {"proxy", "http://********@other:1"}}, "agent", {});
    CHECK(lines(read.problems).find("agent.proxy: has the mask of a credential") != std::string::npos);
    const auto right = config::read_agent("a", {{"url", "http://h"}, {"proxy", "http://u:p@other:1"}}, "agent", {});
    CHECK(right.problems.empty());
    CHECK(config::given_values(right.agent)["proxy"] == "http://********@other:1");
    const auto file = config::read_agent("a", {{"url", "http://h"}, {"proxy_file", "/run/a.proxy"}}, "agent", {});
    CHECK(file.problems.size() == 1);
}

TEST_CASE("an MCP server of the command line is from its flag, and arguments that may be credentials are masked")
{
    auto effective = config::load("agents: {}", "c.yml", variables).value;
    for (const auto* flag : {"files=npx -y server-files --token s3cr3t /srv", "web=https://h/mcp"}) {
        effective.agents.push_back(config::parse_mcp_flag(flag).value());
    }
    const auto all = config::dump(
        effective,
        {"agents: {}", "c.yml", variables, {{"agents.files", "--mcp"}, {"agents.web", "--mcp"}}}
    );
    const auto& files = all["agents"]["files"];
    CHECK(files["protocol"] == leaf("mcp", "flag --mcp"));
    CHECK(
        files["transport"] ==
        leaf(
            {{"type", "stdio"}, {"command", "npx"}, {"args", {"-y", "server-files", "--token", "********", "/srv"}}},
            "flag --mcp"
        )
    );
    CHECK(files["url"] == leaf(nullptr, "default"));
    CHECK(files["start"] == leaf("eager", "default"));
    CHECK(all["agents"]["web"]["url"] == leaf("https://h/mcp", "flag --mcp"));
    CHECK(all["agents"]["web"]["protocol"] == leaf("mcp", "flag --mcp"));
}

TEST_CASE("the text is YAML with the origins as comments")
{
    const auto text = config::dump_text(dumped("agents:\n  a: {url: \"http://h/\"}\n  \"1\": {url: \"http://o/\"}\n"));
    CHECK(text.starts_with("listen: \"127.0.0.1:4000\"  # default\n"));
    CHECK(text.find("\ncards:\n  ttl: \"5m\"  # default\n") != std::string::npos);
    CHECK(text.find("\nagents:\n  a:\n    url: \"http://h/\"  # c.yml:2\n") != std::string::npos);
    CHECK(text.find("\n  \"1\":\n    url: \"http://o/\"  # c.yml:3\n") != std::string::npos);
    config::problem_list problems{"dump"};
    CHECK(config::parse_document(config::dump_text(dumped(full_text())), problems).has_value());
    CHECK(problems.empty());
}

TEST_SUITE_END();
