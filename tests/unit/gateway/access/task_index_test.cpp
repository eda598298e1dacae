#include "gateway/access/task_index.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("access/task_index");

namespace {

using namespace std::chrono_literals;
using a2a::task_state;
using gateway::access::task_index;

const core::steady_time start{100h};
constexpr core::keyed_hash::key key{1, 2};

core::principal someone(const std::string& id, const std::string& provider = "keys")
{
    core::principal out;
    out.id = id;
    out.provider = provider;
    return out;
}

struct rig {
    explicit rig(std::uint64_t tasks = 100'000, core::duration keep = 24h, bool shared = false)
        : index{{tasks, keep, shared}, key}
    {
    }

    task_index::owner alice() const { return index.owner_of(&alice_); }
    task_index::owner bob() const { return index.owner_of(&bob_); }
    bool note(const std::string& task, task_index::owner whose, core::duration after = 0s)
    {
        return index.note("a", task, {whose, 0}, std::nullopt, start + after);
    }
    std::optional<task_index::owner> whose(const std::string& task, core::duration after = 0s)
    {
        const auto found = index.find("a", task, start + after);
        return found ? std::optional{found->whose} : std::nullopt;
    }

    // Of a context.
    task_index::owner holder(const std::string& context, core::duration after = 0s)
    {
        return index.find_context("a", context, start + after).whose;
    }
    std::uint64_t name(const std::string& context) { return index.find_context("a", context, start).name; }
    bool goes_on(std::uint64_t named, task_index::owner whose, core::duration after = 0s)
    {
        return index.hold_context(named, whose, start + after) != task_index::holding::refused;
    }

    task_index index;
    core::principal alice_ = someone("alice");
    core::principal bob_ = someone("bob");
};

}  // namespace

TEST_CASE("A task belongs to whoever it was shown to first, under its own agent only")
{
    rig x;
    CHECK_FALSE(x.whose("t"));
    x.note("t", x.alice());
    x.note("t", x.bob());
    CHECK(x.whose("t") == x.alice());
    CHECK_FALSE(x.index.find("b", "t", start));
    CHECK_FALSE(x.index.find("at", "", start));
    CHECK_FALSE(x.whose("T"));
}

TEST_CASE("Principals are told apart by id and provider, and callers without a credential are one of their own")
{
    rig x;
    const auto other = someone("alice", "tokens");
    const std::set<task_index::owner>
        all{x.alice(), x.bob(), x.index.owner_of(&other), x.index.owner_of(nullptr), task_index::anybody};
    CHECK(all.size() == 5);
    CHECK(x.index.owner_of(nullptr) == x.index.owner_of(nullptr));
}

TEST_CASE("A task that was shown while it could be anybody's becomes that of the next principal, which keeps it")
{
    rig x;
    x.note("t", task_index::anybody);
    CHECK(x.whose("t") == task_index::anybody);
    x.note("t", task_index::anybody);
    x.note("t", x.bob());
    CHECK(x.whose("t") == x.bob());
    x.note("t", task_index::anybody);
    CHECK(x.whose("t") == x.bob());
}

TEST_CASE("A task is known with the interface where it lives")
{
    rig x;
    x.index.note("a", "t", {x.alice(), 127}, task_state::auth_required, start);
    const auto found = x.index.find("a", "t", start);
    REQUIRE(found.has_value());
    CHECK(found->whose == x.alice());
    CHECK(found->interface == 127);
}

TEST_CASE("Where a task lives is kept, learnt later if it was not known, and taken even if the task is anybody's")
{
    rig x;
    x.note("t", x.alice());
    CHECK(x.index.take_changed(100, start).size() == 1);
    x.index.note("a", "t", {x.bob(), 3}, std::nullopt, start);
    x.index.note("a", "t", {x.alice(), 2}, std::nullopt, start);
    x.index.note("a", "u", {task_index::anybody, 4}, std::nullopt, start);
    CHECK(x.whose("t") == x.alice());
    CHECK(x.index.find("a", "t", start)->interface == 3);
    const auto taken = x.index.take_changed(100, start);
    REQUIRE(taken.size() == 2);
    rig next;
    for (const auto& each : taken) {
        next.index.restore(each, start);
    }
    CHECK(next.index.find("a", "t", start)->interface == 3);
    CHECK(next.index.find("a", "u", start)->interface == 4);
    CHECK(next.whose("u") == task_index::anybody);
    next.note("u", next.bob());
    CHECK(next.whose("u") == next.bob());
    CHECK(next.index.find("a", "u", start)->interface == 4);
}

TEST_CASE("A context belongs to whoever had it first, and is no task of the same id")
{
    rig x;
    CHECK(x.holder("c") == task_index::anybody);
    x.index.note_context("a", "c", {x.alice()}, start);
    x.index.note_context("a", "c", {x.bob()}, start);
    CHECK(x.holder("c") == x.alice());
    CHECK(x.index.find_context("b", "c", start).whose == task_index::anybody);
    CHECK_FALSE(x.whose("c"));
    x.note("c", x.bob());
    CHECK(x.whose("c") == x.bob());
    CHECK(x.holder("c") == x.alice());
    CHECK(x.index.take_changed(100, start).size() == 2);
    CHECK(x.holder("c", 24h) == task_index::anybody);
}

TEST_CASE("A state counts when it is another one than before")
{
    rig x;
    const auto shown = [&x](std::optional<task_state> state) {
        return x.index.note("a", "t", {x.alice(), 3}, state, start);
    };
    CHECK_FALSE(shown(std::nullopt));
    CHECK(shown(task_state::unspecified));
    CHECK_FALSE(shown(task_state::unspecified));
    CHECK(shown(task_state::working));
    CHECK_FALSE(shown(task_state::working));
    CHECK_FALSE(shown(std::nullopt));
    CHECK(shown(task_state::completed));
    CHECK(shown(task_state::working));
    CHECK(x.index.note("a", "new", {x.alice(), 3}, task_state::submitted, start));
    CHECK(x.whose("t") == x.alice());
}

TEST_CASE("A task is forgotten when it was not seen for its time, and then belongs to whoever it is shown to next")
{
    rig x{8, 1h};
    x.note("t", x.alice());
    CHECK(x.whose("t", 1h - 1ms) == x.alice());
    CHECK(x.whose("t", 2h - 2ms) == x.alice());  // asked for, it was kept longer
    CHECK_FALSE(x.whose("t", 3h - 2ms));
    x.note("t", x.bob(), 3h);
    CHECK(x.whose("t", 3h) == x.bob());
}

TEST_CASE("At the limit all tasks are known, and one more makes the one forgotten that was not seen for longest")
{
    rig x{task_index::row};
    const auto name = [](std::size_t i) { return "t" + std::to_string(i); };
    for (std::size_t i = 0; i < task_index::row; ++i) {
        x.note(name(i), x.alice(), core::duration{static_cast<std::int64_t>(i)});
        CHECK(x.whose(name(i), 10ms) == x.alice());
    }
    for (std::size_t i = 0; i < task_index::row; ++i) {
        CHECK(x.whose(name(i), 10ms) == x.alice());
    }
    x.note("one more", x.alice(), 20ms);
    CHECK(x.whose("one more", 20ms) == x.alice());
    CHECK_FALSE(x.whose(name(0), 20ms));
    for (std::size_t i = 1; i < task_index::row; ++i) {
        CHECK(x.whose(name(i), 20ms) == x.alice());
    }
}

TEST_CASE("A principal with many tasks makes its own forgotten, not the one of another")
{
    rig x{task_index::row};
    x.note("of alice", x.alice());
    for (int i = 0; i < 1000; ++i) {
        x.note("of bob " + std::to_string(i), x.bob(), core::duration{1000 + i});
    }
    CHECK(x.whose("of alice", 3s) == x.alice());
    CHECK(x.whose("of bob 999", 3s) == x.bob());
    CHECK_FALSE(x.whose("of bob 0", 3s));
}

TEST_CASE("Seven principals that take all they can leave another one what it has")
{
    rig x{4096};
    constexpr int of_alice = 160;
    for (int i = 0; i < of_alice; ++i) {
        x.note("of alice " + std::to_string(i), x.alice());
    }
    for (int i = 0; i < 70'000; ++i) {
        const auto taker = someone("taker " + std::to_string(i % 7));
        x.note("taken " + std::to_string(i), x.index.owner_of(&taker), core::duration{1 + i});
    }
    int known = 0;
    for (int i = 0; i < of_alice; ++i) {
        known += x.whose("of alice " + std::to_string(i), 80s) == x.alice() ? 1 : 0;
    }
    CHECK(known == of_alice);
}

TEST_CASE("A principal holds a quarter of the table at most while others need room, and its own oldest go first")
{
    rig x{4096};
    const auto taken_by = [&x](task_index::owner whose, const std::string& prefix, int first, int last) {
        for (int i = first; i < last; ++i) {
            x.note(prefix + std::to_string(i), whose, core::duration{i});
        }
    };
    const auto held_by = [&x](task_index::owner whose, const std::string& prefix, int first, int last) {
        int known = 0;
        for (int i = first; i < last; ++i) {
            known += x.whose(prefix + std::to_string(i), 100s) == whose ? 1 : 0;
        }
        return known;
    };
    taken_by(x.alice(), "alice ", 0, 20'000);
    CHECK(held_by(x.alice(), "alice ", 0, 20'000) == 4096);
    taken_by(x.bob(), "bob ", 20'000, 21'024);
    CHECK(held_by(x.bob(), "bob ", 20'000, 21'024) == 1024);  // a quarter of all
    taken_by(x.alice(), "alice ", 30'000, 60'000);
    CHECK(held_by(x.bob(), "bob ", 20'000, 21'024) == 1024);
    std::vector<core::principal> others;
    for (int i = 0; i < 4; ++i) {
        others.push_back(someone("other " + std::to_string(i)));
        taken_by(x.index.owner_of(&others.back()), "other " + std::to_string(i) + " ", 60'000, 62'000);
    }
    CHECK(held_by(x.alice(), "alice ", 0, 60'000) <= 4096 / 4);
}

TEST_CASE("A context that is held is its principal's until it is released, and stays so only if it was claimed")
{
    rig x;
    const auto name = x.name("c");
    CHECK(x.goes_on(name, x.alice()));
    CHECK(x.holder("c") == x.alice());
    CHECK_FALSE(x.goes_on(name, x.bob()));
    CHECK(x.goes_on(name, x.alice()));
    x.index.release_context(name, x.bob());
    CHECK(x.holder("c") == x.alice());
    CHECK(x.index.take_changed(100, start).empty());
    x.index.release_context(name, x.alice());
    x.index.release_context(name, x.alice());
    CHECK(x.holder("c") == task_index::anybody);
    CHECK(x.goes_on(name, x.bob()));
    x.index.claim_context(name, x.bob(), start);
    x.index.release_context(name, x.bob());
    CHECK(x.holder("c") == x.bob());
    CHECK_FALSE(x.goes_on(name, x.alice()));
    CHECK(x.index.take_changed(100, start).size() == 1);
}

TEST_CASE("A context that is only held displaces nothing, and what was shown to another principal is that one's")
{
    rig x{task_index::row};
    for (std::size_t i = 0; i < task_index::row; ++i) {
        x.note("t" + std::to_string(i), x.alice());
    }
    for (int i = 0; i < 100; ++i) {
        CHECK(x.goes_on(x.name("c" + std::to_string(i)), x.bob(), 1s));
    }
    for (std::size_t i = 0; i < task_index::row; ++i) {
        CHECK(x.whose("t" + std::to_string(i)) == x.alice());
    }
    rig y;
    CHECK(y.goes_on(y.name("c"), y.alice()));
    y.index.note_context("a", "c", {y.bob()}, start);
    y.index.release_context(y.name("c"), y.alice());
    CHECK(y.holder("c") == y.bob());
}

TEST_CASE("A context stays its principal's until the last of its messages has ended, and may then be another one's")
{
    rig x;
    const auto name = x.name("c");
    for (int i = 0; i < 3; ++i) {
        CHECK(x.goes_on(name, x.alice()));
    }
    for (int i = 0; i < 2; ++i) {
        x.index.release_context(name, x.alice());
        CHECK(x.holder("c") == x.alice());
        CHECK_FALSE(x.goes_on(name, x.bob()));
    }
    x.index.claim_context(name, x.alice(), start);
    x.index.release_context(name, x.alice());
    CHECK(x.holder("c") == x.alice());
    const auto other = x.name("other");
    CHECK(x.goes_on(other, x.alice()));
    CHECK(x.goes_on(other, x.alice()));
    x.index.release_context(other, x.alice());
    x.index.release_context(other, x.alice());
    CHECK(x.holder("other") == task_index::anybody);
    CHECK(x.goes_on(other, x.bob()));
}

TEST_CASE("A message that could not hold its context ends without a change to those that do")
{
    using enum task_index::holding;
    rig x{task_index::row, 24h};
    const auto name = x.name("c");
    for (int i = 0; i < 255; ++i) {
        CHECK(x.index.hold_context(name, x.alice(), start) == held);
    }
    CHECK(x.index.hold_context(name, x.alice(), start) == open);
    CHECK(x.index.hold_context(name, x.bob(), start) == refused);
    for (int i = 0; i < 255; ++i) {
        CHECK(x.holder("c") == x.alice());
        x.index.release_context(name, x.alice());
    }
    CHECK(x.holder("c") == task_index::anybody);
    for (std::size_t i = 0; i < task_index::row; ++i) {
        x.note("t" + std::to_string(i), x.alice());
    }
    CHECK(x.index.hold_context(name, x.bob(), start) == open);
    x.index.claim_context(name, x.bob(), start);
    CHECK(x.index.hold_context(name, x.bob(), start) == open);
    CHECK(x.index.hold_context(name, x.alice(), start) == refused);
}

TEST_CASE("Of two principals that hold one context at the same moment one at most goes on")
{
    rig x{task_index::row};
    std::array<std::array<std::atomic<int>, 2>, 4> inside{};
    std::atomic<int> both = 0;
    const auto work = [&](int who, int first) {
        const auto whose = who == 0 ? x.alice() : x.bob();
        for (int i = first; i < 100'000; ++i) {
            const auto context = static_cast<std::size_t>(i % 4);
            const auto name = x.name("c" + std::to_string(context));
            if (x.goes_on(name, whose)) {
                auto& mine = inside[context][static_cast<std::size_t>(who)];
                ++mine;
                both += inside[context][static_cast<std::size_t>(1 - who)] > 0 ? 1 : 0;
                --mine;
                x.index.release_context(name, whose);
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back(work, i % 2, i);
        }
    }
    CHECK(both == 0);
    for (int i = 0; i < 4; ++i) {
        CHECK(x.holder("c" + std::to_string(i)) == task_index::anybody);
    }
}

TEST_CASE("What was noted is taken once, without ids, and another index of another size has it with its age")
{
    rig x;
    x.note("t", x.alice());
    x.note("u", x.bob(), 10s);
    x.note("of anybody", task_index::anybody);
    const auto taken = x.index.take_changed(100, start + 20s);
    REQUIRE(taken.size() == 2);
    CHECK(x.index.take_changed(100, start + 20s).empty());
    rig next{8, 24h};
    for (const auto& each : taken) {
        next.index.restore(each, start);
    }
    CHECK(next.whose("t") == x.alice());
    CHECK(next.whose("u") == x.bob());
    CHECK_FALSE(next.whose("of anybody"));
    CHECK(next.whose("u", 24h - 20s) == x.bob());
    CHECK_FALSE(next.whose("t", 24h - 20s));
    CHECK(rig{8, 5s}.index.take_changed(100, start).empty());
}

TEST_CASE("A restored index has nothing to take, and one that is too old, or of another key, is not known")
{
    rig x;
    x.note("t", x.alice());
    const auto taken = x.index.take_changed(100, start);
    REQUIRE(taken.size() == 1);
    rig next;
    next.index.restore(taken[0], start);
    CHECK(next.index.take_changed(100, start).empty());
    rig late{8, 1h};
    auto old = taken[0];
    old.age = 1h;
    late.index.restore(old, start);
    CHECK_FALSE(late.whose("t"));
    task_index other{{8, 1h}, {3, 4}};
    other.restore(taken[0], start);
    CHECK_FALSE(other.find("a", "t", start));
    CHECK(task_index::key_of(core::secret{"one"}) == task_index::key_of(core::secret{"one"}));
    CHECK(task_index::key_of(core::secret{"one"}) != task_index::key_of(core::secret{"two"}));
}

TEST_CASE("A known task that is learnt of again is kept for its time from when either saw it last, and no longer")
{
    rig x;
    x.note("t", x.alice());
    const auto taken = x.index.take_changed(100, start);
    REQUIRE(taken.size() == 1);
    auto passed = taken[0];
    const auto last_seen = [&passed](core::duration known, core::duration learnt, core::duration age) {
        rig next;
        next.note("t", next.alice(), known);
        passed.age = age;
        next.index.learn(passed, start + learnt);
        const auto latest = std::max(known, learnt - age);
        CHECK(next.whose("t", latest + 24h - 1ms) == next.alice());
        rig again;
        again.note("t", again.alice(), known);
        again.index.learn(passed, start + learnt);
        CHECK_FALSE(again.whose("t", latest + 24h));
    };
    last_seen(0h, 20h, 10h);
    last_seen(15h, 20h, 10h);
    last_seen(0h, 20h, 0h);
}

TEST_CASE("A task of which all who share a store have another word is whose they say, in the state that is known here")
{
    rig other;
    other.note("t", other.bob());
    other.note("u", other.bob());
    const auto kept = other.index.take_changed(100, start);
    REQUIRE(kept.size() == 2);
    rig x;
    x.index.note("a", "t", {x.alice(), 2}, task_state::working, start);
    REQUIRE(x.index.take_changed(100, start).size() == 1);
    for (int i = 0; i < 2; ++i) {
        for (const auto& each : kept) {
            x.index.correct(each, start);
        }
        CHECK(x.whose("t") == x.bob());
        CHECK(x.whose("u") == x.bob());
        CHECK(x.index.find("a", "t", start)->interface == 2);
        CHECK(x.index.take_changed(100, start).empty());  // nothing is written back
    }
    CHECK_FALSE(x.index.note("a", "t", {x.bob(), 0}, task_state::working, start));
    auto old = kept[0];
    old.age = 24h;
    rig late;
    late.index.correct(old, start);
    old.name = 1;
    old.age = 0h;
    late.index.correct(old, start);
    CHECK(late.index.all(start).empty());
}

TEST_CASE(
    "With other replicas a task is whose call was seen to create it, not who named it first, and among equals the "
    "first's"
)
{
    rig x{100'000, 24h, true};
    const auto note = [&](task_index& in, task_index::owner whose, bool created) {
        in.note("a", "t", {whose, 2, created}, std::nullopt, start);
    };
    note(x.index, x.bob(), false);
    CHECK(x.whose("t") == x.bob());
    note(x.index, x.alice(), true);
    CHECK(x.whose("t") == x.alice());
    note(x.index, x.bob(), true);
    note(x.index, x.bob(), false);
    CHECK(x.whose("t") == x.alice());
    CHECK(x.index.find("a", "t", start)->interface == 2);
    x.index.note_context("a", "c", {x.bob()}, start);
    x.index.note_context("a", "c", {x.alice(), 0, true}, start);
    CHECK(x.index.find_context("a", "c", start).whose == x.alice());

    rig guesses{100'000, 24h, true};
    note(guesses.index, guesses.bob(), false);
    const auto guessed = guesses.index.take_changed(100, start);
    const auto created = x.index.take_changed(100, start);
    REQUIRE(guessed.size() == 1);
    x.index.correct(guessed[0], start);
    CHECK(x.whose("t") == x.alice());
    for (const auto& each : created) {
        guesses.index.correct(each, start);
    }
    CHECK(guesses.whose("t") == guesses.alice());

    rig alone;
    note(alone.index, alone.bob(), false);
    note(alone.index, alone.alice(), true);
    CHECK(alone.whose("t") == alone.bob());
}

TEST_CASE("A task that is used is taken again after a while, and not each time")
{
    rig x{8, 32h};
    x.note("t", x.alice());
    CHECK(x.index.take_changed(100, start).size() == 1);
    CHECK(x.whose("t", 59min) == x.alice());
    CHECK(x.index.take_changed(100, start + 59min).empty());
    CHECK(x.whose("t", 1h) == x.alice());
    CHECK(x.index.take_changed(100, start + 1h).size() == 1);
}

TEST_CASE("What is more than is taken at once comes the next time")
{
    rig x;
    for (int i = 0; i < 5000; ++i) {
        x.note("t" + std::to_string(i), x.alice());
    }
    std::set<std::uint64_t> names;
    int turns = 0;
    for (auto taken = x.index.take_changed(1000, start); !taken.empty(); taken = x.index.take_changed(1000, start)) {
        ++turns;
        for (const auto& each : taken) {
            names.insert(each.name);
        }
    }
    CHECK(turns > 1);
    CHECK(names.size() == 5000);
}

TEST_CASE("While threads note and ask, a task is never another principal's than those that noted it")
{
    rig x{64};
    std::atomic<int> wrong = 0;
    const auto work = [&x, &wrong](task_index::owner whose, const std::string& prefix) {
        for (int i = 0; i < 20'000; ++i) {
            const auto task = prefix + std::to_string(i % 100);
            x.note(task, whose, core::duration{i});
            const auto found = x.whose(task, core::duration{i});
            wrong += found && *found != whose ? 1 : 0;
        }
    };
    std::vector<std::thread> threads;
    threads.emplace_back(work, x.alice(), "alice ");
    threads.emplace_back(work, x.bob(), "bob ");
    threads.emplace_back([&x] {
        for (int i = 0; i < 200; ++i) {
            x.index.take_changed(10, start);
        }
    });
    for (auto& each : threads) {
        each.join();
    }
    CHECK(wrong == 0);
}

TEST_SUITE_END();
