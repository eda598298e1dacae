#include "gateway/management/agent_health.hpp"


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
    const auto apart = judge_apart(agent, card, session, now);
    if (calls.failing && (apart.status == healthy || is_open(apart))) {
        return {degraded, "calls_failing"};
    }
    return calls.worked && apart.reason == inline_card ? judgement{healthy, {}} : apart;
}

}  // namespace gateway::management
