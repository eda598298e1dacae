// Exchanges and the loop they live on, driven by a test, and what they tell.
#pragma once

#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"
#include "tests/support/script.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct exchange_recorder final : net::exchange_observer {
    std::optional<net::exchange_head> head;
    std::string body;
    std::vector<core::result<>> ends;
    std::function<void()> on_head;
    std::function<void()> on_piece;
    std::function<void()> on_end;

    void headed(const net::exchange_head& got) override
    {
        CHECK_FALSE(head);
        CHECK(body.empty());
        head = got;
        if (on_head) {
            on_head();
        }
    }
    void took(std::string_view piece) override
    {
        CHECK(head);
        CHECK(ends.empty());
        body += piece;
        if (on_piece) {
            on_piece();
        }
    }
    void ended(core::result<> how) override
    {
        ends.push_back(std::move(how));
        if (on_end) {
            on_end();
        }
    }
};

struct exchange_driver {
    exchange_driver()
    {
        loop.timers().start();
        loop.ready().start();
    }
    exchange_driver(const exchange_driver&) = delete;
    exchange_driver& operator=(const exchange_driver&) = delete;

    net::loop loop;
    net::asio::io_context& io = loop.io();
    std::optional<net::exchange_client> client{std::in_place, loop, "cardea/1.2.3"};

    void run_until(const std::function<bool()>& condition)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!condition()) {
            REQUIRE(std::chrono::steady_clock::now() < by);
            io.restart();
            io.run_one_for(std::chrono::milliseconds{5});
        }
    }

    void run_for(std::chrono::milliseconds some)
    {
        io.restart();
        io.run_for(some);
    }

    // All that is ready, and nothing that would have to be waited for.
    void run_ready()
    {
        io.restart();
        io.poll();
    }
};
