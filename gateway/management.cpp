#include "gateway/management.hpp"

#include "core/status.hpp"
#include "gateway/management_records.hpp"

#include <boost/asio/post.hpp>

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
constexpr std::string_view health_method = "agents/health";
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
    {health_method, "agents.health"},
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

management::management(const config::settings& settings, registry& agents, card_plane& cards, session_plane& sessions)
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
        if (!answers.empty()) {
            co_await net::asio::post(net::use_task);  // whoever else waits comes first
        }
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
        co_return co_await list(std::move(request), caller.may_write);
    }
    if (method == health_method) {
        co_return co_await health_of(std::move(request), caller.may_write);
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
        outcome = get(*agent, caller.may_write);
    } else {
        const auto* wish = core::member(request.params, "dryRun");
        if (wish != nullptr && !wish->is_boolean()) {
            co_return core::make_error(request.id, errc::invalid_params, {{"wrong", "dryRun"}});
        }
        const bool dry = wish != nullptr && wish->get<bool>();
        if (!caller.may_write && !cards_.may_be_fetched(id)) {
            outcome = core::gateway_error(errc::overloaded, "its card has been fetched a moment ago");
        } else if (dry) {
            auto seen = co_await preview(id);
            if (seen) {
                co_return core::make_result_of_text(request.id, *seen);
            }
            outcome = std::move(seen).error();
        } else {
            outcome = co_await refresh(id, caller.may_write);
        }
    }
    if (!outcome) {
        const auto code = outcome.error().code;
        json data{{"agent", id}, {"retryable", core::retryable(code)}};
        if (const auto session = caller.may_write ? sessions_.facts(id) : std::nullopt) {
            data["session"] = session_record(*session, std::chrono::steady_clock::now(), true);
        }
        co_return core::make_error(request.id, code, data);
    }
    co_return core::make_result(request.id, *outcome);
}

net::task<bool> management::visit(std::string after, visitor each) const
{
    const auto& all = registry_.all();
    auto at = after.empty() ? all.begin() : all.upper_bound(after);
    for (unsigned looked_at = 1; at != all.end(); ++looked_at) {
        after = at->first;
        if (!each(after, at->second)) {
            co_return std::next(at) != all.end();
        }
        if (looked_at % agents_in_a_turn == 0) {
            co_await net::asio::post(net::use_task);
            at = all.upper_bound(after);
        } else {
            ++at;
        }
    }
    co_return false;
}

net::task<std::string> management::list(core::rpc_request request, bool for_operator) const
{
    std::vector<config::problem> problems;
    const auto filter = read_filter(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    auto shown = json::array();
    std::string last;
    visitor take = [&](const std::string& id, const registered_agent& agent) {
        const auto* status = cards_.status(id);
        if (shows(filter, agent.entry->record, status == nullptr ? card_words{} : status->words)) {
            shown.push_back(record_of(agent, for_operator));
        }
        last = id;
        return shown.size() < filter.limit;
    };
    const bool more = co_await visit(filter.after, std::move(take));
    json result{{"agents", std::move(shown)}};
    if (more) {
        result["next"] = std::move(last);
    }
    co_return core::make_result(request.id, result);
}

core::result<json> management::get(const registered_agent& agent, bool for_operator) const
{
    auto record = record_of(agent, for_operator);
    const auto* status = cards_.status(agent.entry->record.id);
    record["card"] = status != nullptr && status->card ? parsed_or_null(status->card->bytes->body) : json{};
    return record;
}

json management::record_of(const registered_agent& agent, bool for_operator) const
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
        record["session"] = session_record(*session, std::chrono::steady_clock::now(), for_operator);
    }
    const auto* status = cards_.status(id);
    record["card_status"] =
        status == nullptr ? json{{"state", "disabled"}} : card_status_record(*status, std::chrono::steady_clock::now());
    return record;
}

}  // namespace gateway
