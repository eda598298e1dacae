#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/store/fixture.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("store/faults");

namespace {

using core::errc;
using namespace store::testing;

// The operation with its step-th disk operation failing. False: it has fewer of them.
bool fails_rightly(const operation& each, std::uint64_t step, fault how)
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    REQUIRE(engine->put("a", "first", someone).has_value());
    REQUIRE(engine->put("b", "second", someone).has_value());
    const content before{{"a", "first"}, {"b", "second"}};
    auto after = before;
    each.means(after);

    fail_at(step, how);
    const bool acknowledged = each.run(*engine);
    const bool reached = has_failed();
    heal();

    const auto seen = content_of(*engine);
    if (acknowledged) {
        CHECK(seen == after);
    } else if (how == fault::once) {
        CHECK(seen == before);
    } else {
        CHECK((seen == before || seen == after));  // the disk could not even say; now it can
    }
    CHECK((acknowledged || reached));

    // It goes on as if nothing had been, and what it says is what the file says.
    CHECK(engine->put("later", "written", someone).has_value());
    auto expected = seen;
    expected["later"] = "written";
    CHECK(content_of(*engine) == expected);
    engine.reset();
    CHECK(content_of(*opened(scratch.file("s.db"), "")) == expected);
    return reached;
}

}  // namespace

TEST_CASE("whichever step of a write fails, it is acknowledged and there, or refused and not there")
{
    for (const auto how : {fault::once, fault::from_then_on}) {
        for (const auto& each : operations()) {
            CAPTURE(each.what);
            CAPTURE(static_cast<int>(how));
            std::uint64_t steps = 0;
            while (steps < 1000 && fails_rightly(each, steps + 1, how)) {
                ++steps;
                CAPTURE(steps);
            }
            CHECK(steps > 3);
            CHECK(steps < 1000);
        }
    }
}

TEST_CASE("whichever step of opening fails, the store says so or is right, and opens afterwards")
{
    install_failing_vfs();
    for (const bool fresh : {true, false}) {
        CAPTURE(fresh);
        std::uint64_t step = 0;
        for (bool reached = true; reached && step < 1000;) {
            ++step;
            CAPTURE(step);
            const test_support::scratch_directory scratch;
            content expected;
            if (!fresh) {
                REQUIRE(opened(scratch.file("s.db"), "")->put("a", "first", someone).has_value());
                expected["a"] = "first";
            }
            fail_at(step, fault::once);
            {
                const auto engine =
                    store::open_sqlite({.path = scratch.file("s.db"), .ballast = 0, .vfs = failing_vfs});
                reached = has_failed();
                if (engine) {
                    heal();
                    CHECK(content_of(**engine) == expected);
                } else {
                    CHECK(engine.error().code == errc::store_failed);
                    CHECK(engine.error().detail.starts_with(scratch.file("s.db") + ": "));
                }
            }
            heal();
            CHECK(content_of(*opened(scratch.file("s.db"), "")) == expected);
        }
        CHECK(step > 10);
        CHECK(step < 1000);
    }
}

TEST_CASE("a read that fails says so, and the next one is answered")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    REQUIRE(engine->put("a", std::string(300'000, 'x'), someone).has_value());
    engine.reset();
    engine = opened(scratch.file("s.db"), failing_vfs);
    fail_at(1, fault::from_then_on);
    const auto refused = engine->find("a");
    heal();
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == errc::store_failed);
    CHECK(engine->find("a").value()->definition.size() == 300'000);
}

TEST_CASE("a quota that is used up and a file that may not grow are a full disk")
{
    for (const int number : {ENOSPC, EDQUOT, EFBIG}) {
        CAPTURE(number);
        const test_support::scratch_directory scratch;
        auto engine = opened(scratch.file("s.db"), failing_vfs, /*ballast=*/256 * 1024);
        limit_room(scratch.path(), 1024 * 1024, number);
        int written = 0;
        auto done = engine->put("0", std::string(10'000, 'x'), someone);
        for (; done && written < 1000; ++written) {
            done = engine->put(std::to_string(written), std::string(10'000, 'x'), someone);
        }
        REQUIRE(done.has_error());
        CHECK(done.error().code == errc::store_full);
        const auto gone = engine->remove("0", someone);
        CHECK_MESSAGE(gone.has_value(), gone.error().detail);
        limit_room(scratch.path(), 0);
        CHECK(engine->put("1", std::string(10'000, 'x'), someone).has_value());
    }
}

TEST_CASE("a write that fails for another reason than room is not called a full disk")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    REQUIRE(engine->put("a", "first", someone).has_value());
    limit_room(scratch.path(), 1, EIO);
    CHECK(engine->put("a", std::string(10'000, 'x'), someone).error().code == errc::store_failed);
    limit_room(scratch.path(), 0);
    CHECK(engine->put("a", "second", someone).has_value());
}

TEST_CASE("the log takes a quarter of the ballast and one write, whatever the ballast is at the time")
{
    constexpr std::uint64_t page = 4096 + 24;  // with the header of its frame
    constexpr std::uint64_t one_write = 40 * page;
    struct row {
        std::uint64_t ballast;
        std::uint64_t pages;
    };
    for (const auto& each :
         {row{0, 4}, row{64 * 1024, 4}, row{256 * 1024, 16}, row{4096 * 1024, 256}, row{64 << 20U, 1000}}) {
        CAPTURE(each.ballast);
        const test_support::scratch_directory scratch;
        std::uint64_t longest = 0;
        const auto write = [&](store::engine& engine, int count) {
            for (int i = 0; i < count; ++i) {
                REQUIRE(engine.put(std::to_string(i % 50), std::string(20'000, 'x'), someone).has_value());
                longest = std::max<std::uint64_t>(longest, std::filesystem::file_size(scratch.file("s.db-wal")));
            }
        };
        write(*opened(scratch.file("s.db"), failing_vfs, each.ballast), 200);
        CHECK(longest <= each.pages * page + one_write);
        CHECK(longest >= std::min<std::uint64_t>(each.pages, 500) * page);
    }
}

TEST_CASE("a ballast that was held smaller since another process limits the log as a small one")
{
    const test_support::scratch_directory scratch;
    opened(scratch.file("s.db"), failing_vfs).reset();
    test_support::write_whole(scratch.file("s.db.ballast"), std::string(64 * 1024, '\0'));
    auto engine = opened(scratch.file("s.db"), failing_vfs, /*ballast=*/64 << 20U);
    for (int i = 0; i < 100; ++i) {
        REQUIRE(engine->put(std::to_string(i % 20), std::string(20'000, 'x'), someone).has_value());
    }
    CHECK(std::filesystem::file_size(scratch.file("s.db-wal")) <= 64 * 1024 / 4 + 40 * 4120);
}

TEST_CASE("The history of cards makes way for agents on a full disk")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs, /*ballast=*/256 * 1024);
    limit_room(scratch.path(), 2 * 1024 * 1024);
    const std::string text(10'000, 'x');
    const auto filled = [&](const auto& write) {
        int written = 0;
        for (; written < 1000; ++written) {
            if (const auto done = write(written); !done) {
                CHECK(done.error().code == errc::store_full);
                break;
            }
        }
        return written;
    };
    const auto of_cards =
        filled([&](int i) { return engine->keep_card_version({"c" + std::to_string(i), {}, "0a", 2, {}, text}); });
    CHECK(of_cards > 50);
    CHECK(of_cards < 1000);
    const auto of_agents = filled([&](int i) { return engine->put("a" + std::to_string(i), text, someone); });
    CHECK(of_agents > 50);
    CHECK(of_agents < 1000);
    CHECK(engine->load()->size() == static_cast<std::size_t>(of_agents));
    CHECK(engine->card_versions("c0")->empty());
    CHECK(engine->remove("a0", someone).has_value());
    limit_room(scratch.path(), 0);
    CHECK(engine->keep_card_version({"d", {}, "0a", 2, {}, text}).has_value());
}

TEST_CASE("a full disk refuses to write, still reads, lets agents go, and takes them again when there is room")
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs, /*ballast=*/256 * 1024);
    limit_room(scratch.path(), 2 * 1024 * 1024);
    const std::string definition(10'000, 'x');
    int written = 0;
    core::error refusal;
    for (; written < 1000; ++written) {
        const auto done = engine->put("a" + std::to_string(written), definition, someone);
        if (!done) {
            refusal = done.error();
            break;
        }
    }
    CHECK(written > 50);
    REQUIRE(written < 1000);
    CHECK(refusal.code == errc::store_full);
    CHECK(refusal.detail.find(definition) == std::string::npos);
    CHECK(engine->load()->size() == static_cast<std::size_t>(written));
    CHECK(engine->put("one", definition, someone).error().code == errc::store_full);

    for (int i = 0; i < 5; ++i) {
        const auto gone = engine->remove("a" + std::to_string(i), someone);
        CHECK_MESSAGE(gone.has_value(), gone.error().detail);
    }
    CHECK(engine->load()->size() == static_cast<std::size_t>(written - 5));

    limit_room(scratch.path(), 0);
    CHECK(engine->put("one", definition, someone).has_value());
    engine.reset();
    CHECK(opened(scratch.file("s.db"), "")->load()->size() == static_cast<std::size_t>(written - 4));
}

TEST_CASE("a disk filled by agents alone lets every one of them go, and takes as many again, reopened or not")
{
    for (const bool reopened : {false, true}) {
        for (const std::size_t size : {10'000U, 150'000U}) {
            CAPTURE(reopened);
            CAPTURE(size);
            const test_support::scratch_directory scratch;
            limit_room(scratch.path(), 2 * 1024 * 1024);
            const auto open = [&] { return opened(scratch.file("s.db"), failing_vfs, /*ballast=*/256 * 1024); };
            auto engine = open();
            for (int round = 0; round < 2; ++round) {
                CAPTURE(round);
                std::size_t written = 0;
                while (written < 5000 && engine->put(std::to_string(written), std::string(size, 'x'), someone)) {
                    ++written;
                }
                CHECK(written < 5000);
                CHECK(written > 800'000 / size);
                if (reopened) {
                    engine.reset();
                    engine = open();
                }
                std::size_t gone = 0;
                while (gone < written && engine->remove(std::to_string(gone), someone)) {
                    ++gone;
                }
                CHECK(gone == written);
                CHECK(std::filesystem::exists(scratch.file("s.db.ballast")));
            }
            limit_room(scratch.path(), 0);
        }
    }
}

TEST_SUITE_END();
