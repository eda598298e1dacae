#include "gateway/telemetry/call_tally.hpp"

#include "gateway/telemetry/mcp_counters.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gateway::telemetry {
namespace {

static_assert(model::call_numbers::outcomes == outcome_counters::size);
static_assert(model::call_numbers::buckets == histogram_bounds.size() + 1);

// A call to an agent by the metrics: `cardea_agent_requests_total` and its like for MCP servers.
bool is_counted(const model::request_record& record) noexcept
{
    const bool is_call = record.where == model::route::call || record.where == model::route::relay ||
                         (record.where == model::route::mcp && record.mcp_method);
    return is_call && !record.agent.empty();
}

// How long its answer took means something.
bool has_latency(const model::request_record& record) noexcept
{
    return record.mcp_method ? !::mcp::stays_open(*record.mcp_method) : !record.stream;
}

void count(model::call_numbers& into, const model::request_record& record) noexcept
{
    ++into.ended[static_cast<std::size_t>(outcome_of(record))];
    if (has_latency(record)) {
        const auto* const bound = std::ranges::lower_bound(histogram_bounds, record.total);
        ++into.latencies[static_cast<std::size_t>(bound - histogram_bounds.begin())];
    }
}

bool was_refused(const model::request_record& record) noexcept
{
    return record.denied || record.over || record.code == core::errc::chain_limited ||
           record.code == core::errc::loop_detected;
}

void count_edge(model::edge_numbers& into, const model::request_record& record) noexcept
{
    const bool refused = was_refused(record);
    const auto outcome = outcome_of(record);
    const bool failed = outcome == call_outcome::upstream_error || outcome == call_outcome::gateway_error;
    ++into.calls;
    into.failed += failed && !refused ? 1 : 0;
    into.refused += refused ? 1 : 0;
}

}  // namespace

void call_tally::note_caller(counts& of, const model::request_record& record)
{
    if (record.principal.empty()) {
        count_edge(of.nobody, record);
        return;
    }
    key_.assign(record.provider).append(1, '\n').append(record.principal);
    auto found = of.callers.find(key_);
    if (found == of.callers.end()) {
        if (callers_ >= most_callers) {
            return;
        }
        ++callers_;
        found = of.callers.try_emplace(key_).first;
    }
    count_edge(found->second, record);
}

std::vector<model::caller_note> call_tally::take_callers(counts& of)
{
    std::vector<model::caller_note> all;
    all.reserve(of.callers.size() + 1);
    if (of.nobody.calls > 0) {
        all.push_back({{}, {}, of.nobody});
    }
    for (const auto& [key, numbers] : of.callers) {
        const auto end = key.find('\n');
        all.push_back({key.substr(0, end), key.substr(end + 1), numbers});
    }
    callers_ -= of.callers.size();
    return all;
}

void call_tally::note(const model::request_record& record, const counted& as)
{
    const auto verdict = as.agent ? model::verdict_of(record) : model::call_verdict::unknown;
    const bool is_call = is_counted(record) && (as.agent || as.caller);
    if (!is_call && verdict == model::call_verdict::unknown) {
        return;
    }
    auto found = agents_.find(record.agent);
    if (found == agents_.end()) {
        found = agents_.try_emplace(std::string{record.agent}).first;
        if (called_.capacity() < agents_.size()) {
            called_.reserve(2 * agents_.size());  // now, so that no later call has to
        }
    }
    auto& ended = found->second;
    if (!std::exchange(ended.called, true)) {
        called_.push_back(&*found);
    }
    if (is_call && as.agent) {
        count(ended.all, record);
    }
    if (is_call && as.caller) {
        note_caller(ended, record);
    }
    ended.calls += verdict == model::call_verdict::unknown ? 0 : 1;
    ended.failures += verdict == model::call_verdict::failed ? 1 : 0;
    ended.successes += verdict == model::call_verdict::worked ? 1 : 0;
}

std::vector<model::call_note> call_tally::take(core::steady_time now)
{
    std::vector<model::call_note> notes;
    if (called_.empty() || now < next_) {
        return notes;
    }
    const auto told = std::min(called_.size(), most);
    notes.reserve(told);
    for (std::size_t i = 0; i < told; ++i) {
        auto& [id, ended] = *called_[i];
        notes.push_back({id, ended.calls, ended.failures, ended.successes, ended.all, take_callers(ended)});
        ended = {};
    }
    called_.erase(called_.begin(), called_.begin() + static_cast<std::ptrdiff_t>(told));
    if (called_.empty()) {
        next_ = now + interval;
    }
    return notes;
}

void call_tally::forget(std::string_view id)
{
    const auto found = agents_.find(id);
    if (found != agents_.end()) {
        std::erase(called_, &*found);
        callers_ -= found->second.callers.size();
        agents_.erase(found);
    }
}

void call_tally::forget_unless(const std::function<bool(std::string_view id)>& exists)
{
    std::erase_if(called_, [&](const auto* each) { return !exists(each->first); });
    std::erase_if(agents_, [&](const auto& each) {
        const bool gone = !exists(each.first);
        callers_ -= gone ? each.second.callers.size() : 0;
        return gone;
    });
}

}  // namespace gateway::telemetry
