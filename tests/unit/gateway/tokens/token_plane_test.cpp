#include "gateway/tokens/token_plane.hpp"

#include "tests/unit/gateway/tokens/token_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

TEST_CASE("an agent whose callers have tokens of their own has one for itself, which is not published")
{
    rig x;
    auto client = client_named("me");
    client.grant = core::oauth_grant::token_exchange;
    x.server.grant("own", 1000);
    x.plane.set_agent("a", entry_of(client));
    x.plane.set_agent("b", entry_of(client_named("me")));
    x.turn();
    CHECK(x.outcome(x.begin(x.plane.token("a", {}))) == "own");
    CHECK(x.published == texts{"b=own"});
    x.pass(2000s);
    CHECK(std::ranges::count(x.published, "a=") == 0);
    x.server.answer = net::fetch_response{
        .status = 200,
        .headers = {},
        .body =
            R"({"access_token":"one","issued_token_type":"urn:ietf:params:oauth:token-type:jwt","token_type":"Bearer"})"
    };
    const auto exchange = [&](const std::string& id, const core::oauth_client& by) {
        const auto place = x.begin(x.plane.exchange({id, by, core::secret{"alice"}, "urn:t", {}}));
        const auto& found = **place;
        return found ? found->text.reveal() : std::string{core::name(found.error().code)};
    };
    CHECK(exchange("a", client) == "one");
    CHECK(exchange("a", client_named("other")) == "upstream_credentials");
    CHECK(exchange("b", client_named("me")) == "upstream_credentials");
    CHECK(exchange("c", client) == "upstream_credentials");
    const auto before = x.plane.facts("a")->renewed;
    client.audience = "elsewhere";
    x.plane.set_agent("a", entry_of(client));
    x.turn();
    const auto asked = x.server.asked.size();
    CHECK(exchange("a", client) == "one");
    CHECK(x.server.asked.size() == asked + 1);
    CHECK(before > 0);
    x.plane.stop();
    CHECK(exchange("a", client) == "one");
    CHECK(x.server.asked.size() == asked + 1);
}

TEST_CASE("of the agents of a start 32 ask at once, the others with the next sweeps or when a call waits")
{
    rig x;
    x.server.grant("one", 1000);
    gateway::model::snapshot start;
    for (int i = 100; i < 200; ++i) {
        start.agents.emplace(std::to_string(i), entry_of(client_named("me")));
    }
    x.plane.set_agents(std::make_shared<const gateway::model::snapshot>(start));
    x.turn();
    CHECK(x.server.asked.size() == 32);
    CHECK(x.outcome(x.begin(x.plane.token("199", {}))) == "one");
    CHECK(x.server.asked.size() == 33);
    x.pass(1ms);
    CHECK(x.server.asked.size() == 65);
    x.pass(1ms);
    x.pass(1ms);
    CHECK(x.server.asked.size() == 100);
    CHECK(x.published.size() == 100);
}

TEST_CASE("no token is asked for while an agent is not served, and another one once it is served again")
{
    rig x;
    x.server.grant("one", 1000);
    x.plane.set_agent("a", entry_of(client_named("me")));
    x.turn();
    x.plane.set_agent("a", nullptr);
    x.pass(2000s);
    CHECK(x.server.asked.size() == 1);
    CHECK_FALSE(x.plane.facts("a").has_value());
    x.server.grant("two", 1000);
    x.plane.set_agent("a", entry_of(client_named("me")));
    x.turn();
    CHECK(x.published == texts{"a=one", "a=two"});
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
