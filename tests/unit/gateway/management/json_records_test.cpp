#include "gateway/management/json_records.hpp"

#include "config/agent_table.hpp"
#include "gateway/model/snapshot.hpp"
#include "tests/unit/config/agent_rows.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

TEST_SUITE_BEGIN("gateway/json_records");

namespace {

using namespace std::chrono_literals;
using core::json;
using gateway::management::agent_record;
using gateway::management::card_status_record;

json parsed(std::string_view text)
{
    const auto value = core::parse_json(text);
    REQUIRE(value.has_value());
    return *value;
}

constexpr core::steady_time start{5'000s};

gateway::cards::card_status status_with_card(core::duration fresh_for)
{
    gateway::cards::card_status status;
    gateway::cards::succeed(
        status,
        gateway::model::make_card_bytes(gateway::model::body_with_strong_etag(R"({"name":"a"})")),
        start,
        fresh_for,
        {}
    );
    status.changes = 2;
    return status;
}

}  // namespace

TEST_CASE("a record shows everything an operator wrote, and of secrets only that they are there")
{
    core::agent agent;
    agent.id = "a";
    agent.url = "http://agent:9000/rpc";
    agent.card_url = "http://agent:9000/card.json";
    agent.trust = core::card_trust::same_origin;
    agent.bearer = core::secret{"hunter2"};
    agent.card_headers.emplace_back("X-Key", core::secret{"hunter3"});
    agent.card_headers.emplace_back("Accept-Language", core::secret{"hunter4"});
    agent.timeout = 1500ms;
    agent.ca_file = "/ca.pem";
    agent.cert_file = "/client.pem";
    agent.key_file = "/client.key";
    agent.version = "1.2";
    agent.protocol_version = "0.3.0";
    agent.metadata = R"({"team":"x"})";
    const auto record = agent_record(agent);
    CHECK(core::to_text(record).find("hunter") == std::string::npos);
    CHECK(
        record ==
        parsed(R"({"id":"a","protocol":"a2a","url":"http://agent:9000/rpc","bearer":"********","timeout":"1500ms",
          "card_url":"http://agent:9000/card.json","card_headers":{"X-Key":"********","Accept-Language":"********"},
          "tls":{"ca_file":"/ca.pem","cert":"/client.pem","key":"/client.key"},"version":"1.2","protocolVersion":"0.3.0",
          "inline_card":false,"disabled":false})")
    );
}

TEST_CASE("what an operator did not write is not in the record")
{
    core::agent agent;
    agent.id = "m";
    agent.speaks = core::protocol::mcp;
    agent.card = R"({"name":"m"})";
    agent.disabled = true;
    CHECK(agent_record(agent) == parsed(R"({"id":"m","protocol":"mcp","inline_card":true,"disabled":true})"));
}

TEST_CASE("a record shows the value of every key that is not the usual one, as the dump writes it")
{
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        auto agent = config::testing::usual_agent_with(row);
        const auto before = agent_record(agent);
        const bool changed = config::testing::change(row, agent);
        const auto record = agent_record(agent);
        CHECK(core::to_text(record).find("s3cr3t") == std::string::npos);
        const auto value = config::shown_value(row, agent);
        if (row.name == "card") {
            CHECK(record["inline_card"] == true);
        } else if (row.name == "protocol_version") {
            CHECK(record["protocolVersion"] == value);
        } else if (row.name == "timeout") {
            CHECK(record["timeout"] == "1000ms");
        } else if (changed && row.name != "metadata" && row.name != "transport") {  // these are beside the record
            REQUIRE(record.contains(config::testing::pointer_of(row)));
            CHECK(record.at(config::testing::pointer_of(row)) == value);
            CHECK(record != before);
        }
    }
}

TEST_CASE("a card that was never asked for is unknown, one that was never had has failed")
{
    gateway::cards::card_status status;
    CHECK(card_status_record(status, start, false) == parsed(R"({"state":"unknown","changes":0,"problems":[]})"));
    status.failure = core::upstream_error(core::errc::upstream_refused, "10.0.0.7:9000 refused");
    const auto record = card_status_record(status, start, false);
    CHECK(record == parsed(R"({"state":"failed","changes":0,"failure":{"code":"upstream_refused",
          "message":"The agent could not be reached.","retryable":true},"problems":[]})"));
    CHECK(core::to_text(record).find("10.0.0.7") == std::string::npos);
}

TEST_CASE("operators see what the latest failure of a card was about, when it was, and how often the card was asked for"
)
{
    gateway::cards::card_status status;
    CHECK(card_status_record(status, start, true) == parsed(R"({"state":"unknown","changes":0,"problems":[]})"));
    status.failure = core::upstream_error(core::errc::upstream_refused, "10.0.0.7:9000\nrefused");
    status.failed_at = start;
    status.fetched = 2;
    status.failures = {{core::errc::upstream_refused, 3}, {core::errc::upstream_timeout, 1}};
    const auto record = card_status_record(status, start + 61'900ms, true);
    CHECK(record["attempts"] == 6);
    CHECK(record["failure"]["code"] == "upstream_refused");
    CHECK(record["failure"]["age_seconds"] == 61);
    CHECK(record["failure"]["detail"] == "10.0.0.7:9000\nrefused");
    CHECK(core::to_text(record).find(R"(9000\nrefused)") != std::string::npos);
    status.failure->detail.clear();
    CHECK_FALSE(card_status_record(status, start, true)["failure"].contains("detail"));
    const auto for_callers = card_status_record(status, start, false);
    CHECK_FALSE(for_callers.contains("attempts"));
    CHECK_FALSE(for_callers["failure"].contains("age_seconds"));
}

TEST_CASE("operators see how a session was lost last, also once it is well again, and when it is tried again")
{
    using gateway::management::session_record;
    gateway::sessions::session_facts session;
    session.transport = core::mcp_transport::stdio;
    session.state = mcp::session_state::backoff;
    session.reason = mcp::session_reason::exited;
    session.counts.attempts = 4;
    session.failure = {mcp::session_reason::exited, "exit code 3", start};
    session.next_attempt = start + 2100ms;
    const auto record = session_record(session, start + 1s, true);
    CHECK(record["attempts"] == 4);
    CHECK(record["next_attempt_in_seconds"] == 2);
    CHECK(record["failure"] == parsed(R"({"reason":"exited","age_seconds":1,"detail":"exit code 3"})"));
    CHECK(session_record(session, start + 3s, true)["next_attempt_in_seconds"] == 0);
    session.next_attempt.reset();
    session.failure->detail.clear();
    session.state = mcp::session_state::ready;
    session.reason = mcp::session_reason::none;
    const auto well = session_record(session, start + 90s, true);
    CHECK_FALSE(well.contains("next_attempt_in_seconds"));
    CHECK(well["failure"] == parsed(R"({"reason":"exited","age_seconds":90})"));
    for (const auto* hidden : {"attempts", "next_attempt_in_seconds", "failure"}) {
        CHECK_FALSE(session_record(session, start, false).contains(hidden));
    }
}

TEST_CASE("a card is fresh until its freshness ends, with its age in whole seconds")
{
    const auto status = status_with_card(20s);
    CHECK(card_status_record(status, start + 20s - 1ns, false)["state"] == "fresh");
    CHECK(card_status_record(status, start + 20s, false)["state"] == "stale");
    const auto record = card_status_record(status, start + 5500ms, false);
    CHECK(record["age_seconds"] == 5);
    CHECK(record["fresh_for_seconds"] == 14);
    CHECK(record["size"] == 12);
    CHECK(record["etag"] == status.card->bytes->etag);
    CHECK(record["changes"] == 2);
    CHECK_FALSE(record.contains("found_at"));
    CHECK_FALSE(record.contains("failure"));
}

TEST_CASE("problems of a card are shown with path, wording and weight")
{
    auto status = status_with_card(20s);
    status.found_at = "http://agent/.well-known/agent.json";
    status.problems.push_back({"skills[0].id", "is missing", a2a::problem_severity::error});
    status.problems.push_back({"version", "is empty", a2a::problem_severity::warning});
    const auto record = card_status_record(status, start, false);
    CHECK(record["found_at"] == "http://agent/.well-known/agent.json");
    CHECK(record["problems"] == parsed(R"([{"path":"skills[0].id","what":"is missing","severity":"error"},
          {"path":"version","what":"is empty","severity":"warning"}])"));
}

TEST_CASE("a session is shown with what is spoken and since when it is ready, as far as that is known")
{
    gateway::sessions::session_facts session;
    session.transport = core::mcp_transport::stdio;
    CHECK(
        gateway::management::session_record(session, start, true) ==
        parsed(R"({"state":"configured","transport":"stdio","restarts":0})")
    );
    session.state = mcp::session_state::degraded;
    session.reason = mcp::session_reason::ping_timeout;
    session.era = "legacy";
    session.version = "2025-11-25";
    session.server_name = "everything";
    session.server_version = "2.0.0";
    session.ready_since = start;
    session.counts.connections = 3;
    CHECK(
        gateway::management::session_record(session, start + 90'500ms, true) ==
        parsed(R"({"state":"degraded","transport":"stdio","reason":"ping_timeout","era":"legacy",
            "protocolVersion":"2025-11-25","server":{"name":"everything","version":"2.0.0"},"uptime_seconds":90,"restarts":2})"
        )
    );
    session.left_out = {9, {"tools/list: a: has no key"}};
    CHECK(
        gateway::management::session_record(session, start, true)["left_out"] ==
        parsed(R"({"count":9,"first":["tools/list: a: has no key"]})")
    );
    CHECK_FALSE(gateway::management::session_record(session, start, false).contains("left_out"));
}

TEST_CASE("What a session tolerates, and what clients of both eras lose by `sessionless`, are problems of the card")
{
    using gateway::management::add_session_problems;
    core::agent agent;
    agent.mcp.emplace();
    gateway::sessions::session_facts session;
    session.era = "legacy";
    const auto problems = [&] {
        auto record = card_status_record(status_with_card(20s), start, true);
        add_session_problems(record, agent, session);
        return record["problems"];
    };
    using enum core::mcp_sessionless;
    for (const auto quiet : {fall_back, refuse}) {
        agent.mcp->sessionless = quiet;
        CHECK(problems().empty());
    }
    for (const auto loses : {fresh, shared}) {
        agent.mcp->sessionless = loses;
        REQUIRE(problems().size() == 1);
        CHECK(problems()[0]["path"] == "sessionless");
        CHECK(problems()[0]["severity"] == "note");
        CHECK(problems()[0]["what"].get<std::string>().find("no tasks") != std::string::npos);
    }
    for (const std::string other : {"", "modern"}) {
        session.era = other;
        CHECK(problems().empty());
    }
    session.left_out = {2, {"tools/list: a cursor came again", "prompts/list: a: has no key"}};
    REQUIRE(problems().size() == 2);
    CHECK(problems()[0] == parsed(R"({"path":"lists","what":"tools/list: a cursor came again","severity":"note"})"));
}

TEST_CASE("a card that its session vouches for does not age")
{
    auto status = status_with_card(20s);
    status.vouched = true;
    const auto record = card_status_record(status, start + 1h, false);
    CHECK(record["state"] == "fresh");
    CHECK(record["age_seconds"] == 0);
    CHECK_FALSE(record.contains("fresh_for_seconds"));
    CHECK(gateway::management::card_summary(status, start + 1h) == parsed(R"({"state":"fresh","age_seconds":0})"));
    status.vouched = false;
    status.failure = core::upstream_error(core::errc::session_crashed);
    CHECK(
        gateway::management::card_summary(status, start + 1h) ==
        parsed(R"({"state":"stale","age_seconds":3600,"failure":"session_crashed"})")
    );
    CHECK(gateway::management::card_summary(status, start + 20s + 1h)["state"] == "failed");
}

TEST_SUITE_END();
