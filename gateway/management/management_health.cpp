// How the agents are: agents/health.
#include "gateway/management/agent_health.hpp"
#include "gateway/management/agent_walk.hpp"
#include "gateway/management/management.hpp"
#include "gateway/management/management_records.hpp"
#include "gateway/management/management_work.hpp"
#include "gateway/management/record_page.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;
using core::json;

// Whether the request names one agent, readable or not.
bool names_agent(const json& params)
{
    return (params.is_array() && !params.empty()) || core::member(params, "id") != nullptr ||
           core::member(params, "agentId") != nullptr || core::member(params, "name") != nullptr;
}

std::optional<health> read_status(const json& params, std::vector<config::problem>& problems)
{
    const auto* value = core::member(params, "status");
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    for (const auto each : healths) {
        if (value->is_string() && value->get<std::string>() == name(each)) {
            return each;
        }
    }
    problems.push_back({{}, 1, 1, "status", "is no status; expected healthy, degraded, unhealthy or unknown"});
    return std::nullopt;
}

using status_counts = std::array<std::uint64_t, healths.size()>;

json summary_of(const status_counts& counts)
{
    auto summary = json::object();
    for (const auto each : healths) {
        summary[std::string{name(each)}] = counts[static_cast<std::size_t>(each)];
    }
    return summary;
}

// A page of those that are wanted, and a count of all that the filter lets through.
struct health_page {
    const model::agent_filter& filter;
    std::optional<health> status;
    record_page page;
    bool more = false;
    status_counts by_status{};

    // Whether it is to be shown.
    bool counts(const model::agent_entry& agent, const cards::card_status* card, const judgement& how)
    {
        if (!model::shows(filter, agent.record, agent.tags, card == nullptr ? model::no_words : card->words)) {
            return false;
        }
        ++by_status[static_cast<std::size_t>(how.status)];
        const bool wanted = !status || *status == how.status;
        more = more || (wanted && page.full());
        return wanted && !page.full();
    }
};

}  // namespace

// What is known of one agent; its session's facts are looked for only where there can be any.
struct management::known {
    const registered_agent& agent;
    const cards::card_status* card;
    std::optional<sessions::session_facts> session;
    judgement how;
    bool for_operator;
};

management::known management::known_of(const registered_agent& agent, core::steady_time now, bool for_operator) const
{
    const auto& record = agent.entry->record;
    known made{agent, cards_.status(record.id), {}, {}, for_operator};
    if (record.mcp) {
        made.session = sessions_.facts(record.id);
    }
    made.how = judge(agent, made.card, made.session ? &*made.session : nullptr, now);
    return made;
}

json management::health_record(const known& of, core::steady_time now)
{
    const auto& record = of.agent.entry->record;
    json shown{
        {"id", record.id},
        {"protocol", core::name(record.speaks)},
        {"status", name(of.how.status)},
    };
    if (!of.how.reason.empty()) {
        shown["reason"] = of.how.reason;
    }
    if (of.card != nullptr) {
        shown["card"] = card_summary(*of.card, now);
    }
    if (of.session) {
        shown["session"] = session_record(*of.session, now, of.for_operator);
    }
    return shown;
}

net::task<std::string> management::health_of(core::rpc_request request, work& on) const
{
    if (!names_agent(request.params)) {
        co_return co_await health_of_all(std::move(request), on);
    }
    const auto id = agent_parameter(request.params);
    if (id.empty()) {
        co_return core::make_error(request.id, errc::invalid_params, {{"missing", "id"}});
    }
    const auto* agent = registry_.find(id);
    if (agent == nullptr) {
        co_return core::make_error(request.id, errc::agent_not_found, {{"agent", id}});
    }
    const auto now = std::chrono::steady_clock::now();
    co_return core::make_result(request.id, health_record(known_of(*agent, now, on.caller.may_write), now));
}

net::task<std::string> management::health_of_all(core::rpc_request request, work& on) const
{
    std::vector<config::problem> problems;
    const auto filter = model::read_filter(request.params, problems);
    const auto status = read_status(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    const bool counts_all = filter.after.empty();  // with the first page, and with no other
    health_page shown{filter, status, record_page{request.id, filter.limit, on.room()}};
    agent_visitor take = [&](const std::string& id, const registered_agent& agent) {
        const auto now = std::chrono::steady_clock::now();
        const auto made = known_of(agent, now, on.caller.may_write);
        if (shown.counts(*agent.entry, made.card, made.how)) {
            shown.page.add(id, core::to_text(health_record(made, now)));
        }
        return on.hold(shown.page.capacity()) && (counts_all || !shown.page.full());
    };
    const bool more = co_await walk_agents(registry_, on.by, filter.after, std::move(take), on.caller.left);
    const auto summary = counts_all ? R"(,"summary":)" + core::to_text(summary_of(shown.by_status)) : std::string{};
    co_return shown.page.finish(shown.page.cut() || (counts_all ? shown.more : more), summary);
}

}  // namespace gateway::management
