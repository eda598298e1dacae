#include "gateway/telemetry/audit_tally.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/denial_fold");

namespace {

using namespace std::chrono_literals;
using gateway::model::denial;
using gateway::model::denied_requests;
using gateway::telemetry::denial_fold;

const core::steady_time start{1h};

denied_requests of(const std::string& principal, denial reason = denial::forbidden, std::uint64_t count = 1)
{
    return {
        .principal = principal,
        .provider = "keys",
        .agent = "a",
        .reason = reason,
        .address = "10.0.0.1",
        .count = count
    };
}

struct rig {
    std::vector<denied_requests> told;
    denial_fold fold{[this](const denied_requests& each) { told.push_back(each); }};
};

}  // namespace

TEST_CASE("the first denial is told at once, and those of the next ten seconds once, with their number")
{
    rig r;
    r.fold.add(of("ci"), start);
    REQUIRE(r.told.size() == 1);
    CHECK(r.told[0].count == 1);
    for (int i = 0; i < 90; ++i) {
        r.fold.add(of("ci", denial::forbidden, 2), start + i * 100ms);
        r.fold.sweep(start + i * 100ms);
    }
    r.fold.sweep(start + 9999ms);
    CHECK(r.told.size() == 1);
    r.fold.sweep(start + 10s);
    REQUIRE(r.told.size() == 2);
    CHECK(r.told[1].count == 180);
    r.fold.add(of("ci"), start + 11s);
    r.fold.sweep(start + 19s);
    CHECK(r.told.size() == 2);
    r.fold.sweep(start + 20s);
    REQUIRE(r.told.size() == 3);
    CHECK(r.told[2].count == 1);
    r.fold.sweep(start + 30s);
    CHECK(r.told.size() == 3);
    r.fold.add(of("ci"), start + 31s);  // after a pause it is the first again
    CHECK(r.told.size() == 4);
}

TEST_CASE("principals, providers, agents and reasons are told apart, addresses are not")
{
    rig r;
    r.fold.add(of("ci"), start);
    r.fold.add(of("bob"), start);
    r.fold.add(of("ci", denial::hidden), start);
    auto other = of("ci");
    other.agent = "b";
    r.fold.add(other, start);
    other.provider = "idp";
    r.fold.add(other, start);
    CHECK(r.told.size() == 5);
    other.address = "10.0.0.2";
    r.fold.add(other, start);
    CHECK(r.told.size() == 5);
    r.fold.end();
    REQUIRE(r.told.size() == 6);
    CHECK(r.told[5].address == "10.0.0.2");
}

TEST_CASE("what finds no room is counted, until there is room again")
{
    rig r;
    for (std::size_t i = 0; i < denial_fold::most; ++i) {
        r.fold.add(of(std::to_string(i)), start);
    }
    CHECK(r.fold.dropped() == 0);
    r.fold.add(of("one more", denial::forbidden, 3), start);
    CHECK(r.fold.dropped() == 3);
    CHECK(r.told.size() == denial_fold::most);
    r.fold.sweep(start + 10s);
    r.fold.add(of("one more"), start + 10s);
    CHECK(r.told.size() == denial_fold::most + 1);
    CHECK(r.fold.dropped() == 3);
}

TEST_CASE("anonymous callers, and each principal, take a quarter of the room and leave the rest to others")
{
    for (const std::string& greedy : {"", "ci"}) {
        CAPTURE(greedy);
        rig r;
        const auto deny = [&](std::size_t i, core::steady_time now) {
            auto next = of(greedy);
            next.provider = greedy.empty() ? "" : "keys";
            next.agent = std::to_string(i);
            r.fold.add(next, now);
        };
        for (std::size_t i = 0; i < denial_fold::share; ++i) {
            deny(i, start);
        }
        CHECK(r.fold.dropped() == 0);
        deny(denial_fold::share, start);
        CHECK(r.fold.dropped() == 1);
        r.fold.add(of("bob"), start);
        CHECK(r.told.size() == denial_fold::share + 1);
        r.fold.sweep(start + 10s);
        deny(denial_fold::share, start + 10s);  // its room is free again
        CHECK(r.fold.dropped() == 1);
        CHECK(r.told.size() == denial_fold::share + 2);
    }
}

TEST_CASE("denials of two rules are told apart, and the latest method and tool of each are told")
{
    rig r;
    auto one = of("ci");
    one.rule = "c.yml:3:5 agents.a.call[0]";
    one.method = "tools/call";
    one.tool = "first";
    auto other = one;
    other.rule = "c.yml:4:5 agents.a.call[1]";
    r.fold.add(one, start);
    r.fold.add(other, start);
    REQUIRE(r.told.size() == 2);
    one.tool = "last";
    one.method = "tools/list";
    r.fold.add(one, start + 1s);
    r.fold.sweep(start + 10s);
    REQUIRE(r.told.size() == 3);
    CHECK(r.told[2].rule == one.rule);
    CHECK(r.told[2].method == "tools/list");
    CHECK(r.told[2].tool == "last");
    CHECK(r.told[2].count == 1);
}

TEST_SUITE_END();
