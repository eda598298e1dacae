// A store that drops its connection when it may no longer be relied on, and opens another.
#include "tests/support/scratch.hpp"
#include "tests/unit/store/fixture.hpp"
#include "tests/unit/store/refused_statement.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

TEST_SUITE_BEGIN("store/connection");

namespace {

using core::errc;
using namespace store::testing;

constexpr std::uint64_t page = 4096 + 24;  // of the log, with the header of its frame
constexpr std::uint64_t one_write = 40 * page;
constexpr const char* limit_of_log = "wal_autocheckpoint";

// The length of the log at its longest, in bytes, over many writes.
std::uint64_t longest_log(store::engine& engine, const std::string& path)
{
    std::uint64_t longest = 0;
    for (int i = 0; i < 200; ++i) {
        REQUIRE(engine.put(std::to_string(i % 50), std::string(20'000, 'x'), someone).has_value());
        longest = std::max<std::uint64_t>(longest, std::filesystem::file_size(path + "-wal"));
    }
    return longest;
}

}  // namespace

TEST_CASE("A write that cannot be rolled back changes nothing, and does not stand in the way of the next one")
{
    const test_support::scratch_directory scratch;
    refuse_once(SQLITE_TRANSACTION, "ROLLBACK");
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    REQUIRE(engine->put("a", "first", someone).has_value());
    const auto refused = engine->put("a", "second", {"test", core::wall_time{}, 1000});
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == errc::version_conflict);
    REQUIRE(has_been_refused());
    CHECK(engine->put("b", "third", someone).has_value());
    const content expected{{"a", "first"}, {"b", "third"}};
    CHECK(content_of(*engine) == expected);
    engine.reset();
    CHECK(content_of(*opened(scratch.file("s.db"), "")) == expected);
}

TEST_CASE("A connection whose log could not be limited is not used: the log of the next one is limited")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    REQUIRE(engine->put("a", "first", someone).has_value());
    fail_at(1, fault::from_then_on);
    REQUIRE(engine->put("a", "second", someone).has_error());
    heal();
    refuse_once(SQLITE_PRAGMA, limit_of_log);
    const auto refused = engine->find("a");
    REQUIRE(has_been_refused());
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == errc::store_failed);
    CHECK(longest_log(*engine, scratch.file("s.db")) <= 4 * page + one_write);
}

TEST_CASE("A connection whose log could not be limited for another ballast is not used: the log of the next one is")
{
    const test_support::scratch_directory scratch;
    refuse_once(SQLITE_PRAGMA, limit_of_log, 1);  // the first time there is no ballast yet
    const auto engine = opened(scratch.file("s.db"), failing_vfs, /*ballast=*/4096 * 1024);
    REQUIRE(has_been_refused());
    const auto longest = longest_log(*engine, scratch.file("s.db"));
    CHECK(longest >= 256 * page);
    CHECK(longest <= 256 * page + one_write);
}

TEST_SUITE_END();
