#include "gateway/management/read_methods.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "core/url.hpp"
#include "gateway/management/advice.hpp"
#include "gateway/management/agent_health.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/json_records.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/agent_filter.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace gateway::management {
namespace {

constexpr std::size_t room_for_end = 256;  // `next` with the longest id, and a summary

}  // namespace

record_page::record_page(std::string_view id, std::size_t limit, std::size_t most, std::string_view list)
    : text_{core::begin_result(id).append("{\"").append(list).append("\":[")},
      limit_{limit},
      most_{most}
{
}

bool record_page::add(std::string_view agent, std::string_view record)
{
    if (full()) {
        return false;
    }
    if (count_ > 0) {
        if (text_.size() + 1 + record.size() + room_for_end > most_) {
            cut_ = true;
            return false;
        }
        text_ += ',';
    }
    text_ += record;
    last_ = agent;
    ++count_;
    return true;
}

std::string record_page::finish(bool more, std::string_view members)
{
    text_ += ']';
    if (more) {
        text_ += R"(,"next":)";
        core::append_json_string(text_, last_);
    }
    text_ += members;
    text_ += "}}";
    return std::move(text_);
}

namespace {

using core::json;

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
    problems.push_back({{}, 1, 1, "status", "is no status; expected healthy, degraded, unhealthy, unknown or contained"}
    );
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

// Metadata is the operators' own: to search it would tell others what is in it.
bool shows(
    const model::agent_filter& filter,
    const model::agent_entry& agent,
    const cards::card_status* card,
    const rpc_caller& caller
)
{
    const auto& words = card == nullptr ? model::no_words : card->words;
    return model::shows(filter, agent.record, agent.tags, words, /*metadata=*/!caller.shows);
}

// An agent as callers may see it: without its address, its credentials and the reasons of its failures.
json shown_to_callers(const core::agent& agent)
{
    return {{"id", agent.id}, {"protocol", core::name(agent.speaks)}};
}

// A page of those that are wanted, and a count of all that the filter lets through.
struct health_page {
    const model::agent_filter& filter;
    const rpc_caller& caller;
    std::optional<health> status;
    record_page page;
    bool more = false;
    status_counts by_status{};

    // Whether it is to be shown.
    bool counts(const model::agent_entry& agent, const cards::card_status* card, health agent_health)
    {
        if (!shows(filter, agent, card, caller)) {
            return false;
        }
        ++by_status[static_cast<std::size_t>(agent_health)];
        const bool wanted = !status || *status == agent_health;
        more = more || (wanted && page.full());
        return wanted && !page.full();
    }
};

}  // namespace

// Everything known of one agent; its session's facts are looked for only where there can be any.
struct read_methods::known {
    const registered_agent& agent;
    const cards::card_status* card;
    std::optional<sessions::session_facts> session;
    judgement judged;
};

read_methods::read_methods(
    const registry& agents,
    const cards::card_plane& cards,
    const sessions::session_plane& sessions,
    const call_records& calls,
    threads::turn_lines& turns
)
    : registry_{agents},
      cards_{cards},
      sessions_{sessions},
      calls_{calls},
      turns_{turns}
{
}

net::task<rpc_result> read_methods::list(core::rpc_request request, const rpc_caller& caller, answer_builder& answer)
    const
{
    std::vector<config::problem> problems;
    const auto filter = model::read_filter(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    record_page page{request.id, filter.limit, answer.room()};
    agent_visitor visit = [&](const std::string& id, const registered_agent& agent) {
        if (!is_shown(agent, caller) || !shows(filter, *agent.entry, cards_.status(id), caller)) {
            return true;
        }
        page.add(id, record_text(agent, caller));
        return answer.hold(page.capacity()) && !page.full();
    };
    auto& line = turns_.of(caller.may_write);
    const bool more = co_await walk_agents(registry_, line, filter.after, std::move(visit), caller.left);
    co_return page.finish(more || page.cut());
}

net::task<rpc_result> read_methods::get(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
    const
{
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    rpc_result result{core::begin_result(request.id) + record_text(*agent, caller)};
    result.text.back() = ',';
    const auto* status = cards_.status(agent->entry->record.id);
    if (!caller.shows && status != nullptr && status->hidden) {
        result.text.append(R"("hidden_tools":)").append(core::to_text(hidden_tools_record(*status->hidden))) += ',';
    }
    if (const auto lines = stderr_of(*agent, caller); !lines.empty()) {
        result.text.append(R"("stderr":)").append(core::to_text(json(lines))) += ',';
    }
    result.text += R"("card":)";
    if (status != nullptr && status->card) {
        result.card = status->card->bytes;
    } else {
        result.text.append("null").append(model::card_end);
    }
    co_return result;
}

// The last lines that the agent's program wrote to stderr, for operators.
std::vector<std::string> read_methods::stderr_of(const registered_agent& agent, const rpc_caller& caller) const
{
    const bool shown = !caller.shows && agent.entry->record.mcp;
    return shown ? sessions_.complaints(agent.entry->record.id) : std::vector<std::string>{};
}

// With the metadata, which is not read again for operators.
std::string read_methods::record_text(const registered_agent& agent, const rpc_caller& caller) const
{
    if (caller.shows) {
        auto record = shown_to_callers(agent.entry->record);
        const auto* status = cards_.status(agent.entry->record.id);
        record["card_status"]["state"] = status == nullptr ? (agent.contained ? "contained" : "unknown")
                                                           : card_state(*status, std::chrono::steady_clock::now());
        return core::to_text(record);
    }
    auto text = core::to_text(record_of(agent));
    text.back() = ',';
    text.append(R"("metadata":)").append(agent.entry->record.metadata) += '}';
    return text;
}

json read_methods::record_of(const registered_agent& agent) const
{
    const auto& id = agent.entry->record.id;
    auto record = agent_record(agent.entry->record);
    if (agent.entry->call_url != core::http_form(agent.entry->record.url)) {
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
    add_containment(record, agent);
    const auto now = std::chrono::steady_clock::now();
    const auto session = sessions_.facts(id);
    if (session) {
        record["session"] = session_record(*session, now, /*for_operator=*/true);
    }
    const auto* status = cards_.status(id);
    const auto* const without = agent.contained ? "contained" : "disabled";
    record["card_status"] =
        status == nullptr ? json{{"state", without}} : card_status_record(*status, now, /*for_operator=*/true);
    if (session && status != nullptr) {
        add_session_problems(record["card_status"], agent.entry->record, *session);
    }
    return record;
}

// With the reason, for operators.
void read_methods::add_containment(json& to, const registered_agent& agent) const
{
    const auto* const terms =
        agent.contained && containments_ != nullptr ? containments_->find({agent.entry->record.id, {}}) : nullptr;
    if (terms != nullptr) {
        to["containment"] = shown_containment(*terms);
    }
}

read_methods::known read_methods::known_of(const registered_agent& agent, core::steady_time now) const
{
    const auto& record = agent.entry->record;
    const auto* card = cards_.status(record.id);
    auto session = record.mcp ? sessions_.facts(record.id) : std::nullopt;
    const auto judged = judge(agent, card, session ? &*session : nullptr, calls_.book.facts(record.id, now), now);
    return {agent, card, std::move(session), judged};
}

json read_methods::health_record(
    const known& known,
    core::steady_time now,
    const rpc_caller& caller,
    const health_wishes& wishes
) const
{
    const auto& record = known.agent.entry->record;
    if (caller.shows) {
        auto shown = shown_to_callers(record);
        shown["status"] = name(known.judged.status);
        return shown;
    }
    json shown{
        {"id", record.id},
        {"protocol", core::name(record.speaks)},
        {"status", name(known.judged.status)},
    };
    if (!known.judged.reason.empty()) {
        shown["reason"] = known.judged.reason;
        const auto* const session = known.session ? &*known.session : nullptr;
        const auto words = words_of(known.judged, known.card, session, stderr_of(known.agent, caller));
        shown["why"] = words.why;
        shown["advice"] = words.what_to_do;
    }
    add_containment(shown, known.agent);
    if (public_base_ != nullptr) {
        shown["public_url"] = *public_base_ + "/agents/" + record.id + (record.mcp ? "/mcp" : "");
    }
    if (known.card != nullptr) {
        shown["card"] = card_summary(*known.card, now);
    }
    if (known.session) {
        shown["session"] = session_record(*known.session, now, /*for_operator=*/true);
    }
    if (auto endpoints = endpoint_records(*known.agent.entry); !endpoints.empty()) {
        shown["endpoints"] = std::move(endpoints);
    }
    if (wishes.stats) {
        add_stats(shown, calls_.history, record.id, now);
    }
    return shown;
}

net::task<rpc_result> read_methods::health(core::rpc_request request, const rpc_caller& caller, answer_builder& answer)
    const
{
    std::vector<config::problem> problems;
    const auto wishes = read_wishes(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    // How much others call an agent is for operators.
    if (caller.shows && (wishes.stats || wishes.order != health_order::id)) {
        co_return denied(request, core::errc::forbidden);
    }
    if (!names_agent(request.params)) {
        co_return co_await health_of_all(std::move(request), caller, answer, wishes);
    }
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    const auto now = std::chrono::steady_clock::now();
    co_return core::make_result(request.id, health_record(known_of(*agent, now), now, caller, wishes));
}

net::task<rpc_result> read_methods::health_of_all(
    core::rpc_request request,
    const rpc_caller& caller,
    answer_builder& answer,
    health_wishes wishes
) const
{
    std::vector<config::problem> problems;
    const auto filter = model::read_filter(request.params, problems);
    const auto status = read_status(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    const bool counts_all = filter.after.empty();  // with the first page, and with no other
    const bool ranks = wishes.order != health_order::id;
    health_page shown{filter, caller, status, record_page{request.id, filter.limit, answer.room()}};
    health_ranking ranking{wishes.order, filter.limit};
    agent_visitor visit = [&](const std::string& id, const registered_agent& agent) {
        if (!is_shown(agent, caller)) {
            return true;
        }
        const auto now = std::chrono::steady_clock::now();
        const auto known = known_of(agent, now);
        const bool wanted = shown.counts(*agent.entry, known.card, known.judged.status);
        if (wanted && ranks) {
            ranking.add(id, known.judged.status, calls_.history.recent_of(id, now));
        } else if (wanted) {
            shown.page.add(id, core::to_text(health_record(known, now, caller, wishes)));
        }
        return answer.hold(shown.page.capacity()) && (counts_all || !shown.page.full());
    };
    auto& line = turns_.of(caller.may_write);
    const bool more = co_await walk_agents(registry_, line, filter.after, std::move(visit), caller.left);
    if (ranks) {
        std::function add = [&](const std::string& id) {
            const auto now = std::chrono::steady_clock::now();
            const auto* const agent = registry_.find(id);  // some may have gone since
            if (agent != nullptr && is_shown(*agent, caller)) {
                shown.page.add(id, core::to_text(health_record(known_of(*agent, now), now, caller, wishes)));
            }
            return !shown.page.cut() && !caller.left.stop_requested() && answer.hold(shown.page.capacity());
        };
        co_await threads::in_turns(line, std::move(ranking).take(), std::move(add));
    }
    const auto summary = counts_all ? R"(,"summary":)" + core::to_text(summary_of(shown.by_status)) : std::string{};
    const bool follows = shown.page.cut() || (counts_all ? shown.more : more);
    co_return shown.page.finish(follows && !ranks, summary);
}

net::task<rpc_result>
read_methods::stats(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/) const
{
    std::string id;
    if (names_agent(request.params)) {
        auto [agent, refusal] = find_agent(request, registry_, caller);
        if (agent == nullptr) {
            co_return std::move(refusal);
        }
        id = agent->entry->record.id;
    }
    co_return core::make_result(request.id, stats_record(calls_.history.series(id, std::chrono::steady_clock::now())));
}

net::task<rpc_result> read_methods::bundles(core::rpc_request request, const rpc_caller& caller, answer_builder& answer)
    const
{
    std::vector<config::problem> problems;
    const auto filter = model::read_filter(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    record_page page{request.id, filter.limit, answer.room(), "bundles"};
    auto& line = turns_.of(caller.may_write);
    co_await line.wait();
    auto next = bundles_(filter.after);
    while (!next.first.empty() && !caller.left.stop_requested() && page.add(next.first, next.second) &&
           answer.hold(page.capacity())) {
        if (line.over()) {
            co_await line.wait();
        }
        next = bundles_(next.first);
    }
    co_return page.finish(!next.first.empty());
}

}  // namespace gateway::management
