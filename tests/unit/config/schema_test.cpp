#include "config/schema.hpp"

#include "config/agent_table.hpp"
#include "config/agents.hpp"
#include "config/file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("config/schema");

TEST_CASE("docs/configuration.md is what the schema says; config_reference prints it")
{
    const auto file = config::read_file(CARDEA_TEST_DATA "/../../docs/configuration.md");
    REQUIRE(file.has_value());
    CHECK(*file == config::reference_markdown());
}

TEST_CASE("each key is in the schema once, and says what it means")
{
    std::set<std::string_view> paths;
    for (const auto& s : config::all_settings()) {
        CAPTURE(s.path);
        CHECK(paths.insert(s.path).second);
        CHECK(s.meaning.ends_with('.'));
    }
    std::set<std::string_view> names;
    for (const auto& s : config::all_agent_settings()) {
        CAPTURE(s.name);
        CHECK(names.insert(s.name).second);
        CHECK(s.meaning.ends_with('.'));
    }
}

TEST_CASE("an unknown key is answered with the nearest one")
{
    const std::vector<std::string_view> known{"url", "protocol", "card_url", "timeout", "ttl", "min_ttl"};
    for (const auto& [key, nearest] : {
             std::pair{"URL", "url"},
             std::pair{"uri", "url"},
             std::pair{"ulr", "url"},
             std::pair{"tll", "ttl"},
             std::pair{"cardUrl", "card_url"},
             std::pair{"card-url", "card_url"},
             std::pair{"protocl", "protocol"},
             std::pair{"timout", "timeout"},
             std::pair{"time_out", "timeout"},
             std::pair{"minttl", "min_ttl"},
         }) {
        CAPTURE(key);
        CHECK(config::unknown_key(key, known) == "is not a known key; did you mean `" + std::string{nearest} + "`?");
    }
}

TEST_CASE("a word that only looks like a key is not taken for it")
{
    for (const auto* key : {
             "stderr",   "enabled", "name",    "description", "image",  "restarts_on", "roots", "state", "tags",
             "sandbox",  "path",    "port",    "oauth",       "scopes", "icon",        "title", "stdio", "cache",
             "provider", "model",   "account", "persona",     "id",     "group",       "alias", "mode",
         }) {
        CAPTURE(key);
        CHECK(config::unknown_agent_key(key).find("did you mean") == std::string::npos);
    }
    for (const auto& [key, nearest] : {
             std::pair{"cmd", "command"},
             std::pair{"time", "timeout"},
             std::pair{"commands", "command"},
             std::pair{"envs", "env"},
             std::pair{"arg", "args"},
             std::pair{"header", "headers"},
             std::pair{"serverURL", "serverUrl"},
             std::pair{"server_url", "serverUrl"},
             std::pair{"bearerfile", "bearer_file"},
         }) {
        CAPTURE(key);
        CHECK(config::unknown_agent_key(key) == "is not a known key; did you mean `" + std::string{nearest} + "`?");
    }
    CHECK(config::unknown_agent_key("ttl") == "is not a known key here; did you mean `cards.ttl`?");
    const auto top = [](std::string_view key) {
        return config::nearest_key(key, {"listen", "admin", "tls", "hosts", "log", "store", "cards", "mcpServers"});
    };
    CHECK(top("mcp_servers") == "mcpServers");
    CHECK(top("MCPServers") == "mcpServers");
    CHECK(top("host") == "hosts");
    CHECK(top("tools") == "");
    CHECK(top("theme") == "");
}

TEST_CASE("A key that was replaced is unknown, and its successor is known")
{
    constexpr std::string_view of_agents = "agents.ID.";
    const auto is_known = [&](std::string_view path) {
        if (!path.starts_with(of_agents)) {
            return config::find_setting(path) != nullptr;
        }
        const auto rows = config::all_agent_settings();
        return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
            return row.name == path.substr(of_agents.size());
        });
    };
    std::string_view before;
    for (const auto& each : config::replaced_keys()) {
        CAPTURE(each.path);
        CHECK_FALSE(is_known(each.path));
        CHECK(is_known(each.successor));
        CHECK(each.advice.find(each.successor.substr(each.successor.rfind('.') + 1)) != std::string_view::npos);
        CHECK(before < each.path);
        CHECK(config::replacement(each.path) == "is not a known key; " + std::string{each.advice});
        before = each.path;
    }
    CHECK(config::replacement("log.level").empty());
    CHECK(config::replacement("cards.port").empty());
    CHECK(config::replacement("").empty());
}

TEST_CASE("an unknown key that is known elsewhere is answered with its path")
{
    CHECK(
        config::unknown_key("negative_ttl", {"listen", "admin"}) ==
        "is not a known key here; did you mean `cards.negative_ttl`?"
    );
    CHECK(
        config::unknown_key("log.level", {"listen", "log"}) ==
        "is not a known key; expected a map `log` with the key `level`"
    );
}

TEST_CASE("an unknown key that is near to nothing is answered with what is known")
{
    CHECK(config::unknown_key("colour", {"listen", "admin"}) == "is not a known key; known here: listen, admin");
    CHECK(config::unknown_key("", {"listen"}) == "is not a known key; known here: listen");
    CHECK(config::unknown_key(std::string(100'000, 'l'), {"listen"}) == "is not a known key; known here: listen");
}

TEST_SUITE_END();
