#include "gateway/management/agent_health.hpp"

#include "core/choices.hpp"
#include "gateway/model/snapshot.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;
using enum health;
using ::mcp::session_state;

constexpr std::string_view inline_card = "inline_card";
constexpr std::string_view not_fetched = "not_fetched";
constexpr std::string_view card_stale = "card_stale";

judgement because(health status, errc code)
{
    return {status, core::name(code)};
}

judgement judge_session(const sessions::session_facts& session, const cards::card_status* card)
{
    if (const auto trouble = sessions::trouble_of({session.state, session.begun, session.needs_operator})) {
        // The first attempt says nothing yet; another one follows a loss.
        const bool lost = trouble->code == errc::session_not_ready && session.reason != ::mcp::session_reason::none;
        return because(lost || sessions::is_down(trouble->code) ? unhealthy : unknown, trouble->code);
    }
    if (card != nullptr && card->failure) {
        return because(unhealthy, card->failure->code);  // what it lists makes no card
    }
    if (session.state == session_state::degraded) {
        return {degraded, ::mcp::name(session.reason)};
    }
    return {healthy, {}};
}

judgement judge_card(const cards::card_status& card, core::steady_time now)
{
    const bool usable = card.card && now < card.card->usable_until;
    if (card.failure && card.failure->code == errc::card_held) {
        return {healthy, {}};  // the agent has served a card that can be used, once it is approved
    }
    if (card.failure) {
        return because(usable ? degraded : unhealthy, card.failure->code);
    }
    if (!card.card) {
        return {unknown, not_fetched};
    }
    return usable ? judgement{healthy, {}} : judgement{unknown, card_stale};
}

// Without its calls.
judgement judge_apart(
    const registered_agent& agent,
    const cards::card_status* card,
    const sessions::session_facts* session,
    core::steady_time now
)
{
    const auto& record = agent.entry->record;
    if (!agent.problems.empty()) {
        return {unhealthy, "unusable"};
    }
    if (record.disabled) {
        return {unknown, "disabled"};
    }
    if (session != nullptr) {
        return judge_session(*session, card);
    }
    if (card == nullptr) {
        return {unknown, not_fetched};
    }
    if (!record.card.empty()) {
        return card->failure ? because(unhealthy, card->failure->code) : judgement{unknown, inline_card};
    }
    if (record.speaks == core::protocol::mcp) {
        return because(unhealthy, errc::session_not_started);
    }
    return judge_card(*card, now);
}

// Nothing but its calls can say how it is.
bool is_open(const judgement& apart) noexcept
{
    return apart.status == unknown &&
           (apart.reason == inline_card || apart.reason == not_fetched || apart.reason == card_stale);
}

}  // namespace

std::string_view name(health h) noexcept
{
    switch (h) {
        case healthy:
            return "healthy";
        case degraded:
            return "degraded";
        case unhealthy:
            return "unhealthy";
        case unknown:
            return "unknown";
        case contained:
            return "contained";
    }
    return {};
}

judgement judge(
    const registered_agent& agent,
    const cards::card_status* card,
    const sessions::session_facts* session,
    const call_facts& calls,
    core::steady_time now
)
{
    if (agent.contained) {
        return because(contained, errc::agent_contained);
    }
    const auto apart = judge_apart(agent, card, session, now);
    if (calls.failing && (apart.status == healthy || is_open(apart))) {
        return {degraded, "calls_failing"};
    }
    return calls.worked && apart.reason == inline_card ? judgement{healthy, {}} : apart;
}

namespace {

using telemetry::family;
using telemetry::label_of;
using telemetry::metric;

std::string_view source_of(const registered_agent& agent) noexcept
{
    if (agent.declared()) {
        return "configuration";
    }
    return agent.entry->record.registered ? "registration" : "management";
}

void add_info(family& into, const agent_planes& planes, const registered_agent& agent)
{
    const auto& record = agent.entry->record;
    const auto* card = planes.cards.status(record.id);
    const bool has_card = card != nullptr && card->card;
    into.add(
        {{"agent", record.id},
         {"name", has_card ? label_of(card->shown_name) : ""},
         {"protocol", core::name(record.speaks)},
         {"version", has_card ? label_of(card->shown_version) : ""},
         {"source", source_of(agent)}},
        std::uint64_t{1}
    );
}

void add_status(family& into, const agent_planes& planes, const registered_agent& agent)
{
    const auto& record = agent.entry->record;
    const auto session = record.mcp ? planes.sessions.facts(record.id) : std::nullopt;
    const auto now = std::chrono::steady_clock::now();
    const auto calls = planes.calls.facts(record.id, now);
    const auto judged = judge(agent, planes.cards.status(record.id), session ? &*session : nullptr, calls, now);
    for (const auto each : healths) {
        into.add({{"agent", record.id}, {"status", name(each)}}, std::uint64_t{each == judged.status ? 1U : 0U});
    }
}

void add_endpoint_states(family& into, const agent_planes& /*planes*/, const registered_agent& agent)
{
    using enum balancing::breaker_state;
    model::each_breaker(*agent.entry, [&](const std::string& number, const balancing::breaker& breaker) {
        for (const auto& [name, state] :
             {std::pair{"closed", closed}, std::pair{"open", open}, std::pair{"half_open", half_open}}) {
            into.add(
                {{"agent", agent.entry->record.id}, {"endpoint", number}, {"state", name}},
                std::uint64_t{breaker.state() == state ? 1U : 0U}
            );
        }
    });
}

void add_openings(family& into, const agent_planes& /*planes*/, const registered_agent& agent)
{
    model::each_breaker(*agent.entry, [&](const std::string& number, const balancing::breaker& breaker) {
        into.add_some({{"agent", agent.entry->record.id}, {"endpoint", number}}, breaker.openings());
    });
}

void add_queue_length(family& into, const agent_planes& /*planes*/, const registered_agent& agent)
{
    if (agent.entry->breaker) {
        const std::uint64_t waiting = agent.entry->calls ? agent.entry->calls->waiting() : 0;
        into.add({{"agent", agent.entry->record.id}}, waiting);
    }
}

}  // namespace

void collect_agents(telemetry::metrics& into, const agent_planes& of)
{
    const auto add = [&](const telemetry::metric_row& row,
                         void (*series)(family&, const agent_planes&, const registered_agent&)) {
        into.add_agents(row, [of, series](family& to, const std::string& id) {
            if (const auto* agent = of.agents.find(id)) {
                series(to, of, *agent);
            }
        });
    };
    add(metric("cardea_agent_info"), add_info);
    add(metric("cardea_agent_status"), add_status);
    add(metric("cardea_endpoint_state"), add_endpoint_states);
    add(metric("cardea_breaker_openings_total"), add_openings);
    add(metric("cardea_queue_length"), add_queue_length);
}

}  // namespace gateway::management
