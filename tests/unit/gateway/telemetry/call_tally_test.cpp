#include "gateway/telemetry/call_tally.hpp"

#include "tests/unit/gateway/telemetry/allocations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/call_tally");

namespace {

using namespace std::chrono_literals;
using gateway::telemetry::call_tally;

constexpr core::steady_time start{5'000s};

gateway::model::request_record call(std::string_view agent, unsigned status)
{
    gateway::model::request_record record;
    record.where = gateway::model::route::call;
    record.agent = agent;
    record.status = status;
    record.upstream_first_byte = 1ms;
    return record;
}

using counts = std::map<std::string, std::array<unsigned, 3>>;  // calls, failures, successes

counts taken(call_tally& tally, core::steady_time now)
{
    counts out;
    for (const auto& each : tally.take(now)) {
        CHECK(out.emplace(each.agent, std::array{each.calls, each.failures, each.successes}).second);
    }
    return out;
}

}  // namespace

TEST_CASE("calls and failures of each agent are told once, at most once a second")
{
    call_tally tally;
    CHECK(taken(tally, start).empty());
    tally.note(call("a", 200));
    tally.note(call("a", 503));
    tally.note(call("a", 404));
    tally.note(call("b", 504));
    auto silent = call("c", 200);
    silent.code = core::errc::caller_gone;
    silent.from = core::side::caller;
    tally.note(silent);
    CHECK(taken(tally, start) == counts{{"a", {3, 1, 1}}, {"b", {1, 1, 0}}, {"c", {0, 0, 0}}});
    tally.note(call("b", 200));
    CHECK(taken(tally, start + call_tally::interval - 1ns).empty());
    CHECK(taken(tally, start + call_tally::interval) == counts{{"b", {1, 0, 1}}});
    CHECK(taken(tally, start + 1h).empty());
}

TEST_CASE("A note has the outcomes and latencies of all calls, and streams have no latency")
{
    call_tally tally;
    const auto noted = [&](unsigned status, std::chrono::nanoseconds total) {
        auto record = call("a", status);
        record.total = total;
        tally.note(record);
    };
    noted(200, 1ms);
    noted(200, 1ms + 1ns);
    noted(404, 60s);
    noted(500, 60s + 1ns);
    noted(200, 30s + 1ns);
    auto cut = call("a", 200);
    cut.code = core::errc::internal;
    cut.from = core::side::gateway;
    tally.note(cut);
    auto stream = call("a", 200);
    stream.stream = gateway::model::stream_end::complete;
    tally.note(stream);
    auto page = call("a", 200);
    page.where = gateway::model::route::card;
    tally.note(page);
    const auto notes = tally.take(start);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].all.ended == std::array<std::uint32_t, 4>{4, 1, 1, 1});
    std::array<std::uint32_t, 16> latencies{2, 1};
    latencies[14] = 2;
    latencies[15] = 1;
    CHECK(notes[0].all.latencies == latencies);
    tally.note(call("a", 200));
    CHECK(tally.take(start + 1s)[0].all.ended == std::array<std::uint32_t, 4>{1, 0, 0, 0});
}

TEST_CASE("Messages to MCP servers count as calls, and those that stay open have no latency")
{
    call_tally tally;
    auto listens = call("a", 200);
    listens.where = gateway::model::route::mcp;
    tally.note(listens);
    auto message = listens;
    message.mcp_method = mcp::client_method::tools_call;
    message.stream = gateway::model::stream_end::complete;
    tally.note(message);
    const auto notes = tally.take(start);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].calls == 2);
    CHECK(notes[0].all.ended == std::array<std::uint32_t, 4>{1, 0, 0, 0});
    CHECK(notes[0].all.latencies[0] == 1);
}

TEST_CASE("beyond the most notes at a time the rest comes next, without a pause")
{
    for (const std::size_t agents : {call_tally::most - 1, call_tally::most, call_tally::most + 1}) {
        call_tally tally;
        for (std::size_t i = 0; i < agents; ++i) {
            tally.note(call("agent" + std::to_string(i), 200));
        }
        CHECK(taken(tally, start).size() == std::min(agents, call_tally::most));
        CHECK(taken(tally, start).size() == agents - std::min(agents, call_tally::most));
    }
}

TEST_CASE("an agent that was left out comes first the next time, however many are called meanwhile")
{
    call_tally tally;
    const auto call_all = [&] {
        for (std::size_t i = 0; i <= call_tally::most; ++i) {
            tally.note(call("agent" + std::to_string(i), 200));
        }
    };
    call_all();
    const auto first = taken(tally, start);
    call_all();
    const auto second = taken(tally, start);
    std::size_t left_out = 0;
    for (std::size_t i = 0; i <= call_tally::most; ++i) {
        const auto id = "agent" + std::to_string(i);
        if (!first.contains(id)) {
            ++left_out;
            REQUIRE(second.contains(id));
            CHECK(second.at(id)[0] == 2);
        }
    }
    CHECK(left_out == 1);
}

TEST_CASE("of an agent that is gone nothing is told, and what was not told of it is forgotten")
{
    call_tally tally;
    tally.forget("a");
    for (const auto* id : {"a", "b", "c"}) {
        tally.note(call(id, 200));
    }
    tally.forget("a");
    tally.forget_unless([](std::string_view id) { return id == "c"; });
    CHECK(taken(tally, start) == counts{{"c", {1, 0, 1}}});
    tally.note(call("a", 503));
    CHECK(taken(tally, start + 1s) == counts{{"a", {1, 1, 0}}});
}

TEST_CASE("a call of an agent that was called before allocates nothing, however many agents are called in one second")
{
    call_tally tally;
    std::vector<std::string> ids;
    for (int i = 0; i < 100; ++i) {
        ids.push_back("agent-with-a-long-name-" + std::to_string(i));
    }
    auto now = start;
    for (const auto& id : ids) {
        tally.note(call(id, 200));
        CHECK(tally.take(now).size() == 1);
        now += call_tally::interval;
    }
    const auto before = tests::allocations();
    for (const auto& id : ids) {
        tally.note(call(id, 503));
        tally.note(call(id, 503));
    }
    CHECK(tests::allocations() == before);
}

TEST_CASE("the calls of each principal of an agent are told with them, those without a credential too")
{
    call_tally tally;
    auto of_ann = call("a", 200);
    of_ann.provider = "keys";
    of_ann.principal = "ann";
    tally.note(of_ann);
    tally.note(of_ann, {.caller = false});
    of_ann.code = core::errc::upstream_reset;
    of_ann.from = core::side::upstream;
    tally.note(of_ann);
    of_ann.code = core::errc::chain_limited;
    of_ann.from = core::side::caller;
    tally.note(of_ann);
    of_ann.denied = gateway::model::denial::forbidden;
    of_ann.code = core::errc::forbidden;
    tally.note(of_ann);
    tally.note(call("a", 200));
    const auto notes = tally.take(start);
    REQUIRE(notes.size() == 1);
    REQUIRE(notes[0].callers.size() == 2);
    const auto& nobody = notes[0].callers[0];
    CHECK(nobody.principal.empty());
    CHECK(nobody.numbers.calls == 1);
    const auto& ann = notes[0].callers[1];
    CHECK(ann.provider == "keys");
    CHECK(ann.principal == "ann");
    CHECK(ann.numbers.calls == 4);
    CHECK(ann.numbers.failed == 1);
    CHECK(ann.numbers.refused == 2);
    tally.note(call("a", 200));
    CHECK(tally.take(start + 1s)[0].callers.size() == 1);
    tally.note(call("a", 503), {.agent = false});
    const auto elsewhere = tally.take(start + 2s);
    REQUIRE(elsewhere.size() == 1);
    CHECK(elsewhere[0].calls == 0);
    CHECK(elsewhere[0].all.ended == decltype(elsewhere[0].all.ended){});
    CHECK(elsewhere[0].callers.size() == 1);
    tally.note(call("a", 200), {.agent = false, .caller = false});
    CHECK(tally.take(start + 3s).empty());
}

TEST_CASE("of more principals than there is room for, the rest is not told, and there is room again once they are taken"
)
{
    call_tally tally;
    const auto note = [&](std::size_t i, std::string_view agent) {
        const auto id = std::to_string(i);
        auto record = call(agent, 200);
        record.provider = "keys";
        record.principal = id;
        tally.note(record);
    };
    const auto told = [&](core::steady_time now) {
        std::size_t all = 0;
        for (const auto& each : tally.take(now)) {
            all += each.callers.size();
        }
        return all;
    };
    for (std::size_t i = 0; i < call_tally::most_callers - 1; ++i) {
        note(i, i % 2 == 0 ? "a" : "b");
    }
    CHECK(told(start) == call_tally::most_callers - 1);
    for (std::size_t i = 0; i < call_tally::most_callers + 1; ++i) {
        note(i, i % 2 == 0 ? "a" : "b");
    }
    CHECK(told(start + 1s) == call_tally::most_callers);
    for (std::size_t i = 0; i < call_tally::most_callers; ++i) {
        note(i, i % 2 == 0 ? "a" : "b");
    }
    tally.forget("a");
    tally.forget_unless([](std::string_view id) { return id != "b"; });
    for (std::size_t i = 0; i < call_tally::most_callers; ++i) {
        note(i, "c");
    }
    CHECK(told(start + 2s) == call_tally::most_callers);
}

TEST_SUITE_END();
