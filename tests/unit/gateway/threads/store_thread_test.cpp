#include "gateway/threads/store_thread.hpp"

#include "net/loop/loop.hpp"
#include "store/memory.hpp"
#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/threads/store_thread");

namespace {

using namespace std::chrono_literals;
using gateway::threads::store_thread;
using outcome = core::result<store::record>;

// The answers in the order in which they come, and the loop on which they do.
struct rig {
    net::asio::io_context io;
    std::vector<std::string> answers;

    template <class T>
    void begin(net::task<core::result<T>> question, std::string name)
    {
        const auto keep = [this, name = std::move(name)](const std::exception_ptr& bug, core::result<T> answer) {
            CHECK(bug == nullptr);
            answers.push_back(name + (answer ? "" : ": " + std::string{core::name(answer.error().code)}));
        };
        net::asio::co_spawn(io.get_executor(), std::move(question), keep);
    }

    void run_until(std::size_t count)
    {
        io.restart();
        while (answers.size() < count && io.run_one_for(10s) > 0) {
        }
        REQUIRE(answers.size() >= count);
    }
};

std::function<outcome(store::engine&)> put(std::string id)
{
    return
        [id = std::move(id)](store::engine& records) { return records.put(id, "{}", {"test", core::wall_time{}, {}}); };
}

core::result<> nothing_more(store::engine&)
{
    return {};
}

core::result<std::unique_ptr<store::engine>> the_same()
{
    return core::gateway_error(core::errc::internal, "a store in memory is not opened");
}

}  // namespace

TEST_CASE("What is asked of a closed store waits in its order, and is carried out when the store opens")
{
    rig here;
    store_thread store{store::make_memory(), 1h};
    here.begin(store.close(nothing_more), "close");
    here.begin(store.ask(put("a")), "a");
    here.begin(store.ask(put("b")), "b");
    here.run_until(1);
    here.begin(store.open(the_same), "open");
    here.run_until(4);
    CHECK(here.answers.front() == "close");
    const auto records = store.engine().load();
    REQUIRE(records.has_value());
    REQUIRE(records->size() == 2);
    CHECK(records->front().version == 1);
    CHECK(records->back().version == 2);
}

TEST_CASE("What is asked before a store closes is carried out")
{
    rig here;
    store_thread store{store::make_memory(), 1h};
    std::size_t seen = 0;
    here.begin(store.ask(put("a")), "a");
    const std::function last = [&seen](store::engine& records) -> core::result<> {
        seen = records.load()->size();
        return {};
    };
    here.begin(store.close(last), "close");
    here.run_until(2);
    std::ranges::sort(here.answers);  // two threads answer: which answer is seen first is not promised
    CHECK(here.answers == std::vector<std::string>{"a", "close"});
    CHECK(seen == 1);
}

TEST_CASE("What waits longer than the patience fails with draining")
{
    rig here;
    store_thread store{store::make_memory(), 0ms};
    here.begin(store.close(nothing_more), "close");
    here.begin(store.ask(put("a")), "a");
    here.run_until(2);
    std::ranges::sort(here.answers);
    CHECK(here.answers == std::vector<std::string>{"a: draining", "close"});
}

TEST_CASE("Once the store belongs to another process what waits and what comes fails at once")
{
    rig here;
    store_thread store{store::make_memory(), 1h};
    here.begin(store.close(nothing_more), "close");
    here.begin(store.ask(put("a")), "a");
    here.run_until(1);
    store.leave();
    here.run_until(2);
    here.begin(store.ask(put("b")), "b");
    here.run_until(3);
    CHECK(here.answers == std::vector<std::string>{"close", "a: draining", "b: draining"});
}

TEST_CASE("If what has to be said last fails, the store stays open")
{
    rig here;
    store_thread store{store::make_memory(), 1h};
    const std::function last = [](store::engine&) -> core::result<> {
        return core::gateway_error(core::errc::internal);
    };
    here.begin(store.close(last), "close");
    here.begin(store.ask(put("a")), "a");
    here.run_until(2);
    std::ranges::sort(here.answers);
    CHECK(here.answers == std::vector<std::string>{"a", "close: internal"});
}

TEST_CASE("A file is free while its store is closed, and a store that does not open tries again with each question")
{
    const test_support::scratch_directory folder;
    const auto path = folder.file("store.db");
    const auto open = [&path] { return store::open_sqlite({.path = path}); };
    rig here;
    auto opened = open();
    REQUIRE(opened.has_value());
    store_thread store{std::move(*opened), 1h};
    CHECK(open().has_error());
    here.begin(store.ask(put("a")), "a");
    here.begin(store.close(nothing_more), "close");
    here.run_until(2);
    CHECK(store.durable());
    {
        const auto other = open();
        REQUIRE(other.has_value());
        here.begin(store.open(open), "open");
        here.begin(store.ask(put("b")), "b");
        here.run_until(4);
    }
    here.begin(store.ask(put("c")), "c");
    here.run_until(5);
    CHECK(here.answers == std::vector<std::string>{"a", "close", "open: config_invalid", "b: config_invalid", "c"});
}

TEST_SUITE_END();
