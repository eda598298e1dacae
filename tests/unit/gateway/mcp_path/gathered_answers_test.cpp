#include "gateway/mcp_path/gathered_answers.hpp"

#include "core/json/jsonrpc_server.hpp"
#include "tests/unit/gateway/mcp_path/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp_path/gathered_answers");

using namespace mcp_path_test;
using gateway::mcp_path::gathered_answers;
using gateway::mcp_path::text_kind;

namespace {

struct gathered_rig {
    reader queue() { return std::make_shared<text_queue>(loop.get_executor()); }

    void poll()
    {
        loop.io().restart();
        loop.io().poll();
    }

    net::loop loop;
    gathered_answers all{loop.get_executor()};
};

}  // namespace

TEST_CASE("Answers of a batch come as they are there, and a request that fails has an error with its id")
{
    gathered_rig x;
    const auto first = x.queue();
    const auto second = x.queue();
    const auto read = x.all.gather({{"1", first}, {R"("b")", second}}, "agent");
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
    const auto read = x.all.gather({{"1", failed}}, "agent");
    CHECK(next(read) == core::jsonrpc_error_body("1", errc::overloaded, "agent"));
    CHECK(next(read) == "over");
}

TEST_CASE("A client that leaves lets go of all its calls, and a question that it has not answered is refused")
{
    gathered_rig x;
    auto first = x.queue();
    auto second = x.queue();
    auto& asks = *first;
    std::vector<std::string> refused;
    int left = 0;
    first->on_left([&](text_queue& queue) {
        refused = queue.take_questions();
        ++left;
    });
    second->on_left([&](text_queue& /*queue*/) { ++left; });
    std::vector<gathered_answers::member> members;
    members.push_back({"1", std::move(first)});
    members.push_back({"2", std::move(second)});
    auto read = x.all.gather(std::move(members), "agent");
    asks.push(message("5", "roots/list"), text_kind::question);
    x.poll();
    CHECK(next(read) == message("5", "roots/list"));
    CHECK(left == 0);
    read.reset();
    CHECK(left == 2);
    CHECK(refused == std::vector{message("5", "roots/list")});
}

TEST_SUITE_END();
