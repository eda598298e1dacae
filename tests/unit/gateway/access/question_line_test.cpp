#include "gateway/access/asked_provider.hpp"
#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <array>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using core::errc;
using gateway::access::question_line;
using answer = question_line::answer;

// Counts the questions; each waits until the test lets all go on.
struct rig : access_test::key_set_rig {
    std::shared_ptr<std::optional<answer>> ask(const std::string& key)
    {
        return begin(line->ask(key, [this] { return question(); }));
    }

    net::task<answer> question()
    {
        ++questions;
        net::task_signal go;
        auto waits = go.wait();
        held.push_back(&go);
        co_await std::move(waits);
        if (throws) {
            throw std::runtime_error{"broken"};
        }
        co_return core::caller_error(errc::unauthenticated, "no");
    }

    void let_go()
    {
        for (auto* const each : std::exchange(held, {})) {
            each->set();
        }
        io.restart();
        io.poll();
    }

    ~rig() { let_go(); }

    std::shared_ptr<question_line> line = std::make_shared<question_line>();
    std::vector<net::task_signal*> held;
    int questions = 0;
    bool throws = false;
};

TEST_SUITE("access question_line")
{
    TEST_CASE("However many requests bring a credential, one question is asked about it at a time")
    {
        rig x;
        const auto first = x.ask("a");
        const auto second = x.ask("a");
        const auto other = x.ask("b");
        CHECK(x.questions == 2);
        CHECK_FALSE(first->has_value());
        x.let_go();
        for (const auto& each : {first, second, other}) {
            REQUIRE(each->has_value());
            CHECK((**each).error().code == errc::unauthenticated);
        }
        const auto later = x.ask("a");
        CHECK(x.questions == 3);
    }

    TEST_CASE("No more than 64 questions are under way")
    {
        rig x;
        for (int i = 0; i < 64; ++i) {
            CHECK_FALSE(x.ask(std::to_string(i))->has_value());
        }
        const auto one_more = x.ask("64");
        REQUIRE(one_more->has_value());
        CHECK((**one_more).error().code == errc::access_unavailable);
        CHECK_FALSE(x.ask("63")->has_value());
        CHECK(x.questions == 64);
        x.let_go();
        CHECK_FALSE(x.ask("64")->has_value());
    }

    TEST_CASE("No more than 256 requests wait")
    {
        rig x;
        for (int i = 0; i < 256; ++i) {
            CHECK_FALSE(x.ask("a")->has_value());
        }
        const auto one_more = x.ask("a");
        REQUIRE(one_more->has_value());
        CHECK((**one_more).error().code == errc::access_unavailable);
        x.let_go();
        CHECK_FALSE(x.ask("a")->has_value());
    }

    TEST_CASE("A question that throws is an answer that is unavailable")
    {
        rig x;
        x.throws = true;
        const auto asked = x.ask("a");
        x.let_go();
        REQUIRE(asked->has_value());
        CHECK((**asked).error().code == errc::access_unavailable);
    }
}

}  // namespace
