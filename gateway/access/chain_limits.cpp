#include "gateway/access/chain_limits.hpp"

#include "gateway/telemetry/metric_family.hpp"

#include <algorithm>
#include <new>

namespace gateway::access {
namespace {

using atomic_word = std::atomic_ref<std::uint64_t>;

constexpr std::uint64_t in_flight_bits = chain_limits::most_in_flight;
constexpr std::uint64_t name_bits = ~in_flight_bits;

// A window: eight bits of the name, 26 of the tick at which it began, 30 of its calls.
constexpr unsigned name_shift = 56;
constexpr unsigned tick_shift = 30;
constexpr std::uint64_t tick_bits = (std::uint64_t{1} << (name_shift - tick_shift)) - 1;
constexpr std::uint64_t call_bits = (std::uint64_t{1} << tick_shift) - 1;
constexpr std::uint64_t ticks_a_second = 16;

// Ticks since the window began. Threads know the time a little apart: a window that begins later has just begun.
constexpr std::uint64_t age_of(std::uint64_t window, std::uint64_t tick) noexcept
{
    const auto age = (tick - (window >> tick_shift)) & tick_bits;
    return age > tick_bits / 2 ? 0 : age;
}

chain_limits::name name_of_hash(const core::hash_value& hash) noexcept
{
    return hash[0] | (in_flight_bits + 1);  // never that of no chain
}

}  // namespace

chain_limits::chain_limits(const config::chain_settings& settings, core::steady_time now)
    : made_{now},
      rows_{static_cast<chain_row*>(std::calloc(rows, sizeof(chain_row)))}
{
    if (rows_ == nullptr) {
        throw std::bad_alloc{};
    }
    set(settings);
}

void chain_limits::set(const config::chain_settings& settings) noexcept
{
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(settings.window).count();
    in_flight_.store(settings.in_flight, std::memory_order_relaxed);
    calls_.store(settings.calls, std::memory_order_relaxed);
    window_.store(static_cast<std::uint64_t>(seconds) * ticks_a_second, std::memory_order_relaxed);
}

void chain_limits::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (changed.has_any_of("chains.")) {
        set(now.chains);
    }
}

void chain_limits::collect(telemetry::metrics& into) const
{
    into.add(telemetry::metric("cardea_chains_untracked_total"), untracked_calls());
}

chain_limits::name chain_limits::name_of(const core::trace_id& trace) const noexcept
{
    std::array<char, sizeof(trace.high) + sizeof(trace.low)> bytes{};
    std::ranges::copy_n(reinterpret_cast<const char*>(&trace.high), sizeof(trace.high), bytes.begin());
    std::ranges::copy_n(
        reinterpret_cast<const char*>(&trace.low),
        sizeof(trace.low),
        bytes.begin() + sizeof(trace.high)
    );
    return name_of_hash(hash_("trace", {bytes.data(), bytes.size()}));
}

chain_limits::name chain_limits::name_of_context(std::string_view id) const noexcept
{
    return name_of_hash(hash_("context", id));
}

std::uint64_t chain_limits::tick_of(core::steady_time now) const noexcept
{
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - made_).count();
    return static_cast<std::uint64_t>(since) * ticks_a_second / 1000 & tick_bits;
}

chain_limits::entered chain_limits::pass_untracked() noexcept
{
    untracked_.fetch_add(1, std::memory_order_relaxed);
    return {};
}

// The place of the chain; else an empty one, or the one whose window began first of those without calls in flight.
chain_limits::found chain_limits::find(chain_row& in, name of, std::uint64_t tick) noexcept
{
    found place;
    std::uint64_t oldest = 0;
    for (std::size_t i = 0; i < row; ++i) {
        const auto word = atomic_word{in.chains[i]}.load(std::memory_order_acquire);
        if ((word & name_bits) == (of & name_bits)) {
            return {i, word};
        }
        if ((word & in_flight_bits) != 0) {
            continue;
        }
        const auto age =
            word == 0 ? tick_bits : age_of(atomic_word{in.windows[i]}.load(std::memory_order_relaxed), tick);
        if (place.at == row || age > oldest) {
            place = {i, word};
            oldest = age;
        }
    }
    return place;
}

// One call more in the place. False: it has changed.
bool chain_limits::take(chain_row& in, const found& place, name of) noexcept
{
    auto before = place.word;
    const auto in_flight = before & in_flight_bits;
    return atomic_word{in.chains[place.at]}
        .compare_exchange_strong(before, (of & name_bits) | (in_flight + 1), std::memory_order_acq_rel);
}

// False: its window has all calls that it may have.
bool chain_limits::count_call(chain_row& in, std::size_t at, name of, std::uint64_t tick) noexcept
{
    const auto most_calls = calls_.load(std::memory_order_relaxed);
    if (most_calls == 0) {
        return true;
    }
    const auto window = window_.load(std::memory_order_relaxed);
    atomic_word counted{in.windows[at]};
    auto word = counted.load(std::memory_order_relaxed);
    while (true) {
        const bool own = word >> name_shift == of >> name_shift;
        const bool goes_on = own && (word & call_bits) > 0 && age_of(word, tick) < window;
        if (goes_on && (word & call_bits) >= most_calls) {
            return false;
        }
        const auto next = goes_on ? word + 1 : (of >> name_shift << name_shift) | (tick << tick_shift) | 1U;
        if (counted.compare_exchange_weak(word, next, std::memory_order_relaxed)) {
            return true;
        }
    }
}

chain_limits::entered chain_limits::enter(name of, core::steady_time now) noexcept
{
    const auto number = static_cast<std::size_t>((of & in_flight_bits) % rows);
    auto& in = rows_[number];
    const auto tick = tick_of(now);
    while (true) {
        const auto place = find(in, of, tick);
        if (place.at == row) {
            return pass_untracked();
        }
        const auto in_flight = place.word & in_flight_bits;
        const auto limit_in_flight = in_flight_.load(std::memory_order_relaxed);
        if (limit_in_flight > 0 && in_flight >= limit_in_flight) {
            return {untracked, limit::in_flight};
        }
        if (in_flight == most_in_flight) {
            return pass_untracked();
        }
        const bool begins = in_flight == 0;
        if (begins && chains_.fetch_add(1, std::memory_order_relaxed) >= most) {
            chains_.fetch_sub(1, std::memory_order_relaxed);
            return pass_untracked();
        }
        if (!take(in, place, of)) {
            chains_.fetch_sub(begins ? 1 : 0, std::memory_order_relaxed);
            continue;
        }
        if ((place.word & name_bits) != (of & name_bits)) {
            // The few bits of its name that a window has may be those of the chain before.
            atomic_word{in.windows[place.at]}.store(0, std::memory_order_relaxed);
        }
        const auto at = static_cast<slot>(number * row + place.at);
        if (!count_call(in, place.at, of, tick)) {
            leave(at);
            return {untracked, limit::calls};
        }
        return {at};
    }
}

void chain_limits::leave(slot at) noexcept
{
    if (at == untracked) {
        return;
    }
    const auto before = atomic_word{rows_[at / row].chains[at % row]}.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & in_flight_bits) == 1) {
        chains_.fetch_sub(1, std::memory_order_relaxed);
    }
}

bool chain_limits::reports(core::steady_time now) noexcept
{
    using std::chrono::nanoseconds;
    constexpr nanoseconds pause = std::chrono::minutes{1};
    const auto time = std::chrono::duration_cast<nanoseconds>(now.time_since_epoch()).count();
    auto next = next_report_.load(std::memory_order_relaxed);
    return time >= next && next_report_.compare_exchange_strong(next, time + pause.count(), std::memory_order_relaxed);
}

chain_places::~chain_places()
{
    leave();
}

void chain_places::leave() noexcept
{
    if (in_ == nullptr) {
        return;
    }
    for (auto& each : at_) {
        in_->leave(each);
        each = chain_limits::untracked;
    }
    in_ = nullptr;
}

std::optional<chain_limits::limit> chain_places::enter(
    chain_limits& chains,
    const std::array<chain_limits::name, most>& names,
    core::steady_time now
) noexcept
{
    if (in_ != nullptr) {
        return std::nullopt;
    }
    in_ = &chains;
    for (std::size_t i = 0; i < most; ++i) {
        if (names[i] == 0 || (i > 0 && names[i] == names[i - 1])) {
            continue;
        }
        const auto entered = chains.enter(names[i], now);
        if (entered.over) {
            leave();
            reports_ = chains.reports(now);
            return entered.over;
        }
        at_[i] = entered.at;
    }
    return std::nullopt;
}

std::string_view name(chain_limits::limit of) noexcept
{
    return of == chain_limits::limit::in_flight ? "in_flight" : "calls";
}

}  // namespace gateway::access
