#include "gateway/management/agent_health.hpp"

#include "gateway/sessions/session_trouble.hpp"

namespace gateway::management {
namespace {

using core::errc;
using enum health;
using mcp::session_state;

judgement because(health status, errc code)
{
    return {status, core::name(code)};
}

judgement judge_session(const sessions::session_facts& session, const cards::card_status* card)
{
    switch (session.state) {
        case session_state::ready:
        case session_state::degraded:
            break;
        case session_state::configured:
            return because(unknown, errc::session_not_started);
        case session_state::starting:
        case session_state::initializing:
        case session_state::discovering:
            // The first attempt says nothing yet; another one follows a loss.
            return because(session.reason == mcp::session_reason::none ? unknown : unhealthy, errc::session_not_ready);
        case session_state::backoff:
        case session_state::failed:
            return because(
                unhealthy,
                sessions::trouble_of({session.state, session.begun, session.needs_operator})->code
            );
        case session_state::stopping:
        case session_state::stopped:
            return because(unknown, errc::draining);
    }
    if (card != nullptr && card->failure) {
        return because(unhealthy, card->failure->code);  // what it lists makes no card
    }
    if (session.state == session_state::degraded) {
        return {degraded, mcp::name(session.reason)};
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
        return {unknown, "not_fetched"};
    }
    return usable ? judgement{healthy, {}} : judgement{unknown, "card_stale"};
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
        return {unknown, "not_fetched"};
    }
    if (!record.card.empty()) {
        return card->failure ? because(unhealthy, card->failure->code) : judgement{unknown, "inline_card"};
    }
    if (record.speaks == core::protocol::mcp) {
        return because(unhealthy, errc::session_not_started);
    }
    return judge_card(*card, now);
}

}  // namespace gateway::management
