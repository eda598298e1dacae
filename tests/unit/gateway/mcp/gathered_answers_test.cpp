#include "gateway/mcp/table/gathered_answers.hpp"

#include "core/json/jsonrpc_server.hpp"
#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/table/gathered_answers");

using namespace mcp_path_test;
using gateway::mcp::table::gathered_answers;
using gateway::mcp::table::text_kind;

namespace {

struct gathered_rig {
    reader queue() { return std::make_shared<text_queue>(loop.get_executor()); }

    void poll()
    {
        loop.io().restart();
        loop.io().poll();
    }

    reader gather(std::vector<gathered_answers::member> members)
    {
        return all.gather(std::move(members), "agent", [this](const std::string& question) {
            refused.push_back(question);
        });
    }

    net::loop loop;
    std::vector<std::string> refused;
    gathered_answers all{loop.get_executor()};
};

// Sessions with programs of the legacy era.
class batch_rig : public translated_rig {
public:
    batch_rig()
    {
        server.era = core::mcp_era::legacy;
        publish();
    }

    std::string begin_session()
    {
        const auto reader = open(asked(program_act::begin, "", opening));
        auto batch = reader->take();
        REQUIRE(batch.has_value());
        CHECK(batch->texts == std::vector{opened});
        reader->next();
        poll();
        return batch->handle;
    }

    static program_request asked_batch(const std::string& handle, const std::vector<std::string>& texts)
    {
        auto out = asked(program_act::request, handle);
        for (const auto& each : texts) {
            const client_text read{each};
            const mcp::client_message& view = read;
            out.many.emplace_back(view);
        }
        return out;
    }
};

}  // namespace

TEST_CASE("Answers of a batch come as they are there, and a request that fails has an error with its id")
{
    gathered_rig x;
    const auto first = x.queue();
    const auto second = x.queue();
    const auto read = x.gather({{"1", first}, {R"("b")", second}});
    CHECK(next(read).empty());
    second->push(answer_text(R"("b")"), text_kind::answer);
    second->close();
    x.poll();
    CHECK(next(read) == answer_text(R"("b")"));
    CHECK(next(read).empty());
    first->push(message("", "notifications/progress"), text_kind::notification);
    first->fail(core::upstream_error(errc::upstream_timeout));
    x.poll();
    CHECK(next(read) == message("", "notifications/progress"));
    CHECK(next(read) == core::jsonrpc_error_body("1", errc::upstream_timeout, "agent"));
    CHECK(next(read) == "over");
}

TEST_CASE("A batch of which everything is answered at once is over at once")
{
    gathered_rig x;
    const auto failed = x.queue();
    failed->fail(core::gateway_error(errc::overloaded));
    const auto read = x.gather({{"1", failed}});
    CHECK(next(read) == core::jsonrpc_error_body("1", errc::overloaded, "agent"));
    CHECK(next(read) == "over");
}

TEST_CASE("A client that leaves lets go of all its calls, and a question that has not arrived there is refused")
{
    gathered_rig x;
    auto first = x.queue();
    auto second = x.queue();
    auto& asks = *first;
    int left = 0;
    first->on_left([&](text_queue& /*queue*/) { ++left; });
    second->on_left([&](text_queue& /*queue*/) { ++left; });
    std::vector<gathered_answers::member> members;
    members.push_back({"1", std::move(first)});
    members.push_back({"2", std::move(second)});
    auto read = x.gather(std::move(members));
    asks.push(message("5", "roots/list"), text_kind::question);
    x.poll();
    CHECK(next(read) == message("5", "roots/list"));
    read->arrived();
    asks.push(message("6", "roots/list"), text_kind::question);
    x.poll();
    CHECK(next(read) == message("6", "roots/list"));
    asks.push(message("7", "roots/list"), text_kind::question);
    x.poll();
    CHECK(left == 0);
    CHECK(x.refused.empty());
    read.reset();
    CHECK(left == 2);
    std::ranges::sort(x.refused);
    CHECK(x.refused == std::vector{message("6", "roots/list"), message("7", "roots/list")});
}

TEST_CASE("A question whose call is answered before it has arrived is open until the client leaves, and is refused then"
)
{
    gathered_rig x;
    std::vector<std::string> of_call;
    auto asks = x.queue();
    asks->on_left([&](text_queue& queue) { of_call = queue.take_questions(); });
    auto read = x.gather({{"1", asks}});
    SUBCASE("it was taken")
    {
        asks->push(message("5", "roots/list"), text_kind::question);
        x.poll();
        CHECK(next(read) == message("5", "roots/list"));
        asks->finish(answer_text("1"));
        x.poll();
    }
    SUBCASE("it waits")
    {
        asks->push(message("5", "roots/list"), text_kind::question);
        asks->finish(answer_text("1"));
        x.poll();
    }
    asks.reset();
    CHECK(of_call.empty());
    CHECK(x.refused.empty());
    read.reset();
    CHECK(x.refused == std::vector{message("5", "roots/list")});
}

TEST_CASE("A question that the client has no room for is refused at once")
{
    gathered_rig x;
    const auto asks = x.queue();
    const auto read = x.gather({{"1", asks}});
    const std::string all_room(text_queue::most_bytes, ' ');
    asks->push(message("5", "roots/list", all_room + "{}"), text_kind::question);
    x.poll();
    CHECK(x.refused.empty());
    asks->push(message("6", "roots/list"), text_kind::question);
    x.poll();
    CHECK(x.refused == std::vector{message("6", "roots/list")});
}

TEST_CASE("A program hears that a question of a batch has not reached its client, also once it has answered the call")
{
    batch_rig x;
    const auto session = x.begin_session();
    auto reader = x.open(x.asked_batch(session, {message("1", "tools/call"), message("2", "tools/call")}));
    x.say(message("5", "roots/list"));
    CHECK(reader->take()->texts == std::vector{message("5", "roots/list")});
    SUBCASE("it has answered all")
    {
        x.say(answer_text("1"));
        x.say(answer_text("2"));
    }
    SUBCASE("it has answered none") {}
    const auto& lines = x.programs.lines[0];
    CHECK(lines.size() == 3);
    reader.reset();
    x.poll();
    REQUIRE(lines.size() == 4);
    CHECK(lines.back().find(R"("id":5,"error":{"code":-32601)") != std::string::npos);
}

TEST_CASE("The messages of a batch go on one by one, and their answers come as they are there")
{
    batch_rig x;
    const auto session = x.begin_session();
    const auto told = message("", "notifications/roots/list_changed");
    const auto reader = x.open(x.asked_batch(session, {message("1", "tools/list"), told, message("2", "tools/call")}));
    const auto& lines = x.programs.lines[0];
    REQUIRE(lines.size() == 4);
    CHECK(lines[1] == message("1", "tools/list"));
    CHECK(lines[2] == told);
    CHECK(lines[3] == message("2", "tools/call"));
    x.programs.say(answer_text("2"));
    x.poll();
    auto batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts == std::vector{answer_text("2")});
    CHECK_FALSE(batch->over);
    reader->next();
    x.programs.say(answer_text("1"));
    x.poll();
    batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts == std::vector{answer_text("1")});
    CHECK(batch->over);
}

TEST_CASE("A batch without requests has no answer, and one of an unknown session is none")
{
    batch_rig x;
    const auto session = x.begin_session();
    const auto told = message("", "notifications/roots/list_changed");
    const auto reader = x.open(x.asked_batch(session, {told, told}));
    const auto batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->over);
    CHECK(batch->texts.empty());
    CHECK_FALSE(batch->failure.has_value());
    CHECK(x.all(x.asked_batch("0123456789abcdef", {told})) == "session_not_found");
    CHECK(x.all(x.asked_batch("0123456789abcdef", {told, message("1", "ping")})) == "session_not_found");
}

TEST_CASE("Each request of a batch is a call in flight, and one beyond 64 has an error of its own")
{
    for (const std::size_t requests : {63U, 64U, 65U}) {
        batch_rig x;
        const auto session = x.begin_session();
        std::vector<std::string> texts;
        for (std::size_t i = 1; i <= requests; ++i) {
            texts.push_back(message(std::to_string(i), "tools/call"));
        }
        const auto reader = x.open(x.asked_batch(session, texts));
        const auto batch = reader->take();
        CHECK(batch.has_value() == (requests == 65));
        if (batch) {
            REQUIRE(batch->texts.size() == 1);
            CHECK(batch->texts[0].find(R"("id":65,)") != std::string::npos);
            CHECK(batch->texts[0].find(R"("code":"overloaded")") != std::string::npos);
            CHECK_FALSE(batch->over);
        }
        CHECK(x.programs.lines[0].size() == 1 + std::min<std::size_t>(requests, 64));
    }
}

TEST_SUITE_END();
