// What a store still knows after a failure: its connection is a new one, with the limits of the one before.
#include "tests/support/scratch.hpp"
#include "tests/unit/store/fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("store/recovery");

namespace {

using core::errc;
using namespace store::testing;

constexpr std::uint64_t frame = 4096 + 24;  // a page in the log, with its header
constexpr std::uint64_t one_write = 40 * frame;
constexpr std::uint64_t ballast = 256 * 1024;
constexpr std::uint64_t most_log = ballast / 4 / 4096 * frame;

std::uint64_t log_size(const test_support::scratch_directory& scratch)
{
    return std::filesystem::file_size(scratch.file("s.db-wal"));
}

// The longest that the log is while much is written.
std::uint64_t longest_log(store::engine& engine, const test_support::scratch_directory& scratch)
{
    std::uint64_t longest = 0;
    for (int i = 0; i < 60; ++i) {
        REQUIRE(engine.put(std::to_string(i % 20), std::string(20'000, 'x'), someone).has_value());
        longest = std::max(longest, log_size(scratch));
    }
    return longest;
}

std::uint64_t used(const test_support::scratch_directory& scratch)
{
    std::uint64_t bytes = 0;
    for (const auto& each : std::filesystem::directory_iterator{scratch.path()}) {
        bytes += each.file_size();
    }
    return bytes;
}

store::kept_card card_of(std::string agent)
{
    return {std::move(agent), "s", R"({"name":"n"})", "", "", "", {}, {}};
}

// Keeps two cards while the step-th disk operation fails. False: there are fewer.
bool keeps_both_or_none(std::uint64_t step)
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    fail_at(step, fault::once);
    const bool kept = engine->keep_cards({card_of("a"), card_of("b")}).has_value();
    const bool reached = has_failed();
    heal();
    for (const auto* agent : {"a", "b"}) {
        CAPTURE(agent);
        CHECK(engine->card(agent).value().has_value() == kept);
    }
    return reached;
}

}  // namespace

TEST_CASE("Whichever step of keeping cards fails, all of them are kept or none is")
{
    std::uint64_t step = 1;
    for (; step < 1000 && keeps_both_or_none(step); ++step) {
        CAPTURE(step);
    }
    CHECK(step > 3);
    CHECK(step < 1000);
}

TEST_CASE("A connection that has failed is replaced: a file that fails until it is closed is used again")
{
    for (const auto& each : operations()) {
        CAPTURE(each.what);
        std::uint64_t step = 0;
        for (bool reached = true; reached && step < 1000;) {
            ++step;
            CAPTURE(step);
            const test_support::scratch_directory scratch;
            auto engine = opened(scratch.file("s.db"), failing_vfs);
            REQUIRE(engine->put("a", "first", someone).has_value());
            REQUIRE(engine->put("b", "second", someone).has_value());
            fail_at(step, fault::until_closed);
            const bool acknowledged = each.run(*engine);
            reached = has_failed();
            // Nobody has mended the disk. A failure that cost nothing, as one of a checkpoint, is told by the next write.
            const auto next = engine->put("c", "third", someone);
            CHECK((next.has_value() || acknowledged));
            CHECK(engine->put("c", "third", someone).has_value());
            heal();
        }
        CHECK(step > 3);
        CHECK(step < 1000);
    }
}

TEST_CASE("A read that has failed closes the file, and the next one opens it again")
{
    const test_support::scratch_directory scratch;
    opened(scratch.file("s.db"), failing_vfs)->put("a", std::string(300'000, 'x'), someone).value();
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    fail_at(1, fault::until_closed);
    CHECK(engine->find("a").error().code == errc::store_failed);
    const auto found = engine->find("a");
    CHECK_MESSAGE(found.has_value(), found.error().detail);
    heal();
}

TEST_CASE("The log keeps its limit when the connection is replaced")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs, ballast);
    CHECK(longest_log(*engine, scratch) <= most_log + one_write);
    fail_at(1, fault::once);
    CHECK(engine->put("a", "refused", someone).error().code == errc::store_failed);
    heal();
    CHECK(longest_log(*engine, scratch) <= most_log + one_write);
}

TEST_CASE("A log that one large write made long is cut to its limit by the writes after it")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs, ballast);
    REQUIRE(engine->put("a", std::string(1'000'000, 'x'), someone).has_value());
    REQUIRE(log_size(scratch) > 900'000);
    for (int i = 0; i < 3; ++i) {
        REQUIRE(engine->put("b", "small", someone).has_value());
    }
    CHECK(log_size(scratch) <= most_log);
}

TEST_CASE("A deletion that took the ballast leaves an empty log, so that the ballast's room is there again")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs, ballast);
    REQUIRE(engine->put("a", std::string(100'000, 'x'), someone).has_value());
    engine.reset();
    engine = opened(scratch.file("s.db"), failing_vfs, ballast);
    REQUIRE(log_size(scratch) == 0);
    limit_room(scratch.path(), used(scratch));
    const auto gone = engine->remove("a", someone);
    CHECK_MESSAGE(gone.has_value(), gone.error().detail);
    CHECK(log_size(scratch) == 0);
    CHECK(std::filesystem::file_size(scratch.file("s.db.ballast")) == ballast);
    limit_room(scratch.path(), 0);
}

TEST_SUITE_END();
