// How many tasks of callers of A2A are kept, for whom, and which are forgotten first.
#include "gateway/bridge/task_table.hpp"

#include "gateway/bridge/called_task.hpp"
#include "gateway/model/inner_calls.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/task_table");

namespace {

using gateway::bridge::called_task;
using gateway::bridge::task_table;

struct kept_text final : core::log_sink {
    void write(std::string_view lines) override { text += lines; }
    std::string text;
};

// Tasks whose calls never begin.
struct rig {
    explicit rig(task_table::limits most)
        : table{most}
    {
    }

    std::shared_ptr<called_task> make(std::string owner, const std::string& agent = "a")
    {
        called_task::identity who{"task-" + std::to_string(++made), "context", agent, std::move(owner)};
        return std::make_shared<called_task>(
            called_task::means{loop, calls, thread, log, table},
            std::move(who),
            mcp::tool_call{},
            nullptr,
            std::uint64_t{1024}
        );
    }

    // Null: there is no room for it.
    std::shared_ptr<called_task> add(const std::string& owner)
    {
        auto task = make(owner);
        return table.add(task) ? task : nullptr;
    }

    kept_text lines;
    core::logger log{lines, core::log_level::debug};
    net::loop loop;
    gateway::threads::side_thread thread;
    gateway::model::inner_callers callers;
    gateway::model::inner_calls calls{loop, callers, [](net::accepted_socket, const net::loop*) {}};
    task_table table;
    int made = 0;
};

bool knows(const rig& x, const called_task& task)
{
    return x.table.find(task.who().id, task.who().agent, task.who().owner) != nullptr;
}

}  // namespace

TEST_CASE("A table takes its limit of tasks and not one more, and one owner gets half")
{
    rig x{{.tasks = 4}};
    for (const auto* owner : {"ann", "ann", "bob"}) {
        REQUIRE(x.add(owner) != nullptr);
    }
    CHECK(x.add("ann") == nullptr);
    REQUIRE(x.add("bob") != nullptr);
    CHECK(x.table.size() == 4);
    CHECK(x.add("cid") == nullptr);
    CHECK(x.add("bob") == nullptr);
}

TEST_CASE("The bytes of tasks are limited too, and those of one owner to half")
{
    const auto one = rig{{}}.make("ann")->bytes();
    rig x{{.tasks = 100, .bytes = 4 * one}};
    REQUIRE(x.add("ann") != nullptr);
    REQUIRE(x.add("ann") != nullptr);
    CHECK(x.add("ann") == nullptr);
    REQUIRE(x.add("bob") != nullptr);
    REQUIRE(x.add("bob") != nullptr);
    CHECK(x.table.bytes() == 4 * one);
    CHECK(x.add("cid") == nullptr);
    rig less{{.tasks = 100, .bytes = 4 * one - 1}};
    REQUIRE(less.add("ann") != nullptr);
    CHECK(less.add("ann") == nullptr);
}

TEST_CASE("A task that has ended makes room: the owner's own where the owner has half, else the oldest")
{
    rig x{{.tasks = 4}};
    const auto first = x.add("bob");
    const auto second = x.add("ann");
    const auto third = x.add("ann");
    const auto fourth = x.add("bob");
    REQUIRE(fourth != nullptr);
    first->cancel();
    third->cancel();
    REQUIRE(x.add("ann") != nullptr);
    CHECK_FALSE(knows(x, *third));
    CHECK(knows(x, *first));
    REQUIRE(x.add("cid") != nullptr);
    CHECK_FALSE(knows(x, *first));
    CHECK(knows(x, *second));
    CHECK(x.add("cid") == nullptr);
    CHECK(x.table.size() == 4);
}

TEST_CASE("Only its owner finds a task, at its agent, and the one that has changed last is listed first")
{
    rig x{{}};
    const auto first = x.add("ann");
    const auto second = x.add("ann");
    const auto other = x.make("ann", "b");
    REQUIRE(x.table.add(other));
    REQUIRE(x.add("bob") != nullptr);
    CHECK(x.table.find(first->who().id, "a", "ann") == first);
    CHECK(x.table.find(first->who().id, "a", "bob") == nullptr);
    CHECK(x.table.find(first->who().id, "b", "ann") == nullptr);
    CHECK(x.table.find("none", "a", "ann") == nullptr);
    CHECK(x.table.of("a", "ann") == std::vector{second, first});
    first->cancel();
    CHECK(x.table.of("a", "ann") == std::vector{first, second});
    CHECK(first->state() == a2a::task_state::canceled);
    CHECK(
        x.lines.text.find(
            R"("event":"bridge_task","agent":"a","direction":"a2a_mcp","state":"canceled","reason":"caller")"
        ) != std::string::npos
    );
}

TEST_CASE("A table that has forgotten all tasks counts nothing")
{
    rig x{{}};
    const auto task = x.add("ann");
    task->fail("tool", "no");
    x.table.remove(task->who().id);
    x.table.remove(task->who().id);
    CHECK(x.table.size() == 0);
    CHECK(x.table.bytes() == 0);
    CHECK(x.table.of("a", "ann").empty());
}

TEST_SUITE_END();
