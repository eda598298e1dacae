// One call of a tool as a task: how it goes on with what the server says, what it counts for, and when it is forgotten.
#include "gateway/bridge/called_task.hpp"

#include "gateway/bridge/task_table.hpp"
#include "tests/unit/gateway/bridge/inner_rig.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("gateway/called_task");

namespace {

using a2a::task_state;
using gateway::bridge::called_task;
using gateway::bridge::task_table;
using tests::inner_rig;
using namespace std::chrono_literals;

std::string progress(std::size_t size)
{
    return R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":")" +
           std::string(size, 'p') + R"("}})";
}

std::string result(std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":")" +
           std::string{text} + R"("}]}})";
}

std::string question(std::string_view key, std::size_t size)
{
    return '"' + std::string{key} + R"(":{"method":"elicitation/create","params":{"message":")" +
           std::string(size, 'q') + R"(","requestedSchema":{"type":"object","properties":{"x":{"type":"string"}}}}})";
}

std::string questions(const std::string& raw)
{
    return R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{)" +
           raw + "}}}";
}

struct rig : inner_rig {
    explicit rig(std::size_t bytes = task_table::limits{}.bytes)
        : table{{.tasks = 100, .bytes = bytes}}
    {
    }

    // It has arguments of this size. Null: there is no room for it.
    std::shared_ptr<called_task> add(std::size_t arguments = 2)
    {
        called_task::identity who{"task-" + std::to_string(++made), "context", "a", "ann"};
        mcp::tool_call call{.name = "t", .arguments = R"({"a":")" + std::string(arguments, 'a') + R"("})"};
        const called_task::means means{loop, calls, thread, log, table};
        auto task =
            std::make_shared<called_task>(means, std::move(who), std::move(call), nobody, std::uint64_t{1024 * 1024});
        return table.add(task) ? task : nullptr;
    }

    task_table table;
    int made = 0;
};

}  // namespace

TEST_CASE("A task whose server answered with a stream is kept for an hour, however soon the stream ends")
{
    rig x;
    x.server.say(result("done"));
    const auto task = x.add();
    task->begin();
    REQUIRE(x.comes_true([&] { return task->state() == task_state::completed; }));
    const auto is_kept = [&] {
        return task->due() > x.loop.now() + called_task::kept_for - 1min && task->due() < net::never;
    };
    CHECK(x.comes_true(is_kept));
    CHECK(x.table.size() == 1);
}

TEST_CASE("A result behind a long message about progress is not lost")
{
    rig x;
    x.server.say(progress(300 * 1024));
    SUBCASE("a short one")
    {
        x.server.say(result("done"));
    }
    SUBCASE("a long one")
    {
        x.server.say(result(std::string(300 * 1024, 'r')));
    }
    SUBCASE("and long ones about progress before")
    {
        x.server.say(progress(500 * 1024));
        x.server.say(progress(500 * 1024));
        x.server.say(result("done"));
    }
    const auto task = x.add();
    task->begin();
    CHECK(x.comes_true([&] { return task->has_ended(); }));
    CHECK(task->state() == task_state::completed);
    CHECK_FALSE(task->view().artifact.empty());
}

TEST_CASE("A task counts with its arguments before its call begins")
{
    const auto one = rig{}.add(100'000)->bytes();
    CHECK(one > 100'000);
    rig x{4 * one};
    CHECK(x.add(100'000) != nullptr);
    CHECK(x.add(100'000) != nullptr);
    CHECK(x.add(100'000) == nullptr);
    CHECK(x.table.bytes() == 2 * one);
}

TEST_CASE("A task counts with the questions of its server and the answers to them")
{
    rig x;
    x.server.say(questions(question("one", 50'000) + ',' + question("two", 50'000)));
    const auto task = x.add();
    task->begin();
    REQUIRE(x.comes_true([&] { return task->state() == task_state::input_required; }));
    CHECK(x.table.bytes() == task->bytes());
    CHECK(x.table.bytes() > 150'000);
    mcp::a2a_message said;
    said.text = std::string(100'000, 'x');
    REQUIRE(task->answer(said, x.nobody).has_value());
    CHECK(task->state() == task_state::input_required);
    CHECK(x.table.bytes() == task->bytes());
    CHECK(x.table.bytes() > 200'000);
}

TEST_CASE("A task fails whose questions, or the answers to them, find no room")
{
    rig x{600'000};
    SUBCASE("questions")
    {
        x.server.say(questions(question("one", 200'000)));
    }
    SUBCASE("answers")
    {
        x.server.say(questions(question("one", 20'000) + ',' + question("two", 20'000)));
    }
    const auto task = x.add();
    task->begin();
    REQUIRE(x.comes_true([&] { return task->state() != task_state::working; }));
    if (task->state() == task_state::input_required) {
        mcp::a2a_message said;
        said.text = std::string(300'000, 'x');
        REQUIRE(task->answer(said, x.nobody).has_value());
    }
    CHECK(task->state() == task_state::failed);
    CHECK(x.table.bytes() == task->bytes());
    CHECK(x.table.bytes() < 10'000);
    CHECK(x.server.calls == 1);
}

TEST_CASE("A message about progress for which there is no room is left out, and the task goes on")
{
    rig x{300'000};
    x.server.say(progress(200'000));
    x.server.say(result("done"));
    const auto task = x.add();
    task->begin();
    REQUIRE(x.comes_true([&] { return task->has_ended(); }));
    CHECK(task->state() == task_state::completed);
}

TEST_SUITE_END();
