#include "gateway/telemetry/worker_metrics.hpp"

#include "tests/unit/gateway/telemetry/allocations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/worker_metrics");

namespace {

using namespace std::chrono_literals;
using gateway::model::route;
using gateway::telemetry::call_outcome;

gateway::model::request_record a_call(std::string_view agent = "weather")
{
    gateway::model::request_record record;
    record.where = route::call;
    record.http_method = "POST";
    record.agent = agent;
    record.rpc_method = a2a::method::message_send;
    record.status = 200;
    record.bytes_in = 10;
    record.bytes_out = 100;
    record.total = 7ms;
    record.upstream_first_byte = 6ms;
    return record;
}

gateway::model::request_record a_card_request(std::string_view agent, gateway::model::card_use use)
{
    gateway::model::request_record record;
    record.where = route::card;
    record.http_method = "GET";
    record.agent = agent;
    record.status = 200;
    record.card = use;
    return record;
}

const gateway::telemetry::call_counters&
calls_of(const gateway::telemetry::worker_metrics& metrics, std::string_view id)
{
    const auto* counters = metrics.find(id);
    REQUIRE(counters != nullptr);
    REQUIRE(counters->calls() != nullptr);
    return *counters->calls();
}

std::uint64_t requests(const gateway::telemetry::call_counters& calls, a2a::method method, call_outcome outcome)
{
    return calls.requests[static_cast<std::size_t>(method)][outcome];
}

std::map<std::string, std::uint64_t> http_of(const gateway::telemetry::loop_totals& totals)
{
    std::map<std::string, std::uint64_t> counted;
    totals.http.visit([&](route where, std::string_view method, std::string_view status, std::uint64_t n) {
        counted[std::string{name(where)} + ' ' + std::string{method} + ' ' + std::string{status}] = n;
    });
    return counted;
}

}  // namespace

TEST_CASE("the tables have a place for every enumerator")
{
    // Behind the last enumerator a name falls back to another one's.
    CHECK(core::name(core::errc::internal) == "internal");
    for (std::size_t i = gateway::telemetry::errc_counters::size; i < 256; ++i) {
        CHECK(core::name(static_cast<core::errc>(i)) == "internal");
    }
    for (std::size_t i = gateway::telemetry::route_counters::size; i < 256; ++i) {
        CHECK(name(static_cast<route>(i)) == "none");
    }
    for (std::size_t i = gateway::telemetry::stream_end_counters::size; i < 256; ++i) {
        CHECK(name(static_cast<gateway::model::stream_end>(i)) == "upstream");
    }
    for (std::size_t i = gateway::telemetry::card_use_counters::size; i < 256; ++i) {
        CHECK(name(static_cast<gateway::model::card_use>(i)) == "miss");
    }
    for (std::size_t i = gateway::telemetry::limit_counters::size; i < 256; ++i) {
        CHECK(name(static_cast<gateway::model::rate_limit>(i)) == "address");
    }
    for (std::size_t i = gateway::telemetry::denial_counters::size; i < 256; ++i) {
        CHECK(name(static_cast<gateway::model::denial>(i)) == "forbidden");
    }
}

TEST_CASE("requests are counted by route, HTTP method and status")
{
    gateway::telemetry::worker_metrics metrics;
    metrics.count(a_call());
    metrics.count(a_call());
    gateway::model::request_record unreadable;
    unreadable.status = 400;
    metrics.count(unreadable);
    metrics.count(a_card_request("weather", gateway::model::card_use::hit));
    const std::map<std::string, std::uint64_t> expected{
        {"call POST 200", 2},
        {"card GET 200", 1},
        {"none none 400", 1},
    };
    CHECK(http_of(metrics.totals()) == expected);
    CHECK(metrics.totals().request_bytes[route::call] == 20);
    CHECK(metrics.totals().response_bytes[route::call] == 200);
    CHECK(metrics.totals().request_bytes[route::card] == 0);
}

TEST_CASE("every registered status is itself, every other number is other")
{
    const std::pair<unsigned, std::string> rows[] = {
        {0, "other"},   {99, "other"},  {100, "100"},   {101, "101"},   {104, "other"}, {200, "200"},   {226, "226"},
        {227, "other"}, {299, "other"}, {308, "308"},   {418, "418"},   {419, "other"}, {429, "429"},   {451, "451"},
        {499, "499"},   {511, "511"},   {512, "other"}, {599, "other"}, {600, "other"}, {999, "other"}, {~0U, "other"},
    };
    for (const auto& [status, label] : rows) {
        CAPTURE(status);
        gateway::telemetry::worker_metrics metrics;
        auto record = a_call();
        record.status = status;
        metrics.count(record);
        CHECK(http_of(metrics.totals()) == std::map<std::string, std::uint64_t>{{"call POST " + label, 1}});
    }
}

TEST_CASE("an outcome is the failing side's, or follows from the stream's end or the status")
{
    using core::side;
    using gateway::model::stream_end;
    struct row {
        unsigned status;
        std::optional<core::errc> code;
        side from;
        std::optional<stream_end> stream;
        call_outcome outcome;
    };
    const auto none = std::nullopt;
    const row rows[] = {
        {200, none, side::gateway, none, call_outcome::ok},
        {302, none, side::gateway, none, call_outcome::ok},
        {399, none, side::gateway, none, call_outcome::ok},
        {400, none, side::gateway, none, call_outcome::caller_error},
        {499, none, side::gateway, none, call_outcome::caller_error},
        {500, none, side::gateway, none, call_outcome::upstream_error},
        {599, none, side::gateway, none, call_outcome::upstream_error},
        {0, none, side::gateway, none, call_outcome::gateway_error},
        {502, core::errc::upstream_refused, side::upstream, none, call_outcome::upstream_error},
        {499, core::errc::caller_gone, side::caller, none, call_outcome::caller_error},
        {503, core::errc::overloaded, side::gateway, none, call_outcome::gateway_error},
        {200, none, side::gateway, stream_end::complete, call_outcome::ok},
        {200, none, side::gateway, stream_end::caller, call_outcome::ok},
        {200, none, side::gateway, stream_end::drain, call_outcome::ok},
        {200, none, side::gateway, stream_end::idle, call_outcome::upstream_error},
        {200, none, side::gateway, stream_end::upstream, call_outcome::upstream_error},
        {200, core::errc::caller_gone, side::caller, stream_end::caller, call_outcome::caller_error},
    };
    for (const auto& row : rows) {
        CAPTURE(row.status);
        gateway::model::request_record record;
        record.status = row.status;
        record.code = row.code;
        record.from = row.from;
        record.stream = row.stream;
        CHECK(name(gateway::telemetry::outcome_of(record)) == name(row.outcome));
    }
}

TEST_CASE("a call is counted by method and outcome, with its times and the agent's failures")
{
    gateway::telemetry::worker_metrics metrics;
    metrics.count(a_call());
    auto unread = a_call();
    unread.rpc_method.reset();
    unread.upstream_first_byte.reset();
    unread.code = core::errc::upstream_refused;
    unread.from = core::side::upstream;
    unread.status = 502;
    metrics.count(unread);
    auto refused = a_call();
    refused.code = core::errc::body_too_large;
    refused.from = core::side::caller;
    refused.upstream_first_byte.reset();
    metrics.count(refused);

    const auto& calls = calls_of(metrics, "weather");
    CHECK(requests(calls, a2a::method::message_send, call_outcome::ok) == 1);
    CHECK(requests(calls, a2a::method::message_send, call_outcome::caller_error) == 1);
    CHECK(requests(calls, a2a::method::other, call_outcome::upstream_error) == 1);
    CHECK(calls.upstream_errors[core::errc::upstream_refused] == 1);
    CHECK(calls.upstream_errors[core::errc::body_too_large] == 0);
    CHECK(calls.duration.count == 3);
    CHECK(calls.duration.sum == 21ms);
    CHECK(calls.first_byte.count == 1);
    CHECK(calls.first_byte.sum == 6ms);
}

TEST_CASE("a card request counts as a use of the cache and not as a call")
{
    gateway::telemetry::worker_metrics metrics;
    auto refused = a_card_request("weather", gateway::model::card_use::negative);
    refused.code = core::errc::upstream_refused;
    refused.from = core::side::upstream;
    metrics.count(refused);
    metrics.count(a_card_request("weather", gateway::model::card_use::hit));
    const auto* counters = metrics.find("weather");
    REQUIRE(counters != nullptr);
    CHECK(counters->cards()[gateway::model::card_use::negative] == 1);
    CHECK(counters->cards()[gateway::model::card_use::hit] == 1);
    CHECK(counters->calls() == nullptr);
}

TEST_CASE("a time falls into the first bucket whose bound is not below it")
{
    const std::pair<std::chrono::nanoseconds, std::size_t> rows[] = {
        {0ns, 0},
        {1ms - 1ns, 0},
        {1ms, 0},
        {1ms + 1ns, 1},
        {2500us, 1},
        {2500us + 1ns, 2},
        {60s - 1ns, 14},
        {60s, 14},
        {60s + 1ns, 15},
        {24h, 15},
    };
    for (const auto& [time, bucket] : rows) {
        CAPTURE(time.count());
        gateway::telemetry::histogram observed;
        observed.observe(time);
        CHECK(observed.count == 1);
        CHECK(observed.sum == time);
        for (std::size_t i = 0; i < observed.buckets.size(); ++i) {
            CHECK(observed.buckets[i] == (i == bucket ? 1 : 0));
        }
    }
}

TEST_CASE("a stream is active from its start to its record, and no part of the durations")
{
    gateway::telemetry::worker_metrics metrics;
    metrics.stream_started("weather");
    metrics.stream_started("weather");
    CHECK(calls_of(metrics, "weather").streams_active == 2);
    auto ended = a_call();
    ended.stream = gateway::model::stream_end::idle;
    metrics.count(ended);
    const auto& calls = calls_of(metrics, "weather");
    CHECK(calls.streams_active == 1);
    CHECK(calls.streams_ended[gateway::model::stream_end::idle] == 1);
    CHECK(calls.streams_ended[gateway::model::stream_end::complete] == 0);
    CHECK(calls.duration.count == 0);
    CHECK(calls.first_byte.count == 1);
}

TEST_CASE("what callers write adds no counter")
{
    gateway::telemetry::worker_metrics metrics;
    for (unsigned i = 0; i < 100'000; ++i) {
        const auto made_up = "method/" + std::to_string(i);
        auto record = a_call();
        record.http_method = made_up;
        record.rpc_method = a2a::find_method(made_up);
        record.status = i;
        record.detail = made_up;
        record.peer = made_up;
        record.management_method = made_up;
        metrics.count(record);
    }
    CHECK(metrics.totals().agents == 1);
    CHECK(http_of(metrics.totals()).size() == gateway::telemetry::http_counters::statuses);
    std::uint64_t total = 0;
    for (const auto& [key, n] : http_of(metrics.totals())) {
        CHECK(key.starts_with("call other "));
        total += n;
    }
    CHECK(total == 100'000);
    const auto& calls = calls_of(metrics, "weather");
    CHECK(calls.duration.count == 100'000);
    for (std::size_t i = 0; i + 1 < a2a::method_count; ++i) {
        CHECK(requests(calls, static_cast<a2a::method>(i), call_outcome::ok) == 0);
    }
}

TEST_CASE("agents cost nothing before their first request and little after it")
{
    CHECK(sizeof(gateway::telemetry::call_counters) < 2048);
    CHECK(sizeof(gateway::telemetry::agent_counters) < 128);
    gateway::telemetry::worker_metrics metrics;
    const auto before = tests::allocations();
    gateway::model::request_record unknown_agent;
    unknown_agent.where = route::call;
    metrics.count(unknown_agent);
    CHECK(tests::allocations() == before);
    CHECK(metrics.totals().agents == 0);
}

TEST_CASE("an allocation would be noticed")
{
    const auto before = tests::allocations();
    gateway::telemetry::worker_metrics metrics;
    metrics.count(a_call());
    CHECK(tests::allocations() >= before + 2);
}

TEST_CASE("counting does not allocate after an agent's first call")
{
    gateway::telemetry::worker_metrics metrics;
    const std::string long_id(128, 'a');
    auto& known = metrics.agent(long_id);
    metrics.count(a_call(long_id));
    const auto before = tests::allocations();
    auto record = a_call(long_id);
    for (unsigned i = 0; i < 1000; ++i) {
        record.status = i;
        record.rpc_method = static_cast<a2a::method>(i % a2a::method_count);
        record.code = i % 2 == 0 ? std::optional{core::errc::upstream_timeout} : std::nullopt;
        record.stream.reset();
        metrics.count(record);
        metrics.stream_started(long_id);
        record.stream = gateway::model::stream_end::complete;
        metrics.count(record, &known);
        metrics.count(a_card_request(long_id, gateway::model::card_use::hit));
    }
    CHECK(tests::allocations() == before);
}

TEST_CASE("an agent's counters stay where they are while others come and go")
{
    gateway::telemetry::worker_metrics metrics;
    auto& known = metrics.agent("weather");
    for (int i = 0; i < 10'000; ++i) {
        metrics.count(a_call("agent-" + std::to_string(i)));
    }
    for (int i = 0; i < 5'000; ++i) {
        metrics.forget("agent-" + std::to_string(i));
    }
    CHECK(&metrics.agent("weather") == &known);
    metrics.count(a_call(), &known);
    CHECK(calls_of(metrics, "weather").duration.count == 1);
    CHECK(metrics.totals().agents == 5'001);
}

TEST_CASE("a forgotten agent's series end, with its last stream if it has any")
{
    gateway::telemetry::worker_metrics metrics;
    metrics.forget("never seen");
    metrics.count(a_call("quiet"));
    metrics.stream_started("streaming");
    metrics.stream_started("streaming");
    metrics.forget("quiet");
    metrics.forget("streaming");
    CHECK(metrics.find("quiet") == nullptr);
    CHECK(metrics.lingering() == std::set<std::string, std::less<>>{"streaming"});

    auto ended = a_call("streaming");
    ended.stream = gateway::model::stream_end::drain;
    metrics.count(ended);
    CHECK(calls_of(metrics, "streaming").streams_active == 1);
    metrics.count(ended);
    CHECK(metrics.find("streaming") == nullptr);
    CHECK(metrics.lingering().empty());
}

TEST_CASE("an agent that comes back before its last stream has ended is not forgotten")
{
    gateway::telemetry::worker_metrics metrics;
    auto ended = a_call("weather");
    ended.stream = gateway::model::stream_end::complete;
    SUBCASE("asked for by name")
    {
        metrics.stream_started("weather");
        metrics.forget("weather");
        metrics.agent("weather");
    }
    SUBCASE("published again")
    {
        metrics.stream_started("weather");
        metrics.forget("weather");
        metrics.remember("weather");
        metrics.remember("never seen");
        CHECK(metrics.find("never seen") == nullptr);
    }
    SUBCASE("by the next snapshot")
    {
        metrics.stream_started("weather");
        metrics.forget_unless([](std::string_view) { return false; });
        metrics.forget_unless([](std::string_view) { return true; });
    }
    CHECK(metrics.lingering().empty());
    metrics.count(ended);
    CHECK(calls_of(metrics, "weather").streams_ended[gateway::model::stream_end::complete] == 1);
}

TEST_CASE("a snapshot keeps what exists and removes the rest, late records included")
{
    gateway::telemetry::worker_metrics metrics;
    metrics.count(a_call("a"));
    metrics.count(a_call("b"));
    metrics.stream_started("c");
    const auto only_a = [](std::string_view id) { return id == "a"; };
    metrics.forget_unless(only_a);
    CHECK(metrics.find("a") != nullptr);
    CHECK(metrics.find("b") == nullptr);
    CHECK(metrics.find("c") != nullptr);

    metrics.count(a_call("b"));
    CHECK(metrics.find("b") != nullptr);
    metrics.forget_unless(only_a);
    CHECK(metrics.find("b") == nullptr);
}

TEST_CASE("a copy of the counters is one that later requests do not change")
{
    gateway::telemetry::worker_metrics metrics;
    metrics.count(a_call());
    const auto totals = metrics.totals();
    const auto copy = *metrics.find("weather");
    metrics.count(a_call());
    REQUIRE(copy.calls() != nullptr);
    CHECK(copy.calls()->duration.count == 1);
    CHECK(calls_of(metrics, "weather").duration.count == 2);
    CHECK(http_of(totals) == std::map<std::string, std::uint64_t>{{"call POST 200", 1}});
}

TEST_SUITE_END();
