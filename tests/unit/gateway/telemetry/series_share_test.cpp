#include "gateway/telemetry/series_share.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/series_share");

namespace {

using namespace std::chrono_literals;
using gateway::telemetry::plane_samples;
using gateway::telemetry::series_share;

using ids = std::set<std::string>;

// A page with these agents, of which some were called since the last one.
ids shown_of(series_share& share, const ids& agents, const ids& called, std::size_t most)
{
    share.begin();
    for (const auto& id : agents) {
        share.consider(id, called.contains(id));
    }
    share.choose(most);
    ids shown;
    for (const auto& id : agents) {
        if (share.shows(id)) {
            shown.insert(id);
        }
    }
    CHECK(share.omitted() == agents.size() - shown.size());
    return shown;
}

plane_samples fetched(std::uint64_t fetches)
{
    plane_samples out;
    out.card.emplace().fetched = fetches;
    return out;
}

// What the others' fetches are after a page on which each of these agents has that many.
std::uint64_t others_after(series_share& share, const std::vector<std::pair<std::string, std::uint64_t>>& agents)
{
    for (const auto& [id, fetches] : agents) {
        if (share.wants(id)) {
            share.settle(id, fetched(fetches));
        }
    }
    const auto& card = share.others().card;
    return card ? card->fetched : 0;
}

}  // namespace

TEST_CASE("As many agents have series as the number says, and one more has none")
{
    const ids agents{"a", "b", "c"};
    for (const std::size_t most : {std::size_t{0}, std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
        CAPTURE(most);
        series_share share;
        CHECK(shown_of(share, agents, {}, most).size() == std::min(most, agents.size()));
        CHECK(share.is_shared() == (most < agents.size()));
    }
    series_share share;
    CHECK(shown_of(share, {}, {}, 1).empty());
    CHECK_FALSE(share.shows("a"));
    CHECK_FALSE(share.wants("a"));
}

TEST_CASE("The agents that were called last have series")
{
    series_share share;
    const ids agents{"a", "b", "c", "d"};
    CHECK(shown_of(share, agents, {"c", "d"}, 2) == ids{"c", "d"});
    CHECK(shown_of(share, agents, {"b"}, 2) == ids{"b", "c"});
    CHECK(shown_of(share, agents, {}, 2) == ids{"b", "c"});
    CHECK(shown_of(share, agents, {"a", "d"}, 2) == ids{"a", "d"});
}

TEST_CASE("An agent that was called since the last page keeps its series, however many others were")
{
    series_share share;
    const ids agents{"a", "b", "c", "d"};
    CHECK(shown_of(share, agents, {"d"}, 1) == ids{"d"});
    CHECK(shown_of(share, agents, agents, 1) == ids{"d"});
    CHECK(shown_of(share, agents, {"a", "b", "c"}, 1) == ids{"a"});
}

TEST_CASE("An agent that gets series had none before, unless it is new")
{
    using enum gateway::telemetry::agent_series;
    series_share share;
    shown_of(share, {"a", "b"}, {"a"}, 1);
    CHECK(share.series_of("a") == own);
    CHECK(share.series_of("b") == shared);
    shown_of(share, {"a", "b"}, {"b"}, 1);
    CHECK(share.series_of("a") == shared);
    CHECK(share.series_of("b") == own_again);
    shown_of(share, {"a", "b", "c"}, {}, 3);
    CHECK(share.series_of("a") == own_again);
    CHECK(share.series_of("b") == own);
    CHECK(share.series_of("c") == own);
    CHECK(share.knows("c"));
    CHECK_FALSE(share.knows("bb"));
    CHECK_FALSE(share.knows("d"));
}

TEST_CASE("Agents come and go between pages")
{
    series_share share;
    CHECK(shown_of(share, {"b", "d"}, {"b"}, 2) == ids{"b", "d"});
    CHECK_FALSE(share.is_shared());
    CHECK(shown_of(share, {"a", "c", "d"}, {"c"}, 2) == ids{"c", "d"});
    CHECK(shown_of(share, {"a"}, {}, 2) == ids{"a"});
    CHECK(share.omitted() == 0);
    CHECK(share.is_shared());  // the series of the others go on
}

TEST_CASE("The others get what happens to an agent while it has no series of its own")
{
    series_share share;
    shown_of(share, {"a", "b"}, {"a"}, 1);
    CHECK(others_after(share, {{"a", 100}, {"b", 7}}) == 7);  // `b` was never on a page
    shown_of(share, {"a", "b"}, {}, 1);
    CHECK(others_after(share, {{"a", 110}, {"b", 9}}) == 9);
    shown_of(share, {"a", "b"}, {"b"}, 1);
    CHECK(others_after(share, {{"a", 120}, {"b", 10}}) == 10);  // what was on the page of `a` stays there
    shown_of(share, {"a", "b"}, {}, 1);
    CHECK(others_after(share, {{"a", 125}, {"b", 50}}) == 15);
    shown_of(share, {"a", "b"}, {"a"}, 1);
    CHECK(others_after(share, {{"a", 126}, {"b", 60}}) == 16);
    shown_of(share, {"a", "b"}, {}, 2);
    CHECK(others_after(share, {{"a", 200}, {"b", 61}}) == 17);
    shown_of(share, {"a", "b"}, {}, 2);
    CHECK(others_after(share, {{"a", 300}, {"b", 300}}) == 17);
}

TEST_CASE("What the others have counted never falls, also when an agent goes or begins again")
{
    series_share share;
    shown_of(share, {"a", "b"}, {}, 0);
    CHECK(others_after(share, {{"a", 5}, {"b", 5}}) == 10);
    shown_of(share, {"b"}, {}, 0);
    CHECK(others_after(share, {{"b", 5}}) == 10);
    shown_of(share, {"a", "b"}, {}, 0);
    CHECK(others_after(share, {{"a", 1}, {"b", 2}}) == 13);
}

TEST_CASE("All counters of the planes are added up, under their names")
{
    plane_samples now;
    now.card = gateway::telemetry::card_sample{
        .fetched = 5,
        .not_modified = 2,
        .failures = {{core::errc::upstream_timeout, 3}},
        .changes = 4,
        .age = 1s
    };
    auto& session = now.session.emplace();
    session.losses = {{"exited", 2}};
    session.attempts = 1;
    session.restarts = 2;
    session.initialize = 1s;
    session.walks_changed = 3;
    session.walks_unchanged = 4;
    session.walks_incomplete = 5;
    session.walks_failed = 6;
    session.received = 7;
    session.sent = 8;
    session.refused = 9;
    now.token = gateway::telemetry::token_sample{.age = 1s, .renewed = 10, .failed = 11};
    now.endpoint = gateway::telemetry::endpoint_sample{.states = {{"open", 1}}, .openings = 12};
    series_share share;
    for (std::uint64_t page = 0; page < 2; ++page) {
        shown_of(share, {"a", "b"}, {}, 0);
        share.settle("a", now);
        share.settle("b", now);
        const auto& others = share.others();
        REQUIRE(others.card);
        REQUIRE(others.session);
        REQUIRE(others.token);
        CHECK(others.card->fetched == 10);
        CHECK(others.card->not_modified == 4);
        REQUIRE(others.card->failures.size() == 1);
        CHECK(others.card->failures[0].first == core::errc::upstream_timeout);
        CHECK(others.card->failures[0].second == 6);
        CHECK(others.card->changes == 8);
        CHECK_FALSE(others.card->age);
        CHECK(others.session->losses == gateway::telemetry::named_counts{{"exited", 4}});
        CHECK(others.session->attempts == 2);
        CHECK(others.session->restarts == 4);
        CHECK_FALSE(others.session->initialize);
        CHECK(others.session->walks_changed == 6);
        CHECK(others.session->walks_unchanged == 8);
        CHECK(others.session->walks_incomplete == 10);
        CHECK(others.session->walks_failed == 12);
        CHECK(others.session->received == 14);
        CHECK(others.session->sent == 16);
        CHECK(others.session->refused == 18);
        REQUIRE(others.endpoint);
        CHECK(others.endpoint->openings == 24);
        CHECK(others.token->renewed == 20);
        CHECK(others.token->failed == 22);
        CHECK_FALSE(others.token->age);
    }
}

TEST_CASE("Gauges of the others are the sums of those that have no series on this page")
{
    plane_samples now;
    auto& status = now.status.emplace();
    status.status = {{"healthy", 0}, {"unhealthy", 1}};
    status.facts.emplace().name = "a name";
    now.card = gateway::telemetry::card_sample{.hidden_tools = 2, .problems = {{"error", 3}}};
    auto& session = now.session.emplace();
    session.states = {{"ready", 1}, {"lost", 0}};
    session.up = 1;
    session.queued = 4;
    now.callers = gateway::telemetry::callers_sample{.sessions = 5, .warm = 6};
    now.endpoint = gateway::telemetry::endpoint_sample{.states = {{"closed", 0}, {"open", 1}}, .openings = 7};
    series_share share;
    const ids agents{"a", "b"};
    for (const std::uint64_t omitted : {2U, 1U, 2U}) {
        CAPTURE(omitted);
        shown_of(share, agents, {}, agents.size() - omitted);
        for (const auto& id : agents) {
            share.settle(id, now);
        }
        const auto& others = share.others();
        REQUIRE(others.status);
        REQUIRE(others.card);
        REQUIRE(others.session);
        REQUIRE(others.callers);
        CHECK(others.status->status == gateway::telemetry::named_counts{{"healthy", 0}, {"unhealthy", omitted}});
        CHECK_FALSE(others.status->facts);
        CHECK(others.card->hidden_tools == 2 * omitted);
        CHECK(others.card->problems == gateway::telemetry::named_counts{{"error", 3 * omitted}});
        CHECK(others.session->states == gateway::telemetry::named_counts{{"ready", omitted}, {"lost", 0}});
        CHECK(others.session->up == omitted);
        CHECK(others.session->queued == 4 * omitted);
        CHECK(others.callers->sessions == 5 * omitted);
        CHECK(others.callers->warm == 6 * omitted);
        REQUIRE(others.endpoint);
        CHECK(others.endpoint->states == gateway::telemetry::named_counts{{"closed", 0}, {"open", omitted}});
    }
    shown_of(share, agents, {}, 2);
    const auto& others = share.others();
    REQUIRE(others.status);
    CHECK(others.status->status == gateway::telemetry::named_counts{{"healthy", 0}, {"unhealthy", 0}});
    CHECK_FALSE(others.callers);
    REQUIRE(others.endpoint);
    CHECK(others.endpoint->states == gateway::telemetry::named_counts{{"closed", 0}, {"open", 0}});
    REQUIRE(others.session);
    CHECK_FALSE(others.session->up.has_value());  // 0 is what an alert waits for
}

TEST_SUITE_END();
