#include "gateway/lifecycle/open_store.hpp"

#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

TEST_SUITE_BEGIN("gateway/lifecycle/open_store");

namespace {

using gateway::lifecycle::open_store;
using test_support::scratch_directory;

config::environment variables(std::map<std::string, std::string, std::less<>> set)
{
    return [set = std::move(set)](std::string_view name) -> std::optional<std::string> {
        const auto found = set.find(name);
        return found == set.end() ? std::nullopt : std::optional<std::string>{found->second};
    };
}

}  // namespace

TEST_CASE("memory is memory, and a file that is named is that file")
{
    const scratch_directory scratch;
    const auto memory = open_store("memory", variables({{"HOME", scratch.path()}}));
    REQUIRE(memory.has_value());
    CHECK_FALSE(memory->engine->durable());
    CHECK(memory->unusable_place.empty());
    CHECK(memory->path.empty());
    const auto file = open_store("sqlite:" + scratch.file("named.db"), variables({{"HOME", scratch.path()}}));
    REQUIRE(file.has_value());
    CHECK(file->engine->durable());
    CHECK(std::filesystem::exists(scratch.file("named.db")));
    CHECK_FALSE(std::filesystem::exists(scratch.file(".local")));
}

TEST_CASE("without a name the file stands in the service's state directory, or below the user's")
{
    const scratch_directory scratch;
    const auto home = scratch.file("home");
    const auto state = scratch.file("state");
    const auto service = scratch.file("service");
    struct row {
        std::map<std::string, std::string, std::less<>> set;
        std::string path;
    };
    for (const auto& each : {
             row{{{"HOME", home}}, home + "/.local/state/cardea/store.db"},
             row{{{"HOME", home}, {"XDG_STATE_HOME", state}}, state + "/cardea/store.db"},
             row{{{"HOME", home}, {"XDG_STATE_HOME", "relative"}}, home + "/.local/state/cardea/store.db"},
             row{{{"HOME", home}, {"XDG_STATE_HOME", state}, {"STATE_DIRECTORY", service}}, service + "/store.db"},
             row{{{"STATE_DIRECTORY", service + "2:" + service}}, service + "2/store.db"},
             row{{{"HOME", home}, {"STATE_DIRECTORY", "relative"}}, home + "/.local/state/cardea/store.db"},
             row{{{"HOME", home}, {"STATE_DIRECTORY", ""}}, home + "/.local/state/cardea/store.db"},
         }) {
        const auto made = open_store("", variables(each.set));
        REQUIRE(made.has_value());
        CHECK(made->engine->durable());
        CHECK(std::filesystem::exists(each.path));
        CHECK(made->path == each.path);
        CHECK(made->unusable_place.empty());
    }
}

TEST_CASE("a default place that cannot be used makes way for memory, and it is said why")
{
    const scratch_directory scratch;
    test_support::write_whole(scratch.file("file"), "");
    const auto in_memory = [](const config::environment& environment, const std::string& reason) {
        const auto made = open_store("", environment);
        REQUIRE(made.has_value());
        CHECK_FALSE(made->engine->durable());
        CHECK(made->unusable_place == reason);
    };
    in_memory(variables({}), "neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME names a directory");
    in_memory(variables({{"HOME", "relative"}}), "neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME names a directory");
    in_memory(
        variables({{"XDG_STATE_HOME", scratch.file("file")}}),
        scratch.file("file/cardea") + ": cannot be made: Not a directory"
    );
    const auto first = open_store("", variables({{"XDG_STATE_HOME", scratch.path()}}));
    in_memory(
        variables({{"XDG_STATE_HOME", scratch.path()}}),
        scratch.file("cardea/store.db") + ": is in use by another process"
    );
}

TEST_CASE("neither a damaged default file nor an unusable named one makes way for anything")
{
    const scratch_directory scratch;
    std::filesystem::create_directory(scratch.file("cardea"));
    test_support::write_whole(scratch.file("cardea/store.db"), "not a database, but somebody's");
    const auto damaged = open_store("", variables({{"XDG_STATE_HOME", scratch.path()}}));
    REQUIRE(damaged.has_error());
    CHECK(damaged.error().code == core::errc::store_failed);
    CHECK(damaged.error().detail.starts_with("store: " + scratch.file("cardea/store.db") + ": "));
    const auto named = open_store("sqlite:/dev/null/s.db", variables({}));
    REQUIRE(named.has_error());
    CHECK(named.error().code == core::errc::config_invalid);
    CHECK(named.error().detail == "store: /dev/null/s.db.lock: cannot be opened: Not a directory");
}

TEST_SUITE_END();
