#include "gateway/management/json_records.hpp"

#include "config/dump.hpp"
#include "config/url.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gateway::management {
namespace {

using core::json;

constexpr std::size_t longest_path = 512;  // bytes of where a problem of a card lies: it has the card's own names

std::int64_t seconds(core::steady_time::duration time)
{
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

std::int64_t age_of(const cards::card_status& status, core::steady_time now)
{
    return seconds(cards::seen_at(status, now) - status.card->fetched_at);
}

json failure_record(const core::error& why)
{
    return {
        {"code", core::name(why.code)},
        {"message", core::message(why.code)},
        {"retryable", core::retryable(why.code)},
    };
}

void add_attempts(json& record, std::uint64_t attempts)
{
    if (attempts > 0) {
        record["attempts"] = attempts;
    }
}

// Details of fetches, which callers do not get: they may name addresses.
void add_fetches(json& record, const cards::card_status& status, core::steady_time now)
{
    auto attempts = status.fetched;
    for (const auto& [code, times] : status.failures) {
        attempts += times;
    }
    add_attempts(record, attempts);
    if (status.failure) {
        auto& failure = record["failure"];
        failure["age_seconds"] = seconds(now - status.failed_at);
        if (!status.failure->detail.empty()) {
            failure["detail"] = status.failure->detail;
        }
    }
}

void add_trouble(json& record, const sessions::session_facts& session, core::steady_time now)
{
    add_attempts(record, session.counts.attempts);
    if (session.next_attempt) {
        const auto left = std::max(*session.next_attempt - now, core::steady_time::duration{});
        record["next_attempt_in_seconds"] = std::chrono::ceil<std::chrono::seconds>(left).count();
    }
    if (session.failure) {
        auto& failure = record["failure"];
        failure = {
            {"reason", ::mcp::name(session.failure->reason)},
            {"age_seconds", seconds(now - session.failure->at)}
        };
        if (!session.failure->detail.empty()) {
            failure["detail"] = session.failure->detail;
        }
    }
}

std::string_view name_of(balancing::breaker_state state)
{
    using enum balancing::breaker_state;
    return state == closed ? "closed" : state == open ? "open" : "half_open";
}

}  // namespace

std::string_view card_state(const cards::card_status& status, core::steady_time now)
{
    if (!status.card) {
        return status.failure ? "failed" : "unknown";
    }
    if (cards::seen_at(status, now) < status.card->fresh_until) {
        return "fresh";
    }
    return status.failure && now >= status.card->usable_until ? "failed" : "stale";
}

std::string shown_time(core::wall_time at)
{
    std::string out;
    core::append_timestamp(out, at);
    return out;
}

json card_problems_record(const std::vector<::a2a::card_problem>& problems)
{
    auto shown = json::array();
    for (const auto& each : problems) {
        shown.push_back(
            {{"path", core::cut_utf8(each.path, longest_path)},
             {"what", each.what},
             {"severity", ::a2a::name(each.severity)}}
        );
    }
    return shown;
}

json agent_record(const core::agent& agent)
{
    json record = {{"id", agent.id}, {"protocol", core::name(agent.speaks)}};
    auto given = config::given_values(agent);
    given.erase("disabled");  // shown in any case
    for (auto& [key, value] : given.items()) {
        record[key == "protocol_version" ? "protocolVersion" : key] = std::move(value);
    }
    if (agent.timeout) {
        record["timeout"] = std::to_string(agent.timeout->count()) + "ms";
    }
    record["inline_card"] = !agent.card.empty();
    record["disabled"] = agent.disabled;
    return record;
}

json card_status_record(const cards::card_status& status, core::steady_time now, bool for_operator)
{
    json record = {{"state", card_state(status, now)}};
    if (status.card) {
        record["age_seconds"] = age_of(status, now);
        if (!status.vouched) {
            record["fresh_for_seconds"] = model::max_age(*status.card, now);
        }
        record["etag"] = status.card->bytes->etag;
        record["size"] = status.card->bytes->body.size();
        record["shape"] = ::a2a::name(status.facts.generation);
        record["skills"] = status.facts.skills;
    }
    if (status.signature) {
        record["verified_by"] = {{"kid", status.signature->kid}, {"alg", status.signature->algorithm}};
        if (!status.signature->key_set_url.empty()) {
            record["verified_by"]["jku"] = status.signature->key_set_url;
        }
    }
    if (!status.signed_by.empty()) {
        record["signed_by"] = status.signed_by;
    }
    if (!status.found_at.empty()) {
        record["found_at"] = config::shown_url(status.found_at);
    }
    record["changes"] = status.changes;
    if (status.failure) {
        record["failure"] = failure_record(*status.failure);
    }
    if (for_operator) {
        add_fetches(record, status, now);
    }
    record["problems"] = card_problems_record(status.problems);
    if (status.address_problem) {
        record["problems"].push_back(card_problems_record({*status.address_problem}).front());
    }
    return record;
}

json hidden_tools_record(const cards::hidden_tools& hidden)
{
    auto first = json::array();
    for (const auto& [tool, why] : hidden.first) {
        first.push_back({{"name", tool}, {"why", ::mcp::name(why)}});
    }
    return {{"count", hidden.count}, {"first", std::move(first)}};
}

json card_summary(const cards::card_status& status, core::steady_time now)
{
    json record = {{"state", card_state(status, now)}};
    if (status.card) {
        record["age_seconds"] = age_of(status, now);
    }
    if (status.failure) {
        record["failure"] = core::name(status.failure->code);
    }
    return record;
}

json session_record(const sessions::session_facts& session, core::steady_time now, bool for_operator)
{
    json record{{"state", ::mcp::name(session.state)}, {"transport", core::name(session.transport)}};
    if (session.reason != ::mcp::session_reason::none) {
        record["reason"] = ::mcp::name(session.reason);
        if (for_operator && !session.detail.empty()) {
            record["detail"] = session.detail;
        }
    }
    if (!session.version.empty()) {
        record["era"] = session.era;
        record["protocolVersion"] = session.version;
        record["server"] = {{"name", session.server_name}, {"version", session.server_version}};
    }
    if (for_operator && session.left_out.count > 0) {
        record["left_out"] = {{"count", session.left_out.count}, {"first", session.left_out.first}};
    }
    if (session.ready_since) {
        record["uptime_seconds"] = seconds(now - *session.ready_since);
    }
    record["restarts"] = sessions::restarts_of(session);
    if (for_operator) {
        add_trouble(record, session, now);
    }
    return record;
}

void add_session_problems(json& card_status, const core::agent& agent, const sessions::session_facts& session)
{
    using enum core::mcp_sessionless;
    std::vector<::a2a::card_problem> problems;
    for (const auto& each : session.left_out.first) {
        problems.push_back({.path = "lists", .what = each, .severity = ::a2a::problem_severity::note});
    }
    const auto chosen = agent.mcp->sessionless;
    if ((chosen == fresh || chosen == shared) && session.era == ::mcp::name(::mcp::era::legacy)) {
        problems.push_back(
            {.path = "sessionless",
             .what = "the server speaks only the legacy era, and `" + std::string{core::name(chosen)} +
                     "` keeps clients of both eras in the modern one: they get no tasks, no subscriptions to resources "
                     "and no session of their own; `fall_back` gives them all that the server has",
             .severity = ::a2a::problem_severity::note}
        );
    }
    for (auto& each : card_problems_record(problems)) {
        card_status["problems"].push_back(std::move(each));
    }
}

core::json endpoint_records(const model::agent_entry& agent)
{
    auto all = core::json::array();
    if (agent.breaker == nullptr) {
        return all;
    }
    const auto& several = core::rules_of(agent.record).upstreams;
    const auto add = [&](const balancing::breaker& breaker, bool healthy, std::uint64_t in_flight) {
        const auto i = all.size();
        all.push_back(
            {{"endpoint", i + 1},
             {"breaker", name_of(breaker.state())},
             {"healthy", healthy},
             {"in_flight", in_flight},
             {"url", several.empty() ? config::shown_url(agent.record.url) : several[i]}}
        );
    };
    const auto* group = agent.reach == nullptr ? nullptr : agent.reach->group.get();
    for (std::size_t i = 0; group != nullptr && i < group->size(); ++i) {
        add(group->breaker_of(i), group->healthy(i), group->in_flight(i));
    }
    if (group == nullptr) {
        add(*agent.breaker, true, agent.calls->in_flight());  // nobody checks it
    }
    if (agent.grpc) {
        all.push_back(
            {{"endpoint", "grpc"},
             {"breaker", name_of(agent.grpc->breaker->state())},
             {"healthy", true},
             {"url", config::shown_url(agent.record.grpc_url.empty() ? agent.record.url : agent.record.grpc_url)}}
        );
    }
    return all;
}

}  // namespace gateway::management
