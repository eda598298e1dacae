#include "gateway/telemetry/span_text.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>

TEST_SUITE_BEGIN("gateway/span_queue");

namespace {

using namespace std::chrono_literals;
using gateway::telemetry::span_queue;

constexpr core::steady_time begun{1h};

// Numbered from `first`.
gateway::model::span_batch spans(std::size_t count, core::span_id first = 1)
{
    gateway::model::span_batch batch;
    for (std::size_t i = 0; i < count; ++i) {
        gateway::model::span span;
        span.at.span = first + i;
        batch.spans.push_back(span);
    }
    return batch;
}

}  // namespace

TEST_CASE("an empty queue is never due")
{
    const span_queue queue;
    CHECK_FALSE(queue.due(begun + 24h));
}

TEST_CASE("a batch is due when it is full, and not one span before")
{
    span_queue queue;
    queue.add(spans(span_queue::batch - 1), begun);
    CHECK_FALSE(queue.due(begun));
    queue.add(spans(1), begun);
    CHECK(queue.due(begun));
}

TEST_CASE("a batch is due when its first span has waited for five seconds, and not before")
{
    span_queue queue;
    queue.add(spans(1), begun);
    queue.add(spans(1), begun + 4s);
    CHECK_FALSE(queue.due(begun + 4'999ms));
    CHECK(queue.due(begun + 5s));
    CHECK(queue.take().size() == 2);
    queue.add(spans(1), begun + 6s);
    CHECK_FALSE(queue.due(begun + 10'999ms));
    CHECK(queue.due(begun + 11s));
}

TEST_CASE("the oldest go first, a batch at a time")
{
    span_queue queue;
    queue.add(spans(span_queue::batch), begun);
    queue.add(spans(2, 1'000'000), begun);
    const auto first = queue.take();
    REQUIRE(first.size() == span_queue::batch);
    CHECK(first.front().at.span == 1);
    CHECK(first.back().at.span == span_queue::batch);
    const auto rest = queue.take();
    REQUIRE(rest.size() == 2);
    CHECK(rest.front().at.span == 1'000'000);
    CHECK(queue.take().empty());
}

TEST_CASE("what finds no room is dropped and counted, with what was dropped before")
{
    span_queue queue;
    queue.add(spans(span_queue::most - 1), begun);
    CHECK(queue.dropped() == 0);
    queue.add(spans(1), begun);
    CHECK(queue.dropped() == 0);
    queue.add(spans(1), begun);
    CHECK(queue.dropped() == 1);
    auto batch = spans(2);
    batch.dropped = 10;
    queue.add(batch, begun);
    CHECK(queue.dropped() == 13);
    CHECK(queue.size() == span_queue::most);
    queue.take();
    queue.add(spans(1), begun);
    CHECK(queue.dropped() == 13);
}

TEST_SUITE_END();
