#include "gateway/management/json_records.hpp"

#include "config/url.hpp"
#include "core/log.hpp"
#include "core/status.hpp"
#include "gateway/model/cut_text.hpp"

#include <chrono>
#include <utility>

namespace gateway::management {
namespace {

using core::json;

constexpr std::size_t longest_path = 512;  // bytes of where a problem of a card lies: it has the card's own names

json tls_of(const core::agent& agent)
{
    auto files = json::object();
    for (const auto& [key, path] :
         {std::pair{"ca_file", &agent.ca_file}, {"cert", &agent.cert_file}, {"key", &agent.key_file}}) {
        if (!path->empty()) {
            files[key] = *path;
        }
    }
    return files;
}

std::string_view card_state_name(const cards::card_status& status, core::steady_time now)
{
    if (!status.card) {
        return status.failure ? "failed" : "unknown";
    }
    if (cards::seen_at(status, now) < status.card->fresh_until) {
        return "fresh";
    }
    return status.failure && now >= status.card->usable_until ? "failed" : "stale";
}

std::int64_t age_of(const cards::card_status& status, core::steady_time now)
{
    return std::chrono::duration_cast<std::chrono::seconds>(cards::seen_at(status, now) - status.card->fetched_at)
        .count();
}

json failure_record(const core::error& why)
{
    return {
        {"code", core::name(why.code)},
        {"message", core::message(why.code)},
        {"retryable", core::retryable(why.code)},
    };
}

}  // namespace

std::string shown_time(core::wall_time at)
{
    std::string out;
    core::append_timestamp(out, at);
    return out;
}

json card_problems_record(const std::vector<a2a::card_problem>& problems)
{
    auto shown = json::array();
    for (const auto& each : problems) {
        shown.push_back(
            {{"path", model::cut_text(each.path, longest_path)},
             {"what", each.what},
             {"severity", a2a::name(each.severity)}}
        );
    }
    return shown;
}

json agent_record(const core::agent& agent)
{
    json record = {{"id", agent.id}, {"protocol", core::name(agent.speaks)}};
    const auto add_text = [&](const char* key, const std::string& value) {
        if (!value.empty()) {
            record[key] = value;
        }
    };
    add_text("url", config::shown_url(agent.url));
    add_text("card_url", config::shown_url(agent.card_url));
    add_text("version", agent.version);
    add_text("protocolVersion", agent.protocol_version);
    if (!agent.bearer.empty()) {
        record["bearer"] = core::masked;
    }
    if (!agent.card_headers.empty()) {
        auto headers = json::object();
        for (const auto& [name, value] : agent.card_headers) {
            headers[name] = core::masked;
        }
        record["card_headers"] = std::move(headers);
    }
    if (agent.timeout) {
        record["timeout"] = std::to_string(agent.timeout->count()) + "ms";
    }
    if (agent.speaks == core::protocol::a2a && agent.trust != core::card_trust::same_origin) {
        record["trust_card_url"] = core::name(agent.trust);
    }
    if (agent.extended_card != core::extended_card_access::automatic) {
        record["extended_card"] = core::name(agent.extended_card);
    }
    if (agent.signatures) {
        record["signatures"] = core::name(*agent.signatures);
    }
    add_text("trusted_keys", agent.trusted_keys);
    if (!agent.key_set_origins.empty()) {
        record["key_set_origins"] = agent.key_set_origins;
    }
    if (auto tls = tls_of(agent); !tls.empty()) {
        record["tls"] = std::move(tls);
    }
    record["inline_card"] = !agent.card.empty();
    record["disabled"] = agent.disabled;
    return record;
}

json card_status_record(const cards::card_status& status, core::steady_time now)
{
    json record = {{"state", card_state_name(status, now)}};
    if (status.card) {
        record["age_seconds"] = age_of(status, now);
        if (!status.vouched) {
            record["fresh_for_seconds"] = model::max_age(*status.card, now);
        }
        record["etag"] = status.card->bytes->etag;
        record["size"] = status.card->bytes->body.size();
        record["shape"] = a2a::name(status.facts.generation);
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
    record["problems"] = card_problems_record(status.problems);
    if (status.address_problem) {
        record["problems"].push_back(card_problems_record({*status.address_problem}).front());
    }
    return record;
}

json card_summary(const cards::card_status& status, core::steady_time now)
{
    json record = {{"state", card_state_name(status, now)}};
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
    json record{{"state", mcp::name(session.state)}, {"transport", core::name(session.transport)}};
    if (session.reason != mcp::session_reason::none) {
        record["reason"] = mcp::name(session.reason);
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
        record["uptime_seconds"] = std::chrono::duration_cast<std::chrono::seconds>(now - *session.ready_since).count();
    }
    record["restarts"] = sessions::restarts_of(session);
    return record;
}

}  // namespace gateway::management
