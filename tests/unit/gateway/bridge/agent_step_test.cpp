// One inner call of an agent: its texts, and that what nobody has taken yet is limited.
#include "gateway/bridge/agent_step.hpp"

#include "tests/unit/gateway/bridge/inner_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/agent_step");

namespace {

using gateway::bridge::agent_step;
using tests::inner_rig;

std::vector<std::string> texts_of(agent_step& step)
{
    std::vector<std::string> all;
    while (auto text = step.take()) {
        all.push_back(std::move(*text));
    }
    return all;
}

}  // namespace

TEST_CASE("The texts of a stream come in its order, and comments and empty events are none")
{
    inner_rig x;
    x.server.say("one");
    x.server.events += ": comment\n\nid: 7\ndata:\n\nevent: message\ndata: two\ndata: lines\n\n";
    x.server.say("three");
    int woken = 0;
    agent_step step{{x.calls, x.nobody, "a"}, "{}", [&] { ++woken; }};
    REQUIRE(x.comes_true([&] { return step.over(); }));
    CHECK(texts_of(step) == std::vector<std::string>{"one", "two\nlines", "three"});
    CHECK_FALSE(step.failure());
    CHECK(woken >= 1);
}

TEST_CASE("What is held of an agent's answer takes its share of a budget, and gives it back")
{
    inner_rig x;
    net::shared_budget budget{300'000};
    x.server.say(std::string(200'000, 'x'));
    {
        agent_step step{{x.calls, x.nobody, "a", &budget}, "{}", [] {}};
        REQUIRE(x.comes_true([&] { return step.over(); }));
        CHECK_FALSE(step.failure());
        CHECK(budget.taken() == 200'000);
        agent_step other{{x.calls, x.nobody, "a", &budget}, "{}", [] {}};
        REQUIRE(x.comes_true([&] { return other.over(); }));
        REQUIRE(other.failure());
        CHECK(other.failure()->code == core::errc::overloaded);
        CHECK(texts_of(step).size() == 1);
    }
    CHECK(budget.taken() == 0);
}

TEST_CASE("An agent that says more than a step holds is cut off")
{
    inner_rig x;
    for (int i = 0; i < 17; ++i) {
        x.server.say(std::string(1024 * 1024, 'x'));
    }
    agent_step step{{x.calls, x.nobody, "a"}, "{}", [] {}};
    REQUIRE(x.comes_true([&] { return step.over(); }));
    REQUIRE(step.failure());
    CHECK(step.failure()->code == core::errc::event_too_large);
}

TEST_SUITE_END();
