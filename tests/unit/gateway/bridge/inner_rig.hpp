// What tests of the bridges share: a loop, inner calls on it, and a server within that answers them.
#pragma once

#include "core/log.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/loop/loop.hpp"
#include "net/server/http_service.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tests {

struct no_log_lines final : core::log_sink {
    void write(std::string_view) override {}
};

// Where the inner calls go: each is answered with a stream of these events, which then ends.
class server_within final : public net::http_handler {
public:
    net::routine<> handle(net::caller_exchange& caller) override
    {
        const auto body = co_await caller.read_body(1024 * 1024);
        REQUIRE(body.has_value());
        ++calls;
        const auto answer =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + std::to_string(events.size()) +
            "\r\n\r\n" + events;
        const net::answer_part all{.head = answer, .last = true};
        static_cast<void>(co_await caller.send(all));
    }
    net::routine<> refuse(net::caller_exchange&, core::error why) override
    {
        FAIL(why.detail);
        co_return;
    }
    void failed(std::string_view what) noexcept override { FAIL(what); }
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}

    void say(std::string_view message) { events.append("data: ").append(message) += "\n\n"; }

    std::string events;
    int calls = 0;
};

struct inner_rig {
    inner_rig()
    {
        loop.timers().start();
        loop.ready().start();
    }
    ~inner_rig()
    {
        calls.close();
        service.abort();
        loop.io().run_for(std::chrono::milliseconds{20});
    }
    inner_rig(const inner_rig&) = delete;
    inner_rig& operator=(const inner_rig&) = delete;

    bool comes_true(const std::function<bool()>& question)
    {
        const auto due = std::chrono::steady_clock::now() + std::chrono::seconds{10};
        while (!question() && std::chrono::steady_clock::now() < due) {
            loop.io().run_one_for(std::chrono::milliseconds{5});
        }
        return question();
    }

    no_log_lines lines;
    core::logger log{lines, core::log_level::error};
    net::loop loop;
    gateway::threads::side_thread thread;
    gateway::model::inner_callers callers;
    gateway::model::inner_caller_pointer nobody = std::make_shared<gateway::model::inner_caller>();
    server_within server;
    net::http_service service{loop, server, net::server_settings{}};
    gateway::model::inner_calls calls{loop, callers, [this](net::accepted_socket from, const net::loop*) {
                                          service.serve(std::move(from));
                                      }};
};

}  // namespace tests
