#include "gateway/access/gate.hpp"

#include "net/loop/task_signal.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using core::errc;
namespace access = gateway::access;
namespace model = gateway::model;

// Answers each question when the test lets it, or throws.
class slow_checks final : public model::credential_checks {
public:
    explicit slow_checks(net::loop& on)
        : on_{on}
    {
    }

    net::executor executor() override { return on_.get_executor(); }

    net::task<core::result<model::accepted_credential>> verify(model::presented_credential) override
    {
        ++questions;
        net::task_signal go;
        held_.push_back(&go);
        co_await go.wait();
        if (fault) {
            std::rethrow_exception(fault);
        }
        co_return core::caller_error(errc::unauthenticated, "no");
    }

    void let_go()
    {
        for (auto* const each : std::exchange(held_, {})) {
            each->set();
        }
    }

    int questions = 0;
    std::exception_ptr fault;  // null: the credential is refused

private:
    net::loop& on_;
    std::vector<net::task_signal*> held_;
};

// Writes down what becomes of each request, and answers none.
class gate_handler final : public net::http_handler {
public:
    explicit gate_handler(access::gate& of)
        : gate_{of}
    {
    }

    net::routine<> handle(net::server_connection& caller) override
    {
        auto owner = gate_.identify(caller, "192.0.2.1");
        if (!owner) {
            ++asked;
            owner = co_await gate_.ask(caller, "192.0.2.1", net::never);
        }
        outcomes.push_back(*owner ? std::nullopt : std::optional{owner->error().code});
        caller.cut();
    }
    net::routine<> refuse(net::server_connection& caller, core::error why) override
    {
        outcomes.emplace_back(why.code);
        caller.cut();
        co_return;
    }
    void failed(std::string_view) noexcept override {}
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}

    int asked = 0;
    std::vector<std::optional<errc>> outcomes;  // nothing: it has an owner

private:
    access::gate& gate_;
};

struct rig {
    rig()
    {
        settings.header_timeout = 1h;
        core::access_settings known;
        known.providers = {{"check", core::http_verifier_provider{.url = "http://127.0.0.1:9/"}}};
        gate.set_plan(access::access_plan::make(known), std::make_shared<access::failure_limit>(100'000, 1));
        loop.timers().start();
        loop.ready().start();
    }
    ~rig()
    {
        checks.let_go();
        run_until([this] { return ended == connections.size(); });
    }

    template <class Condition>
    bool run_until(const Condition& holds)
    {
        const auto by = std::chrono::steady_clock::now() + 10s;
        while (!holds() && std::chrono::steady_clock::now() < by) {
            loop.io().run_one_for(10ms);
        }
        return holds();
    }

    // Sends a request with the token on a connection of its own.
    void ask(std::string_view token)
    {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
        callers.emplace_back(ends[0]);
        const auto text = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + std::string{token} + "\r\n\r\n";
        REQUIRE(::send(ends[0], text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
        net::accepted_socket accepted{core::descriptor{ends[1]}, {}};
        auto& added = connections.emplace_back(loop, std::move(accepted), handler, settings, spaces);
        net::start(added.run(), [this](const std::exception_ptr& bug) {
            CHECK_FALSE(bug);
            ++ended;
        });
    }

    net::loop loop;
    slow_checks checks{loop};
    access::gate gate{checks};
    gate_handler handler{gate};
    net::server_settings settings;
    net::exchange_spaces spaces{settings.head};
    std::list<core::descriptor> callers;
    std::list<net::server_connection> connections;
    std::size_t ended = 0;
};

TEST_SUITE("access gate")
{
    TEST_CASE("Everybody who shares a check that throws is refused, and the next caller asks again")
    {
        std::exception_ptr fault;
        auto refusal = errc::overloaded;
        SUBCASE("for want of memory")
        {
            fault = std::make_exception_ptr(std::bad_alloc{});
        }
        SUBCASE("because of a bug")
        {
            fault = std::make_exception_ptr(std::runtime_error{"broken"});
            refusal = errc::internal;
        }
        rig x;
        x.checks.fault = fault;
        for (int i = 0; i < 3; ++i) {
            x.ask("token");
        }
        REQUIRE(x.run_until([&] { return x.handler.asked == 3; }));
        CHECK(x.checks.questions == 1);
        x.checks.let_go();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == 3; }));
        for (const auto& each : x.handler.outcomes) {
            CHECK(each == refusal);
        }
        x.checks.fault = nullptr;
        x.ask("token");
        REQUIRE(x.run_until([&] { return x.checks.questions == 2; }));
        x.checks.let_go();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == 4; }));
        CHECK(x.handler.outcomes.back() == errc::unauthenticated);
    }
}

}  // namespace
