#include "gateway/mcp/table/text_queue.hpp"

#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/signal.hpp"

#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/table/text_queue");

namespace {

using gateway::mcp::table::text_kind;
using gateway::mcp::table::text_queue;

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

TEST_CASE("A reader of answers alone gets no notification and is asked nothing")
{
    net::loop loop;
    text_queue queue{loop.get_executor()};
    queue.take_answers_only();
    CHECK(queue.push("note", text_kind::notification));
    CHECK_FALSE(queue.push("question", text_kind::question));
    queue.finish("answer");
    CHECK(queue.take() == "answer");
    CHECK(queue.over());
}

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
    const auto reader = gateway::mcp::table::answered(loop.get_executor(), "a");
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
    // Unless a question has not arrived.
    for (const bool taken : {false, true}) {
        std::vector<std::string> asked;
        queue = std::make_shared<text_queue>(loop.get_executor());
        queue->on_left([&](text_queue& of) { asked = of.take_questions(); });
        queue->push("question", text_kind::question);
        queue->push("answer", text_kind::answer);
        queue->close();
        if (taken) {
            CHECK(queue->take() == "question");
        }
        queue.reset();
        CHECK(asked == std::vector<std::string>{"question"});
    }
    queue = std::make_shared<text_queue>(loop.get_executor());
    queue->on_left([&](text_queue&) { ++left; });
    queue->push("question", text_kind::question);
    queue->close();
    CHECK(queue->take() == "question");
    queue->arrived();
    queue.reset();
    CHECK(left == 1);
    loop.io().poll();  // what was posted to tell the reader finds nobody
}

TEST_CASE("A reader that has left may come back, and is told of both; what it was asked waits again meanwhile")
{
    net::loop loop;
    int left = 0;
    int back = 0;
    const auto queue = std::make_shared<text_queue>(loop.get_executor());
    queue->on_left([&](text_queue&) { ++left; });
    queue->on_back([&] { ++back; });
    queue->push("a", text_kind::question);
    CHECK_FALSE(queue->repeats("a"));
    CHECK(queue->take() == "a");
    queue->leave();
    CHECK(left == 1);
    CHECK(queue->repeats("a"));
    CHECK_FALSE(queue->repeats("b"));
    queue->come_back();
    CHECK(back == 1);
    CHECK(queue->take() == "a");
    queue->arrived();
    queue->leave();
    CHECK(left == 2);
    CHECK_FALSE(queue->repeats("a"));
}

TEST_CASE("What waits again does so in another queue too")
{
    net::loop loop;
    text_queue from{loop.get_executor()};
    text_queue to{loop.get_executor()};
    from.on_left([](text_queue&) {});
    from.push("a", text_kind::question);
    from.push("b", text_kind::question);
    CHECK(from.take() == "a");
    from.leave();
    CHECK(from.move_to(to).empty());
    CHECK(to.repeats("a"));
    CHECK_FALSE(to.repeats("b"));
    CHECK(to.take() == "a");
    CHECK(to.take() == "b");
}

TEST_CASE("Whoever is told that the reader has left may close the queue")
{
    net::loop loop;
    int left = 0;
    text_queue queue{loop.get_executor()};
    queue.on_left([&left](text_queue& of) {
        of.fail(core::upstream_error(core::errc::upstream_timeout));
        ++left;
    });
    queue.leave();
    queue.leave();
    CHECK(left == 1);
    CHECK(queue.over());
}
