#include "gateway/mcp/table/resumable_streams.hpp"

#include "net/loop/loop.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/table/resumable_streams");

using namespace std::chrono_literals;
using core::errc;
using gateway::mcp::table::resumable_streams;
using gateway::mcp::table::stream_reader;
using gateway::mcp::table::text_kind;
using gateway::mcp::table::text_queue;
using gateway::model::program_batch;

namespace {

class one_reader final : public stream_reader {
public:
    explicit one_reader(std::shared_ptr<text_queue> of)
        : queue{std::move(of)}
    {
    }
    std::shared_ptr<text_queue> give_up() override { return std::exchange(queue, nullptr); }

    std::shared_ptr<text_queue> queue;
};

struct streams_rig {
    explicit streams_rig(const mcp::replay_limits& limits = {})
        : streams{[this] { return now; }, limits}
    {
    }

    void poll()
    {
        loop.io().restart();
        loop.io().poll();
    }

    std::uint64_t open(const std::string& call = "5", const std::string& session = "s")
    {
        reader = std::make_shared<one_reader>(queue);
        return streams.open({session, "a", call}, reader);
    }

    // The ids of what goes out.
    std::vector<std::string> send(std::uint64_t stream)
    {
        auto batch = gateway::mcp::table::take_batch(*queue);
        streams.keep(stream, batch);
        std::vector<std::string> ids;
        for (const auto& each : batch.events) {
            ids.push_back(each.id);
        }
        return ids;
    }

    void park(std::uint64_t stream) { streams.park(stream, reader->give_up()); }

    // What was missed, then "over" if nothing follows; or the failure's name.
    std::string resume(const std::string& place, const std::string& session = "s")
    {
        auto found = streams.resume(*mcp::event_position::read(place), session);
        if (!found) {
            return std::string{core::name(found.error().code)};
        }
        std::string text;
        for (const auto& each : found->batch.events) {
            text += *each.text + ' ';
        }
        CHECK(found->batch.place == place);
        queue = found->queue;
        return text + (found->batch.over ? "over" : "");
    }

    net::loop loop;
    core::steady_time now{1h};
    resumable_streams streams;
    std::shared_ptr<text_queue> queue = std::make_shared<text_queue>(loop.get_executor());
    std::shared_ptr<one_reader> reader;
};

}  // namespace

TEST_CASE("What is sent has ids in order, and comes again behind each of them")
{
    streams_rig x;
    const auto stream = x.open();
    const auto begun = x.streams.place(stream);
    x.queue->push("one", text_kind::notification);
    x.queue->push("two", text_kind::answer);
    x.queue->close();
    const auto ids = x.send(stream);
    REQUIRE(ids.size() == 2);
    CHECK(x.resume(begun) == "one two over");
    CHECK(x.resume(ids[0]) == "two over");
    CHECK(x.resume(ids[1]) == "over");
    CHECK(x.resume(ids[1], "other") == "events_gone");
    CHECK(x.resume("1-1") == "events_gone");
    x.now += 5min;
    CHECK(x.resume(ids[1]) == "events_gone");
}

TEST_CASE("What comes while nobody reads is kept, and what comes then is the next reader's")
{
    streams_rig x;
    const auto stream = x.open();
    const auto begun = x.streams.place(stream);
    x.queue->push("sent", text_kind::notification);
    CHECK(x.send(stream).size() == 1);
    const auto queue = x.queue;
    queue->push("waits", text_kind::notification);
    x.park(stream);
    queue->push("comes", text_kind::notification);
    x.poll();
    CHECK_FALSE(queue->take().has_value());
    CHECK(x.resume(begun) == "sent waits comes ");
    CHECK(x.queue == queue);
    queue->push("later", text_kind::answer);
    x.poll();
    CHECK(queue->take() == "later");
}

TEST_CASE("A stream that somebody reads goes to whoever resumes it")
{
    streams_rig x;
    const auto stream = x.open();
    const auto queue = x.queue;
    CHECK(x.resume(x.streams.place(stream)).empty());
    CHECK(x.queue == queue);
    CHECK(x.reader->queue == nullptr);
}

TEST_CASE("A failure is the last event of a call, with the call's id")
{
    streams_rig x;
    const auto stream = x.open("\"five\"");
    const auto begun = x.streams.place(stream);
    bool parked = false;
    SUBCASE("somebody reads") {}
    SUBCASE("nobody does")
    {
        parked = true;
        x.park(stream);
    }
    x.queue->fail(core::upstream_error(errc::upstream_reset));
    x.poll();
    if (!parked) {
        auto batch = gateway::mcp::table::take_batch(*x.queue);
        x.streams.keep(stream, batch);
        CHECK(batch.told);
        CHECK(batch.texts.empty());
        CHECK(batch.failure->code == errc::upstream_reset);
    }
    const auto told = x.resume(begun);
    CHECK(told.starts_with(R"({"jsonrpc":"2.0","id":"five","error":)"));
    CHECK(told.find(R"("code":"upstream_reset")") != std::string::npos);
    CHECK(told.ends_with("over"));
}

TEST_CASE("What is said unasked is one stream of the session, which goes on when a reader's part is over")
{
    streams_rig x;
    const auto stream = x.open("");
    x.queue->push("one", text_kind::notification);
    x.queue->close();
    const auto ids = x.send(stream);
    REQUIRE(ids.size() == 1);
    x.queue = std::make_shared<text_queue>(x.loop.get_executor());
    CHECK(x.open("") == stream);
    CHECK(x.streams.place(stream) == ids[0]);
    x.queue->push("two", text_kind::notification);
    CHECK(x.send(stream).size() == 1);
    CHECK(x.resume(ids[0]) == "two ");
    // The session has the next queue.
    CHECK(x.queue == nullptr);
    CHECK(x.reader->queue == nullptr);
    CHECK(x.open("", "other") != stream);
}

TEST_CASE("What is said unasked waits at the session while nobody listens")
{
    int left = 0;
    streams_rig x;
    const auto stream = x.open("");
    x.queue->on_left([&left](text_queue&) { ++left; });
    auto queue = std::exchange(x.queue, nullptr);
    x.reader->queue = nullptr;
    x.streams.park(stream, std::move(queue));
    CHECK(left == 1);
    CHECK(x.resume(x.streams.place(stream)).empty());
}

TEST_CASE("A question waits 15 s for a client that is away, then leaves the stream, whose client may come back")
{
    std::vector<std::string> refused;
    int back = 0;
    streams_rig x;
    x.queue->on_left([&refused](text_queue& of) {
        for (auto& each : of.take_questions()) {
            refused.push_back(std::move(each));
        }
    });
    x.queue->on_back([&back] { ++back; });
    const auto stream = x.open();
    const auto begun = x.streams.place(stream);
    x.park(stream);
    x.queue->push("question", text_kind::question);
    x.poll();
    x.now += resumable_streams::patience - 1ms;
    x.streams.sweep(x.now);
    CHECK(refused.empty());
    SUBCASE("it comes in time")
    {
        CHECK(x.resume(begun) == "question ");
        x.queue->arrived();
        x.now += 1h;
        x.streams.sweep(x.now);
        CHECK(refused.empty());
    }
    SUBCASE("it is late")
    {
        x.now += 1ms;
        x.streams.sweep(x.now);
        x.streams.sweep(x.now);
        CHECK(refused == std::vector<std::string>{"question"});
        x.queue->push("more", text_kind::notification);
        x.poll();
        CHECK(x.resume(begun) == "question more ");
    }
    CHECK(back == 1);
}

TEST_CASE("With its session a stream is forgotten, and what still goes out has no id")
{
    streams_rig x;
    const auto stream = x.open();
    const auto begun = x.streams.place(stream);
    x.queue->push("one", text_kind::notification);
    CHECK(x.send(stream).size() == 1);
    x.streams.forget("s");
    CHECK(x.streams.bytes() == 0);
    CHECK(x.resume(begun) == "events_gone");
    CHECK(x.streams.place(stream).empty());
    x.queue = std::make_shared<text_queue>(x.loop.get_executor());
    x.queue->push("late", text_kind::notification);
    CHECK(x.send(stream) == std::vector<std::string>{""});
    x.streams.park(stream, std::exchange(x.queue, nullptr));
}

TEST_CASE("What follows an event is all of it or nothing")
{
    streams_rig x{{.events = 2}};
    const auto stream = x.open();
    const auto begun = x.streams.place(stream);
    x.park(stream);
    for (const auto* const each : {"a", "b"}) {
        x.queue->push(each, text_kind::notification);
    }
    x.poll();
    SUBCASE("as many as are kept")
    {
        CHECK(x.resume(begun) == "a b ");
    }
    SUBCASE("one more")
    {
        x.queue->push("c", text_kind::notification);
        x.poll();
        CHECK(x.resume(begun) == "events_gone");
        const auto first = begun.substr(0, begun.find('-')) + "-1";
        CHECK(x.resume(first) == "b c ");
    }
}

TEST_CASE("A listener that has missed what is gone is told so once, and then gets what comes")
{
    streams_rig x{{.events = 1}};
    const auto stream = x.open("");
    const auto begun = x.streams.place(stream);
    x.queue->push("a", text_kind::notification);
    x.queue->push("b", text_kind::notification);
    const auto ids = x.send(stream);
    REQUIRE(ids.size() == 2);
    CHECK(x.resume(begun) == "events_gone");
    auto again = x.streams.resume(*mcp::event_position::read(begun), "s");
    REQUIRE(again.has_value());
    CHECK(again->unasked);
    CHECK(again->batch.events.empty());
    CHECK_FALSE(again->batch.over);
    CHECK(again->batch.place == ids[1]);
    // Of the event that it has there is no such gap.
    CHECK(x.resume(ids[0]) == "b ");
}

TEST_CASE("A call that has missed what is gone is told so each time")
{
    streams_rig x{{.events = 1}};
    const auto stream = x.open();
    const auto begun = x.streams.place(stream);
    x.queue->push("a", text_kind::notification);
    x.queue->push("b", text_kind::notification);
    x.send(stream);
    CHECK(x.resume(begun) == "events_gone");
    CHECK(x.resume(begun) == "events_gone");
}

TEST_CASE("Without memory nothing is kept")
{
    CHECK(streams_rig{}.streams.keeps());
    CHECK(streams_rig{{.bytes = 1}}.streams.keeps());
    CHECK_FALSE(streams_rig{{.bytes = 0}}.streams.keeps());
}

TEST_SUITE_END();
