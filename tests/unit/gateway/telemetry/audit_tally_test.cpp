#include "gateway/telemetry/audit_tally.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/audit_tally");

namespace {

using gateway::model::denial;
using gateway::telemetry::audit_tally;

gateway::model::request_record denied(std::string_view principal, denial reason)
{
    gateway::model::request_record record;
    record.principal = principal;
    record.provider = "keys";
    record.denied = reason;
    record.denied_agent = "a";
    record.peer = "10.0.0.1";
    return record;
}

}  // namespace

TEST_CASE("denials that are the same are counted, others are told apart")
{
    audit_tally tally{true};
    tally.note(denied("ci", denial::forbidden));
    auto again = denied("ci", denial::forbidden);
    again.client = "192.0.2.7";
    tally.note(again);
    tally.note(denied("ci", denial::hidden));
    tally.note({});  // nothing was denied
    const auto notes = tally.take();
    REQUIRE(notes.denied.size() == 2);
    CHECK(notes.denied[0].principal == "ci");
    CHECK(notes.denied[0].provider == "keys");
    CHECK(notes.denied[0].agent == "a");
    CHECK(notes.denied[0].count == 2);
    CHECK(notes.denied[0].address == "192.0.2.7");
    CHECK(notes.denied[1].reason == denial::hidden);
    CHECK(notes.denied[1].address == "10.0.0.1");
    CHECK(tally.take().empty());
}

TEST_CASE("there is room for so many denials and keys, and more denials are counted")
{
    audit_tally tally{true};
    for (std::size_t i = 0; i <= audit_tally::most; ++i) {
        const auto id = std::to_string(i);
        tally.note(denied(id, denial::forbidden));
        tally.note_key({.id = id, .provider = "keys", .tenant = {}, .scopes = {}, .groups = {}, .claims = {}});
    }
    const auto notes = tally.take();
    CHECK(notes.denied.size() == audit_tally::most);
    CHECK(notes.keys.size() == audit_tally::most);
    CHECK(notes.dropped == 1);
}

TEST_CASE("one caller takes a quarter of the room and leaves the rest to others")
{
    audit_tally tally{true};
    for (std::size_t i = 0; i <= audit_tally::share; ++i) {
        const auto agent = std::to_string(i);
        auto record = denied("", denial::unauthenticated);
        record.denied_agent = agent;
        tally.note(record);
    }
    tally.note(denied("ci", denial::forbidden));
    const auto notes = tally.take();
    CHECK(notes.denied.size() == audit_tally::share + 1);
    CHECK(notes.denied.back().principal == "ci");
    CHECK(notes.dropped == 1);
}

TEST_CASE("a tally that is off keeps nothing")
{
    audit_tally tally{false};
    tally.note(denied("ci", denial::forbidden));
    tally.note_key({});
    CHECK(tally.take().empty());
}

TEST_SUITE_END();
