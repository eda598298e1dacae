#include "gateway/management/call_history.hpp"

#include "gateway/telemetry/worker_metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace gateway::management {
namespace {

using telemetry::call_outcome;

constexpr std::chrono::minutes minute{1};
constexpr std::int64_t per_quarter = 15;  // minutes
constexpr std::int64_t minutes_kept = call_history::minutes;
constexpr std::int64_t quarters_kept = call_history::quarters;
constexpr std::int64_t recent_minutes = call_history::recent;

constexpr double median = 0.5;
constexpr double tail = 0.99;

using wide_buckets = std::array<std::uint64_t, model::call_numbers::buckets>;

std::size_t place(std::int64_t number, std::int64_t of) noexcept
{
    return static_cast<std::size_t>(number % of);
}

double bound_ms(std::size_t bucket) noexcept
{
    return std::chrono::duration<double, std::milli>{telemetry::histogram_bounds[bucket]}.count();
}

std::uint64_t ended(const model::call_numbers& numbers, call_outcome how) noexcept
{
    return numbers.ended[static_cast<std::size_t>(how)];
}

void add(auto& into, const auto& more) noexcept
{
    for (std::size_t i = 0; i < more.size(); ++i) {
        into[i] += more[i];
    }
}

// To four digits: percentiles say no more.
std::optional<double> rounded(std::optional<double> ms)
{
    constexpr int digits = 4;
    if (!ms || *ms <= 0) {
        return ms;
    }
    const auto scale = std::pow(10, digits - 1 - std::floor(std::log10(*ms)));
    return std::round(*ms * scale) / scale;
}

std::optional<double> rounded_quantile(double of_all, const auto& latencies)
{
    wide_buckets wide{};
    add(wide, latencies);
    return rounded(quantile_ms(of_all, wide));
}

}  // namespace

std::optional<double>
quantile_ms(double of_all, std::span<const std::uint64_t, model::call_numbers::buckets> latencies) noexcept
{
    std::uint64_t total = 0;
    for (const auto each : latencies) {
        total += each;
    }
    if (total == 0) {
        return std::nullopt;
    }
    const auto rank = of_all * static_cast<double>(total);
    double below = 0;
    for (std::size_t i = 0; i < telemetry::histogram_bounds.size(); ++i) {
        const auto count = static_cast<double>(latencies[i]);
        if (count > 0 && below + count >= rank) {
            const auto from = i == 0 ? 0.0 : bound_ms(i - 1);
            return from + (bound_ms(i) - from) * (rank - below) / count;
        }
        below += count;
    }
    return bound_ms(telemetry::histogram_bounds.size() - 1);
}

template <std::size_t Width>
std::uint64_t call_history::packed_slot<Width>::number(std::size_t from, std::size_t width) const noexcept
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
        value |= static_cast<std::uint64_t>(bytes_[from + i]) << (8 * i);
    }
    return value;
}

template <std::size_t Width>
void call_history::packed_slot<Width>::put(std::size_t from, std::size_t width, std::uint64_t value) noexcept
{
    const auto most = (std::uint64_t{1} << (8 * width)) - 1;
    value = std::min(value, most);
    for (std::size_t i = 0; i < width; ++i) {
        bytes_[from + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
}

template <std::size_t Width>
call_history::counts call_history::packed_slot<Width>::read() const noexcept
{
    return {number(0, Width), number(Width, Width), number(2 * Width, Width)};
}

template <std::size_t Width>
void call_history::packed_slot<Width>::write(const counts& from) noexcept
{
    put(0, Width, from.calls);
    put(Width, Width, from.failed);
    put(2 * Width, Width, from.caller_errors);
}

namespace {

// The logarithmic scale of percentiles: from 0.001 ms to 60 s in 65534 steps; 0: none.
constexpr double least_ms = 0.001;
constexpr double most_ms = 60'000;
constexpr double steps = 65'534;

std::uint64_t step_of(double ms)
{
    const auto part = std::log(std::clamp(ms, least_ms, most_ms) / least_ms) / std::log(most_ms / least_ms);
    return 1 + static_cast<std::uint64_t>(std::llround(part * steps));
}

double ms_of(std::uint64_t step)
{
    return least_ms * std::exp(std::log(most_ms / least_ms) * static_cast<double>(step - 1) / steps);
}

}  // namespace

template <std::size_t Width>
std::optional<double> call_history::packed_slot<Width>::percentile(std::size_t index) const noexcept
{
    const auto step = number(3 * Width + 2 * index, 2);
    return step == 0 ? std::nullopt : rounded(ms_of(step));
}

template <std::size_t Width>
void call_history::packed_slot<Width>::set_percentile(std::size_t index, std::optional<double> ms) noexcept
{
    put(3 * Width + 2 * index, 2, ms ? step_of(*ms) : 0);
}

void call_history::page::go_to(std::int64_t minute) noexcept
{
    const auto before = std::exchange(latest_, std::max(latest_, minute));
    if (latest_ == before) {
        return;
    }
    auto& ended_minute = minutes_[place(before, minutes_kept)];
    ended_minute.set_percentile(0, rounded_quantile(median, minute_latencies_));
    ended_minute.set_percentile(1, rounded_quantile(tail, minute_latencies_));
    auto& scaled = recent_[place(before, recent_minutes)];
    scaled.shift = 0;
    for (const auto each : minute_latencies_) {
        while (each >> scaled.shift > 0xFFFF) {
            ++scaled.shift;
        }
    }
    for (std::size_t i = 0; i < minute_latencies_.size(); ++i) {
        scaled.counts[i] = static_cast<std::uint16_t>(minute_latencies_[i] >> scaled.shift);
    }
    minute_latencies_ = {};
    for (auto each = std::max(before, latest_ - minutes_kept) + 1; each <= latest_; ++each) {
        minutes_[place(each, minutes_kept)] = {};
    }
    for (auto each = std::max(before, latest_ - recent_minutes - 1) + 1; each < latest_; ++each) {
        recent_[place(each, recent_minutes)] = {};
    }
    const auto first = before / per_quarter;
    const auto last = latest_ / per_quarter;
    if (first == last) {
        return;
    }
    auto& ended_quarter = quarters_[place(first, quarters_kept)];
    ended_quarter.set_percentile(0, rounded_quantile(median, quarter_latencies_));
    ended_quarter.set_percentile(1, rounded_quantile(tail, quarter_latencies_));
    quarter_latencies_ = {};
    for (auto each = std::max(first, last - quarters_kept) + 1; each <= last; ++each) {
        quarters_[place(each, quarters_kept)] = {};
    }
}

void call_history::page::add(const model::call_numbers& numbers, std::int64_t minute) noexcept
{
    go_to(minute);
    counts more;
    for (const auto each : numbers.ended) {
        more.calls += each;
    }
    more.failed = ended(numbers, call_outcome::upstream_error) + ended(numbers, call_outcome::gateway_error);
    more.caller_errors = ended(numbers, call_outcome::caller_error);
    const auto count = [&](auto& slot) {
        auto sum = slot.read();
        sum.calls += more.calls;
        sum.failed += more.failed;
        sum.caller_errors += more.caller_errors;
        slot.write(sum);
    };
    count(minutes_[place(latest_, minutes_kept)]);
    count(quarters_[place(latest_ / per_quarter, quarters_kept)]);
    management::add(minute_latencies_, numbers.latencies);
    management::add(quarter_latencies_, numbers.latencies);
}

bool call_history::page::has(std::int64_t minute) const noexcept
{
    return minute <= latest_ && minute > latest_ - minutes_kept && minute >= first_;
}

call_history::counts call_history::page::counts_of(std::int64_t minute) const noexcept
{
    return has(minute) ? minutes_[place(minute, minutes_kept)].read() : counts{};
}

template <std::size_t Width>
call_slot call_history::page::shown(const packed_slot<Width>& slot, const buckets* in_progress)
{
    const auto [calls, failed, caller_errors] = slot.read();
    return {
        .calls = calls,
        .failed = failed,
        .caller_errors = caller_errors,
        .p50_ms = in_progress == nullptr ? slot.percentile(0) : rounded_quantile(median, *in_progress),
        .p99_ms = in_progress == nullptr ? slot.percentile(1) : rounded_quantile(tail, *in_progress)
    };
}

call_slot call_history::page::minute(std::int64_t number) const noexcept
{
    return has(number) ? shown(minutes_[place(number, minutes_kept)], number == latest_ ? &minute_latencies_ : nullptr)
                       : call_slot{};
}

call_slot call_history::page::quarter(std::int64_t number) const noexcept
{
    const auto latest = latest_ / per_quarter;
    if (number > latest || number <= latest - quarters_kept || number < first_ / per_quarter) {
        return {};
    }
    return shown(quarters_[place(number, quarters_kept)], number == latest ? &quarter_latencies_ : nullptr);
}

void call_history::page::add_latencies(std::int64_t minute, wide_buckets& into) const noexcept
{
    if (minute == latest_) {
        management::add(into, minute_latencies_);
    } else if (minute < latest_ && minute >= latest_ - recent_minutes && minute >= first_) {
        const auto& scaled = recent_[place(minute, recent_minutes)];
        for (std::size_t i = 0; i < into.size(); ++i) {
            into[i] += static_cast<std::uint64_t>(scaled.counts[i]) << scaled.shift;
        }
    }
}

call_history::call_history(std::size_t agents, core::steady_time start, core::wall_time wall_start)
    : most_{agents},
      start_{start},
      wall_start_{wall_start},
      before_{std::chrono::duration_cast<core::duration>(wall_start.time_since_epoch() % (per_quarter * minute))},
      all_{before_ / minute}
{
}

// Numbers begin with the quarter of an hour of the start.
std::int64_t call_history::minute_of(core::steady_time time) const noexcept
{
    return std::max<std::int64_t>((time - start_ + before_) / minute, 0);
}

core::wall_time call_history::end_of(std::int64_t number) const noexcept
{
    return wall_start_ - before_ + (number + 1) * minute;
}

const call_history::page* call_history::find(std::string_view id) const
{
    if (id.empty()) {
        return &all_;
    }
    const auto found = pages_.find(id);
    return found == pages_.end() ? nullptr : &found->second->calls;
}

// Null: agents have no history.
call_history::page* call_history::page_of(const std::string& id, std::int64_t now)
{
    if (const auto found = pages_.find(id); found != pages_.end()) {
        list_.splice(list_.end(), list_, found->second);
        return &found->second->calls;
    }
    if (most_ == 0) {
        return nullptr;
    }
    if (pages_.size() == most_) {
        pages_.erase(list_.front().id);
        list_.pop_front();
        dropped_ = true;
    }
    list_.push_back({id, page{now}});
    pages_.emplace(list_.back().id, std::prev(list_.end()));
    return &list_.back().calls;
}

void call_history::add(const std::vector<model::call_note>& notes, core::steady_time now)
{
    const auto number = minute_of(now);
    for (const auto& each : notes) {
        all_.add(each.all, number);
        if (auto* const known = page_of(each.agent, number)) {
            known->add(each.all, number);
        }
    }
}

call_series call_history::series(std::string_view id, core::steady_time now) const
{
    const auto* const known = find(id);
    const auto latest = minute_of(now);
    call_series out{.since = wall_start_, .minutes = {}, .quarters = {}};
    // An agent that is seen for the first time may have lost its history before.
    if (may_lack(id)) {
        const auto first = known == nullptr ? latest : known->first();  // minutes
        out.since = std::max(wall_start_, end_of(first - 1));
    }
    for (auto number = latest - minutes_kept + 1; number <= latest; ++number) {
        out.minutes.push_back(known == nullptr ? call_slot{} : known->minute(number));
        out.minutes.back().end = end_of(number);
    }
    const auto last = latest / per_quarter;
    for (auto number = last - quarters_kept + 1; number <= last; ++number) {
        out.quarters.push_back(known == nullptr ? call_slot{} : known->quarter(number));
        out.quarters.back().end = end_of(number * per_quarter + per_quarter - 1);
    }
    return out;
}

recent_calls call_history::recent_of(std::string_view id, core::steady_time now) const
{
    const auto latest = minute_of(now);
    const auto begun = minute_of(start_);
    const auto* const known = find(id);
    auto from = std::max(latest - recent_minutes, begun);
    if (may_lack(id)) {
        from = known == nullptr ? latest : std::max(from, known->first());
    }
    if (from == latest) {
        return {.calls_per_minute = may_lack(id) ? std::nullopt : std::optional{0.0}};
    }
    if (known == nullptr) {
        return {};
    }
    counts sum;
    wide_buckets latencies{};
    for (auto number = from; number < latest; ++number) {
        const auto slot = known->counts_of(number);
        sum.calls += slot.calls;
        sum.failed += slot.failed;
        known->add_latencies(number, latencies);
    }
    recent_calls out{.calls_per_minute = static_cast<double>(sum.calls) / static_cast<double>(latest - from)};
    if (sum.calls > 0) {
        out.failed_ratio = static_cast<double>(sum.failed) / static_cast<double>(sum.calls);
    }
    out.p50_ms = rounded(quantile_ms(median, latencies));
    out.p99_ms = rounded(quantile_ms(tail, latencies));
    return out;
}

std::array<std::uint32_t, call_history::minutes> call_history::spark_of(std::string_view id, core::steady_time now)
    const
{
    std::array<std::uint32_t, minutes> spark{};
    const auto latest = minute_of(now);
    if (const auto* const known = find(id)) {
        for (std::int64_t i = 0; i < minutes_kept; ++i) {
            const auto calls = known->counts_of(latest - minutes_kept + 1 + i).calls;
            spark[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(calls);
        }
    }
    return spark;
}

}  // namespace gateway::management
