#include "store/sqlite.hpp"

#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("store/sqlite");

namespace {

using core::errc;
using test_support::read_whole;
using test_support::scratch_directory;
using test_support::write_whole;

const store::author someone{"test", core::wall_time{}, {}};

core::result<std::unique_ptr<store::engine>> open(const std::string& path)
{
    return store::open_sqlite({.path = path, .ballast = 0});
}

std::unique_ptr<store::engine> opened(const std::string& path)
{
    auto made = open(path);
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return std::move(*made);
}

void run_sql(const std::string& path, const char* sql)
{
    sqlite3* handle = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
    CHECK(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(handle);
}

unsigned permissions(const std::string& path)
{
    struct stat found{};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    return found.st_mode & 0777U;
}

std::string refusal(const std::string& path, errc code)
{
    const auto made = open(path);
    REQUIRE(made.has_error());
    CHECK(made.error().code == code);
    return made.error().detail;
}

}  // namespace

TEST_CASE("what was written is there when the file is opened again, and versions go on")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    std::vector<store::record> written;
    {
        const auto engine = opened(path);
        REQUIRE(engine->put("a", R"({"url":"http://a/"})", someone).has_value());
        REQUIRE(engine->put("b", std::string(1'000'000, 'x'), someone).has_value());
        REQUIRE(engine->keep_cards({{"a", "s", "{}", "u", "e", "l", core::wall_time{}, {}}}).has_value());
        written = engine->load().value();
        REQUIRE(engine->put("c", "{}", someone)->version == 3);
        REQUIRE(engine->remove("c", someone).value() == 4);
    }
    const auto engine = opened(path);
    CHECK(engine->load().value() == written);
    CHECK(engine->card("a").value()->document == "{}");
    CHECK(engine->changes(0, 10)->size() == 4);
    CHECK(engine->put("c", "{}", someone)->version == 5);
}

TEST_CASE("definitions hold credentials: nobody else may read the file, its log, or its directory")
{
    const scratch_directory scratch;
    const auto path = scratch.file("state/cardea/s.db");
    const auto engine = store::open_sqlite({.path = path, .ballast = 128 * 1024});
    REQUIRE(engine.has_value());
    REQUIRE((*engine)->put("a", "{}", someone).has_value());
    for (const auto* part : {"", "-wal", "-shm", ".lock", ".ballast"}) {
        CAPTURE(part);
        CHECK(permissions(path + part) == 0600);
    }
    CHECK(permissions(scratch.file("state/cardea")) == 0700);
    CHECK(permissions(scratch.file("state")) == 0700);
}

TEST_CASE("what was removed or replaced is not left behind in the file")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    {
        const auto engine = opened(path);
        for (const auto* id : {"a", "b", "c"}) {
            REQUIRE(engine->put(id, R"({"bearer":"hunter2-was-here"})", someone).has_value());
        }
        REQUIRE(engine->remove("a", someone).has_value());
        REQUIRE(engine->put("b", "{}", someone).has_value());
        REQUIRE(engine->remove("c", someone).has_value());
    }
    CHECK(read_whole(path).find("hunter2") == std::string::npos);
    CHECK_FALSE(std::filesystem::exists(path + "-wal"));
}

TEST_CASE("a store belongs to one process at a time")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    {
        const auto first = opened(path);
        CHECK(refusal(path, errc::config_invalid) == path + ": is in use by another process");
    }
    CHECK(open(path).has_value());
}

TEST_CASE("a store whose process is ending is waited for")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    auto first = opened(path);
    std::thread ending{[held = std::move(first)]() mutable {
        std::this_thread::sleep_for(50ms);
        held.reset();
    }};
    CHECK(open(path).has_value());
    ending.join();
}

TEST_CASE("a place that cannot be used is said with its path")
{
    const scratch_directory scratch;
    write_whole(scratch.file("file"), "");
    CHECK(
        refusal(scratch.file("file/s.db"), errc::config_invalid) ==
        scratch.file("file/s.db.lock") + ": cannot be opened: Not a directory"
    );
    CHECK(
        refusal(scratch.file("file/below/s.db"), errc::config_invalid) ==
        scratch.file("file/below") + ": cannot be made: Not a directory"
    );
    std::filesystem::create_directory(scratch.file("directory.db"));
    CHECK(refusal(scratch.file("directory.db"), errc::config_invalid) == scratch.file("directory.db") + ": is no file");
}

TEST_CASE("a file that is no store, of a newer version, or only the rest of one is left alone")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    std::string said;
    SUBCASE("another program's database")
    {
        run_sql(path, "CREATE TABLE t (x)");
        said = ": is not a store of cardea";
    }
    SUBCASE("no database")
    {
        write_whole(path, std::string(5000, 'x'));
        said = ": PRAGMA: file is not a database (26)";
    }
    SUBCASE("nothing")
    {
        write_whole(path, "");
        said = ": is not a store of cardea";
    }
    SUBCASE("a newer version's")
    {
        opened(path).reset();
        run_sql(path, "PRAGMA user_version=7");
        said =
            ": has the schema 7, and this Cardea reads 1 to 6; start the newer Cardea that wrote it, or put back a "
            "copy from before the upgrade";
    }
    SUBCASE("one that has not been finished")
    {
        opened(path).reset();
        run_sql(path, "PRAGMA user_version=0");
        said = ": has the schema 0, and this Cardea reads 1 to 6";
    }
    SUBCASE("one with a negative schema")
    {
        opened(path).reset();
        run_sql(path, "PRAGMA user_version=-1");
        said = ": has the schema -1, and this Cardea reads 1 to 6";
    }
    SUBCASE("the log of a file that is gone")
    {
        write_whole(path + "-wal", "x");
        said = ": is missing, but its log is there; restore the one or remove the other";
    }
    const auto before = read_whole(path);
    CHECK(refusal(path, errc::store_failed) == path + said);
    CHECK(read_whole(path) == before);
}

TEST_CASE("a beginning that was cut off is no obstacle")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    write_whole(path + ".new", "half a database");
    write_whole(path + ".new-journal", "and its journal");
    const auto engine = opened(path);
    CHECK(engine->put("a", "{}", someone).has_value());
    CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("the file keeps the last 100,000 changes, and their versions go on")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    opened(path).reset();
    run_sql(
        path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
        " INSERT INTO changes (version, at, who, action, agent) SELECT i, 0, 'w', 0, 'a' FROM n"
    );
    const auto engine = opened(path);
    const auto kept = [&] {
        const auto all = engine->changes(0, 1'000'000).value();
        CHECK(all.back().version - all.front().version + 1 == all.size());
        return std::pair{all.front().version, all.size()};
    };
    CHECK(engine->put("a", "{}", someone)->version == 100'000);
    CHECK(kept() == std::pair{std::uint64_t{1}, std::size_t{100'000}});
    CHECK(engine->put("a", "{}", someone)->version == 100'001);
    CHECK(kept() == std::pair{std::uint64_t{2}, std::size_t{100'000}});
    CHECK(engine->remove("a", someone).value() == 100'002);
    CHECK(kept() == std::pair{std::uint64_t{3}, std::size_t{100'000}});
    CHECK(engine->changes(100'001, 10)->size() == 1);
}

TEST_CASE("a damaged file is refused, or every record in it is what was written")
{
    const scratch_directory scratch;
    const auto path = scratch.file("s.db");
    std::vector<store::record> written;
    {
        const auto engine = opened(path);
        for (int i = 0; i < 40; ++i) {
            const auto id = "agent-" + std::to_string(i);
            const std::string filler(static_cast<std::size_t>(i % 7) * 700, 'x');
            REQUIRE(engine->put(id, R"({"url":"http://host/","version":")" + filler + "\"}", someone).has_value());
            REQUIRE(engine->keep_cards({{id, "s", "{\"name\":\"n\"}", "u", "e", "l", {}, {}}}).has_value());
        }
        REQUIRE(engine->remove("agent-7", someone).has_value());
        written = engine->load().value();
    }
    const auto sound = read_whole(path);
    REQUIRE_FALSE(std::filesystem::exists(path + "-wal"));
    std::mt19937 random{7};
    int refused = 0;
    constexpr int rounds = 1000;
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        auto damaged = sound;
        const auto place = random() % damaged.size();
        if (round % 4 == 3) {
            damaged.resize(place);
        } else {
            damaged[place] = static_cast<char>(damaged[place] ^ static_cast<char>(1U << (random() % 8)));
        }
        std::filesystem::remove(path + "-wal");
        write_whole(path, damaged);
        const auto engine = open(path);
        const auto found = engine ? (*engine)->load() : engine.error();
        if (!found) {
            CHECK(found.error().code == errc::store_failed);
            ++refused;
        } else {
            CHECK(*found == written);
            for (const auto& each : written) {
                const auto card = (*engine)->card(each.id);
                CHECK((!card || !*card || (**card).document == "{\"name\":\"n\"}"));
            }
        }
    }
    CHECK(refused > rounds / 2);
}

TEST_CASE("The key of sessions outlives the process, and a damaged one is replaced")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    CHECK(store::open_sqlite({.path = path}).value()->session_key(core::secret{"one"})->reveal() == "one");
    CHECK(store::open_sqlite({.path = path}).value()->session_key(core::secret{"two"})->reveal() == "one");
    run_sql(path, "UPDATE keys SET text = 'damaged'");
    CHECK(store::open_sqlite({.path = path}).value()->session_key(core::secret{"two"})->reveal() == "two");
    CHECK(store::open_sqlite({.path = path}).value()->session_key(core::secret{"three"})->reveal() == "two");
}

TEST_CASE("A store without a place for tasks gets one and keeps its key")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    REQUIRE(store::open_sqlite({.path = path}).value()->session_key(core::secret{"one"}).has_value());
    run_sql(path, "DROP TABLE tasks");
    run_sql(path, "DROP TABLE card_versions");
    run_sql(path, "DROP TABLE documents");
    run_sql(path, "PRAGMA user_version=3");
    const auto opened = store::open_sqlite({.path = path}).value();
    CHECK(opened->session_key(core::secret{"two"})->reveal() == "one");
    REQUIRE(opened->keep_tasks({{7, 8, {}}}).has_value());
    CHECK(opened->tasks()->size() == 1);
}

TEST_CASE("Tasks outlive the process, and a damaged one is left out")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    const store::kept_task one{1, 10, {}};
    const store::kept_task large{0xFFFF'FFFF'FFFF'FFFF, 0x8000'0000'0000'0000, {}};
    REQUIRE(store::open_sqlite({.path = path}).value()->keep_tasks({one, large}).has_value());
    const auto found = store::open_sqlite({.path = path}).value()->tasks().value();
    REQUIRE(found.size() == 2);
    CHECK(found[0] == large);  // seen at the same time: in the order of signed numbers
    CHECK(found[1] == one);
    run_sql(path, "UPDATE tasks SET word = 11 WHERE name = 1");
    CHECK(store::open_sqlite({.path = path}).value()->tasks().value() == std::vector<store::kept_task>{large});
}

TEST_CASE("A store of the first schema gets a place for the key of sessions and keeps its agents")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    REQUIRE(store::open_sqlite({.path = path}).value()->put("a", "{}", {"admin", {}, {}}).has_value());
    run_sql(path, "DROP TABLE keys");
    run_sql(path, "DROP TABLE deliveries");
    run_sql(path, "DROP TABLE tasks");
    run_sql(path, "DROP TABLE card_versions");
    run_sql(path, "DROP TABLE documents");
    run_sql(path, "PRAGMA user_version=1");
    const auto opened = store::open_sqlite({.path = path}).value();
    CHECK(opened->load()->size() == 1);
    CHECK(opened->session_key(core::secret{"one"})->reveal() == "one");
    CHECK(opened->deliveries()->empty());
}

TEST_CASE("A store of the second schema gets a place for deliveries and keeps its key")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    REQUIRE(store::open_sqlite({.path = path}).value()->session_key(core::secret{"one"}).has_value());
    run_sql(path, "DROP TABLE deliveries");
    run_sql(path, "DROP TABLE tasks");
    run_sql(path, "DROP TABLE card_versions");
    run_sql(path, "DROP TABLE documents");
    run_sql(path, "PRAGMA user_version=2");
    const auto opened = store::open_sqlite({.path = path}).value();
    CHECK(opened->session_key(core::secret{"two"})->reveal() == "one");
    CHECK(opened->keep_delivery({0, "d", "a", "l", "s", "b", {}}).has_value());
    CHECK(opened->deliveries()->size() == 1);
}

TEST_CASE("A store of the fourth schema gets a place for the history of cards and keeps its tasks")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    REQUIRE(store::open_sqlite({.path = path}).value()->keep_tasks({{1, 10, {}}}).has_value());
    run_sql(path, "DROP TABLE card_versions");
    run_sql(path, "DROP TABLE documents");
    run_sql(path, "PRAGMA user_version=4");
    const auto opened = store::open_sqlite({.path = path}).value();
    CHECK(opened->tasks()->size() == 1);
    CHECK(opened->keep_card_version({"a", {}, "0a", 2, {}, "{}"}).has_value());
    CHECK(opened->card_versions("a")->size() == 1);
}

TEST_CASE("A store of the fifth schema gets a place for documents and keeps the history of cards")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    REQUIRE(store::open_sqlite({.path = path}).value()->keep_card_version({"a", {}, "0a", 2, {}, "{}"}).has_value());
    run_sql(path, "DROP TABLE documents");
    run_sql(path, "PRAGMA user_version=5");
    const auto opened = store::open_sqlite({.path = path}).value();
    CHECK(opened->card_versions("a")->size() == 1);
    CHECK(opened->documents("containment")->empty());
    CHECK(opened->keep_document({"containment", "n", "", "{}"}).has_value());
    CHECK(opened->documents("containment")->size() == 1);
}

TEST_CASE("Documents are there after the store was closed, and a damaged one fails its kind alone")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    const store::kept_document one{"containment", "agent a", "", R"({"reason":"ä"})"};
    const store::kept_document other{"pins", "a", "a", "{}"};
    {
        const auto opened = store::open_sqlite({.path = path}).value();
        REQUIRE(opened->keep_document(one).has_value());
        REQUIRE(opened->keep_document(other).has_value());
    }
    CHECK(store::open_sqlite({.path = path}).value()->documents("containment").value() == std::vector{one});
    for (const auto* damage :
         {"UPDATE documents SET text = '{}' WHERE kind = 'containment'",
          "UPDATE documents SET name = 'agent b' WHERE kind = 'containment'",
          "UPDATE documents SET agent = 'x' WHERE kind = 'containment'"}) {
        CAPTURE(damage);
        REQUIRE(store::open_sqlite({.path = path}).value()->keep_document(one).has_value());
        run_sql(path, damage);
        const auto opened = store::open_sqlite({.path = path}).value();
        CHECK(opened->documents("containment").error().code == errc::store_failed);
        CHECK(opened->documents("pins").value() == std::vector{other});
        run_sql(path, "DELETE FROM documents WHERE kind = 'containment'");
    }
}

TEST_CASE("The history of cards is there after the store was closed, and a damaged row is left out")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    {
        const auto opened = store::open_sqlite({.path = path}).value();
        REQUIRE(opened->keep_card_version({"a", {}, "0a", 2, {}, "{}"}).has_value());
        REQUIRE(opened->keep_card_version({"a", {}, "0b", 8, "[]", "{\"x\": 1}"}).has_value());
    }
    {
        const auto found = store::open_sqlite({.path = path}).value()->card_versions("a").value();
        REQUIRE(found.size() == 2);
        CHECK(found[0] == store::card_version{"a", {}, "0b", 8, "[]", "{\"x\": 1}"});
        CHECK(found[1] == store::card_version{"a", {}, "0a", 2, {}, ""});
    }
    run_sql(path, "UPDATE card_versions SET patch = '[1]' WHERE sha256 = '0b'");
    const auto left = store::open_sqlite({.path = path}).value()->card_versions("a").value();
    REQUIRE(left.size() == 1);
    CHECK(left[0].sha256 == "0a");
}

TEST_CASE("deliveries are there after the store was closed, their numbers go on, and a damaged one is left out")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("s.db");
    {
        const auto opened = store::open_sqlite({.path = path}).value();
        REQUIRE(opened->keep_delivery({0, "one", "a", "l", "s", "b", {}}).value() == 1);
        REQUIRE(opened->keep_delivery({0, "two", "a", "l", "s", "b", {}}).value() == 2);
        REQUIRE(opened->drop_delivery(2).has_value());
    }
    {
        const auto opened = store::open_sqlite({.path = path}).value();
        CHECK(opened->keep_delivery({0, "three", "a", "l", "s", "b", {}}).value() == 3);
        CHECK(opened->deliveries()->size() == 2);
        CHECK(opened->delivery(1).value()->id == "one");
    }
    run_sql(path, "UPDATE deliveries SET address = 'elsewhere' WHERE number = 1");
    const auto opened = store::open_sqlite({.path = path}).value();
    CHECK_FALSE(opened->delivery(1)->has_value());
    CHECK(opened->delivery(3)->has_value());
}

TEST_SUITE_END();
