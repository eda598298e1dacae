#include "config/agents.hpp"

#include "core/json/json.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

using namespace config::testing;

TEST_SUITE_BEGIN("config/agents");

namespace {

// One agent `a` with these lines below it, each indented by four.
std::string with(std::string_view members)
{
    std::string text = "agents:\n  a:\n    url: http://h/a2a\n";
    while (!members.empty()) {
        const auto end = std::min(members.find('\n'), members.size());
        text += "    " + std::string{members.substr(0, end)} + '\n';
        members.remove_prefix(std::min(end + 1, members.size()));
    }
    return text;
}

core::agent agent(std::string_view members)
{
    return right(with(members)).agents.at(0);
}

std::string mcp(const std::string& members)
{
    return "agents:\n  a: {" + members + "}\n";
}

constexpr const char* expected_url = "expected an http or https URL such as http://10.0.0.7:9000/a2a\n";
constexpr const char* expected_card_url = "expected an http or https URL such as http://10.0.0.7:9000/path\n";

}  // namespace

TEST_CASE("agents are a map from ids to maps")
{
    const std::pair<const char*, const char*> rows[] = {
        {"agents:\n  - id: a\n", "c.yml:2:3: agents: is a list; expected a map from ids to agents\n"},
        {"agents: a=http://h", "c.yml:1:9: agents: is a single value; expected a map from ids to agents\n"},
        {"agents:\n  a: http://h\n", "c.yml:2:6: agents.a: is a single value; expected a map of the agent's settings\n"
        },
        {"agents:\n  a: [http://h]\n", "c.yml:2:6: agents.a: is a list; expected a map of the agent's settings\n"},
        {"agents:\n  a:\n",
         "c.yml:2:3: agents.a.url: is missing; expected an http or https URL such as http://10.0.0.7:9000/a2a\n"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(problems_of(text) == meant);
    }
}

TEST_CASE("an id is 1 to 128 characters that no path changes")
{
    const auto problem_of = [](const std::string& id) {
        auto text = std::string{"agents: {\""};
        text.append(id).append("\": {url: \"http://h\"}}");
        return problems_of(text);
    };
    const std::string meant =
        "is not an agent's id; expected 1 to 128 letters, digits, '.', '_' and '-', without '..'\n";
    for (const auto& id :
         {std::string{"a"}, std::string{"A-1_b.c"}, std::string{"1"}, std::string(127, 'a'), std::string(128, 'a')}) {
        CAPTURE(id);
        CHECK(problem_of(id) == "");
    }
    const std::pair<std::string, std::string> rows[] = {
        {"", ""},
        {".", "."},
        {"..", ".."},
        {"a..b", "a..b"},
        {"a/b", "a(...)"},
        {"a b", "a(...)"},
        {"a%2fb", "a(...)"},
        {"\\u00e9", "(...)"},
        {"\\0", "(...)"},
        {std::string(129, 'a'), std::string(64, 'a') + "(...)"},
    };
    for (const auto& [id, shown] : rows) {
        CAPTURE(id);
        auto told = std::string{"c.yml:1:10: agents."};
        told.append(shown).append(": ").append(meant);
        CHECK(problem_of(id) == told);
    }
}

TEST_CASE("an agent's addresses are URLs, and a problem does not repeat them")
{
    const std::pair<std::string, std::string> rows[] = {
        {"agents:\n  a: {}\n", "c.yml:2:3: agents.a.url: is missing; " + std::string{expected_url}},
        {"agents:\n  a:\n    url: ${URL_WITH_PASSWORD}\n",
         "c.yml:3:10: agents.a.url: has a user name or password in it; " + std::string{expected_url}},
        {"agents:\n  a:\n    url: http://h/?key=s3cr3t\n", ""},
        {"agents:\n  a:\n    url:\n", "c.yml:3:5: agents.a.url: has no value; " + std::string{expected_url}},
        {"agents:\n  a:\n    url: \"\"\n", "c.yml:3:10: agents.a.url: is empty; " + std::string{expected_url}},
        {with("card_url: /card.json"), "c.yml:4:15: agents.a.card_url: is not a URL; " + std::string{expected_card_url}
        },
        {with("card_url: http://h/c#x"),
         "c.yml:4:15: agents.a.card_url: has a fragment (#); " + std::string{expected_card_url}},
        {with("card_url: http://h/c?x=1"), ""},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(problems_of(text) == meant);
    }
}

TEST_CASE("the protocol is what is said, or what the other keys say")
{
    CHECK(agent("").speaks == core::protocol::a2a);
    CHECK(agent("protocol: a2a").speaks == core::protocol::a2a);
    CHECK(agent("protocol: mcp").speaks == core::protocol::mcp);
    CHECK(agent("protocol: mcp").url == "http://h/a2a");
    CHECK(right(mcp("transport: {url: \"http://h/mcp\"}")).agents.at(0).speaks == core::protocol::mcp);
    CHECK(right(mcp("command: npx")).agents.at(0).speaks == core::protocol::mcp);
    CHECK(
        problems_of(with("protocol: MCP")) ==
        "c.yml:4:15: agents.a.protocol: \"MCP\" is not a protocol; expected a2a or mcp\n"
    );
    CHECK(problems_of(with("protocol: \"\"")) == "c.yml:4:15: agents.a.protocol: is empty; expected a2a or mcp\n");
    CHECK(
        problems_of(with("protocol: a2a\ntransport: {url: http://h}")) ==
        "c.yml:5:16: agents.a.transport: is for MCP servers; expected protocol: mcp, or a url alone\n"
    );
    CHECK(
        problems_of(with("args: [x]")) ==
        "c.yml:4:11: agents.a.args: is for MCP servers; expected protocol: mcp, or a url alone\n"
    );
}

TEST_CASE("an MCP server has one address or command")
{
    const std::pair<std::string, const char*> rows[] = {
        {mcp("protocol: mcp"), "c.yml:2:3: agents.a: has neither a url nor a transport; expected one of the two\n"},
        {mcp("transport: {type: sse}"),
         "c.yml:2:18: agents.a.transport: has neither a url nor a command; expected a map with a url or a command\n"},
        {mcp("transport: sse"), "c.yml:2:18: agents.a.transport: is a single value; expected a map\n"},
        {mcp("transport: {url: \"http://h:0/?apiKey=s3cr3t\"}"),
         "c.yml:2:24: agents.a.transport.url: has no valid port (1 to 65535); expected an http or https URL such as "
         "http://10.0.0.7:9000/path\n"},
        {mcp("url: \"http://h\", transport: {url: \"http://i\"}"),
         "c.yml:2:35: agents.a.transport.url: stands beside agents.a.url; expected one of the two\n"},
        {mcp("url: \"http://h\", command: x"),
         "c.yml:2:33: agents.a.command: stands beside a url; expected one of the two\n"},
        {mcp("command: x, transport: {command: x}"),
         "c.yml:2:16: agents.a.command: stands beside agents.a.transport; expected one of the two\n"},
        {mcp("transport: {command: x}, args: []"),
         "c.yml:2:38: agents.a.args: stands without agents.a.command; expected both\n"},
        {mcp("command: x, metadata: {transport: y}"),
         "c.yml:2:29: agents.a.metadata.transport: is where the agent's transport is shown; expected another name\n"},
        {mcp("transport: {package: {name: x}}"), ""},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(problems_of(text) == meant);
    }
}

TEST_CASE("a switch, a note and a path are what they say")
{
    CHECK(agent("disabled: true").disabled);
    CHECK_FALSE(agent("disabled: \"false\"").disabled);
    CHECK(agent("version: 1.10").version == "1.10");
    CHECK(agent("protocolVersion: 0.3").protocol_version == "0.3");
    CHECK(agent("timeout: 0s1ms").timeout == core::duration{1});
    CHECK_FALSE(agent("").timeout.has_value());
    const std::pair<const char*, const char*> rows[] = {
        {"disabled: yes", "c.yml:4:15: agents.a.disabled: \"yes\" is not a switch; expected true or false\n"},
        {"disabled:", "c.yml:4:5: agents.a.disabled: has no value; expected true or false\n"},
        {"version: \"\"", "c.yml:4:14: agents.a.version: is empty; expected a version\n"},
        {"version: \"1\\n2\"", "c.yml:4:14: agents.a.version: \"1?2\" has a control character; expected a version\n"},
        {"tls: x.pem", "c.yml:4:10: agents.a.tls: is a single value; expected a map with ca_file, or cert and key\n"},
        {"tls: {ca_file: \"a\\0b\"}",
         "c.yml:4:20: agents.a.tls.ca_file: \"a?b\" has a control character; expected the path of a PEM file\n"},
        {"metadata: text", "c.yml:4:15: agents.a.metadata: is a single value; expected a map\n"},
    };
    for (const auto& [members, meant] : rows) {
        CAPTURE(members);
        CHECK(problems_of(with(members)) == meant);
    }
}

TEST_CASE("an inline card has a name, and is given once")
{
    CHECK(agent("card: {name: A, x: 1.5}").card == R"({"name":"A","x":1.5})");
    const std::pair<const char*, const char*> rows[] = {
        {"card: {}", "c.yml:4:11: agents.a.card: has no name; expected an agent card (a map with a name)\n"},
        {"card: {name: \"\"}", "c.yml:4:11: agents.a.card: has no name; expected an agent card (a map with a name)\n"},
        {"card: {name: 5}", "c.yml:4:11: agents.a.card: has no name; expected an agent card (a map with a name)\n"},
        {"card:", "c.yml:4:5: agents.a.card: has no value; expected an agent card (a map with a name)\n"},
        {"card: card.json", "c.yml:4:11: agents.a.card: is a single value; expected an agent card (a map with a name)\n"
        },
        {"card: {name: A}\nmetadata: {agentCard: {name: B}}",
         "c.yml:4:11: agents.a.card: stands beside agents.a.metadata.agentCard; expected one of the two\n"},
    };
    for (const auto& [members, meant] : rows) {
        CAPTURE(members);
        CHECK(problems_of(with(members)) == meant);
    }
}

TEST_CASE("agentCard without a name gives the card's address and stays in the metadata")
{
    const auto with_address = agent("metadata: {x: 1, agentCard: {url: \"http://H/card?a\", version: 2}}");
    CHECK(with_address.card == "");
    CHECK(with_address.card_url == "http://h/card?a");
    CHECK(with_address.metadata == R"({"x":1,"agentCard":{"url":"http://H/card?a","version":2}})");
    const auto with_nothing = agent("metadata: {agentCard: {name: \"\", url: \"\"}}");
    CHECK(with_nothing.card == "");
    CHECK(with_nothing.card_url == "");
    CHECK(with_nothing.metadata == R"({"agentCard":{"name":"","url":""}})");
    CHECK(agent("metadata: {agentCard: text}").metadata == R"({"agentCard":"text"})");
    CHECK(
        problems_of(with("metadata: {agentCard: {url: nowhere}}")) ==
        "c.yml:4:33: agents.a.metadata.agentCard.url: is not a URL; " + std::string{expected_card_url}
    );
}

TEST_CASE("agentCard with a name is the card, and leaves the metadata")
{
    const auto named = agent("metadata: {x: 1, agentCard: {name: A, url: \"http://h/a2a\"}, y: 2}");
    CHECK(named.card == R"({"name":"A","url":"http://h/a2a"})");
    CHECK(named.card_url == "http://h/a2a");
    CHECK(named.metadata == R"({"x":1,"y":2})");
    CHECK(agent("metadata: {agentCard: {name: A, url: nowhere}}").card_url == "");
    CHECK(
        agent("card_url: http://i/c\nmetadata: {agentCard: {name: A, url: \"http://h/a2a\"}}").card_url == "http://i/c"
    );
}

TEST_CASE("a card and metadata are at most as long as a JSON document of the gateway")
{
    const auto of_length = [](const char* key, std::size_t n) {  // {"name":"xx"}
        return with(std::string{key} + ": {name: " + std::string(n - 11, 'x') + "}");
    };
    for (const auto* key : {"card", "metadata"}) {
        CAPTURE(key);
        CHECK(problems_of(of_length(key, 1'048'575)) == "");
        CHECK(problems_of(of_length(key, 1'048'576)) == "");
        CHECK(problems_of(of_length(key, 1'048'577)).ends_with(": is longer than 1048576 bytes as JSON\n"));
    }
}

TEST_CASE("ID=URL of the command line is an A2A agent")
{
    const auto agent = config::parse_agent_flag("weather=HTTP://H:9000/a2a/");
    REQUIRE(agent.has_value());
    core::agent meant;
    meant.id = "weather";
    meant.url = "http://h:9000/a2a/";
    meant.trust = core::card_trust::same_origin;
    CHECK(*agent == meant);
    CHECK(config::parse_agent_flag("a=http://h/x=y").value().url == "http://h/x=y");
}

TEST_CASE("what is no ID=URL says why")
{
    const std::pair<const char*, std::string> rows[] = {
        {"", "has no '='; expected ID=URL such as weather=http://10.0.0.7:9000/a2a"},
        {"http://h", "has no '='; expected ID=URL such as weather=http://10.0.0.7:9000/a2a"},
        {"=http://h", "the id is not an agent's id; expected 1 to 128 letters, digits, '.', '_' and '-', without '..'"},
        {"a/b=http://h",
         "the id is not an agent's id; expected 1 to 128 letters, digits, '.', '_' and '-', without '..'"},
        {"a=", "the URL of a is empty; expected an http or https URL such as http://10.0.0.7:9000/a2a"},
        {"a=http://u:s3cr3t@h",
         "the URL of a has a user name or password in it; expected an http or https URL such as "
         "http://10.0.0.7:9000/a2a"},
    };
    for (const auto& [flag, meant] : rows) {
        CAPTURE(flag);
        const auto agent = config::parse_agent_flag(flag);
        REQUIRE(agent.has_error());
        CHECK(agent.error().code == core::errc::config_invalid);
        CHECK(agent.error().detail == meant);
    }
}

TEST_SUITE_END();
