#include "gateway/cards/card_cache.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_cache");

namespace {

using namespace std::chrono_literals;
using core::steady_time;
using gateway::cards::card_decision;
using gateway::cards::card_state;
using gateway::cards::decide;
using gateway::cards::freshness;

constexpr steady_time start{1'000'000s};

config::card_settings settings()
{
    config::card_settings out;
    out.ttl = 300s;
    out.min_ttl = 10s;
    out.max_ttl = 1h;
    out.stale_if_error = 600s;
    out.negative_ttl = 5s;
    return out;
}

card_state with_card(core::duration fresh_for)
{
    card_state state;
    gateway::cards::succeed(
        state,
        gateway::model::make_card_bytes(gateway::model::body_with_strong_etag(R"({"name":"a"})")),
        start,
        fresh_for,
        settings()
    );
    return state;
}

card_state with_failure_at(card_state state, steady_time when)
{
    gateway::cards::fail(state, core::upstream_error(core::errc::upstream_refused), when, settings());
    return state;
}

}  // namespace

TEST_CASE("without a card, a request waits for a fetch")
{
    CHECK(decide({}, start, settings()) == card_decision::fetch);
}

TEST_CASE("a card is served until its freshness ends, then while it is fetched again, then after a fetch")
{
    const auto state = with_card(20s);
    CHECK(decide(state, start, settings()) == card_decision::serve);
    CHECK(decide(state, start + 20s - 1ns, settings()) == card_decision::serve);
    CHECK(decide(state, start + 20s, settings()) == card_decision::serve_and_refresh);
    CHECK(decide(state, start + 40s - 1ns, settings()) == card_decision::serve_and_refresh);
    CHECK(decide(state, start + 40s, settings()) == card_decision::fetch);
}

TEST_CASE("a card is never served unasked for longer than a minute past its freshness")
{
    const auto state = with_card(1h);
    CHECK(decide(state, start + 1h + 60s - 1ns, settings()) == card_decision::serve_and_refresh);
    CHECK(decide(state, start + 1h + 60s, settings()) == card_decision::fetch);
}

TEST_CASE("a failure without a card is remembered for negative_ttl")
{
    const auto state = with_failure_at({}, start);
    CHECK(decide(state, start, settings()) == card_decision::refuse);
    CHECK(decide(state, start + 5s - 1ns, settings()) == card_decision::refuse);
    CHECK(decide(state, start + 5s, settings()) == card_decision::fetch);
}

TEST_CASE("after a failure an old card is served without a fetch for negative_ttl, then while one runs")
{
    const auto state = with_failure_at(with_card(20s), start + 30s);
    CHECK(decide(state, start + 30s, settings()) == card_decision::serve_stale);
    CHECK(decide(state, start + 35s - 1ns, settings()) == card_decision::serve_stale);
    CHECK(decide(state, start + 35s, settings()) == card_decision::serve_and_refresh);
}

TEST_CASE("a fresh card is served whatever a refresh on demand met")
{
    const auto state = with_failure_at(with_card(20s), start + 1s);
    CHECK(decide(state, start + 1s, settings()) == card_decision::serve);
    CHECK(decide(state, start + 20s - 1ns, settings()) == card_decision::serve);
}

TEST_CASE("an old card is usable for stale_if_error past its freshness and then refused")
{
    const auto last = start + 20s + 600s;
    const auto state = with_failure_at(with_card(20s), last - 1s);
    CHECK(gateway::cards::usable(state, last - 1ns));
    CHECK_FALSE(gateway::cards::usable(state, last));
    CHECK(decide(state, last - 1ns, settings()) == card_decision::serve_stale);
    CHECK(decide(state, last, settings()) == card_decision::refuse);
    CHECK_FALSE(gateway::cards::usable({}, start));
}

TEST_CASE("a success ends a failure and starts all times again")
{
    auto state = with_failure_at(with_card(20s), start + 30s);
    gateway::cards::succeed(state, state.card->bytes, start + 40s, 20s, settings());
    CHECK_FALSE(state.failure.has_value());
    CHECK(state.card->fetched_at == start + 40s);
    CHECK(state.card->fresh_until == start + 60s);
    CHECK(state.card->usable_until == start + 660s);
    CHECK(decide(state, start + 41s, settings()) == card_decision::serve);
}

TEST_CASE("a success makes a new value: whoever holds the old one sees it unchanged")
{
    auto state = with_card(20s);
    const auto held = state.card;
    gateway::cards::succeed(
        state,
        gateway::model::make_card_bytes(gateway::model::body_with_strong_etag("{}")),
        start + 30s,
        20s,
        settings()
    );
    CHECK(held->fresh_until == start + 20s);
    CHECK(held->bytes->body == R"({"name":"a"})");
    CHECK(state.card != held);
}

TEST_CASE("with a freshness of zero every request fetches")
{
    const auto state = with_card(0s);
    CHECK(decide(state, start, settings()) == card_decision::fetch);
}

TEST_CASE("with a negative_ttl of zero a failure is not remembered")
{
    auto now = settings();
    now.negative_ttl = 0s;
    CHECK(decide(with_failure_at({}, start), start, now) == card_decision::fetch);
}

TEST_CASE("max-age is what is left of the freshness, in whole seconds, never less than none")
{
    const auto state = with_card(20s);
    CHECK(gateway::model::max_age(*state.card, start) == 20);
    CHECK(gateway::model::max_age(*state.card, start + 1ns) == 19);
    CHECK(gateway::model::max_age(*state.card, start + 19s) == 1);
    CHECK(gateway::model::max_age(*state.card, start + 19s + 1ns) == 0);
    CHECK(gateway::model::max_age(*state.card, start + 20s) == 0);
    CHECK(gateway::model::max_age(*state.card, start + 1h) == 0);
}

TEST_CASE("freshness is what the agent says, within min_ttl and max_ttl")
{
    struct row {
        std::string cache_control;
        std::string age;
        core::duration expected;
    };
    const std::vector<row> rows{
        {"", "", 300s},
        {"public", "", 300s},
        {"max-age=60", "", 60s},
        {"MAX-AGE=60", "", 60s},
        {"public, max-age=60, must-revalidate", "", 60s},
        {" max-age = 60 ", "", 60s},
        {"max-age=\"60\"", "", 60s},
        {"max-age=60", "20", 40s},
        {"max-age=60", " 20 ", 40s},
        {"max-age=60", "nonsense", 60s},
        {"max-age=60", "-5", 60s},
        {"max-age=60", "50", 10s},
        {"max-age=60", "61", 10s},
        {"max-age=9", "", 10s},
        {"max-age=10", "", 10s},
        {"max-age=11", "", 11s},
        {"max-age=0", "", 10s},
        {"max-age=3599", "", 3599s},
        {"max-age=3600", "", 3600s},
        {"max-age=3601", "", 3600s},
        {"max-age=99999999999999999999999999", "", 3600s},
        {"max-age=60", "99999999999999999999999999", 10s},
        {"max-age=-1", "", 300s},
        {"max-age=1e3", "", 300s},
        {"max-age", "", 300s},
        {"max-age=", "", 300s},
        {"max-age=60, max-age=120", "", 60s},
        {"max-age=60, s-maxage=120", "", 120s},
        {"s-maxage=120, max-age=60", "", 120s},
        {"s-maxage=x, max-age=60", "", 60s},
        {"no-store", "", 10s},
        {"no-cache", "", 10s},
        {"No-Cache, max-age=60", "", 10s},
        {"max-age=60, no-store", "", 10s},
        {"s-maxage=60, no-store", "", 10s},
        {"no-store, s-maxage=60", "", 10s},
        {"no-storex, max-age=60", "", 60s},
        {",,max-age=60,,", "", 60s},
    };
    for (const auto& each : rows) {
        CAPTURE(each.cache_control);
        CAPTURE(each.age);
        CHECK(freshness(each.cache_control, each.age, settings()).count() == each.expected.count());
    }
}

TEST_CASE(
    "An outdated card is no longer fresh, is as old as its outdating, and is usable for as long as is said from then on"
)
{
    for (const auto usable_for : {0s, 30s, 2'000s}) {  // without outdate(): 620 s
        CAPTURE(usable_for.count());
        auto state = with_card(20s);
        const auto held = state.card;
        const auto outdated = start + 5s;
        gateway::cards::outdate(state, outdated, usable_for);
        CHECK(decide(state, outdated, settings()) == card_decision::fetch);
        CHECK(state.card->fetched_at == outdated);
        CHECK(gateway::cards::usable(state, outdated + usable_for - 1ns));
        CHECK_FALSE(gateway::cards::usable(state, outdated + usable_for));
        CHECK(state.card->bytes == held->bytes);
        CHECK(held->usable_until == start + 620s);  // whoever holds the old one sees it unchanged
    }
    card_state none;
    gateway::cards::outdate(none, start, 20s);
    CHECK(none.card == nullptr);
}

TEST_CASE("a card is as old as its last change, and two changes of one second have no date")
{
    card_state state;
    const auto publish = [&](const char* changed_at) {
        if (changed_at != nullptr) {
            gateway::cards::change(state, changed_at);
        }
        auto bytes = gateway::model::make_card_bytes(gateway::model::body_with_strong_etag("{}"));
        gateway::cards::succeed(state, std::move(bytes), start, 20s, settings());
        return state.card->modified;
    };
    CHECK(publish("12:00:00") == "12:00:00");
    CHECK(publish(nullptr) == "12:00:00");
    gateway::cards::outdate(state, start, 20s);
    CHECK(state.card->modified == "12:00:00");
    CHECK(publish("12:00:01") == "12:00:01");
    CHECK(publish("12:00:01") == "");
    CHECK(publish("12:00:01") == "");
    CHECK(publish(nullptr) == "");
    CHECK(publish("12:00:02") == "12:00:02");
}

TEST_SUITE_END();
