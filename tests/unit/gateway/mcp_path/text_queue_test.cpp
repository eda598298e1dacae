#include "gateway/mcp_path/text_queue.hpp"

#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/signal.hpp"

#include <doctest/doctest.h>

#include <exception>
#include <string>

TEST_SUITE_BEGIN("gateway/mcp_path/text_queue");

namespace {

using gateway::mcp_path::text_kind;
using gateway::mcp_path::text_queue;

net::routine<> read_all(std::shared_ptr<text_queue> queue, std::string* into)
{
    net::signal wake;
    queue->set_wake([&wake] { wake.set(); });
    while (!queue->over()) {
        while (auto text = queue->take()) {
            *into += *text;
        }
        if (!queue->over()) {
            co_await wake.wait();
        }
    }
    queue->set_wake({});
}

}  // namespace

TEST_CASE("A reader gets each text in order, and hears of the end")
{
    net::loop loop;
    auto queue = std::make_shared<text_queue>(loop.get_executor());
    std::string all;
    bool done = false;
    auto reading = read_all(queue, &all);
    net::start(std::move(reading), [&](const std::exception_ptr& failure) { done = failure == nullptr; });
    queue->push("a", text_kind::notification);
    queue->push("b", text_kind::question);
    CHECK(all.empty());
    loop.io().poll();
    CHECK(all == "ab");
    queue->push("c", text_kind::answer);
    queue->close();
    CHECK_FALSE(queue->push("d", text_kind::notification));
    loop.io().restart();
    loop.io().poll();
    CHECK(all == "abc");
    CHECK(done);
    CHECK_FALSE(queue->failure());
}

TEST_CASE("Of what a slow reader leaves, the oldest notifications go, and no question or answer")
{
    net::loop loop;
    text_queue queue{loop.get_executor()};
    queue.push("question", text_kind::question);
    for (std::size_t each = 0; each < text_queue::most_texts - 1; ++each) {
        queue.push(std::to_string(each), text_kind::notification);
    }
    CHECK_FALSE(queue.push("no room", text_kind::question));
    queue.push("answer", text_kind::answer);
    CHECK(queue.take() == "question");
    CHECK(queue.take() == "1");
    std::string last;
    while (auto text = queue.take()) {
        last = *text;
    }
    CHECK(last == "answer");
}

TEST_CASE("The bytes that wait are bounded, but one message of any length is taken")
{
    net::loop loop;
    text_queue queue{loop.get_executor()};
    CHECK(queue.push(std::string(text_queue::most_bytes, 'a'), text_kind::notification));
    CHECK_FALSE(queue.push("b", text_kind::question));
    CHECK(queue.push("c", text_kind::notification));
    CHECK(queue.take() == "c");
    CHECK(queue.push(std::string(text_queue::most_bytes + 1, 'd'), text_kind::question));
    CHECK(queue.take()->size() == text_queue::most_bytes + 1);
}

TEST_CASE("A request that is answered already has its answer and nothing behind it")
{
    net::loop loop;
    const auto reader = gateway::mcp_path::answered(loop.get_executor(), "a");
    CHECK_FALSE(reader->over());
    CHECK(reader->take() == "a");
    CHECK(reader->over());
    CHECK_FALSE(reader->failure().has_value());
}

TEST_CASE("Whoever lets go of a queue is told to have left, but not once it is over")
{
    net::loop loop;
    int left = 0;
    auto queue = std::make_shared<text_queue>(loop.get_executor());
    queue->on_left([&](text_queue&) { ++left; });
    queue.reset();
    CHECK(left == 1);
    queue = std::make_shared<text_queue>(loop.get_executor());
    queue->on_left([&](text_queue&) { ++left; });
    queue->fail(core::upstream_error(core::errc::upstream_reset));
    CHECK(queue->over());
    queue.reset();
    CHECK(left == 1);
    loop.io().poll();  // what was posted to tell the reader finds nobody
}
