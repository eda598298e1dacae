#include "gateway/balancing/call_gate.hpp"

#include "gateway/balancing/shelves.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using gateway::balancing::call_gate;
using gateway::balancing::gate_shelf;
using state = gateway::balancing::call_waiter::state;

TEST_SUITE_BEGIN("gateway/balancing/call gate");

namespace {

core::steady_time clock_now{1h};

core::steady_time now()
{
    return clock_now;
}

class waiter final : public gateway::balancing::call_waiter {
public:
    int told = 0;

private:
    void decided() noexcept override { ++told; }
};

const core::caller_mark one = core::mark_of_principal("p", "one");
const core::caller_mark two = core::mark_of_principal("p", "two");

std::shared_ptr<waiter> join(call_gate& gate, core::caller_mark caller)
{
    auto made = std::make_shared<waiter>();
    gate.join(made, caller);
    return made;
}

// Of a caller without a credential.
std::shared_ptr<waiter> join(call_gate& gate, int address)
{
    return join(gate, core::caller_mark{2} * static_cast<core::caller_mark>(address));
}

core::call_limits limits(std::uint64_t in_flight, std::uint64_t queue, std::uint64_t streams = 1)
{
    return {.in_flight = in_flight, .queue = queue, .streams = streams};
}

}  // namespace

TEST_CASE("A gate admits as many calls as its limit, and one more when one has left")
{
    call_gate gate{limits(2, 0), now};
    CHECK(gate.try_enter());
    CHECK(gate.try_enter());
    CHECK_FALSE(gate.try_enter());
    CHECK(gate.in_flight() == 2);
    gate.leave();
    CHECK(gate.try_enter());
    CHECK_FALSE(gate.try_enter());
}

TEST_CASE("A call that joins a gate with room is admitted at once")
{
    call_gate gate{limits(1, 4), now};
    const auto call = join(gate, 1);
    CHECK(call->now() == state::admitted);
    CHECK(call->told == 1);
    CHECK(gate.in_flight() == 1);
    CHECK(gate.waiting() == 0);
}

TEST_CASE("A place that becomes free goes to the queue, whose callers take turns")
{
    call_gate gate{limits(1, 8), now};
    REQUIRE(gate.try_enter());
    const std::vector calls{join(gate, 1), join(gate, 1), join(gate, 2)};
    CHECK(gate.waiting() == 3);
    CHECK_FALSE(gate.try_enter());
    for (const std::size_t next : {0U, 2U, 1U}) {
        CHECK(calls[next]->now() == state::undecided);
        gate.leave();
        CHECK(calls[next]->now() == state::admitted);
        CHECK(calls[next]->told == 1);
        CHECK(gate.in_flight() == 1);
    }
    CHECK(gate.waiting() == 0);
    gate.leave();
    CHECK(gate.in_flight() == 0);
    CHECK(gate.try_enter());
}

TEST_CASE("A principal holds at most half of the places, and one if there is only one")
{
    for (const auto& [limit, most] : {std::pair{1U, 1U}, {2U, 1U}, {3U, 1U}, {4U, 2U}, {5U, 2U}}) {
        CAPTURE(limit);
        call_gate gate{limits(limit, 0), now};
        std::vector<core::place_share> held;
        for (unsigned i = 0; i < most; ++i) {
            auto share = gate.try_enter(one);
            REQUIRE(share.has_value());
            held.push_back(std::move(*share));
        }
        CHECK_FALSE(gate.try_enter(one).has_value());
        CHECK(gate.in_flight() == most);
        CHECK(gate.try_enter(two).has_value() == (limit > 1));
        held.pop_back();
        gate.leave();
        CHECK(gate.try_enter(one).has_value());
    }
}

TEST_CASE("Calls of a principal that has its share wait, and those of others pass them")
{
    call_gate gate{limits(4, 8), now};
    std::vector<core::place_share> held;
    for (int i = 0; i < 2; ++i) {
        held.push_back(std::move(*gate.try_enter(one)));
    }
    const std::vector waiting{join(gate, one), join(gate, one)};
    CHECK(gate.waiting() == 2);
    CHECK(gate.in_flight() == 2);
    const auto other = join(gate, two);
    CHECK(other->now() == state::admitted);
    const auto nobodys = join(gate, 2);
    CHECK(nobodys->now() == state::admitted);
    CHECK(gate.in_flight() == 4);
    // A place of another one is not for the principal.
    other->take_share().give_back();
    gate.leave();
    CHECK(waiting[0]->now() == state::undecided);
    held.pop_back();
    gate.leave();
    CHECK(waiting[0]->now() == state::admitted);
    CHECK(waiting[1]->now() == state::undecided);
    waiting[0]->take_share().give_back();
    gate.leave();
    CHECK(waiting[1]->now() == state::admitted);
    CHECK(gate.waiting() == 0);
}

TEST_CASE("A call finds its place although the queue is full of calls that have no share left")
{
    call_gate gate{limits(2, 1), now};
    auto held = gate.try_enter(one);
    REQUIRE(held.has_value());
    const auto waits = join(gate, one);
    CHECK(waits->now() == state::undecided);
    CHECK(join(gate, two)->now() == state::admitted);
    CHECK(join(gate, two)->now() == state::full);
    held->give_back();
    gate.leave();
    CHECK(waits->now() == state::admitted);
}

TEST_CASE("A call that gives up while it waits for its share leaves nothing behind")
{
    call_gate gate{limits(2, 4), now};
    {
        auto held = gate.try_enter(one);
        const auto first = join(gate, one);
        const auto second = join(gate, one);
        CHECK(gate.give_up(first));
        held->give_back();
        gate.leave();
        CHECK(second->now() == state::admitted);
        CHECK_FALSE(gate.give_up(second));
        second->take_share().give_back();
        gate.leave();
    }
    CHECK(gate.in_flight() == 0);
    CHECK(gate.waiting() == 0);
    CHECK(gate.try_enter(one).has_value());
}

TEST_CASE("A limit that rises gives a principal that waits more places, and one that falls none until enough have left")
{
    call_gate gate{limits(2, 8), now};
    auto first = gate.try_enter(one);
    const auto second = join(gate, one);
    CHECK(second->now() == state::undecided);
    gate.set_limits(limits(4, 8));
    CHECK(second->now() == state::admitted);
    gate.set_limits(limits(2, 8));
    first->give_back();
    gate.leave();
    const auto third = join(gate, one);
    CHECK(third->now() == state::undecided);
    second->take_share().give_back();
    gate.leave();
    CHECK(third->now() == state::admitted);
}

TEST_CASE("A principal holds at most half of the streams, apart from its calls")
{
    call_gate gate{limits(2, 0, 4), now};
    const auto call = gate.try_enter(one);
    REQUIRE(call.has_value());
    std::vector<core::place_share> held;
    for (int i = 0; i < 2; ++i) {
        auto share = gate.stream_share(one);
        REQUIRE(share.has_value());
        held.push_back(std::move(*share));
    }
    CHECK_FALSE(gate.stream_share(one).has_value());
    CHECK(gate.stream_share(two).has_value());
    held.pop_back();
    CHECK(gate.stream_share(one).has_value());
}

TEST_CASE("The queue refuses the call beyond its length, and the one beyond its caller's half")
{
    call_gate gate{limits(1, 4), now};
    REQUIRE(gate.try_enter());
    const std::vector waiting{join(gate, 1), join(gate, 1)};
    CHECK(join(gate, 1)->now() == state::share);
    const std::vector others{join(gate, 2), join(gate, 3)};
    CHECK(join(gate, 4)->now() == state::full);
    CHECK(gate.waiting() == 4);
    for (const auto& each : {waiting[0], waiting[1], others[0], others[1]}) {
        CHECK(each->now() == state::undecided);
    }
}

TEST_CASE("Without a queue a call is refused at once")
{
    call_gate gate{limits(1, 0), now};
    REQUIRE(gate.try_enter());
    CHECK(join(gate, 1)->now() == state::full);
    CHECK(gate.waiting() == 0);
}

TEST_CASE("A call that gives up frees its place in the queue, and gets none later")
{
    call_gate gate{limits(1, 2), now};
    REQUIRE(gate.try_enter());
    const auto first = join(gate, 1);
    const auto second = join(gate, 2);
    CHECK(gate.give_up(first));
    CHECK(first->now() == state::left);
    CHECK(first->told == 0);
    CHECK(gate.waiting() == 1);
    CHECK_FALSE(gate.give_up(first));
    const auto third = join(gate, 1);
    gate.leave();
    CHECK(first->now() == state::left);
    CHECK(second->now() == state::admitted);
    CHECK_FALSE(gate.give_up(second));
    gate.leave();
    CHECK(third->now() == state::admitted);
    gate.leave();
    CHECK(gate.in_flight() == 0);
    CHECK(gate.waiting() == 0);
}

TEST_CASE("The newest call goes first once every call of half a second has waited too long")
{
    call_gate gate{limits(1, 100), now};
    REQUIRE(gate.try_enter());
    std::vector<std::shared_ptr<waiter>> calls;
    for (int i = 0; i < 8; ++i) {
        calls.push_back(join(gate, 1));
    }
    for (int i = 0; i < 6; ++i) {
        clock_now += 150ms;
        gate.leave();
    }
    CHECK(calls.back()->now() == state::admitted);
    CHECK(calls[6]->now() == state::undecided);
}

TEST_CASE("A limit that rises admits calls of the queue at once, and one that falls admits none until enough have left")
{
    call_gate gate{limits(1, 8), now};
    REQUIRE(gate.try_enter());
    const std::vector calls{join(gate, 1), join(gate, 2), join(gate, 3)};
    gate.set_limits(limits(3, 8));
    CHECK(calls[0]->now() == state::admitted);
    CHECK(calls[1]->now() == state::admitted);
    CHECK(calls[2]->now() == state::undecided);
    CHECK(gate.in_flight() == 3);
    gate.set_limits(limits(1, 8));
    gate.leave();
    gate.leave();
    CHECK(calls[2]->now() == state::undecided);
    CHECK(gate.in_flight() == 1);
    gate.leave();
    CHECK(calls[2]->now() == state::admitted);
}

TEST_CASE("A gate has as many places for streams as its limit")
{
    call_gate gate{limits(1, 0, 2), now};
    CHECK(gate.begin_stream());
    CHECK(gate.begin_stream());
    CHECK_FALSE(gate.begin_stream());
    CHECK(gate.streams() == 2);
    gate.end_stream();
    CHECK(gate.begin_stream());
}

TEST_CASE("A gate that goes away lets go of the calls in its queue")
{
    std::weak_ptr<waiter> left;
    {
        call_gate gate{limits(1, 8), now};
        REQUIRE(gate.try_enter());
        left = join(gate, 1);
        CHECK_FALSE(left.expired());
    }
    CHECK(left.expired());
}

TEST_CASE("Agents whose calls go by equal terms share them")
{
    gate_shelf shelf;
    const auto first = shelf.share({limits(1, 2), {}});
    CHECK(shelf.share({limits(1, 2), {}}) == first);
    const auto other = shelf.share({limits(1, 2), {.attempts = 3}});
    CHECK(other != first);
    CHECK(other->retry.attempts == 3);
    CHECK(other->limits.queue == 2);
}

TEST_CASE("A shelf keeps the gate of an agent while somebody has it, with the limits that it has")
{
    gate_shelf shelf;
    const auto first = shelf.get("a", limits(1, 0));
    REQUIRE(first->try_enter());
    const auto again = shelf.get("a", limits(2, 0));
    CHECK(again == first);
    CHECK_FALSE(again->try_enter());
    CHECK(shelf.get("b", limits(1, 0)) != first);
    for (int i = 0; i < 1000; ++i) {
        static_cast<void>(shelf.get(std::to_string(i), limits(1, 0)));
    }
    CHECK(shelf.size() < 200);
    CHECK(shelf.get("a", limits(2, 0)) == first);
}

namespace {

// Waits on a thread of its own.
class blocking_waiter final : public gateway::balancing::call_waiter {
public:
    void wait() { decided_.acquire(); }

private:
    void decided() noexcept override { decided_.release(); }
    std::binary_semaphore decided_{0};
};

struct tally {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<int> served{0};
    std::atomic<int> refused{0};
    std::atomic<int> gave_up{0};
};

void work(call_gate& gate, tally& seen)
{
    const auto inside = ++seen.inside;
    auto most = seen.most.load();
    while (most < inside && !seen.most.compare_exchange_weak(most, inside)) {
    }
    std::this_thread::yield();
    --seen.inside;
    ++seen.served;
    gate.leave();
}

void call_often(call_gate& gate, tally& seen, std::uint64_t caller, int calls)
{
    for (int i = 0; i < calls; ++i) {
        if (gate.try_enter()) {
            work(gate, seen);
            continue;
        }
        const auto call = std::make_shared<blocking_waiter>();
        gate.join(call, caller);
        if (i % 16 == 0 && gate.give_up(call)) {
            ++seen.gave_up;
            continue;
        }
        call->wait();
        if (call->now() == state::admitted) {
            work(gate, seen);
        } else {
            ++seen.refused;
        }
    }
}

}  // namespace

TEST_CASE("With many threads the agent never sees one call more than the limit, and no call is lost")
{
    constexpr int threads = 8;
    constexpr int calls = 20'000;
    constexpr int limit = 3;
    call_gate gate{limits(limit, 4), [] { return core::steady_time{std::chrono::steady_clock::now()}; }};
    tally seen;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
        all.emplace_back([&, i] { call_often(gate, seen, 2 * static_cast<core::caller_mark>(i), calls); });
    }
    for (auto& each : all) {
        each.join();
    }
    CHECK(seen.most <= limit);
    CHECK(seen.served + seen.refused + seen.gave_up == threads * calls);
    CHECK(seen.served > 0);
    CHECK(gate.in_flight() == 0);
    CHECK(gate.waiting() == 0);
    CHECK(gate.try_enter());
}

namespace {

// As call_often(), of one of two principals.
void call_in_turn(call_gate& gate, tally& seen, core::caller_mark whose, int calls)
{
    const auto leave = [&](core::place_share share) {
        const auto inside = ++seen.inside;
        auto most = seen.most.load();
        while (most < inside && !seen.most.compare_exchange_weak(most, inside)) {
        }
        std::this_thread::yield();
        --seen.inside;
        ++seen.served;
        share.give_back();
        gate.leave();
    };
    for (int i = 0; i < calls; ++i) {
        if (auto share = gate.try_enter(whose)) {
            leave(std::move(*share));
            continue;
        }
        const auto call = std::make_shared<blocking_waiter>();
        gate.join(call, whose);
        if (i % 16 == 0 && gate.give_up(call)) {
            ++seen.gave_up;
            continue;
        }
        call->wait();
        if (call->now() == state::admitted) {
            leave(call->take_share());
        } else {
            ++seen.refused;
        }
    }
}

}  // namespace

TEST_CASE("With many threads no principal ever has one call more than its half, and no call and no share is lost")
{
    constexpr int threads = 8;
    constexpr int calls = 10'000;
    call_gate gate{limits(4, 6), [] { return core::steady_time{std::chrono::steady_clock::now()}; }};
    tally of_one;
    tally of_two;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
        all.emplace_back([&, i] { call_in_turn(gate, i % 2 == 0 ? of_one : of_two, i % 2 == 0 ? one : two, calls); });
    }
    for (auto& each : all) {
        each.join();
    }
    CHECK(of_one.most <= 2);
    CHECK(of_two.most <= 2);
    CHECK(of_one.served + of_one.refused + of_one.gave_up == threads / 2 * calls);
    CHECK(of_two.served + of_two.refused + of_two.gave_up == threads / 2 * calls);
    CHECK(gate.in_flight() == 0);
    CHECK(gate.waiting() == 0);
    CHECK(core::all_shares().count(core::place_shares::of_object(&gate), one) == 0);
    CHECK(core::all_shares().count(core::place_shares::of_object(&gate), two) == 0);
}

TEST_SUITE_END();
