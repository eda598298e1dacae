#include "gateway/access/gate.hpp"

#include "net/loop/signal.hpp"
#include "net/server/server_connection.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using core::errc;
namespace access = gateway::access;
namespace model = gateway::model;

// Answers each question when the test lets it, or throws.
class slow_checks {
public:
    explicit slow_checks(net::loop& on)
        : port{on.get_executor(), [this](const auto&) { return verify(); }}
    {
    }

    net::task<core::result<gateway::model::accepted_credential>> verify()
    {
        ++questions;
        net::task_signal go;
        held_.push_back(&go);
        co_await go.wait();
        if (fault) {
            std::rethrow_exception(fault);
        }
        if (unavailable) {
            co_return core::gateway_error(errc::access_unavailable, "full");
        }
        if (accepted) {
            co_return *accepted;
        }
        co_return core::caller_error(errc::unauthenticated, "no");
    }

    void let_go()
    {
        for (auto* const each : std::exchange(held_, {})) {
            each->set();
        }
    }

    const model::credential_checks port;
    int questions = 0;
    std::exception_ptr fault;                                     // null: the credential is refused
    std::optional<gateway::model::accepted_credential> accepted;  // unless it is accepted so
    bool unavailable = false;                                     // or cannot be checked

private:
    std::vector<net::task_signal*> held_;
};

// Writes down what becomes of each request, and answers none.
class gate_handler final : public net::http_handler {
public:
    explicit gate_handler(gateway::access::gate& of)
        : gate_{of}
    {
    }

    net::routine<> handle(net::caller_exchange& caller) override
    {
        auto owner = gate_.identify(caller, "192.0.2.1");
        if (!owner) {
            ++asked;
            owner = co_await gate_.ask(caller, "192.0.2.1", net::never);
        }
        outcomes.push_back(*owner ? std::nullopt : std::optional{owner->error().code});
        caller.cut();
    }
    net::routine<> refuse(net::caller_exchange& caller, core::error why) override
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
    gateway::access::gate& gate_;
};

struct rig {
    rig()
    {
        settings.header_timeout = 1h;
        core::access_settings known;
        known.providers = {{"check", core::http_verifier_provider{.url = "http://127.0.0.1:9/"}}};
        gate.set_plan(
            gateway::access::access_plan::make(known),
            std::make_shared<gateway::access::failure_limit>(100'000, 1)
        );
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

    // Sends a request with a token that is accepted for so long, and ends so much later than now.
    void accept_for(std::chrono::milliseconds time, std::chrono::milliseconds end)
    {
        const auto now = std::chrono::system_clock::now();
        const auto ends = end > 0ms ? now + end : core::wall_time{};
        accepted_at = std::chrono::steady_clock::now();
        checks.accepted = {.owner = std::make_shared<core::principal>(), .until = now + time, .ends = ends};
        ask("token");
        REQUIRE(run_until([this] { return checks.questions == 1; }));
        checks.let_go();
        REQUIRE(run_until([this] { return handler.outcomes.size() == 1; }));
        CHECK_FALSE(handler.outcomes.back().has_value());
    }

    // Until its time is over.
    void ask_until_asked_again()
    {
        const auto by = std::chrono::steady_clock::now() + 10s;
        while (checks.questions < 2 && std::chrono::steady_clock::now() < by) {
            ask("token");
            REQUIRE(run_until([this] { return checks.questions == 2 || handler.outcomes.size() == sent; }));
            std::this_thread::sleep_for(5ms);
        }
        REQUIRE(checks.questions == 2);
    }

    // Sends a request with the token on a connection of its own.
    void ask(std::string_view token)
    {
        ++sent;
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
    gateway::access::gate gate{checks.port};
    gate_handler handler{gate};
    net::server_settings settings;
    net::request_buffer_pool spaces{settings.head};
    std::list<core::descriptor> callers;
    std::list<net::server_connection> connections;
    std::size_t ended = 0;
    std::size_t sent = 0;
    std::chrono::steady_clock::time_point accepted_at;
};

TEST_SUITE("access gate")
{
    TEST_CASE("Everybody who shares a check that throws is refused, and the next caller asks again")
    {
        rig x;
        x.checks.fault = std::make_exception_ptr(std::runtime_error{"broken"});
        for (int i = 0; i < 3; ++i) {
            x.ask("token");
        }
        REQUIRE(x.run_until([&] { return x.handler.asked == 3; }));
        CHECK(x.checks.questions == 1);
        x.checks.let_go();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == 3; }));
        for (const auto& each : x.handler.outcomes) {
            CHECK(each == errc::internal);
        }
        x.checks.fault = nullptr;
        x.ask("token");
        REQUIRE(x.run_until([&] { return x.checks.questions == 2; }));
        x.checks.let_go();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == 4; }));
        CHECK(x.handler.outcomes.back() == errc::unauthenticated);
    }

    TEST_CASE("An accepted credential keeps its owner while it is asked about again, until it is refused")
    {
        rig x;
        x.accept_for(1s, 1h);
        // The question hangs: nobody waits for its end.
        x.ask_until_asked_again();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == x.sent; }));
        CHECK_FALSE(x.handler.outcomes.back().has_value());
        // Nor for its beginning, once it has taken its time.
        const auto begun = std::chrono::steady_clock::now();
        x.ask("token");
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == x.sent; }));
        CHECK_FALSE(x.handler.outcomes.back().has_value());
        CHECK(std::chrono::steady_clock::now() - begun < 150ms);
        CHECK(x.checks.questions == 2);
        // A refusal counts as soon as it is there.
        x.checks.accepted.reset();
        x.checks.let_go();
        const auto by = begun + 10s;
        while (x.checks.questions == 2 && std::chrono::steady_clock::now() < by) {
            x.ask("token");
            REQUIRE(x.run_until([&] { return x.checks.questions == 3 || x.handler.outcomes.size() == x.sent; }));
            std::this_thread::sleep_for(5ms);
        }
        CHECK(x.checks.questions == 3);
        x.checks.let_go();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == x.sent; }));
        CHECK(x.handler.outcomes.back() == errc::unauthenticated);
    }

    TEST_CASE("A refusal that comes in time counts for the request that waits for it")
    {
        rig x;
        x.accept_for(500ms, 1h);
        x.ask_until_asked_again();
        x.checks.accepted.reset();
        x.checks.let_go();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == x.sent; }));
        CHECK(x.handler.outcomes.back() == errc::unauthenticated);
    }

    TEST_CASE("A credential that cannot be checked again keeps its owner for as long again as it was accepted")
    {
        rig x;
        x.accept_for(500ms, 1h);
        x.checks.unavailable = true;
        x.ask_until_asked_again();
        x.checks.let_go();
        REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == x.sent; }));
        CHECK_FALSE(x.handler.outcomes.back().has_value());
        const auto ended = [&] {
            x.ask("token");
            x.run_until([&] {
                x.checks.let_go();
                return x.handler.outcomes.size() == x.sent;
            });
            return x.handler.outcomes.back() == errc::access_unavailable;
        };
        const auto by = std::chrono::steady_clock::now() + 5s;
        bool over = false;
        while (!over && std::chrono::steady_clock::now() < by) {
            over = ended();
            std::this_thread::sleep_for(5ms);
        }
        CHECK(over);
        CHECK(std::chrono::steady_clock::now() - x.accepted_at >= 1s);
    }

    TEST_CASE("No credential is kept beyond its own end, nor one whose end is not known")
    {
        for (const auto ends : {500ms, 0ms}) {
            CAPTURE(ends.count());
            rig x;
            x.accept_for(500ms, ends);
            x.checks.unavailable = true;
            x.ask_until_asked_again();
            x.checks.let_go();
            REQUIRE(x.run_until([&] { return x.handler.outcomes.size() == x.sent; }));
            CHECK(x.handler.outcomes.back() == errc::access_unavailable);
        }
    }
}

}  // namespace
