#include "gateway/management.hpp"

#include "config/url.hpp"
#include "core/log.hpp"
#include "core/status.hpp"

#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

namespace gateway {
namespace {

using core::errc;
using core::json;

constexpr std::string_view list_method = "agents/list";
constexpr std::string_view get_method = "agents/get";
constexpr std::string_view refresh_method = "agents/refreshCard";
constexpr std::string_view upsert_method = "agents/upsert";
constexpr std::string_view delete_method = "agents/delete";
constexpr std::string_view changes_method = "agents/changes";

struct method_name {
    std::string_view name;
    std::string_view dotted;
};

constexpr method_name methods[] = {
    {list_method, "agents.list"},
    {get_method, "agents.get"},
    {refresh_method, "agents.refreshCard"},
    {upsert_method, "agents.upsert"},
    {delete_method, "agents.delete"},
    {changes_method, "agents.changes"},
};

// What writes, and the trail of it, which says who did.
bool for_admins(std::string_view method) noexcept
{
    return method == upsert_method || method == delete_method || method == changes_method;
}

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

json parsed_or_null(std::string_view text)
{
    auto value = core::parse_json(text);
    return value ? std::move(*value) : json{};
}

std::string_view card_state_name(const card_status& status, core::steady_time now)
{
    if (!status.card) {
        return status.failure ? "failed" : "unknown";
    }
    return now < status.card->fresh_until ? "fresh" : "stale";
}

json failure_record(const core::error& why)
{
    return {
        {"code", core::name(why.code)},
        {"message", core::message(why.code)},
        {"retryable", core::retryable(why.code)},
    };
}

json problems_of(const std::vector<a2a::card_problem>& problems)
{
    auto shown = json::array();
    for (const auto& each : problems) {
        shown.push_back({{"path", each.path}, {"what", each.what}, {"severity", a2a::name(each.severity)}});
    }
    return shown;
}

}  // namespace

std::string_view management_method(std::string_view wire_name) noexcept
{
    for (const auto& each : methods) {
        if (wire_name == each.name || wire_name == each.dotted) {
            return each.name;
        }
    }
    return "other";
}

std::string agent_parameter(const json& params)
{
    for (const auto* key : {"id", "agentId", "name"}) {
        if (const auto* value = core::string_member(params, key)) {
            return *value;
        }
    }
    if (params.is_array() && params.size() == 1 && params.front().is_string()) {
        return params.front().get<std::string>();
    }
    return {};
}

std::string shown_time(core::wall_time at)
{
    std::string out;
    core::append_timestamp(out, at);
    return out;
}

json agent_record(const core::agent& agent)
{
    json record = {{"id", agent.id}, {"protocol", core::name(agent.speaks)}};
    const auto add_text = [&](const char* key, const std::string& value) {
        if (!value.empty()) {
            record[key] = value;
        }
    };
    add_text("url", agent.url);
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
    if (agent.trust != core::card_trust::never) {
        record["trust_card_url"] = core::name(agent.trust);
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
    record["metadata"] = parsed_or_null(agent.metadata);
    return record;
}

json card_status_record(const card_status& status, core::steady_time now)
{
    using std::chrono::duration_cast;
    using std::chrono::seconds;
    json record = {{"state", card_state_name(status, now)}};
    if (status.card) {
        record["age_seconds"] = duration_cast<seconds>(now - status.card->fetched_at).count();
        record["fresh_for_seconds"] = max_age(*status.card, now);
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
    record["problems"] = problems_of(status.problems);
    return record;
}

json session_record(const session_facts& session, core::steady_time now)
{
    const auto& counts = session.counts;
    json record{{"state", mcp::name(session.state)}};
    if (session.reason != mcp::session_reason::none) {
        record["reason"] = mcp::name(session.reason);
    }
    if (!session.version.empty()) {
        record["era"] = session.era;
        record["protocolVersion"] = session.version;
    }
    if (session.ready_since) {
        record["uptime_seconds"] = std::chrono::duration_cast<std::chrono::seconds>(now - *session.ready_since).count();
    }
    record["restarts"] = counts.connections > 0 ? counts.connections - 1 : 0;
    return record;
}

management::management(
    const config::settings& settings,
    registry& agents,
    card_plane& cards,
    const session_plane& sessions
)
    : settings_{settings},
      registry_{agents},
      cards_{cards},
      sessions_{sessions}
{
}

net::task<managed> management::handle(std::string body, rpc_caller caller)
{
    managed out;
    auto parsed = core::parse_rpc(body, {.batch = settings_.limits.rpc_batch, .depth = 64});
    out.method = parsed.batch ? "batch" : std::string_view{};
    std::vector<std::string> answers;
    for (auto& item : parsed.items) {
        if (auto* refusal = std::get_if<core::rpc_refusal>(&item)) {
            answers.push_back(std::move(refusal->answer));
            continue;
        }
        auto request = std::move(std::get<core::rpc_request>(item));
        const bool silent = request.notification();
        if (!parsed.batch) {
            out.method = management_method(request.method);
        }
        auto answer = co_await carry_out(std::move(request), caller);
        answers.push_back(silent ? std::string{} : std::move(answer));
    }
    out.body = core::join_answers(parsed.batch, answers);
    co_return out;
}

net::task<std::string> management::carry_out(core::rpc_request request, rpc_caller caller)
{
    const auto method = management_method(request.method);
    if (method == "other") {
        co_return core::make_error(request.id, errc::method_not_found);
    }
    if (for_admins(method) && !caller.may_write) {
        co_return core::make_error(request.id, errc::admin_only);
    }
    if (method == list_method) {
        co_return list(request);
    }
    if (method == upsert_method) {
        co_return co_await upsert(std::move(request), std::move(caller));
    }
    if (method == delete_method) {
        co_return co_await remove(std::move(request), std::move(caller));
    }
    if (method == changes_method) {
        co_return co_await changes(std::move(request));
    }
    const auto id = agent_parameter(request.params);
    if (id.empty()) {
        co_return core::make_error(request.id, errc::invalid_params, {{"missing", "id"}});
    }
    const auto* agent = registry_.find(id);
    if (agent == nullptr) {
        co_return core::make_error(request.id, errc::agent_not_found, {{"agent", id}});
    }
    core::result<json> outcome = json{};
    if (method == get_method) {
        outcome = get(*agent);
    } else {
        const auto* wish = core::member(request.params, "dryRun");
        if (wish != nullptr && !wish->is_boolean()) {
            co_return core::make_error(request.id, errc::invalid_params, {{"wrong", "dryRun"}});
        }
        const bool dry = wish != nullptr && wish->get<bool>();
        if (!caller.may_write && !cards_.may_be_fetched(id)) {
            outcome = core::gateway_error(errc::overloaded, "its card has been fetched a moment ago");
        } else if (dry) {
            outcome = co_await preview(id);
        } else {
            outcome = co_await refresh(id);
        }
    }
    if (!outcome) {
        const auto code = outcome.error().code;
        co_return core::make_error(request.id, code, {{"agent", id}, {"retryable", core::retryable(code)}});
    }
    co_return core::make_result(request.id, *outcome);
}

std::string management::list(const core::rpc_request& request) const
{
    std::vector<config::problem> problems;
    const auto filter = read_filter(request.params, problems);
    if (!problems.empty()) {
        return refuse_params(request, problems);
    }
    auto shown = json::array();
    const auto& all = registry_.all();
    auto at = filter.after.empty() ? all.begin() : all.upper_bound(filter.after);
    for (; at != all.end() && shown.size() < filter.limit; ++at) {
        const auto* status = cards_.status(at->first);
        if (shows(filter, at->second.entry->record, status == nullptr ? card_words{} : status->words)) {
            shown.push_back(record_of(at->second));
        }
    }
    json result{{"agents", std::move(shown)}};
    if (at != all.end()) {
        result["next"] = std::prev(at)->first;
    }
    return core::make_result(request.id, result);
}

core::result<json> management::get(const registered_agent& agent) const
{
    auto record = record_of(agent);
    const auto* status = cards_.status(agent.entry->record.id);
    record["card"] = status != nullptr && status->card ? parsed_or_null(status->card->bytes->body) : json{};
    return record;
}

json management::record_of(const registered_agent& agent) const
{
    const auto& id = agent.entry->record.id;
    auto record = agent_record(agent.entry->record);
    if (agent.entry->call_url != agent.entry->record.url) {
        record["call_url"] = agent.entry->call_url;
    }
    if (agent.declared()) {
        record["declared"] = true;
    } else {
        record["stored"] = {{"version", agent.version}, {"written", shown_time(agent.written)}};
    }
    if (!agent.problems.empty()) {
        record["unusable"] = problem_list(agent.problems);
    }
    if (const auto session = sessions_.facts(id)) {
        record["session"] = session_record(*session, std::chrono::steady_clock::now());
    }
    const auto* status = cards_.status(id);
    record["card_status"] =
        status == nullptr ? json{{"state", "disabled"}} : card_status_record(*status, std::chrono::steady_clock::now());
    return record;
}

net::task<core::result<json>> management::refresh(std::string id)
{
    const auto* before = cards_.status(id);
    const auto changes_before = before == nullptr ? 0 : before->changes;
    auto refreshed = co_await cards_.refresh(id);
    if (!refreshed) {
        co_return std::move(refreshed).error();
    }
    if (refreshed->failure) {
        co_return *refreshed->failure;
    }
    co_return json{
        {"id", id},
        {"changed", refreshed->changes != changes_before},
        {"card_status", card_status_record(*refreshed, std::chrono::steady_clock::now())}
    };
}

net::task<core::result<json>> management::preview(std::string id)
{
    const auto seen = co_await cards_.preview(id);
    if (!seen) {
        co_return seen.error();
    }
    const auto after = parsed_or_null(seen->after->body);
    // RFC 6902 section 4.1: to a document that is not there, the whole is added.
    json difference = json::array({{{"op", "add"}, {"path", ""}, {"value", after}}});
    if (seen->before) {
        difference = json::diff(parsed_or_null(seen->before->body), after);
    }
    co_return json{
        {"id", id},
        {"dryRun", true},
        {"changed", seen->before != seen->after},
        {"diff", std::move(difference)},
        {"etag", seen->after->etag},
        {"problems", problems_of(seen->problems)}
    };
}

}  // namespace gateway
