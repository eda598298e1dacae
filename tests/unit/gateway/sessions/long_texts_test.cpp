#include "gateway/sessions/server_reach.hpp"
#include "mcp/protocol/list_page.hpp"
#include "tests/support/script.hpp"
#include "tests/unit/gateway/sessions/listener.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/sessions/long_texts");

using sessions_test::listener;

namespace {

struct silent_wire final : mcp::transport {
    void open() override {}
    core::result<> send(mcp::outgoing /*message*/) override { return {}; }
    void settle(const mcp::dialect& /*speaks*/) override {}
    void open_stream(mcp::outgoing /*listen*/) override {}
    void close(bool /*end_session*/) override {}
};

std::string page(std::size_t bytes)
{
    const std::string beginning = R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":")";
    const std::string end = R"("},{"name":"b"},{"name":"c"}]}})";
    return beginning + std::string(bytes - beginning.size() - end.size(), 'a') + end;
}

}  // namespace

TEST_CASE("A long message is read on that thread and told on the loop, with so many items of its lists")
{
    net::loop loop;
    gateway::threads::side_thread thread;
    listener told;
    mcp::transport_observer* wire = nullptr;
    const auto factory = gateway::sessions::read_on(
        &thread,
        loop,
        [&wire](mcp::transport_observer& observer) -> std::unique_ptr<mcp::transport> {
            wire = &observer;
            return std::make_unique<silent_wire>();
        },
        8 * 1024 * 1024,
        2
    );
    const auto made = factory(told);
    std::promise<void> free;
    auto occupied = thread.ask<bool>([&free] {
        free.get_future().wait();
        return true;
    });
    net::asio::co_spawn(loop.get_executor(), std::move(occupied), net::asio::detached);
    loop.io().poll();
    wire->received(page(mcp::read_at_once));
    CHECK(told.short_texts == 1);
    wire->received(page(mcp::read_at_once + 1));
    loop.io().restart();
    loop.io().run_for(std::chrono::milliseconds{20});
    CHECK(told.pages.empty());
    free.set_value();
    const auto by = std::chrono::steady_clock::now() + test_support::patience;
    while (told.pages.empty() && std::chrono::steady_clock::now() < by) {
        loop.io().restart();
        loop.io().run_for(std::chrono::milliseconds{2});
    }
    REQUIRE(told.pages.size() == 1);
    const auto& tools = told.pages[0]->lists[mcp::index_of(mcp::list_kind::tools)];
    REQUIRE(tools.has_value());
    CHECK(tools->count == 3);
    CHECK(tools->read.size() == 2);
}

TEST_CASE("What cannot be reached stays so")
{
    net::loop loop;
    gateway::threads::side_thread thread;
    CHECK(gateway::sessions::read_on(&thread, loop, nullptr, 1) == nullptr);
}

TEST_SUITE_END();
