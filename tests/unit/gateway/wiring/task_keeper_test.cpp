#include "gateway/wiring/task_keeper.hpp"

#include "store/memory.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/wiring/task_keeper");

namespace {

using namespace std::chrono_literals;
using gateway::access::task_index;

// What a store has, beside the engines that gateways open on it one after the other.
struct disk {
    std::vector<store::kept_task> tasks;
    bool fails = false;
    int writes = 0;
    int trims = 0;
};

// Keeps tasks on the disk; nothing else of it is asked here.
class engine_of final : public store::engine {
public:
    engine_of(disk& on, bool durable)
        : disk_{on},
          durable_{durable}
    {
    }

    bool durable() const noexcept override { return durable_; }
    core::result<std::vector<store::record>> load() override { return memory_->load(); }
    core::result<std::optional<store::record>> find(std::string id) override { return memory_->find(std::move(id)); }
    core::result<store::record> put(std::string id, std::string definition, store::author by) override
    {
        return memory_->put(std::move(id), std::move(definition), std::move(by));
    }
    core::result<std::uint64_t> remove(std::string id, store::author by) override
    {
        return memory_->remove(std::move(id), std::move(by));
    }
    core::result<std::vector<store::change>> changes(std::uint64_t after, std::size_t most) override
    {
        return memory_->changes(after, most);
    }
    core::result<> keep_cards(std::vector<store::kept_card> cards) override
    {
        return memory_->keep_cards(std::move(cards));
    }
    core::result<std::optional<store::kept_card>> card(std::string agent) override
    {
        return memory_->card(std::move(agent));
    }
    core::result<> keep_card_version(store::card_version version) override
    {
        return memory_->keep_card_version(std::move(version));
    }
    core::result<std::vector<store::card_version>> card_versions(std::string agent) override
    {
        return memory_->card_versions(std::move(agent));
    }
    core::result<> keep_document(store::kept_document) override { return {}; }
    core::result<> drop_document(std::string, std::string) override { return {}; }
    core::result<std::vector<store::kept_document>> documents(std::string) override
    {
        return std::vector<store::kept_document>{};
    }
    core::result<core::secret> session_key(core::secret made) override { return memory_->session_key(std::move(made)); }

    core::result<std::optional<std::uint64_t>> keep_delivery(store::kept_delivery delivery) override
    {
        return memory_->keep_delivery(std::move(delivery));
    }
    core::result<std::vector<store::delivery_facts>> deliveries() override { return memory_->deliveries(); }
    core::result<std::optional<store::kept_delivery>> delivery(std::uint64_t number) override
    {
        return memory_->delivery(number);
    }
    core::result<> drop_delivery(std::uint64_t number) override { return memory_->drop_delivery(number); }

    core::result<> keep_tasks(std::vector<store::kept_task> tasks) override
    {
        ++disk_.writes;
        if (disk_.fails) {
            return failure();
        }
        for (const auto& each : tasks) {
            std::erase_if(disk_.tasks, [&](const store::kept_task& there) { return there.name == each.name; });
            disk_.tasks.push_back(each);
        }
        return {};
    }
    core::result<> trim_tasks(core::wall_time since, std::size_t) override
    {
        ++disk_.trims;
        std::erase_if(disk_.tasks, [&](const store::kept_task& there) { return there.seen < since; });
        return {};
    }
    core::result<std::vector<store::kept_task>> tasks() override
    {
        return disk_.fails ? core::result<std::vector<store::kept_task>>{failure()}
                           : core::result<std::vector<store::kept_task>>{disk_.tasks};
    }

private:
    static core::error failure() { return core::gateway_error(core::errc::store_failed, "the disk"); }

    disk& disk_;
    bool durable_;
    std::unique_ptr<store::engine> memory_ = store::make_memory();
};

class lines final : public core::log_sink {
public:
    void write(std::string_view text) override { all += text; }

    std::size_t count(std::string_view event) const
    {
        std::size_t n = 0;
        for (auto at = all.find(event); at != std::string::npos; at = all.find(event, at + 1)) {
            ++n;
        }
        return n;
    }

    std::string all;
};

struct rig {
    explicit rig(disk& on, bool durable = true, const std::string& secret = "lasting")
        : store{std::make_unique<engine_of>(on, durable)}
    {
        keeper.emplace(loop, store, log, settings, core::secret{secret}, [this] { return wall; });
    }

    void note(const std::string& task)
    {
        keeper->index()
            .note("a", task, {keeper->index().owner_of(nullptr), 0}, std::nullopt, std::chrono::steady_clock::now());
    }
    bool knows(const std::string& task)
    {
        const auto found = keeper->index().find("a", task, std::chrono::steady_clock::now());
        return found && found->whose == keeper->index().owner_of(nullptr);
    }
    void sweep(core::duration after)
    {
        keeper->on_sweep(start + after);
        finish();
    }
    void finish()
    {
        while (keeper->busy()) {
            loop.io().run_one();
        }
    }

    core::steady_time start = std::chrono::steady_clock::now();
    core::wall_time wall{1'000'000h};
    config::settings settings;
    lines sink;
    core::logger log{sink, core::log_level::debug};
    net::loop loop;
    gateway::threads::store_thread store;
    std::optional<gateway::wiring::task_keeper> keeper;
};

}  // namespace

TEST_CASE("A gateway that starts again knows the tasks that were written, and none of a store with another key")
{
    disk on;
    {
        rig x{on};
        x.note("t");
        x.sweep(0s);
        CHECK(on.tasks.size() == 1);
    }
    rig next{on};
    CHECK(next.knows("t"));
    CHECK_FALSE(next.knows("u"));
    rig other{on, true, "another"};
    CHECK_FALSE(other.knows("t"));
}

TEST_CASE("A task that was seen too long ago is not known after the start, and goes with the next write")
{
    disk on;
    {
        rig x{on};
        x.note("t");
        x.sweep(0s);
    }
    REQUIRE(on.tasks.size() == 1);
    on.tasks[0].seen -= 24h + 1ms;
    rig next{on};
    CHECK_FALSE(next.knows("t"));
    next.note("u");
    next.sweep(0s);
    CHECK(on.tasks.size() == 1);
    CHECK(on.trims == 2);
}

TEST_CASE("Tasks are written once a second, and nothing is written where nothing is new")
{
    disk on;
    rig x{on};
    x.sweep(0s);
    CHECK(on.writes == 0);
    x.note("t");
    x.sweep(999ms);
    CHECK(on.writes == 0);
    x.sweep(1s);
    CHECK(on.writes == 1);
    x.sweep(3s);
    CHECK(on.writes == 1);
    CHECK(on.trims == 1);
}

TEST_CASE("What a store does not accept is written later, and the log says so once")
{
    disk on;
    rig x{on};
    x.note("t");
    on.fails = true;
    x.sweep(0s);
    x.note("u");
    x.sweep(2s);
    CHECK(on.tasks.empty());
    CHECK(on.writes == 2);
    CHECK(x.sink.count("tasks_persist_failed") == 1);
    auto writes = x.store.writes();
    CHECK(*writes.of(core::errc::store_failed) == 2);
    on.fails = false;
    x.sweep(4s);
    CHECK(on.tasks.size() == 2);
    on.fails = true;
    x.note("v");
    x.sweep(6s);
    CHECK(x.sink.count("tasks_persist_failed") == 2);
}

TEST_CASE("The end writes what is left, and gives up if the store does not accept it")
{
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        disk on;
        rig x{on};
        x.note("t");
        on.fails = fails;
        x.keeper->finish();
        x.finish();
        CHECK(on.writes == 1);
        CHECK(on.tasks.size() == (fails ? 0 : 1));
        x.note("late");
        x.sweep(10s);
        CHECK(on.writes == 1);
    }
}

TEST_CASE("What is learnt after a hand-over goes to the heir, who knows it, and not to the store")
{
    disk on;
    disk of_next;
    rig x{on};
    rig next{of_next};
    x.keeper->set_heir([&](const gateway::model::known_tasks& tasks) { next.keeper->learn(tasks); });
    x.note("t");
    x.sweep(0s);
    CHECK(next.knows("t"));
    CHECK(on.writes == 0);
    CHECK(on.trims == 0);
    x.note("u");
    x.keeper->finish();
    x.finish();
    CHECK(next.knows("u"));
    next.sweep(0s);
    CHECK(of_next.tasks.size() == 2);
}

TEST_CASE("After a hand-over the heir hears of all tasks that no store keeps, and ignores those of another key")
{
    disk on;
    rig x{on, /*durable=*/false};
    rig next{on, /*durable=*/false};
    rig other{on, /*durable=*/false, "another"};
    x.note("t");
    x.keeper->set_heir([&](const gateway::model::known_tasks& tasks) {
        next.keeper->learn(tasks);
        other.keeper->learn(tasks);
    });
    x.note("u");
    x.sweep(0s);
    CHECK(next.knows("t"));
    CHECK(next.knows("u"));
    CHECK_FALSE(other.knows("t"));
    CHECK(on.writes == 0);
}

TEST_CASE("A flush returns when what is new is written, and when the store does not accept it")
{
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        disk on;
        on.fails = fails;
        rig x{on};
        x.note("t");
        bool done = false;
        net::asio::co_spawn(x.loop.get_executor(), x.keeper->flush(), [&](const std::exception_ptr&) { done = true; });
        while (!done) {
            x.loop.io().run_one();
        }
        CHECK(on.writes == 1);
        CHECK(on.tasks.size() == (fails ? 0 : 1));
    }
}

TEST_CASE("What is known of a task already stays when another process tells of it")
{
    disk on;
    rig x{on, /*durable=*/false};
    rig next{on, /*durable=*/false};
    const auto now = std::chrono::steady_clock::now();
    core::principal alice;
    alice.id = "alice";
    alice.provider = "p";
    const auto owner = x.keeper->index().owner_of(&alice);
    x.keeper->index().note("a", "t", {owner, 3}, std::nullopt, now);
    x.keeper->index().note("a", "u", {owner, 3}, std::nullopt, now);
    next.keeper->index().note("a", "t", {next.keeper->index().owner_of(nullptr), 0}, std::nullopt, now);
    x.keeper->set_heir([&](const gateway::model::known_tasks& tasks) { next.keeper->learn(tasks); });
    x.sweep(0s);
    const auto known = next.keeper->index().find("a", "t", now);
    REQUIRE(known.has_value());
    CHECK(known->whose == next.keeper->index().owner_of(nullptr));
    CHECK(known->interface == 3);
    const auto learnt = next.keeper->index().find("a", "u", now);
    REQUIRE(learnt.has_value());
    CHECK(learnt->whose == owner);
}

TEST_CASE("A store that cannot be read is said to, and its tasks are unknown")
{
    disk on;
    {
        rig x{on};
        x.note("t");
        x.sweep(0s);
    }
    on.fails = true;
    rig next{on};
    CHECK(next.sink.count("tasks_load_failed") == 1);
    CHECK_FALSE(next.knows("t"));
}

TEST_CASE("A store that ends with the process is neither read nor written")
{
    disk on;
    on.tasks = {{7, 8, {}}};
    rig x{on, false};
    x.note("t");
    CHECK(x.knows("t"));
    x.keeper->finish();
    CHECK_FALSE(x.keeper->busy());
    CHECK(on.writes == 0);
}

TEST_SUITE_END();
