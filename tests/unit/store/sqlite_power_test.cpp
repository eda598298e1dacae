// What is acknowledged outlives a power failure, on a disk that works and on one that fails meanwhile; what is refused does
// not come back after the process is killed.
#include "tests/support/scratch.hpp"
#include "tests/unit/store/fixture.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

TEST_SUITE_BEGIN("store/power");

namespace {

using namespace store::testing;

// The store as the next process finds it after the power has failed now.
content after_power_failure()
{
    const test_support::scratch_directory left;
    cut_power(left.path());
    return content_of(*opened(left.file("s.db"), ""));
}

// The store as the next process finds it after this one has been killed now: all that was written, synced or not.
content after_kill(const test_support::scratch_directory& scratch)
{
    const test_support::scratch_directory left;
    for (const auto* part : {"s.db", "s.db-wal"}) {
        if (std::filesystem::exists(scratch.file(part))) {
            std::filesystem::copy_file(scratch.file(part), left.file(part));
        }
    }
    return content_of(*opened(left.file("s.db"), ""));
}

struct attempt {
    content before;
    content after;
    content seen;    // by this process, once the disk works again
    content left;    // by the next one, after a power failure
    content killed;  // by the next one, after this one was killed
    bool acknowledged = false;
    bool reached = false;  // the step that fails
};

attempt attempted(const operation& each, std::uint64_t step, fault how)
{
    const test_support::scratch_directory scratch;
    auto engine = opened(scratch.file("s.db"), failing_vfs);
    REQUIRE(engine->put("a", "first", someone).has_value());
    REQUIRE(engine->put("b", "second", someone).has_value());
    engine.reset();
    follow_syncs();
    engine = opened(scratch.file("s.db"), failing_vfs);
    attempt made;
    made.before = content_of(*engine);
    made.after = made.before;
    each.means(made.after);
    fail_at(step, how);
    made.acknowledged = each.run(*engine);
    made.reached = has_failed();
    heal();
    made.left = after_power_failure();
    made.killed = after_kill(scratch);
    made.seen = content_of(*engine);
    return made;
}

}  // namespace

TEST_CASE("Tasks that are kept outlive a power failure, all or none, whichever step failed before")
{
    int kept = 0;
    std::uint64_t step = 0;
    for (bool reached = true; reached && step < 1000;) {
        ++step;
        CAPTURE(step);
        const test_support::scratch_directory scratch;
        opened(scratch.file("s.db"), failing_vfs).reset();
        follow_syncs();
        auto engine = opened(scratch.file("s.db"), failing_vfs);
        fail_at(step, fault::once);
        const bool acknowledged = engine->keep_tasks({{1, 10, {}}, {2, 20, {}}}).has_value();
        reached = has_failed();
        heal();
        kept += acknowledged ? 1 : 0;
        const test_support::scratch_directory left;
        cut_power(left.path());
        const auto found = opened(left.file("s.db"), "")->tasks();
        REQUIRE(found.has_value());
        CHECK((found->size() == 2 || (!acknowledged && found->empty())));
    }
    CHECK(step > 3);
    CHECK(step < 1000);
    CHECK(kept > 0);
}

TEST_CASE("a write that is acknowledged outlives a power failure at once, and one before it too")
{
    for (const auto& each : operations()) {
        CAPTURE(each.what);
        const auto made = attempted(each, 1'000'000, fault::none);
        CHECK(made.acknowledged);
        CHECK(made.left == made.after);
    }
}

TEST_CASE(
    "Whichever step fails, once or up to the close, acknowledged writes survive a power failure, refused ones no kill"
)
{
    for (const auto how : {fault::once, fault::until_closed}) {
        for (const auto& each : operations()) {
            CAPTURE(each.what);
            CAPTURE(static_cast<int>(how));
            std::uint64_t step = 0;
            int saved = 0;  // acknowledged although a step had failed
            for (bool reached = true; reached && step < 1000;) {
                ++step;
                CAPTURE(step);
                const auto made = attempted(each, step, how);
                reached = made.reached;
                saved += reached && made.acknowledged ? 1 : 0;
                // The disk works again before the write returns: it can say what became of it.
                CHECK(made.seen == (made.acknowledged ? made.after : made.before));
                CHECK((made.left == made.after || (!made.acknowledged && made.left == made.before)));
                CHECK(made.killed == made.seen);
            }
            CHECK(step > 3);
            CHECK(step < 1000);
            CHECK((saved > 0 || std::string_view{each.what} == "keep a card"));
        }
    }
}

TEST_CASE("a delivery that is kept outlives a power failure, whichever step failed before")
{
    int kept = 0;
    std::uint64_t step = 0;
    for (bool reached = true; reached && step < 1000;) {
        ++step;
        CAPTURE(step);
        const test_support::scratch_directory scratch;
        opened(scratch.file("s.db"), failing_vfs).reset();
        follow_syncs();
        auto engine = opened(scratch.file("s.db"), failing_vfs);
        fail_at(step, fault::once);
        const bool acknowledged = engine->keep_delivery({0, "d", "a", "l", "s", "b", {}}).has_value();
        reached = has_failed();
        heal();
        kept += acknowledged ? 1 : 0;
        const test_support::scratch_directory left;
        cut_power(left.path());
        const auto found = opened(left.file("s.db"), "")->deliveries();
        REQUIRE(found.has_value());
        CHECK((!acknowledged || found->size() == 1));
        CHECK(found->size() <= 1);
    }
    CHECK(step > 3);
    CHECK(step < 1000);
    CHECK(kept > 0);
}

TEST_CASE("A document that is kept outlives a power failure, whichever step failed before, and so does its end")
{
    for (const bool drops : {false, true}) {
        CAPTURE(drops);
        int acknowledged_once = 0;
        std::uint64_t step = 0;
        for (bool reached = true; reached && step < 1000;) {
            ++step;
            CAPTURE(step);
            const test_support::scratch_directory scratch;
            {
                const auto before = opened(scratch.file("s.db"), failing_vfs);
                if (drops) {
                    REQUIRE(before->keep_document({"containment", "a", "", "{}"}).has_value());
                }
            }
            follow_syncs();
            auto engine = opened(scratch.file("s.db"), failing_vfs);
            fail_at(step, fault::once);
            const bool acknowledged = drops ? engine->drop_document("containment", "a").has_value()
                                            : engine->keep_document({"containment", "a", "", "{}"}).has_value();
            reached = has_failed();
            heal();
            acknowledged_once += acknowledged ? 1 : 0;
            const test_support::scratch_directory left;
            cut_power(left.path());
            const auto found = opened(left.file("s.db"), "")->documents("containment");
            REQUIRE(found.has_value());
            CHECK((!acknowledged || found->size() == (drops ? 0 : 1)));
        }
        CHECK(step > 3);
        CHECK(step < 1000);
        CHECK(acknowledged_once > 0);
    }
}

TEST_SUITE_END();
