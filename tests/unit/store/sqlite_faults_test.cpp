#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/store/failing_vfs.hpp"

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

const store::author someone{"test", core::wall_time{}, {}};

std::unique_ptr<store::engine> opened(const std::string& path, const char* vfs, std::uint64_t ballast = 0)
{
    install_failing_vfs();
    auto made = store::open_sqlite({.path = path, .ballast = ballast, .vfs = vfs});
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return std::move(*made);
}

// Ids and what is written for them.
using content = std::map<std::string, std::string>;

content content_of(store::engine& engine)
{
    content found;
    const auto all = engine.load();
    REQUIRE_MESSAGE(all.has_value(), all.error().detail);
    for (const auto& each : *all) {
        found[each.id] = each.definition;
    }
    return found;
}

struct operation {
    const char* what;
    std::function<bool(store::engine&)> run;  // true: it was acknowledged
    std::function<void(content&)> means;
};

const std::vector<operation>& operations()
{
    static const std::vector<operation> all{
        {"create",
         [](auto& e) { return e.put("new", "created", someone).has_value(); },
         [](auto& c) { c["new"] = "created"; }},
        {"replace",
         [](auto& e) { return e.put("a", "replaced", someone).has_value(); },
         [](auto& c) { c["a"] = "replaced"; }},
        {"replace by much",
         [](auto& e) { return e.put("a", std::string(300'000, 'x'), someone).has_value(); },
         [](auto& c) { c["a"] = std::string(300'000, 'x'); }},
        {"remove", [](auto& e) { return e.remove("b", someone).has_value(); }, [](auto& c) { c.erase("b"); }},
        {"keep a card",
         [](auto& e) { return e.keep_cards({{"b", "s", "{}", "", "", "", {}, {}}}).has_value(); },
         [](auto&) {}},
    };
    return all;
}

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

TEST_CASE("a disk filled by agents alone lets every one of them go, and takes as many again, opened anew or not")
{
    for (const bool anew : {false, true}) {
        for (const std::size_t size : {10'000U, 150'000U}) {
            CAPTURE(anew);
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
                if (anew) {
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
