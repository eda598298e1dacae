#include "gateway/management/agent_health.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/agent_health");

namespace {

using namespace std::chrono_literals;
using core::errc;
using mcp::session_reason;
using mcp::session_state;

constexpr core::steady_time start{5'000s};

gateway::management::registered_agent an_agent(core::protocol speaks = core::protocol::a2a)
{
    auto entry = std::make_shared<gateway::model::agent_entry>();
    entry->record.id = "a";
    entry->record.speaks = speaks;
    gateway::management::registered_agent made;
    made.entry = std::move(entry);
    return made;
}

gateway::management::registered_agent
with(const gateway::management::registered_agent& agent, void (*change)(core::agent&))
{
    auto entry = std::make_shared<gateway::model::agent_entry>(*agent.entry);
    change(entry->record);
    auto made = agent;
    made.entry = std::move(entry);
    return made;
}

gateway::cards::card_status card_until(core::steady_time usable)
{
    auto card = std::make_shared<gateway::model::published_card>();
    card->usable_until = usable;
    gateway::cards::card_status status;
    status.card = std::move(card);
    return status;
}

constexpr gateway::management::call_facts no_calls{};

std::string words(const gateway::management::judgement& how)
{
    return std::string{name(how.status)} + (how.reason.empty() ? "" : " ") + std::string{how.reason};
}

}  // namespace

TEST_CASE("an A2A agent is as its latest fetch says, and while an older card is served that is no more than degraded")
{
    const auto agent = an_agent();
    gateway::cards::card_status none;
    CHECK(words(judge(agent, &none, nullptr, no_calls, start)) == "unknown not_fetched");
    none.failure = core::upstream_error(errc::upstream_refused);
    CHECK(words(judge(agent, &none, nullptr, no_calls, start)) == "unhealthy upstream_refused");
    none.failure = core::gateway_error(errc::card_held);
    CHECK(words(judge(agent, &none, nullptr, no_calls, start)) == "healthy");
    auto card = card_until(start + 1s);
    CHECK(words(judge(agent, &card, nullptr, no_calls, start)) == "healthy");
    CHECK(words(judge(agent, &card, nullptr, no_calls, start + 1s)) == "unknown card_stale");
    card.failure = core::upstream_error(errc::upstream_timeout);
    CHECK(words(judge(agent, &card, nullptr, no_calls, start)) == "degraded upstream_timeout");
    CHECK(words(judge(agent, &card, nullptr, no_calls, start + 1s)) == "unhealthy upstream_timeout");
}

TEST_CASE("what is not served, or is not asked anything, is told apart")
{
    auto card = card_until(start + 1s);
    const auto agent = an_agent();
    CHECK(
        words(judge(with(agent, [](auto& r) { r.disabled = true; }), nullptr, nullptr, no_calls, start)) ==
        "unknown disabled"
    );
    const auto inlined = with(agent, [](auto& r) { r.card = "{}"; });
    CHECK(words(judge(inlined, &card, nullptr, no_calls, start)) == "unknown inline_card");
    card.failure = core::upstream_error(errc::card_invalid);
    CHECK(words(judge(inlined, &card, nullptr, no_calls, start)) == "unhealthy card_invalid");
    auto broken = agent;
    broken.problems.push_back({{}, 1, 1, "url", "is missing"});
    CHECK(words(judge(broken, nullptr, nullptr, no_calls, start)) == "unhealthy unusable");
    const gateway::cards::card_status none;
    CHECK(
        words(judge(an_agent(core::protocol::mcp), &none, nullptr, no_calls, start)) == "unhealthy session_not_started"
    );
}

TEST_CASE("an MCP server is as its session is, whatever the age of its card")
{
    const auto agent = an_agent(core::protocol::mcp);
    struct row {
        session_state state;
        session_reason reason;
        const char* words;
        bool begun = true;
        bool needs_operator = false;
    };
    for (const auto& each : std::vector<row>{
             {session_state::configured, session_reason::none, "unknown session_not_started"},
             {session_state::starting, session_reason::none, "unknown session_not_ready"},
             {session_state::initializing, session_reason::none, "unknown session_not_ready"},
             {session_state::discovering, session_reason::none, "unknown session_not_ready"},
             {session_state::starting, session_reason::exited, "unhealthy session_not_ready"},
             {session_state::initializing, session_reason::session_lost, "unhealthy session_not_ready"},
             {session_state::starting, session_reason::start_failed, "unhealthy session_misconfigured", false, true},
             {session_state::ready, session_reason::none, "healthy"},
             {session_state::degraded, session_reason::ping_timeout, "degraded ping_timeout"},
             {session_state::degraded, session_reason::stream_down, "degraded stream_down"},
             {session_state::degraded, session_reason::refresh_failed, "degraded refresh_failed"},
             {session_state::backoff, session_reason::exited, "unhealthy session_crashed"},
             {session_state::failed, session_reason::start_failed, "unhealthy session_crashed"},
             {session_state::backoff, session_reason::exited, "unhealthy session_failed", false},
             {session_state::failed, session_reason::start_failed, "unhealthy session_misconfigured", false, true},
             {session_state::backoff, session_reason::probe_failed, "unhealthy session_misconfigured", true, true},
             {session_state::stopping, session_reason::none, "unknown draining"},
         }) {
        CAPTURE(each.words);
        const auto card = card_until(start);
        gateway::sessions::session_facts session;
        session.state = each.state;
        session.reason = each.reason;
        session.begun = each.begun;
        session.needs_operator = each.needs_operator;
        CHECK(words(judge(agent, &card, &session, no_calls, start + 1h)) == each.words);
    }
}

TEST_CASE("a server whose lists make no card is unhealthy however well its session is")
{
    gateway::cards::card_status card;
    card.failure = core::upstream_error(errc::card_too_large);
    gateway::sessions::session_facts session;
    session.state = session_state::ready;
    CHECK(words(judge(an_agent(core::protocol::mcp), &card, &session, no_calls, start)) == "unhealthy card_too_large");
}

TEST_CASE(
    "calls that fail degrade an agent that is well or of which nothing else is known, and make no other one better"
)
{
    constexpr gateway::management::call_facts failing{.worked = true, .failing = true};
    constexpr gateway::management::call_facts working{.worked = true, .failing = false};
    const auto agent = an_agent();
    auto card = card_until(start + 1s);
    CHECK(words(judge(agent, &card, nullptr, failing, start)) == "degraded calls_failing");
    CHECK(words(judge(agent, &card, nullptr, working, start)) == "healthy");
    CHECK(words(judge(agent, &card, nullptr, failing, start + 1s)) == "degraded calls_failing");
    CHECK(words(judge(agent, &card, nullptr, working, start + 1s)) == "unknown card_stale");
    card.failure = core::upstream_error(errc::upstream_timeout);
    CHECK(words(judge(agent, &card, nullptr, failing, start)) == "degraded upstream_timeout");
    CHECK(words(judge(agent, &card, nullptr, working, start + 1s)) == "unhealthy upstream_timeout");
    const gateway::cards::card_status none;
    CHECK(words(judge(agent, &none, nullptr, failing, start)) == "degraded calls_failing");
    CHECK(words(judge(agent, &none, nullptr, working, start)) == "unknown not_fetched");
    const auto disabled = with(agent, [](auto& r) { r.disabled = true; });
    CHECK(words(judge(disabled, nullptr, nullptr, failing, start)) == "unknown disabled");

    gateway::sessions::session_facts session;
    const auto server = an_agent(core::protocol::mcp);
    CHECK(words(judge(server, &none, &session, failing, start)) == "unknown session_not_started");
    session.state = session_state::ready;
    CHECK(words(judge(server, &none, &session, failing, start)) == "degraded calls_failing");
    CHECK(words(judge(server, &none, &session, working, start)) == "healthy");
    session.state = session_state::degraded;
    session.reason = session_reason::ping_timeout;
    CHECK(words(judge(server, &none, &session, failing, start)) == "degraded ping_timeout");
}

TEST_CASE("an agent whose card the operator wrote is healthy once a call has worked, and degraded while calls fail")
{
    const auto agent = with(an_agent(), [](auto& r) { r.card = "{}"; });
    auto card = card_until(start + 1s);
    CHECK(words(judge(agent, &card, nullptr, {.worked = true, .failing = false}, start)) == "healthy");
    CHECK(words(judge(agent, &card, nullptr, {.worked = true, .failing = true}, start)) == "degraded calls_failing");
    CHECK(words(judge(agent, &card, nullptr, {.worked = false, .failing = true}, start)) == "degraded calls_failing");
    CHECK(words(judge(agent, &card, nullptr, no_calls, start)) == "unknown inline_card");
    card.failure = core::upstream_error(errc::card_invalid);
    CHECK(words(judge(agent, &card, nullptr, {.worked = true, .failing = false}, start)) == "unhealthy card_invalid");
}

TEST_SUITE_END();
