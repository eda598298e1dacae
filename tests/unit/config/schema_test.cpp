#include "config/schema.hpp"

#include "config/file.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

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

TEST_CASE("an unknown key that is known elsewhere is answered with its path")
{
    CHECK(
        config::unknown_key("negative_ttl", {"listen", "admin"}) ==
        "is not a known key here; did you mean `cards.negative_ttl`?"
    );
    CHECK(
        config::unknown_key("log.level", {"listen", "log"}) ==
        "is not a known key; a map `log` with the key `level` is meant"
    );
}

TEST_CASE("an unknown key that is near to nothing is answered with what is known")
{
    CHECK(config::unknown_key("colour", {"listen", "admin"}) == "is not a known key; known here: listen, admin");
    CHECK(config::unknown_key("", {"listen"}) == "is not a known key; known here: listen");
    CHECK(config::unknown_key(std::string(100'000, 'l'), {"listen"}) == "is not a known key; known here: listen");
}

TEST_SUITE_END();
