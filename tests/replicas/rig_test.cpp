// Replicas that share a PostgreSQL while everything around them breaks: no acknowledged write is lost, no refused one is applied, all
// replicas come to the same, and calls never notice. `./dev replicas` has the long form.
#include "tests/replicas/rig.hpp"

#include "tests/flow/restart_load.hpp"
#include "tests/replicas/faults.hpp"
#include "tests/replicas/steady_load.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

TEST_SUITE_BEGIN("replicas/rig");

using namespace replicas;

namespace {

constexpr auto fault_interval = 3s;
constexpr auto agreement = 2s;
constexpr auto agreement_after_outage = 6s;  // they ask a store that is away less and less often

struct course {
    std::size_t faults = 0;
    std::chrono::milliseconds worst{0};               // until all agreed
    std::chrono::milliseconds worst_after_outage{0};  // of the store, or of a way to it
};

// Faults, one every three seconds, until the time is over; after each one all have to agree.
course go_wrong(rig& x, crowd& clients, trouble& next, std::chrono::seconds length)
{
    course out;
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
        const auto begin = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(300ms);
        const auto which = next.cause();
        ++out.faults;
        CAPTURE(name(which));
        CAPTURE(out.faults);
        clients.hold(true);
        const bool outage = which > fault::clock && which != fault::delay;
        const auto limit = outage ? agreement_after_outage : agreement;
        const auto by_themselves = wait_until([&] { return x.agree(); }, limit);
        CHECK_MESSAGE(by_themselves, x.lists());
        const auto more = wait_until([&] { return x.agree_when_fresh(); }, limit - by_themselves.value_or(limit));
        CHECK_MESSAGE(more, x.lists());
        const auto agreed = by_themselves.value_or(limit) + more.value_or(limit);
        auto& worst = outage ? out.worst_after_outage : out.worst;
        worst = std::max(worst, agreed);
        MESSAGE(name(which) << ": agreed after " << agreed.count() << " ms");
        clients.hold(false);
        std::this_thread::sleep_until(begin + fault_interval);
    }
    return out;
}

void judge(rig& x, const steady_load& load, const course& what)
{
    const auto all = x.take_history();
    check_history(x, all);
    check_calls(load);
    CHECK(writes(all, outcome::done) > what.faults * 10);
    MESSAGE(
        what.faults << " faults, " << all.operations.size() << " operations, writes: " << writes(all, outcome::done)
                    << " acknowledged, " << writes(all, outcome::conflict) + writes(all, outcome::absent)
                    << " refused, " << writes(all, outcome::failed) << " failed, " << writes(all, outcome::unknown)
                    << " unknown; " << all.trail.size() << " versions; agreed after at most " << what.worst.count()
                    << " ms, " << what.worst_after_outage.count() << " ms after an outage of the store; "
                    << load.calls() << " calls, " << load.failed() << " failed, " << load.excused()
                    << " of a killed replica"
    );
}

void run_rig(std::size_t replicas, std::chrono::seconds length)
{
    const auto seed = flow::number_from("CARDEA_REPLICAS_SEED", std::random_device{}());
    CAPTURE(seed);
    MESSAGE("seed " << seed);
    const test_support::scratch_directory folder;
    const auto store = replicas > 1 ? std::make_unique<shared_store>(replicas) : nullptr;
    const auto place = [&](auto i) { return store == nullptr ? "sqlite:" + folder.file("s.db") : store->url(i); };
    rig x{replicas, place};
    if (store != nullptr) {
        x.set_truth([&] { return store->versions(); });
    }
    steady_load load{x.members, {"plain", "steady"}};
    crowd clients{x.lines, x.members, twenty_keys(), seed};
    trouble next{x.members, store.get(), seed, length > 1min ? 20s : 4s};
    const auto what = go_wrong(x, clients, next, length);
    clients.stop();
    load.stop();
    judge(x, load, what);
}

}  // namespace

TEST_CASE("a gateway with a file keeps what it has acknowledged, whatever happens to it")
{
    run_rig(1, 9s);
}

TEST_CASE("three replicas of one PostgreSQL keep what they have acknowledged, whatever happens around them")
{
    run_rig(3, std::chrono::seconds{flow::number_from("CARDEA_REPLICAS_SECONDS", 20)});
}

TEST_SUITE_END();
