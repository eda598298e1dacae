#include "gateway/push/push_queue.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>

TEST_SUITE_BEGIN("gateway/push_queue");

namespace {

using namespace std::chrono_literals;
using gateway::push::push_queue;

constexpr core::steady_time start{1000s};

store::delivery_facts delivery(std::uint64_t number, std::string lane, std::string agent = "a")
{
    return {number, "id" + std::to_string(number), std::move(agent), std::move(lane), 10, core::wall_time{1s * number}};
}

void put(push_queue& queue, const store::delivery_facts& each, core::steady_time now = start)
{
    REQUIRE(queue.reserve(each.agent, each.size).has_value());
    queue.add(each, now);
}

std::uint64_t next_number(push_queue& queue, core::steady_time now = start)
{
    const auto found = queue.next(now);
    return found ? found->number : 0;
}

std::string over(push_queue& queue, const std::string& agent, std::uint64_t size)
{
    const auto place = queue.reserve(agent, size);
    return place ? "" : place.error().detail;
}

}  // namespace

TEST_CASE("deliveries of a lane go one after the other, and lanes at the same time")
{
    push_queue queue{{10, 10, 1000}};
    put(queue, delivery(1, "x"));
    put(queue, delivery(2, "x"));
    put(queue, delivery(3, "y"));
    CHECK(next_number(queue) == 1);
    CHECK(next_number(queue) == 3);
    CHECK(next_number(queue) == 0);
    queue.finish("x", start);
    CHECK(next_number(queue) == 2);
    queue.finish("x", start);
    queue.finish("y", start);
    CHECK(queue.size() == 0);
    CHECK(queue.bytes() == 0);
    CHECK(next_number(queue, start + 1h) == 0);
}

TEST_CASE("one that failed is due later and goes before the others of its lane")
{
    push_queue queue{{10, 10, 1000}};
    put(queue, delivery(1, "x"));
    put(queue, delivery(2, "x"));
    CHECK(next_number(queue) == 1);
    queue.try_again("x", start + 5s);
    CHECK(queue.failures("x") == 1);
    CHECK(next_number(queue, start + 5s - 1ms) == 0);
    CHECK(next_number(queue, start + 5s) == 1);
    queue.finish("x", start + 6s);
    CHECK(queue.failures("x") == 0);
    CHECK(next_number(queue, start + 6s) == 2);
}

TEST_CASE("an answer for a lane of which none is under way changes nothing")
{
    push_queue queue{{10, 10, 1000}};
    put(queue, delivery(1, "x"));
    queue.finish("x", start);
    queue.finish("none", start);
    queue.try_again("x", start + 1h);
    queue.try_again("none", start);
    CHECK(queue.size() == 1);
    CHECK(next_number(queue) == 1);
}

TEST_CASE("as many deliveries as the limit wait, of an agent and of all, and one more is refused")
{
    push_queue queue{{3, 2, 1000}};
    CHECK(over(queue, "a", 1) == "");
    CHECK(over(queue, "a", 1) == "");
    CHECK(over(queue, "a", 1) == "limits.push_queue_agent");
    CHECK(over(queue, "b", 1) == "");
    CHECK(over(queue, "b", 1) == "limits.push_queue");
    queue.give_up("a", 1);
    CHECK(over(queue, "b", 1) == "");
}

TEST_CASE("as many bytes as the limit wait, and one more is refused")
{
    push_queue queue{{10, 10, 100}};
    CHECK(over(queue, "a", 50) == "");
    CHECK(over(queue, "b", 49) == "");
    CHECK(over(queue, "c", 2) == "limits.push_queue_bytes");
    CHECK(over(queue, "c", 1) == "");
    CHECK(over(queue, "d", 1) == "limits.push_queue_bytes");
    queue.give_up("a", 50);
    CHECK(queue.bytes() == 50);
    CHECK(over(queue, "d", 50) == "");
}

TEST_CASE("an agent has half of the bytes, or one delivery, and leaves the rest to others")
{
    push_queue queue{{10, 10, 100}};
    CHECK(over(queue, "a", 49) == "");
    CHECK(over(queue, "a", 2) == "limits.push_queue_bytes");
    CHECK(over(queue, "a", 1) == "");
    CHECK(over(queue, "a", 1) == "limits.push_queue_bytes");
    CHECK(over(queue, "b", 50) == "");
    queue.give_up("b", 50);
    queue.give_up("a", 49);
    queue.give_up("a", 1);
    CHECK(over(queue, "a", 101) == "limits.push_queue_bytes");
    CHECK(over(queue, "a", 100) == "");
    CHECK(over(queue, "a", 1) == "limits.push_queue_bytes");
}

TEST_CASE("what an earlier process has left counts, but is never refused")
{
    push_queue queue{{1, 1, 15}};
    queue.restore(delivery(7, "x"), start);
    queue.restore(delivery(8, "y"), start);
    CHECK(queue.size() == 2);
    CHECK(over(queue, "b", 1) == "limits.push_queue");
    CHECK(queue.oldest() == core::wall_time{7s});
    CHECK(next_number(queue) == 7);
    CHECK(next_number(queue) == 8);
}

TEST_CASE("64 attempts are under way at a time, and 16 of one agent")
{
    push_queue queue{{1000, 1000, 100'000}};
    std::uint64_t number = 0;
    for (const std::string agent : {"a", "b", "c", "d", "e"}) {
        for (int i = 0; i < 17; ++i) {
            ++number;
            put(queue, delivery(number, agent + std::to_string(i), agent));
        }
    }
    std::uint64_t begun = 0;
    while (queue.next(start)) {
        ++begun;
    }
    CHECK(begun == gateway::push::most_under_way);
    queue.finish("a0", start);
    const auto next = queue.next(start);
    REQUIRE(next.has_value());
    CHECK_FALSE(queue.next(start).has_value());
}

TEST_CASE("an agent with 16 attempts under way lets others go first")
{
    push_queue queue{{1000, 1000, 100'000}};
    for (std::uint64_t i = 1; i <= 17; ++i) {
        put(queue, delivery(i, "a" + std::to_string(i), "a"));
    }
    put(queue, delivery(18, "b", "b"));
    std::uint64_t begun = 0;
    bool other = false;
    while (const auto found = queue.next(start)) {
        ++begun;
        other = other || found->agent == "b";
    }
    CHECK(begun == gateway::push::most_under_way_of_agent + 1);
    CHECK(other);
}

TEST_CASE("what is tried for the first time goes before what has failed, however long that has been due")
{
    push_queue queue{{1000, 1000, 100'000}};
    for (std::uint64_t i = 1; i <= 3; ++i) {
        put(queue, delivery(i, "x" + std::to_string(i)));
        CHECK(next_number(queue) == i);
        queue.try_again("x" + std::to_string(i), start + 1s);
    }
    put(queue, delivery(4, "y"), start + 1h);
    CHECK(next_number(queue, start + 1h) == 4);
    CHECK(next_number(queue, start + 1h) == 1);
    CHECK(next_number(queue, start + 1h) == 2);
    queue.finish("y", start + 1h);
    CHECK(next_number(queue, start + 1h) == 3);
}

TEST_CASE("those that an agent has too many of go in their order as others of it end")
{
    push_queue queue{{1000, 1000, 100'000}};
    for (std::uint64_t i = 1; i <= 40; ++i) {
        put(queue, delivery(i, "a" + std::to_string(i)), start + i * 1ms);
    }
    const auto later = start + 1s;
    for (std::uint64_t i = 1; i <= 16; ++i) {
        CHECK(next_number(queue, later) == i);
    }
    CHECK(next_number(queue, later) == 0);
    queue.try_again("a1", later + 1s);
    queue.finish("a2", later);
    CHECK(next_number(queue, later) == 17);
    CHECK(next_number(queue, later) == 18);
    CHECK(next_number(queue, later) == 0);
    for (std::uint64_t i = 19; i <= 40; ++i) {
        queue.finish("a" + std::to_string(i - 16), later);
        CHECK(next_number(queue, later) == i);
    }
    for (std::uint64_t i = 25; i <= 40; ++i) {
        queue.finish("a" + std::to_string(i), later);
    }
    CHECK(next_number(queue, later) == 0);
    CHECK(next_number(queue, later + 1s) == 1);
    queue.finish("a1", later + 1s);
    CHECK(queue.size() == 0);
    CHECK(queue.bytes() == 0);
}

TEST_SUITE_END();
