#include "gateway/push/push_queue.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

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
    auto place = queue.reserve(each);
    REQUIRE(place.has_value());
    queue.add(each, std::move(*place), now);
}

// A lane of this task, as model::push_lane() makes it.
std::string lane_of(const std::string& owner, const std::string& hook, std::uint64_t task)
{
    return owner + '.' + hook + '.' + std::to_string(task);
}

std::uint64_t next_number(push_queue& queue, core::steady_time now = start)
{
    const auto found = queue.next(now);
    return found ? found->number : 0;
}

std::string over(push_queue& queue, const std::string& agent, std::uint64_t size)
{
    auto one = delivery(0, "", agent);
    one.size = size;
    const auto place = queue.reserve(one);
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

TEST_CASE("A principal holds at most half of an agent's places, and half of all")
{
    push_queue queue{{8, 6, 1 << 20}};
    std::uint64_t number = 0;
    const auto why = [&](const std::string& owner, const std::string& agent) {
        ++number;
        const auto one = delivery(number, lane_of(owner, "h", number), agent);
        auto place = queue.reserve(one);
        if (!place) {
            return place.error().detail;
        }
        queue.add(one, std::move(*place), start);
        return std::string{};
    };
    for (int i = 0; i < 3; ++i) {
        CHECK(why("one", "a") == "");
    }
    CHECK(why("one", "a") == "the principal has half of limits.push_queue_agent");
    CHECK(why("two", "a") == "");
    CHECK(why("one", "b") == "");
    CHECK(why("one", "b") == "the principal has half of limits.push_queue");
    CHECK(why("", "b") == "");
    CHECK(why("", "b") == "");
    while (const auto next = queue.next(start)) {
        if (next->lane.starts_with("one.")) {
            queue.finish(next->lane, start);
            break;
        }
    }
    CHECK(why("one", "b") == "");
}

TEST_CASE("A place that is given up, and one of an earlier process, counts for its principal until it ends")
{
    push_queue queue{{8, 4, 1 << 20}};
    const auto one = delivery(1, lane_of("one", "h", 1));
    const auto other = delivery(2, lane_of("one", "h", 2));
    {
        const auto first = queue.reserve(one);
        const auto second = queue.reserve(other);
        CHECK(second.has_value());
        CHECK_FALSE(queue.reserve(other).has_value());
    }
    queue.give_up("a", 10);
    queue.give_up("a", 10);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        queue.restore(delivery(i, lane_of("one", "h", i)), start);
    }
    CHECK_FALSE(queue.reserve(other).has_value());
    for (int i = 0; i < 3; ++i) {
        const auto next = queue.next(start);
        REQUIRE(next.has_value());
        queue.finish(next->lane, start);
    }
    CHECK(queue.size() == 0);
    CHECK(queue.reserve(other).has_value());
    queue.give_up("a", 10);
}

TEST_CASE("A principal holds at most half of the bytes of an agent, and one delivery of any size")
{
    push_queue queue{{100, 100, 400 * 1024}};
    const auto why = [&](const std::string& owner, std::uint64_t size, const std::string& agent) {
        auto one = delivery(1, lane_of(owner, "h", 1), agent);
        one.size = size;
        auto place = queue.reserve(one);
        if (place) {
            static std::uint64_t number = 0;
            one.number = ++number;
            queue.add(one, std::move(*place), start);
            return std::string{};
        }
        return place.error().detail;
    };
    CHECK(why("one", 99 * 1024, "a") == "");
    CHECK(why("one", 2048, "a") == "the principal has half of an agent's limits.push_queue_bytes");
    CHECK(why("two", 99 * 1024, "a") == "");
    CHECK(why("one", 150 * 1024, "b") == "the principal has half of limits.push_queue_bytes");
    CHECK(why("three", 150 * 1024, "b") == "");
}

TEST_CASE("A principal has at most half of an agent's attempts, and half of all, and a stranger's first is next")
{
    push_queue queue{{10'000, 1000, 10'000'000}};
    std::uint64_t number = 0;
    for (const std::string agent : {"a", "b", "c", "d", "e"}) {
        for (int i = 0; i < 40; ++i) {
            ++number;
            put(queue, delivery(number, lane_of("one", "h" + std::to_string(number), number), agent));
        }
    }
    std::map<std::string, std::size_t> begun;
    std::vector<std::string> lanes;
    while (const auto next = queue.next(start)) {
        ++begun[next->agent];
        lanes.push_back(next->lane);
    }
    CHECK(lanes.size() == gateway::push::most_under_way / 2);
    for (const auto& [agent, count] : begun) {
        CHECK(count <= gateway::push::most_under_way_of_agent / 2);
    }
    ++number;
    put(queue, delivery(number, lane_of("two", "h", number), "a"));
    CHECK(next_number(queue) == number);
    // Each that ends lets exactly one go on, until all have gone.
    std::size_t ended = 0;
    while (!lanes.empty()) {
        queue.finish(lanes.back(), start);
        lanes.pop_back();
        ++ended;
        while (const auto next = queue.next(start)) {
            lanes.push_back(next->lane);
        }
        CHECK(lanes.size() <= gateway::push::most_under_way / 2);
    }
    CHECK(ended == 200);
}

TEST_CASE("An agent's attempt that is free goes to whoever may have it, past those of a principal that may not")
{
    push_queue queue{{10'000, 1000, 10'000'000}};
    std::uint64_t number = 0;
    const auto add = [&](const std::string& owner, int count) {
        for (int i = 0; i < count; ++i) {
            ++number;
            put(queue, delivery(number, lane_of(owner, "h", number)), start - 1h + number * 1ms);
        }
    };
    add("one", 6);
    add("two", 8);
    add("three", 2);
    std::vector<store::delivery_facts> under_way;
    while (auto next = queue.next(start)) {
        under_way.push_back(std::move(*next));
    }
    REQUIRE(under_way.size() == gateway::push::most_under_way_of_agent);
    add("one", 100);
    add("four", 1);
    CHECK(next_number(queue) == 0);
    for (int i = 0; i < 2; ++i) {
        queue.finish(under_way[static_cast<std::size_t>(14 + i)].lane, start);
        CHECK(next_number(queue) != 0);
    }
    queue.finish(under_way[8].lane, start);
    CHECK(next_number(queue) == number);
}

TEST_CASE("A principal's free attempt goes to its lane of an idle agent, past its lanes of one that has no attempt left"
)
{
    push_queue queue{{10'000, 1000, 10'000'000}};
    std::uint64_t number = 0;
    const auto add = [&](const std::string& owner, const std::string& agent, int count) {
        for (int i = 0; i < count; ++i) {
            ++number;
            put(queue, delivery(number, lane_of(owner, "h", number), agent), start - 1h + number * 1ms);
        }
    };
    std::vector<std::string> of_one;
    const auto begin_all = [&](std::vector<std::string>& lanes) {
        while (const auto next = queue.next(start)) {
            lanes.push_back(next->lane);
        }
    };
    for (const std::string agent : {"a", "b", "c", "d"}) {
        add("one", agent, 8);
    }
    begin_all(of_one);
    REQUIRE(of_one.size() == gateway::push::most_under_way / 2);
    add("one", "full", 4);  // parked for their owner first
    add("one", "idle", 1);
    const auto to_idle = number;
    CHECK(next_number(queue) == 0);
    std::vector<std::string> of_others;
    add("two", "full", 8);
    add("three", "full", 8);
    begin_all(of_others);
    REQUIRE(of_others.size() == gateway::push::most_under_way_of_agent);
    queue.finish(of_one.back(), start);
    CHECK(next_number(queue) == to_idle);
    CHECK(next_number(queue) == 0);
    // Those for the agent go on as its attempts end.
    for (int i = 0; i < 4; ++i) {
        queue.finish(of_one[static_cast<std::size_t>(i)], start);
        queue.finish(of_others[static_cast<std::size_t>(i)], start);
        CHECK(next_number(queue) == 33 + static_cast<std::uint64_t>(i));
    }
}

TEST_CASE("A hook that has failed waits after hooks that have not, with all its tasks, until it answers")
{
    push_queue queue{{1000, 1000, 100'000}};
    for (std::uint64_t i = 1; i <= 3; ++i) {
        put(queue, delivery(i, lane_of("one", "bad", i)));
    }
    CHECK(next_number(queue) == 1);
    queue.try_again(lane_of("one", "bad", 1), start + 1s);
    put(queue, delivery(4, lane_of("one", "bad", 4)), start + 1ms);
    put(queue, delivery(5, lane_of("one", "good", 5)), start + 2ms);
    put(queue, delivery(6, lane_of("two", "bad", 6)), start + 3ms);
    const auto later = start + 1h;
    CHECK(next_number(queue, later) == 5);
    CHECK(next_number(queue, later) == 6);
    CHECK(next_number(queue, later) == 2);
    queue.finish(lane_of("one", "bad", 2), later);
    put(queue, delivery(7, lane_of("one", "bad", 7)), later);
    CHECK(next_number(queue, later) == 7);
    CHECK(next_number(queue, later) == 3);
    queue.finish(lane_of("one", "bad", 3), later, /*well=*/false);
    put(queue, delivery(8, lane_of("one", "bad", 8)), later);
    put(queue, delivery(9, lane_of("one", "good", 9)), later);
    CHECK(next_number(queue, later) == 9);
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
