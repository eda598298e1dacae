#include "gateway/management/health_order.hpp"

#include "gateway/management/json_records.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace gateway::management {
namespace {

using core::json;

constexpr std::array<std::pair<std::string_view, health_order>, 5> orders{{
    {"id", health_order::id},
    {"trouble", health_order::trouble},
    {"calls", health_order::calls},
    {"failed", health_order::failed},
    {"p99", health_order::p99},
}};

double badness(health status) noexcept
{
    switch (status) {
        case health::unhealthy:
            return 3;
        case health::degraded:
            return 2;
        case health::contained:  // an operator knows of it already
        case health::unknown:
            return 1;
        case health::healthy:
            return 0;
    }
    return 0;
}

double to_thousandths(double value)
{
    constexpr double parts = 1000;
    return std::round(value * parts) / parts;
}

json number_or_null(const std::optional<double>& value)
{
    return value ? json(*value) : json();
}

json slot_records(const std::vector<call_slot>& slots)
{
    auto all = json::array();
    for (const auto& each : slots) {
        all.push_back(
            {{"end", shown_time(each.end)},
             {"calls", each.calls},
             {"failed", each.failed},
             {"caller_errors", each.caller_errors},
             {"p50_ms", number_or_null(each.p50_ms)},
             {"p99_ms", number_or_null(each.p99_ms)}}
        );
    }
    return all;
}

}  // namespace

health_wishes read_wishes(const json& params, std::vector<config::problem>& problems)
{
    const auto refuse = [&](const char* key, std::string predicate) {
        problems.push_back({{}, 1, 1, key, std::move(predicate)});
    };
    health_wishes out;
    if (const auto* sort = core::member(params, "sort"); sort != nullptr && !sort->is_null()) {
        const auto* const found = std::ranges::find_if(orders, [&](const auto& each) {
            return sort->is_string() && sort->get_ref<const std::string&>() == each.first;
        });
        if (found == orders.end()) {
            refuse("sort", "is not an order; expected id, trouble, calls, failed or p99");
        } else {
            out.order = found->second;
        }
    }
    if (const auto* stats = core::member(params, "stats"); stats != nullptr && !stats->is_null()) {
        if (stats->is_boolean()) {
            out.stats = stats->get<bool>();
        } else {
            refuse("stats", "is not a boolean; expected true or false");
        }
    }
    if (out.order != health_order::id && !core::text_member(params, "after").empty()) {
        refuse("after", "needs the order of ids; expected `sort` to be id");
    }
    return out;
}

bool health_ranking::is_before(const ranked& a, const ranked& b) noexcept
{
    return a.keys != b.keys ? a.keys > b.keys : a.id < b.id;
}

void health_ranking::add(std::string_view id, health status, const recent_calls& calls)
{
    const auto failed = calls.failed_ratio.value_or(-1);
    const auto often = calls.calls_per_minute.value_or(-1);
    const auto by = [&]() -> std::array<double, 3> {
        switch (order_) {
            case health_order::id:
                return {};
            case health_order::trouble:
                return {badness(status), failed, often};
            case health_order::calls:
                return {often};
            case health_order::failed:
                return {failed, often};
            case health_order::p99:
                return {calls.p99_ms.value_or(-1)};
        }
        return {};
    };
    ranked next{by(), std::string{id}};
    if (first_.size() == most_) {
        if (most_ == 0 || !is_before(next, first_.front())) {
            return;
        }
        std::ranges::pop_heap(first_, is_before);
        first_.pop_back();
    }
    first_.push_back(std::move(next));
    std::ranges::push_heap(first_, is_before);
}

std::vector<std::string> health_ranking::take() &&
{
    std::ranges::sort_heap(first_, is_before);
    std::vector<std::string> ids;
    ids.reserve(first_.size());
    for (auto& each : first_) {
        ids.push_back(std::move(each.id));
    }
    return ids;
}

void add_stats(json& record, const call_history& history, std::string_view id, core::steady_time now)
{
    const auto recent = history.recent_of(id, now);
    record["calls_per_minute"] = recent.calls_per_minute ? json(to_thousandths(*recent.calls_per_minute)) : json();
    record["failed_ratio"] = recent.failed_ratio ? json(to_thousandths(*recent.failed_ratio)) : json();
    record["p50_ms"] = number_or_null(recent.p50_ms);
    record["p99_ms"] = number_or_null(recent.p99_ms);
    record["spark"] = history.spark_of(id, now);
}

json stats_record(const call_series& series)
{
    return {
        {"since", shown_time(series.since)},
        {"minutes", slot_records(series.minutes)},
        {"quarters", slot_records(series.quarters)}
    };
}

}  // namespace gateway::management
