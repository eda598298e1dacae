#include "gateway/management/management.hpp"

#include "core/status.hpp"
#include "gateway/management/agent_walk.hpp"
#include "gateway/management/management_records.hpp"
#include "gateway/management/management_work.hpp"
#include "gateway/management/record_page.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace gateway::management {
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

// Of the memory for answers, what only the admin listener may use: callers cannot keep operators out.
constexpr std::uint64_t part_for_operators = 4;

// How much larger requests are once they have been read.
constexpr std::size_t document_factor = 16;

bool writes(std::string_view method) noexcept
{
    return method == upsert_method || method == delete_method;
}

// What writes, and the trail of it, which says who did.
bool for_admins(std::string_view method) noexcept
{
    return writes(method) || method == changes_method;
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

management::management(
    const config::settings& settings,
    registry& agents,
    cards::card_plane& cards,
    sessions::session_plane& sessions,
    model::turn_lines& by
)
    : settings_{settings},
      registry_{agents},
      cards_{cards},
      sessions_{sessions},
      turns_{by},
      memory_{settings.limits.rpc_memory}
{
}

net::task<model::rpc_answer> management::handle(std::string body, rpc_caller caller)
{
    model::rpc_answer out;
    const bool may_write = caller.may_write;
    auto& line = may_write ? turns_.operators : turns_.callers;
    work on{.caller = std::move(caller), .by = line, .memory = {}, .most = settings_.limits.rpc_answer};
    on.memory = core::memory_share{memory_, may_write ? 0 : memory_.most() / part_for_operators};
    on.document = may_write ? 0 : body.size() * document_factor;
    if (!on.hold(0)) {
        out.refused = errc::overloaded;
        co_return out;
    }
    co_await on.by.wait();
    auto parsed = core::parse_rpc(body, {.batch = settings_.limits.rpc_batch, .depth = 64});
    body = {};
    on.in_batch = parsed.batch;
    out.method = parsed.batch ? "batch" : std::string_view{};
    for (auto& item : parsed.items) {
        if (on.by.over()) {
            co_await on.by.wait();
        }
        if (on.caller.left.stop_requested()) {
            break;
        }
        on.writes = false;
        if (auto* refusal = std::get_if<core::rpc_refusal>(&item)) {
            add({}, {std::move(refusal->answer), nullptr}, on);
        } else {
            auto request = std::move(std::get<core::rpc_request>(item));
            const auto id = request.id;
            const auto method = management_method(request.method);
            on.writes = may_write && writes(method);
            on.wrote = on.wrote || on.writes;
            if (!parsed.batch) {
                out.method = method;
            }
            auto result = co_await carry_out(std::move(request), on);
            if (!id.empty()) {
                add(id, std::move(result), on);
            }
        }
        if (on.short_of_memory) {
            out.refused = errc::overloaded;
            co_return out;
        }
    }
    if (on.caller.left.stop_requested()) {
        out.refused = errc::caller_gone;
        co_return out;
    }
    out.body = parsed.batch ? on.batch.take() : std::move(on.single.text);
    out.card = std::move(on.single.card);
    on.memory.hold(out.body.capacity());
    out.memory = std::move(on.memory);
    co_return out;
}

// A result that has no room becomes an error that says so; not that of a write, which has been carried out. Without memory
// for it the whole answer is given up, unless something has been written: then the rest of it is errors.
void management::add(std::string_view id, rpc_result result, work& on) const
{
    if (on.in_batch && !on.writes && on.batch.size_with(result.size()) > on.most) {
        result = {core::make_error(id, errc::too_large), nullptr};
    }
    const auto had = on.batch.capacity();
    const auto needed = on.in_batch ? std::max(had, on.batch.size_with(result.size())) : had;
    // Room to grow into, unless there is memory for this result only.
    auto capacity = needed > had ? std::max(needed, std::min(2 * had, on.most)) : had;
    if (!on.memory.hold(on.document + capacity + result.text.capacity())) {
        capacity = needed;
        on.hold(capacity - had + result.text.capacity());
    }
    if (on.short_of_memory) {
        if (!on.wrote) {
            return;
        }
        on.short_of_memory = false;
        if (!on.writes) {
            result = {core::make_error(id, errc::overloaded), nullptr};
            capacity = had;
        }
    }
    if (!on.in_batch) {
        on.single = std::move(result);
        return;
    }
    on.batch.reserve(capacity);
    on.batch.begin(result.text);
    if (result.card != nullptr) {
        on.batch.go_on(result.card->body);
        on.batch.go_on(model::card_end);
    }
}

net::task<management::rpc_result> management::carry_out(core::rpc_request request, work& on)
{
    const auto method = management_method(request.method);
    if (method == "other") {
        co_return rpc_result{core::make_error(request.id, errc::method_not_found), nullptr};
    }
    if (for_admins(method) && !on.caller.may_write) {
        co_return rpc_result{core::make_error(request.id, errc::admin_only), nullptr};
    }
    if (method == get_method || method == refresh_method) {
        co_return co_await carry_out_on_agent(std::move(request), method, on);
    }
    rpc_result result;
    if (method == list_method) {
        result.text = co_await list(std::move(request), on);
    } else if (method == health_method) {
        result.text = co_await health_of(std::move(request), on);
    } else if (method == upsert_method) {
        result.text = co_await upsert(std::move(request), on.caller);
    } else if (method == delete_method) {
        result.text = co_await remove(std::move(request), on.caller);
    } else {
        result.text = co_await changes(std::move(request));
    }
    co_return result;
}

net::task<management::rpc_result>
management::carry_out_on_agent(core::rpc_request request, std::string_view method, work& on)
{
    const auto refused = [&](errc code, const json& data) {
        return rpc_result{core::make_error(request.id, code, data), nullptr};
    };
    const bool for_operator = on.caller.may_write;
    const auto id = agent_parameter(request.params);
    if (id.empty()) {
        co_return refused(errc::invalid_params, {{"missing", "id"}});
    }
    const auto* agent = registry_.find(id);
    if (agent == nullptr) {
        co_return refused(errc::agent_not_found, {{"agent", id}});
    }
    if (method == get_method) {
        co_return get(request.id, *agent, for_operator);
    }
    const auto* wish = core::member(request.params, "dryRun");
    if (wish != nullptr && !wish->is_boolean()) {
        co_return refused(errc::invalid_params, {{"wrong", "dryRun"}});
    }
    const bool dry = wish != nullptr && wish->get<bool>();
    core::result<json> outcome = json{};
    if (!for_operator && !cards_.may_be_fetched(id)) {
        outcome = core::gateway_error(errc::overloaded, "its card has been fetched a moment ago");
    } else if (dry) {
        auto seen = co_await preview(id);
        if (seen) {
            co_return rpc_result{core::make_result_of_text(request.id, *seen), nullptr};
        }
        outcome = std::move(seen).error();
    } else {
        outcome = co_await refresh(id, for_operator);
    }
    if (outcome) {
        co_return rpc_result{core::make_result(request.id, *outcome), nullptr};
    }
    const auto code = outcome.error().code;
    json data{{"agent", id}, {"retryable", core::retryable(code)}};
    if (const auto session = for_operator ? sessions_.facts(id) : std::nullopt) {
        data["session"] = session_record(*session, std::chrono::steady_clock::now(), true);
    }
    co_return refused(code, data);
}

net::task<std::string> management::list(core::rpc_request request, work& on) const
{
    std::vector<config::problem> problems;
    const auto filter = model::read_filter(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    record_page page{request.id, filter.limit, on.room()};
    agent_visitor take = [&](const std::string& id, const registered_agent& agent) {
        const auto* status = cards_.status(id);
        if (!model::shows(
                filter,
                agent.entry->record,
                agent.entry->tags,
                status == nullptr ? model::no_words : status->words
            )) {
            return true;
        }
        page.add(id, record_text(agent, on.caller.may_write));
        return on.hold(page.capacity()) && !page.full();
    };
    const bool more = co_await walk_agents(registry_, on.by, filter.after, std::move(take), on.caller.left);
    co_return page.finish(more || page.cut());
}

management::rpc_result management::get(std::string_view request_id, const registered_agent& agent, bool for_operator)
    const
{
    rpc_result out{core::begin_result(request_id) + record_text(agent, for_operator), nullptr};
    out.text.back() = ',';
    out.text += R"("card":)";
    const auto* status = cards_.status(agent.entry->record.id);
    if (status != nullptr && status->card) {
        out.card = status->card->bytes;
    } else {
        out.text.append("null").append(model::card_end);
    }
    return out;
}

std::string management::record_text(const registered_agent& agent, bool for_operator) const
{
    auto text = core::to_text(record_of(agent, for_operator));
    text.back() = ',';
    text.append(R"("metadata":)").append(agent.entry->record.metadata) += '}';
    return text;
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

}  // namespace gateway::management
