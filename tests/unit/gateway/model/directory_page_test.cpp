#include "gateway/model/directory_page.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/directory_page");

namespace {

using core::json;
using gateway::model::agent_state;
using gateway::model::directory_kind;
using gateway::model::directory_page;
using gateway::model::directory_request;
using gateway::model::index_of;
using gateway::model::listed_agent;
using gateway::model::read_directory_request;

constexpr std::string_view base = "https://agents.example.com/x";

json parsed(std::string_view text)
{
    const auto value = core::parse_json(text, {.bytes = 16 * 1024 * 1024, .depth = 64, .members = 1000});
    REQUIRE(value.has_value());
    return *value;
}

directory_page
page_of(directory_kind kind, std::string_view at, const std::vector<listed_agent>& agents, std::string_view next)
{
    gateway::model::page_writer writer{{kind, std::nullopt, 100}, std::string{at}};
    for (const auto& each : agents) {
        writer.add(each);
    }
    return writer.finish(next);
}

const std::vector<listed_agent>& two_agents()
{
    static const std::vector<listed_agent> agents{
        {"maps", core::protocol::a2a, "Maps \"of\" \x1b", "Draws maps.", "1.2", {"geo", "map"}, agent_state::ready},
        {"tools", core::protocol::mcp, {}, {}, {}, {}, agent_state::ready, "2025-11-25"},
    };
    return agents;
}

directory_page page(directory_kind kind, std::string_view next = {})
{
    return page_of(kind, base, two_agents(), next);
}

std::string refusal(directory_kind kind, std::string_view query)
{
    const auto read = read_directory_request(kind, query);
    REQUIRE(read.has_error());
    CHECK(read.error().code == core::errc::invalid_params);
    return read.error().detail;
}

}  // namespace

TEST_CASE("a page of agents says of each what a caller needs, and nothing that is not known")
{
    const auto made = page(directory_kind::agents, "tools");
    CHECK(parsed(made.body) == parsed(R"({"agents":[
            {"id":"maps","name":"Maps \"of\" \u001b","description":"Draws maps.","protocol":"a2a","version":"1.2",
             "url":"https://agents.example.com/x/agents/maps/",
             "cardUrl":"https://agents.example.com/x/agents/maps/.well-known/agent-card.json",
             "tags":["geo","map"],"state":"ready"},
            {"id":"tools","name":"tools","protocol":"mcp","url":"https://agents.example.com/x/agents/tools/",
             "cardUrl":"https://agents.example.com/x/agents/tools/.well-known/agent-card.json",
             "mcp":{"url":"https://agents.example.com/x/agents/tools/mcp","versions":["2025-11-25"],
             "transports":["streamable-http"]},"tags":[],"state":"ready"}],"nextCursor":"tools"})"));
    CHECK(made.body.find('\x1b') == std::string::npos);
    CHECK(made.fields.starts_with(
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(made.body.size()) + "\r\nLink: <"
    ));
    CHECK(
        made.fields.find(R"(, <https://agents.example.com/x/agents?cursor=tools&limit=100>; rel="next")") !=
        std::string::npos
    );
    CHECK(made.validators == "ETag: " + made.etag + "\r\nCache-Control: public, no-cache\r\n");
    const auto last = page(directory_kind::agents);
    CHECK(last.fields.find("rel=\"next\"") == std::string::npos);
    CHECK_FALSE(parsed(last.body).contains("nextCursor"));
    CHECK(last.etag != made.etag);
    CHECK(page(directory_kind::agents).etag == last.etag);
    CHECK(page_of(directory_kind::agents, base, {}, {}).body == R"({"agents":[]})");
}

TEST_CASE("an API catalog is a linkset with an item for every agent and its card as description")
{
    const auto made = page(directory_kind::api_catalog);
    CHECK(parsed(made.body) == parsed(R"({"linkset":[
            {"anchor":"https://agents.example.com/x/.well-known/api-catalog","item":[
                {"href":"https://agents.example.com/x/agents/maps/","title":"Maps \"of\" \u001b"},
                {"href":"https://agents.example.com/x/agents/tools/mcp","title":"tools"}]},
            {"anchor":"https://agents.example.com/x/agents/maps/","service-desc":[
                {"href":"https://agents.example.com/x/agents/maps/.well-known/agent-card.json","type":"application/json"}]},
            {"anchor":"https://agents.example.com/x/agents/tools/mcp","service-desc":[
                {"href":"https://agents.example.com/x/agents/tools/.well-known/agent-card.json","type":"application/json"}]}
            ]})"));
    CHECK(made.fields.starts_with(
        "Content-Type: application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"\r\n"
    ));
    CHECK(
        made.fields.find("Link: <https://agents.example.com/x/.well-known/api-catalog>; rel=\"api-catalog\"") !=
        std::string::npos
    );
}

TEST_CASE("An AI catalog leads to the card of every agent, and repeats nothing that the card says")
{
    const auto made = page(directory_kind::ai_catalog);
    CHECK(parsed(made.body) == parsed(R"({"specVersion":"0.9","host":{"displayName":"agents.example.com/x"},"entries":[
            {"identifier":"urn:air:agents.example.com:maps:a2a","type":"application/a2a-agent-card+json",
             "url":"https://agents.example.com/x/agents/maps/.well-known/agent-card.json","tags":["geo","map"]},
            {"identifier":"urn:air:agents.example.com:tools:mcp","type":"application/mcp-server-card+json",
             "url":"https://agents.example.com/x/agents/tools/mcp/server-card","tags":[]}]})"));
    CHECK(made.fields.starts_with("Content-Type: application/ai-catalog+json\r\n"));
}

TEST_CASE("A registry's list has of each server what a client needs to reach it")
{
    const std::vector<listed_agent> servers{
        {"tools",
         core::protocol::mcp,
         "Tools",
         std::string_view{"Does things."},
         "1.2.0",
         {},
         agent_state::ready,
         "2025-11-25"},
        {"plain", core::protocol::mcp, "plain", {}, {}, {}, agent_state::unknown},
    };
    const auto list = page_of(directory_kind::servers, base, servers, "plain");
    CHECK(parsed(list.body) == parsed(R"({"servers":[
            {"server":{"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
              "name":"com.example.agents/tools","title":"Tools","description":"Does things.","version":"1.2.0",
              "remotes":[{"type":"streamable-http","url":"https://agents.example.com/x/agents/tools/mcp"}]},"_meta":{}},
            {"server":{"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
              "name":"com.example.agents/plain","description":"An MCP server behind this gateway.","version":"0.0.0",
              "remotes":[{"type":"streamable-http","url":"https://agents.example.com/x/agents/plain/mcp"}]},"_meta":{}}],
            "metadata":{"nextCursor":"plain","count":2}})"));
    CHECK(
        parsed(page_of(directory_kind::servers, base, {}, {}).body) ==
        parsed(R"({"servers":[],"metadata":{"count":0}})")
    );
    const auto one = page_of(directory_kind::server_version, base, {servers[0]}, {});
    CHECK(parsed(one.body) == parsed(list.body)["servers"][0]);
    const auto card = page_of(directory_kind::server_card, base, {servers[0]}, {});
    CHECK(
        parsed(card.body) ==
        parsed(R"({"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
            "name":"com.example.agents/tools","title":"Tools","description":"Does things.","version":"1.2.0",
            "remotes":[{"type":"streamable-http","url":"https://agents.example.com/x/agents/tools/mcp",
              "supportedProtocolVersions":["2025-11-25"]}]})")
    );
    CHECK(card.fields.starts_with("Content-Type: application/mcp-server-card+json\r\n"));
    const std::string text(101, 'd');
    const std::string version(256, '1');
    const std::vector<listed_agent> wordy{{"a", core::protocol::mcp, text, text, version, {}, agent_state::ready}};
    const auto cut = parsed(page_of(directory_kind::server_card, base, wordy, {}).body);
    CHECK(cut["title"].get<std::string>().size() == 100);
    CHECK(cut["description"].get<std::string>().size() == 100);
    CHECK(cut["version"].get<std::string>().size() == 255);
}

TEST_CASE("The name of a server is the host of the gateway in reverse, a slash and the id")
{
    using gateway::model::server_namespace;
    CHECK(server_namespace("https://agents.example.com:8443/x") == "com.example.agents");
    CHECK(server_namespace("https://Agents.Example.COM.") == "com.example.agents");
    CHECK(server_namespace("http://localhost:4000") == "localhost");
    CHECK(server_namespace("http://127.0.0.1:4000") == "127.0.0.1");
    CHECK(server_namespace("http://[::1]:4000") == "--1");
    CHECK(gateway::model::server_name("com.example.agents", "a") == "com.example.agents/a");
}

TEST_CASE("a catalog of pages names every page by where it begins")
{
    const std::vector<std::string> cursors{"", "m"};
    CHECK(
        parsed(index_of(directory_kind::api_catalog, base, cursors).body) ==
        parsed(R"({"linkset":[{"anchor":"https://agents.example.com/x/.well-known/api-catalog","api-catalog":[
            {"href":"https://agents.example.com/x/.well-known/api-catalog?cursor=","type":"application/linkset+json"},
            {"href":"https://agents.example.com/x/.well-known/api-catalog?cursor=m","type":"application/linkset+json"}
            ]}]})")
    );
    const auto entries = parsed(index_of(directory_kind::ai_catalog, base, cursors).body)["entries"];
    REQUIRE(entries.size() == 2);
    CHECK(entries[1]["type"] == "application/ai-catalog+json");
    CHECK(entries[1]["url"] == "https://agents.example.com/x/.well-known/ai-catalog.json?cursor=m");
    CHECK(entries[0]["identifier"] != entries[1]["identifier"]);
}

TEST_CASE("what an agent says of itself takes no more room than a list has")
{
    const std::string long_name = std::string(511, 'n') + "\xc3\xa4" + std::string(100, 'n');
    const std::string long_text(600, 'd');
    gateway::model::card_words words;
    for (int i = 0; i < 100; ++i) {
        words.tags.push_back(std::string(64, 'y') + (i == 0 ? "" : "x"));
        words.tags.push_back("z" + std::to_string(i));
    }
    std::sort(words.tags.begin(), words.tags.end());
    const auto tags = tags_of({}, words, gateway::model::listed_tags);
    const std::vector<listed_agent> agents{
        {"a", core::protocol::a2a, long_name, long_text, std::string_view{long_text}, tags, agent_state::ready}
    };
    const auto shown = parsed(page_of(directory_kind::agents, base, agents, {}).body)["agents"][0];
    CHECK(shown["name"] == std::string(511, 'n'));
    CHECK(shown["description"].get<std::string>().size() == 512);
    CHECK(shown["version"].get<std::string>().size() == 64);
    CHECK(shown["tags"].size() == 32);
    CHECK(shown["tags"][0] == std::string(64, 'y'));
    CHECK(shown["tags"][1] == "z0");
}

TEST_CASE("limit and cursor are the parameters of a page")
{
    const auto plain = read_directory_request(directory_kind::agents, "");
    REQUIRE(plain.has_value());
    CHECK(plain->plain());
    CHECK(plain->limit == 100);
    const auto all = read_directory_request(directory_kind::agents, "?limit=1000&cursor=a.b");
    REQUIRE(all.has_value());
    CHECK(all->limit == 1000);
    CHECK(all->cursor == "a.b");
    CHECK_FALSE(all->plain());
    CHECK_FALSE(read_directory_request(directory_kind::agents, "?limit=1")->plain());
    CHECK(read_directory_request(directory_kind::agents, "?")->plain());
    const auto catalog = read_directory_request(directory_kind::ai_catalog, "");
    CHECK(catalog->plain());
    CHECK(catalog->limit == 1000);
    const auto first = read_directory_request(directory_kind::ai_catalog, "?cursor=");
    CHECK(first->cursor == "");
    CHECK_FALSE(first->plain());
}

TEST_CASE("a parameter that cannot be read is refused with what was expected")
{
    for (const auto* value : {"0", "1001", "-1", "+1", "1.5", "x", "", "99999999999999999999", "%31", "1 "}) {
        CAPTURE(value);
        CHECK(
            refusal(directory_kind::agents, "?limit=" + std::string{value}) ==
            "The parameter limit is \"" + std::string{value} + "\"; expected a whole number, 1 to 1000."
        );
    }
    CHECK(
        refusal(directory_kind::agents, "?cursor=a/b") ==
        R"(The parameter cursor is "a/b"; expected the nextCursor of the page before.)"
    );
    CHECK(refusal(directory_kind::agents, "?limit=1&limit=2") == "The parameter limit is given twice.");
    CHECK(refusal(directory_kind::api_catalog, "?cursor=a&cursor=a") == "The parameter cursor is given twice.");
    CHECK(refusal(directory_kind::agents, "?page=2") == R"(There is no parameter "page"; limit and cursor are.)");
    CHECK(refusal(directory_kind::agents, "?&limit=2") == R"(There is no parameter ""; limit and cursor are.)");
    CHECK(
        refusal(directory_kind::ai_catalog, "?limit=2") == R"(There is no parameter "limit"; cursor is the only one.)"
    );
    const auto servers = read_directory_request(
        directory_kind::servers,
        "?search=com.a%2Fb&version=1%2B2&updated_since=x&limit=5&include_deleted=1"
    );
    REQUIRE(servers.has_value());
    CHECK(servers->search == "com.a/b");
    CHECK(servers->version == "1+2");
    CHECK(servers->limit == 5);
    CHECK_FALSE(servers->plain());
    CHECK(read_directory_request(directory_kind::servers, "")->plain());
    CHECK(read_directory_request(directory_kind::servers, "?version=latest")->version.empty());
    CHECK(refusal(directory_kind::servers, "?search=a&search=b") == "The parameter search is given twice.");
    CHECK(
        refusal(directory_kind::servers, "?page=2") ==
        R"(There is no parameter "page"; limit, cursor, search, version, updated_since and include_deleted are.)"
    );
}

TEST_SUITE_END();
