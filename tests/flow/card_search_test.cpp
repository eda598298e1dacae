#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/cards/search");

namespace {

using flow::a2a_agent;
using flow::get_card;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::scripted_agent;

using targets = std::vector<std::string>;

targets asked(const scripted_agent& agent, std::size_t from = 0)
{
    targets out;
    const auto requests = agent.requests();
    for (std::size_t i = from; i < requests.size(); ++i) {
        out.push_back(requests[i].target);
    }
    return out;
}

test_support::handler only_at(std::string path)
{
    return [path = std::move(path)](const recorded_request& request) {
        return request.target == path ? answer_json(R"({"name":"Found"})") : answer(404, "");
    };
}

const targets places{
    "/base/rpc/.well-known/agent-card.json",
    "/base/rpc/.well-known/agent.json",
    "/.well-known/agent-card.json",
    "/.well-known/agent.json"
};

}  // namespace

TEST_CASE("a card is looked for below the URL, then at the origin, and where it was is asked first next time")
{
    for (std::size_t at = 0; at < places.size(); ++at) {
        CAPTURE(places[at]);
        scripted_agent agent{only_at(places[at])};
        auto settings = quick_settings();
        settings.agents.push_back(a2a_agent("a", agent.url("/base/rpc")));
        const running_gateway gateway{std::move(settings)};
        CHECK(get_card(gateway, "a").status == 200);
        CHECK(asked(agent) == targets(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(at) + 1));

        const auto refreshed = flow::manage(gateway, "agents/refreshCard", {{"id", "a"}});
        CHECK(asked(agent, at + 1) == targets{places[at]});
        CHECK(refreshed["card_status"]["found_at"] == agent.url(places[at]));
    }
}

TEST_CASE("a card that has moved is found again")
{
    scripted_agent agent{only_at(places[3])};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url("/base/rpc")));
    const running_gateway gateway{std::move(settings)};
    CHECK(get_card(gateway, "a").status == 200);
    const auto before = agent.request_count();
    agent.otherwise(only_at(places[1]));
    flow::manage(gateway, "agents/refreshCard", {{"id", "a"}});
    CHECK(asked(agent, before) == targets{places[3], places[0], places[1]});
}

TEST_CASE("a card_url is the only place that is asked")
{
    scripted_agent agent{only_at("/.well-known/agent-card.json")};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("missing", agent.url("/rpc")));
    settings.agents.back().card_url = agent.url("/cards/one.json?v=2");
    const running_gateway gateway{std::move(settings)};
    flow::check_refusal(get_card(gateway, "missing"), 502, "upstream_status", "missing");
    CHECK(asked(agent) == targets{"/cards/one.json?v=2"});
}

TEST_CASE("the agent's bearer goes with a card fetch to its own origin, its card headers everywhere")
{
    scripted_agent own{only_at("/.well-known/agent-card.json")};
    scripted_agent other{only_at("/own.json")};
    auto settings = quick_settings();
    for (const auto* id : {"same", "elsewhere"}) {
        auto agent = a2a_agent(id, own.url());
        agent.bearer = core::secret{"agents-token"};
        agent.card_headers.emplace_back("X-Api-Key", core::secret{"agents-key"});
        settings.agents.push_back(std::move(agent));
    }
    settings.agents.back().card_url = other.url("/own.json");
    const running_gateway gateway{std::move(settings)};

    CHECK(get_card(gateway, "same").status == 200);
    CHECK(own.request(0).header("Authorization") == "Bearer agents-token");
    CHECK(own.request(0).header("X-Api-Key") == "agents-key");
    CHECK(own.request(0).header("Accept") == "application/json");

    CHECK(get_card(gateway, "elsewhere").status == 200);
    CHECK(other.request(0).count("Authorization") == 0);
    CHECK(other.request(0).header("X-Api-Key") == "agents-key");
}

TEST_CASE("nothing of what a caller sends goes along with a card fetch")
{
    scripted_agent agent{only_at("/.well-known/agent-card.json")};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};
    const auto got = get_card(
        gateway,
        "a",
        {{"Authorization", "Bearer callers-token"},
         {"Cookie", "session=1"},
         {"X-Api-Key", "callers-key"},
         {"If-None-Match", "\"callers\""},
         {"X-Forwarded-For", "203.0.113.9"}}
    );
    CHECK(got.status == 200);
    const auto seen = agent.request(0);
    for (const auto* name : {"Authorization", "Cookie", "X-Api-Key", "If-None-Match", "X-Forwarded-For"}) {
        CAPTURE(name);
        CHECK(seen.count(name) == 0);
    }
    CHECK(seen.header("User-Agent").starts_with("cardea/"));
}

TEST_SUITE_END();
