#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <regex>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/cards/caching");

namespace {

using namespace std::chrono_literals;
using flow::a2a_agent;
using flow::becomes_true;
using flow::card_text;
using flow::check_refusal;
using flow::get_card;
using flow::max_age_of;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer;
using test_support::answer_json;
using test_support::scripted_agent;

test_support::handler card_named(std::string name, test_support::field_list headers = {})
{
    return [text = card_text(name, "http://agent.example/"), headers = std::move(headers)](const auto&) {
        return answer_json(text, headers);
    };
}

config::settings settings_for(const scripted_agent& agent)
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    return settings;
}

std::string name_in(const test_support::http_response& got)
{
    return parsed(got.body)["name"].get<std::string>();
}

std::string series(std::string_view family, std::string_view label, std::string_view value)
{
    return std::string(family) + R"({agent="a",)" + std::string(label) + "=\"" + std::string(value) + "\"}";
}

}  // namespace

TEST_CASE("many requests for a card are one fetch")
{
    scripted_agent agent{card_named("Cached")};
    const running_gateway gateway{settings_for(agent)};
    for (int i = 0; i < 20; ++i) {
        const auto got = get_card(gateway, "a");
        CHECK(got.status == 200);
        CHECK(name_in(got) == "Cached");
        CHECK(got.count("Cardea-Card") == 0);
    }
    CHECK(agent.request_count() == 1);
    CHECK(gateway.metric(series("cardea_card_cache_total", "result", "miss")) == 1);
    CHECK(gateway.metric(series("cardea_card_cache_total", "result", "hit")) == 19);
    CHECK(gateway.metric(series("cardea_card_fetch_total", "outcome", "ok")) == 1);
}

TEST_CASE("a card is there before the first caller")
{
    scripted_agent agent{card_named("Early")};
    auto settings = settings_for(agent);
    settings.cards.background = 1;
    const running_gateway gateway{std::move(settings)};
    REQUIRE(gateway.wait_for_metric(series("cardea_card_fetch_total", "outcome", "ok"), 1));
    CHECK(name_in(get_card(gateway, "a")) == "Early");
    CHECK(gateway.metric(series("cardea_card_cache_total", "result", "hit")) == 1);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("fifty callers who miss at once are one fetch, and all of them get the card")
{
    test_support::gate held;
    scripted_agent agent{[&](const auto&) {
        return test_support::then({test_support::pass_gate{held.shared()}}, answer_json(R"({"name":"Shared"})"));
    }};
    auto settings = settings_for(agent);
    settings.workers = 2;
    const running_gateway gateway{std::move(settings)};
    std::vector<test_support::http_client> callers;
    for (int i = 0; i < 50; ++i) {
        callers.emplace_back(gateway.port());
        callers.back().send(test_support::request_text("GET", flow::card_target("a")));
    }
    REQUIRE(held.wait_until_reached());
    CHECK(gateway.wait_for_metric("cardea_connections_open", 50));
    held.release();
    for (auto& each : callers) {
        const auto got = each.read_response();
        CHECK(got.status == 200);
        CHECK(name_in(got) == "Shared");
    }
    CHECK(agent.request_count() == 1);
}

TEST_CASE("fifty callers who meet a failing agent are one fetch, and all of them are told")
{
    test_support::gate held;
    scripted_agent agent{[&](const auto&) {
        return test_support::then({test_support::pass_gate{held.shared()}}, test_support::reset());
    }};
    const running_gateway gateway{settings_for(agent)};
    std::vector<test_support::http_client> callers;
    for (int i = 0; i < 50; ++i) {
        callers.emplace_back(gateway.port());
        callers.back().send(test_support::request_text("GET", flow::card_target("a")));
    }
    REQUIRE(held.wait_until_reached());
    held.release(100);
    for (auto& each : callers) {
        check_refusal(each.read_response(), 502, "upstream_reset", "a");
    }
    CHECK(agent.request_count() == 1);
}

TEST_CASE("a caller that leaves while the card is fetched does not end the fetch for others")
{
    test_support::gate held;
    scripted_agent agent{[&](const auto&) {
        return test_support::then({test_support::pass_gate{held.shared()}}, answer_json(R"({"name":"Kept"})"));
    }};
    const running_gateway gateway{settings_for(agent)};
    test_support::http_client leaving{gateway.port()};
    leaving.send(test_support::request_text("GET", flow::card_target("a")));
    REQUIRE(held.wait_until_reached());
    test_support::http_client staying{gateway.port()};
    staying.send(test_support::request_text("GET", flow::card_target("a")));
    leaving.reset();
    held.release();
    CHECK(name_in(staying.read_response()) == "Kept");
    CHECK(agent.request_count() == 1);
}

TEST_CASE("a card over its time is fetched again, and nobody is shown an old one for long")
{
    scripted_agent agent{card_named("Old")};
    auto settings = settings_for(agent);
    settings.cards.ttl = 150ms;
    const running_gateway gateway{std::move(settings)};
    CHECK(name_in(get_card(gateway, "a")) == "Old");
    agent.otherwise(card_named("New"));
    CHECK(becomes_true([&] {
        const auto got = get_card(gateway, "a");
        CHECK(got.status == 200);
        const auto state = got.header("Cardea-Card");
        CHECK((state.empty() || state.starts_with("stale; age=0; reason=refreshing")));
        return name_in(got) == "New";
    }));
    CHECK(gateway.wait_for_metric(R"(cardea_card_changes_total{agent="a"})", 2));
}

TEST_CASE("A stale card is answered while the control loop is held up, and is fetched again after that")
{
    scripted_agent agent{card_named("Old")};
    auto settings = settings_for(agent);
    settings.cards.ttl = 1s;
    settings.cards.background = 0;
    std::atomic<bool> holds = false;
    std::atomic<bool> held = false;
    const running_gateway gateway{std::move(settings), {}, [&] {  // on the control loop, in each sweep
                                      held = holds.load();
                                      holds.wait(true);
                                      return 0ms;
                                  }};
    test_support::http_client caller{gateway.port()};  // before the loop that accepts callers is held up
    const auto ask = [&] {
        caller.send(test_support::request_text("GET", flow::card_target("a")));
        return caller.read_response();
    };
    const auto first = ask();
    agent.otherwise(card_named("New"));
    holds = true;
    CHECK(becomes_true([&] { return held.load(); }));
    test_support::http_response got;
    CHECK(becomes_true([&] {
        got = ask();
        return got.count("Cardea-Card") > 0;
    }));
    CHECK(std::regex_match(got.header("Cardea-Card"), std::regex{"stale; age=[0-9]+; reason=refreshing"}));
    CHECK(got.body == first.body);
    CHECK(got.header("ETag") == first.header("ETag"));
    CHECK(max_age_of(got) == 0);
    CHECK(agent.request_count() == 1);
    holds = false;
    holds.notify_one();
    CHECK(becomes_true([&] { return name_in(get_card(gateway, "a")) == "New"; }));
    CHECK(agent.request_count() == 2);
}

TEST_CASE("the agent's Cache-Control counts within min_ttl and max_ttl")
{
    struct row {
        test_support::field_list headers;
        long most;  // of what callers are told
    };
    for (const auto& each : std::vector<row>{
             {{}, 100},
             {{{"Cache-Control", "max-age=60"}}, 60},
             {{{"Cache-Control", "max-age=60"}, {"Age", "15"}}, 45},
             {{{"Cache-Control", "public"}, {"Cache-Control", "s-maxage=50, max-age=70"}}, 50},
             {{{"Cache-Control", "max-age=29"}}, 30},
             {{{"Cache-Control", "max-age=0"}}, 30},
             {{{"Cache-Control", "no-store"}}, 30},
             {{{"Cache-Control", "no-cache, max-age=60"}}, 30},
             {{{"Cache-Control", "max-age=201"}}, 200},
             {{{"Cache-Control", "max-age=99999999999999999999"}}, 200},
             {{{"Cache-Control", "max-age=nonsense"}}, 100},
             {{{"Expires", "Thu, 01 Jan 1970 00:00:00 GMT"}}, 100},
         }) {
        CAPTURE(each.most);
        scripted_agent agent{card_named("Timed", each.headers)};
        auto settings = settings_for(agent);
        settings.cards.ttl = 100s;
        settings.cards.min_ttl = 30s;
        settings.cards.max_ttl = 200s;
        const running_gateway gateway{std::move(settings)};
        const auto left = max_age_of(get_card(gateway, "a"));
        CHECK(left <= each.most);
        CHECK(left >= each.most - 10);
        CHECK(get_card(gateway, "a").status == 200);
        CHECK(agent.request_count() == 1);
    }
}

TEST_CASE("max-age counts down and is never more than what is left")
{
    scripted_agent agent{card_named("Counting")};
    auto settings = settings_for(agent);
    settings.cards.ttl = 3s;
    const running_gateway gateway{std::move(settings)};
    const auto begun = std::chrono::steady_clock::now();
    long last = 3;
    CHECK(becomes_true([&] {
        const auto got = get_card(gateway, "a");
        const auto now = max_age_of(got);
        // The card was fetched after `begun`, and this much of its life is gone at the least when the answer is here.
        CHECK(now <= last);
        CHECK(now >= 0);
        last = now;
        return now <= 1;
    }));
    CHECK(std::chrono::steady_clock::now() - begun >= 1s);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("a card is asked for again under the condition it was given with, and 304 keeps it")
{
    struct row {
        test_support::field_list given;
        const char* field;
        const char* value;
    };
    for (const auto& each : std::vector<row>{
             {{{"ETag", "W/\"v1\""}, {"Last-Modified", "Fri, 20 Nov 2026 07:00:00 GMT"}}, "If-None-Match", "W/\"v1\""},
             {{{"Last-Modified", "Fri, 20 Nov 2026 07:00:00 GMT"}}, "If-Modified-Since", "Fri, 20 Nov 2026 07:00:00 GMT"
             },
         }) {
        scripted_agent agent{[&](const test_support::recorded_request& request) {
            return request.header(each.field) == each.value ? answer(304, "", {{"Cache-Control", "max-age=77"}})
                                                            : answer_json(R"({"name":"Kept"})", each.given);
        }};
        auto settings = settings_for(agent);
        settings.cards.ttl = 30s;
        const running_gateway gateway{std::move(settings)};
        const auto first = get_card(gateway, "a");
        CHECK(agent.request(0).count("If-None-Match") + agent.request(0).count("If-Modified-Since") == 0);
        const auto refreshed = flow::manage(gateway, "agents/refreshCard", {{"id", "a"}});
        CHECK(refreshed["changed"] == false);
        REQUIRE(agent.request_count() == 2);
        CHECK(agent.request(1).header(each.field) == each.value);
        CHECK(agent.request(1).count("If-None-Match") + agent.request(1).count("If-Modified-Since") == 1);
        const auto second = get_card(gateway, "a");
        CHECK(second.status == 200);
        CHECK(second.body == first.body);
        CHECK(second.header("ETag") == first.header("ETag"));
        CHECK(max_age_of(second) > 60);
        CHECK(gateway.metric(series("cardea_card_fetch_total", "outcome", "not_modified")) == 1);
        CHECK(gateway.metric(R"(cardea_card_changes_total{agent="a"})") == 1);
    }
}

TEST_CASE("a failure is remembered for negative_ttl")
{
    scripted_agent agent{[](const auto&) { return answer(500, ""); }};
    auto settings = settings_for(agent);
    settings.cards.negative_ttl = 1h;
    const running_gateway gateway{std::move(settings)};
    for (int i = 0; i < 5; ++i) {
        check_refusal(get_card(gateway, "a"), 502, "upstream_status", "a");
        CHECK(agent.request_count() == 2);
    }
    CHECK(gateway.metric(series("cardea_card_cache_total", "result", "negative")) == 4);
    CHECK(gateway.metric(series("cardea_card_fetch_total", "outcome", "upstream_status")) == 1);
}

TEST_CASE("after negative_ttl the agent is asked again, and a card ends the failure")
{
    scripted_agent agent{[](const auto&) { return answer(500, ""); }};
    auto settings = settings_for(agent);
    settings.cards.negative_ttl = 50ms;
    const running_gateway gateway{std::move(settings)};
    CHECK(get_card(gateway, "a").status == 502);
    agent.otherwise(card_named("Back"));
    CHECK(becomes_true([&] { return get_card(gateway, "a").status == 200; }));
    CHECK(get_card(gateway, "a").count("Cardea-Card") == 0);
}

TEST_CASE("a refresh on demand ends a remembered failure")
{
    scripted_agent agent{[](const auto&) { return answer(500, ""); }};
    auto settings = settings_for(agent);
    settings.cards.negative_ttl = 1h;
    const running_gateway gateway{std::move(settings)};
    CHECK(get_card(gateway, "a").status == 502);
    agent.otherwise(card_named("Back"));
    flow::manage(gateway, "agents/refreshCard", {{"id", "a"}});
    CHECK(name_in(get_card(gateway, "a")) == "Back");
}

TEST_CASE("while an agent fails its old card is served and says so, until it is too old")
{
    struct row {
        const char* what;
        test_support::script failing;
        const char* reason;
    };
    for (const auto& each : std::vector<row>{
             {"an error status", answer(503, ""), "upstream_status"},
             {"no card any more", test_support::html(), "card_not_json"},
             {"reset", test_support::reset(), "upstream_reset"},
             {"silent", test_support::silence(), "upstream_timeout"},
         }) {
        CAPTURE(each.what);
        scripted_agent agent{card_named("Steady")};
        auto settings = settings_for(agent);
        settings.cards.ttl = 60ms;
        settings.cards.timeout = 200ms;
        settings.cards.negative_ttl = 0ms;
        settings.cards.stale_if_error = 1s;
        const running_gateway gateway{std::move(settings)};
        const auto first = get_card(gateway, "a");
        agent.otherwise([&](const auto&) { return each.failing; });
        const std::regex stale{"stale; age=[0-9]+; reason=" + std::string(each.reason)};
        test_support::http_response got;
        CHECK(becomes_true([&] {
            got = get_card(gateway, "a");
            return got.status != 200 || std::regex_match(got.header("Cardea-Card"), stale);
        }));
        CHECK(got.status == 200);
        CHECK(got.body == first.body);
        CHECK(got.header("ETag") == first.header("ETag"));
        CHECK(max_age_of(got) == 0);
        CHECK(got.count("Cardea-Error") == 0);
        CHECK(becomes_true([&] {
            got = get_card(gateway, "a");
            return got.status != 200;
        }));
        check_refusal(got, std::string_view{each.reason} == "upstream_timeout" ? 504 : 502, each.reason, "a");
    }
}

TEST_CASE("an agent that is gone leaves its card for stale_if_error")
{
    std::optional<scripted_agent> agent{std::in_place, card_named("Gone")};
    auto settings = settings_for(*agent);
    settings.cards.ttl = 50ms;
    settings.cards.stale_if_error = 1h;
    settings.cards.negative_ttl = 1h;
    const running_gateway gateway{std::move(settings)};
    CHECK(get_card(gateway, "a").status == 200);
    agent.reset();
    test_support::http_response got;
    CHECK(becomes_true([&] {
        got = get_card(gateway, "a");
        CHECK(got.status == 200);
        return got.header("Cardea-Card").ends_with("reason=upstream_refused");
    }));
    CHECK(name_in(got) == "Gone");
    CHECK(gateway.metric(series("cardea_card_cache_total", "result", "stale")).value_or(0) >= 1);
}

TEST_CASE("an old card under a failing agent can still be validated")
{
    scripted_agent agent{card_named("Steady")};
    auto settings = settings_for(agent);
    settings.cards.ttl = 50ms;
    const running_gateway gateway{std::move(settings)};
    const auto etag = get_card(gateway, "a").header("ETag");
    agent.otherwise([](const auto&) { return answer(500, ""); });
    CHECK(becomes_true([&] {
        const auto got = get_card(gateway, "a", {{"If-None-Match", etag}});
        CHECK(got.status == 304);
        return got.header("Cardea-Card").ends_with("reason=upstream_status");
    }));
}

TEST_SUITE_END();
