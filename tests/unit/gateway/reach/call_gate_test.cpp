#include "gateway/reach/call_gate.hpp"

#include "gateway/reach/gate_shelf.hpp"

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
#include <vector>

using namespace std::chrono_literals;
using gateway::reach::call_gate;
using gateway::reach::gate_shelf;
using state = gateway::reach::call_waiter::state;

TEST_SUITE_BEGIN("gateway/reach/call gate");

namespace {

core::steady_time clock_now{1h};

core::steady_time now()
{
    return clock_now;
}

class waiter final : public gateway::reach::call_waiter {
public:
    int told = 0;

private:
    void decided() noexcept override { ++told; }
};

std::shared_ptr<waiter> join(call_gate& gate, std::uint64_t caller)
{
    auto made = std::make_shared<waiter>();
    gate.join(made, caller);
    return made;
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
class blocking_waiter final : public gateway::reach::call_waiter {
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
        all.emplace_back([&, i] { call_often(gate, seen, static_cast<std::uint64_t>(i), calls); });
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

TEST_SUITE_END();
