#include "gateway/admin/metrics_samples.hpp"

#include "gateway/management/agent_health.hpp"
#include "gateway/model/endpoint_entries.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace gateway::admin {
namespace {

using telemetry::sample_part;

telemetry::card_sample card_of(const cards::card_status& status)
{
    telemetry::card_sample out;
    out.fetched = status.fetched;
    out.not_modified = status.not_modified;
    out.failures = status.failures;
    out.changes = status.changes;
    if (status.hidden) {
        out.hidden_tools = status.hidden->count;
    }
    if (status.card) {
        const auto age = cards::seen_at(status, std::chrono::steady_clock::now()) - status.card->fetched_at;
        out.age = std::chrono::duration_cast<core::duration>(age);
    }
    for (const auto severity :
         {::a2a::problem_severity::error, ::a2a::problem_severity::warning, ::a2a::problem_severity::note}) {
        const auto has = [severity](const ::a2a::card_problem& each) { return each.severity == severity; };
        auto count = static_cast<std::uint64_t>(std::ranges::count_if(status.problems, has));
        if (status.address_problem && has(*status.address_problem)) {
            ++count;
        }
        out.problems.emplace_back(::a2a::name(severity), count);
    }
    return out;
}

telemetry::session_sample session_of(const sessions::session_facts& session)
{
    const auto& counts = session.counts;
    telemetry::session_sample out;
    for (std::size_t i = 0; i < ::mcp::session_states; ++i) {
        const auto state = static_cast<::mcp::session_state>(i);
        out.states.emplace_back(::mcp::name(state), state == session.state ? 1 : 0);
    }
    out.attempts = counts.attempts;
    out.up = session.ready_since ? 1 : 0;
    for (std::size_t i = 0; i < session.losses.size(); ++i) {
        if (session.losses[i] > 0) {
            out.losses.emplace_back(::mcp::name(static_cast<::mcp::session_reason>(i)), session.losses[i]);
        }
    }
    out.restarts = sessions::restarts_of(session);
    if (counts.handshakes > 0) {
        out.initialize = counts.latest_handshake;
    }
    out.walks_changed = counts.walks_changed;
    out.walks_incomplete = counts.walks_incomplete;
    out.walks_unchanged = counts.walks - counts.walks_changed - counts.walks_incomplete;
    out.walks_failed = counts.walks_failed;
    out.received = counts.received;
    out.sent = counts.sent;
    out.refused = counts.refused;
    if (session.transport == core::mcp_transport::stdio) {
        out.queued = session.queued;
    }
    return out;
}

std::string_view source_of(const management::registered_agent& agent) noexcept
{
    if (agent.declared()) {
        return "configuration";
    }
    return agent.entry->record.registered ? "registration" : "management";
}

telemetry::status_sample status_of(const agent_planes& planes, const management::registered_agent& agent)
{
    const auto& record = agent.entry->record;
    const auto* card = planes.cards.status(record.id);
    const auto session = record.mcp ? planes.sessions.facts(record.id) : std::nullopt;
    const auto now = std::chrono::steady_clock::now();
    const auto calls = planes.calls.facts(record.id, now);
    const auto judged = management::judge(agent, card, session ? &*session : nullptr, calls, now);
    telemetry::status_sample out;
    for (const auto each : management::healths) {
        out.status.emplace_back(management::name(each), each == judged.status ? 1 : 0);
    }
    auto& facts = out.facts.emplace();
    facts.protocol = core::name(record.speaks);
    facts.source = source_of(agent);
    if (card != nullptr && card->card) {
        facts.name = card->shown_name;
        facts.version = card->shown_version;
    }
    return out;
}

telemetry::endpoint_sample sample_of(const balancing::breaker& breaker)
{
    using enum balancing::breaker_state;
    const auto state = breaker.state();
    telemetry::endpoint_sample out;
    for (const auto& [name, each] :
         {std::pair{"closed", closed}, std::pair{"open", open}, std::pair{"half_open", half_open}}) {
        out.states.emplace_back(name, each == state ? 1 : 0);
    }
    out.openings = breaker.openings();
    return out;
}

telemetry::endpoint_sample endpoints_of(const model::agent_entry& agent)
{
    auto out = sample_of(*agent.breaker);
    for (std::size_t i = 1; i < model::endpoint_count(agent); ++i) {
        out.others.push_back(sample_of(*agent.siblings->all[i].breaker));
    }
    return out;
}

void add_part(
    telemetry::plane_samples& into,
    const agent_planes& planes,
    const std::string& id,
    telemetry::sample_part part
)
{
    switch (part) {
        case telemetry::sample_part::counters:
            return;
        case telemetry::sample_part::status:
            if (const auto* agent = planes.agents.find(id)) {
                into.status = status_of(planes, *agent);
            }
            return;
        case telemetry::sample_part::card:
            if (const auto* status = planes.cards.status(id)) {
                into.card = card_of(*status);
            }
            return;
        case telemetry::sample_part::session:
            if (const auto facts = planes.sessions.facts(id)) {
                into.session = session_of(*facts);
            }
            return;
        case telemetry::sample_part::token:
            if (const auto facts = planes.tokens.facts(id)) {
                into.token = telemetry::token_sample{facts->age, facts->renewed, facts->failed};
            }
            return;
        case telemetry::sample_part::callers:
            into.callers = planes.callers.sample_of(id);
            return;
        case telemetry::sample_part::endpoint:
            if (const auto* agent = planes.agents.find(id); agent != nullptr && agent->entry->breaker) {
                into.endpoint = endpoints_of(*agent->entry);
                into.endpoint->queued = agent->entry->calls ? agent->entry->calls->waiting() : 0;
            }
            return;
    }
}

}  // namespace

std::vector<telemetry::key_set_sample> samples_of(const std::vector<access::provider_key_set>& key_sets)
{
    std::vector<telemetry::key_set_sample> samples;
    samples.reserve(key_sets.size());
    for (const auto& [provider, facts] : key_sets) {
        samples.push_back({provider, facts.age});
    }
    return samples;
}

telemetry::push_sample sample_of(const push::push_facts& facts)
{
    telemetry::push_sample out{facts.waiting, facts.bytes, facts.oldest.value_or(core::duration::zero()), {}};
    for (std::size_t i = 0; i < facts.ended.size(); ++i) {
        out.attempts.emplace_back(push::name(static_cast<push::push_end>(i)), facts.ended[i]);
    }
    out.attempts.emplace_back("retried", facts.repeated);
    return out;
}

telemetry::plane_samples sample_of(const agent_planes& planes, const std::string& id, telemetry::sample_part part)
{
    telemetry::plane_samples out;
    add_part(out, planes, id, part);
    return out;
}

telemetry::plane_samples samples_of(const agent_planes& planes, const std::string& id)
{
    telemetry::plane_samples out;
    for (const auto part :
         {telemetry::sample_part::status,
          telemetry::sample_part::card,
          telemetry::sample_part::session,
          telemetry::sample_part::token,
          telemetry::sample_part::callers,
          telemetry::sample_part::endpoint}) {
        add_part(out, planes, id, part);
    }
    return out;
}

}  // namespace gateway::admin
