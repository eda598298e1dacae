#include "gateway/tokens/token_plane.hpp"

#include "tests/unit/gateway/tokens/token_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

TEST_SUITE_BEGIN("gateway/token_plane");

namespace {

using namespace tokens_test;

std::shared_ptr<const gateway::model::agent_entry> entry_of(core::agent_credentials credentials, std::string token = {})
{
    auto entry = std::make_shared<gateway::model::agent_entry>();
    entry->record.id = "a";
    entry->record.credentials = std::move(credentials);
    entry->token = core::secret{std::move(token)};
    return entry;
}

struct rig : token_rig {
    void pass(core::duration time)
    {
        now += time;
        plane.on_sweep(now);
        turn();
    }

    net::deadlines sweeps{io};
    gateway::tokens::token_plane plane{sweeps, services()};
};

}  // namespace

TEST_CASE("an agent's token is asked for when the agent comes, and renewed when it is time")
{
    rig x;
    x.server.grant("one", 1000);
    x.plane.set_agent("a", entry_of(client_named("me")));
    x.plane.set_agent("b", entry_of(core::secret{"bearer"}));
    x.turn();
    CHECK(x.published == texts{"a=one"});
    CHECK(x.plane.facts("a")->renewed == 1);
    CHECK_FALSE(x.plane.facts("b").has_value());
    x.server.grant("two", 1000);
    x.pass(800s);
    CHECK(x.published == texts{"a=one", "a=two"});
    x.server.answer = net::fetch_response{.status = 500, .headers = {}, .body = {}};
    for (int i = 0; i < 1000; ++i) {
        x.pass(1s);
    }
    CHECK(x.published == texts{"a=one", "a=two", "a="});
    x.server.grant("three", 1000);
    x.pass(60s);
    CHECK(x.published.back() == "a=three");
}

TEST_CASE("the same client keeps its token, another one gets its own, and an agent that is gone none")
{
    rig x;
    x.server.grant("one", 1000);
    x.plane.set_agent("a", entry_of(client_named("me")));
    x.turn();
    x.plane.set_agent("a", entry_of(client_named("me")));
    x.turn();
    CHECK(x.server.asked.size() == 1);
    x.plane.set_agent("a", entry_of(client_named("you")));
    x.turn();
    CHECK(x.server.asked.size() == 2);
    x.plane.set_agent("a", nullptr);
    x.pass(2000s);
    CHECK(x.server.asked.size() == 2);
    CHECK(x.outcome(x.begin(x.plane.token("a", {}))) == "upstream_credentials");
}

TEST_CASE("an agent is given with the token that it was asked for with, and not with another")
{
    rig x;
    x.server.grant("one", 1000);
    x.plane.set_agent("a", entry_of(client_named("me")));
    x.turn();
    x.entry = entry_of(client_named("me"), "one");
    CHECK(x.begin(x.plane.agent("a", {}))->value() == x.entry);
    x.entry = entry_of(client_named("me"), "other");
    CHECK(x.begin(x.plane.agent("a", {}))->value() == nullptr);
    x.entry = nullptr;
    CHECK(x.begin(x.plane.agent("a", {}))->value() == nullptr);
    CHECK(x.begin(x.plane.agent("b", {}))->value() == nullptr);
}

TEST_CASE("a plane that has stopped asks no server")
{
    rig x;
    x.plane.stop();
    x.plane.set_agent("a", entry_of(client_named("me")));
    x.pass(2000s);
    CHECK(x.server.asked.empty());
}

TEST_SUITE_END();
