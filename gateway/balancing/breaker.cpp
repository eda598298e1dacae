#include "gateway/balancing/breaker.hpp"

#include "gateway/balancing/endpoint_group.hpp"

#include <algorithm>
#include <chrono>

namespace gateway::balancing {
namespace {

constexpr unsigned phase_bits = 2;
constexpr unsigned epoch_bits = 16;
constexpr unsigned row_bits = 6;
constexpr unsigned value_bits = 40;
static_assert(phase_bits + epoch_bits + row_bits + value_bits == 64);

constexpr std::uint64_t largest(unsigned bits) noexcept
{
    return (std::uint64_t{1} << bits) - 1;
}

constexpr double most_jitter = 0.2;  // of a cooldown

// A trial keeps others out for at least this long: an agent may need that for any answer.
constexpr core::duration shortest_trial{30'000};

}  // namespace

struct breaker::word {
    phase is = phase::closed;
    std::uint16_t epoch = 0;  // counts changes of the phase
    std::uint64_t row = 0;    // openings without a success in between
    // closed: failures without a success in between. open: until when. unreachable: when it is tried next. half open: until when the
    // call on its way keeps others out, 0: there is none. Times are milliseconds since the breaker was made.
    std::uint64_t value = 0;

    static word from(std::uint64_t bits) noexcept
    {
        word out;
        out.is = static_cast<phase>(bits & largest(phase_bits));
        bits >>= phase_bits;
        out.epoch = static_cast<std::uint16_t>(bits & largest(epoch_bits));
        bits >>= epoch_bits;
        out.row = bits & largest(row_bits);
        out.value = bits >> row_bits;
        return out;
    }

    std::uint64_t bits() const noexcept
    {
        auto out = std::min(value, largest(value_bits));
        out = out << row_bits | std::min(row, largest(row_bits));
        out = out << epoch_bits | epoch;
        return out << phase_bits | static_cast<std::uint64_t>(is);
    }

    word next(phase then, std::uint64_t openings_in_row, std::uint64_t with) const noexcept
    {
        return {then, static_cast<std::uint16_t>(epoch + 1), openings_in_row, with};
    }
};

breaker::breaker(const shared_settings& settings, core::steady_time now, random_source random) noexcept
    : settings_{settings.all},
      from_{now},
      random_{random}
{
}

breaker::breaker(const breaker_settings& settings, core::steady_time now, random_source random)
    : breaker{shared_settings{std::make_shared<const breaker_settings>(settings)}, now, random}
{
}

breaker::~breaker()
{
    delete recent_.load(std::memory_order_acquire);
}

void breaker::count(core::steady_time now, counted call) noexcept
{
    auto* known = recent_.load(std::memory_order_acquire);
    if (known == nullptr) {
        auto made = std::make_unique<sliding_counts>(from_, settings_->window);
        if (recent_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
            known = made.release();
        }
    }
    known->add(now, call);
}

void breaker::forget_calls() noexcept
{
    if (auto* const known = recent_.load(std::memory_order_acquire)) {
        known->clear();
    }
}

std::uint64_t breaker::millis(core::steady_time now) const noexcept
{
    const auto since = std::chrono::duration_cast<core::duration>(std::max(now, from_) - from_);
    return static_cast<std::uint64_t>(since.count());
}

breaker::word breaker::load() const noexcept
{
    return word::from(word_.load(std::memory_order_acquire));
}

// False: another thread was first; `expected` is what there is now.
bool breaker::swap(word& expected, const word& desired) noexcept
{
    auto bits = expected.bits();
    const bool done = word_.compare_exchange_strong(bits, desired.bits(), std::memory_order_acq_rel);
    if (!done) {
        expected = word::from(bits);
    }
    return done;
}

std::optional<breaker::permit> breaker::admit(core::steady_time now) noexcept
{
    auto is = load();
    for (;;) {
        if (is.is == phase::closed) {
            return permit{is.epoch, false};
        }
        const bool cooled = is.is == phase::open && millis(now) >= is.value;
        const bool idle = is.is == phase::half_open && millis(now) >= is.value;
        if (!cooled && !idle) {
            return std::nullopt;
        }
        auto trial = cooled ? is.next(phase::half_open, is.row, 0) : is;
        trial.value = millis(now + std::max(cooldown_after(is.row), shortest_trial));
        if (swap(is, trial)) {
            return permit{trial.epoch, true};
        }
    }
}

bool breaker::admits(core::steady_time now) const noexcept
{
    const auto is = load();
    const bool timed = is.is == phase::open || is.is == phase::half_open;
    return is.is == phase::closed || (timed && millis(now) >= is.value);
}

breaker_change breaker::ended(permit of, call_end how, core::steady_time now, endpoint_group* group) noexcept
{
    switch (how) {
        case call_end::answered:
            return worked(of, now);
        case call_end::failed:
        case call_end::unreachable:
            return failed(of, how, now, group);
        case call_end::unknown:
            break;
    }
    released(of);
    return breaker_change::none;
}

void breaker::released(permit of) noexcept
{
    auto is = load();
    while (of.trial_ && is.epoch == of.epoch_) {
        auto free = is;
        free.value = 0;
        if (swap(is, free)) {
            return;
        }
    }
}

breaker_change breaker::worked(permit of, core::steady_time now) noexcept
{
    auto is = load();
    if (!of.trial_ && is.epoch == of.epoch_) {
        count(now, {1, 0});
    }
    while (is.epoch == of.epoch_) {
        if (of.trial_) {
            forget_calls();  // what was before the opening says nothing now
            if (swap(is, is.next(phase::closed, 0, 0))) {
                return breaker_change::closed;
            }
            continue;
        }
        if (is.value == 0) {
            break;
        }
        auto well = is;
        well.value = 0;
        if (swap(is, well)) {
            break;
        }
    }
    return breaker_change::none;
}

breaker_change breaker::failed(permit of, call_end how, core::steady_time now, endpoint_group* group) noexcept
{
    const bool counts = !of.trial_ && load().epoch == of.epoch_;
    if (counts) {
        count(now, {1, 1});
    }
    const bool by_ratio = counts && over_ratio(now) && (group == nullptr || group->begin_ejection());
    const auto change = count_failure(of, how, now, by_ratio);
    if (by_ratio && group != nullptr) {
        group->end_ejection();
    }
    return change;
}

breaker_change breaker::count_failure(permit of, call_end how, core::steady_time now, bool by_ratio) noexcept
{
    auto is = load();
    while (is.epoch == of.epoch_) {
        auto then = is;
        ++then.value;
        const bool opens = of.trial_ || then.value >= settings_->failures || by_ratio;
        if (opens) {
            then = opened_after(is, how, now);
        }
        if (swap(is, then)) {
            if (opens) {
                openings_.fetch_add(1, std::memory_order_relaxed);
            }
            return opens ? breaker_change::opened : breaker_change::none;
        }
    }
    return breaker_change::none;
}

bool breaker::over_ratio(core::steady_time now) const noexcept
{
    const auto* const known = recent_.load(std::memory_order_acquire);
    const auto recent = known == nullptr ? counted{} : known->sum(now);
    return recent.all >= settings_->volume &&
           static_cast<double>(recent.marked) >= settings_->ratio * static_cast<double>(recent.all);
}

core::duration breaker::cooldown_after(std::uint64_t openings) const noexcept
{
    return std::min(settings_->cooldown * static_cast<std::int64_t>(openings), settings_->max_cooldown);
}

breaker::word breaker::opened_after(const word& was, call_end how, core::steady_time now) const noexcept
{
    const auto row = std::min(was.row + 1, largest(row_bits));
    if (how == call_end::unreachable) {
        return was.next(phase::unreachable, row, millis(now + settings_->probe));
    }
    const auto whole = cooldown_after(row);
    const auto off = static_cast<double>(whole.count()) * most_jitter * random_();
    const core::duration time{whole.count() - static_cast<std::int64_t>(off)};
    return was.next(phase::open, row, millis(now + time));
}

core::steady_time breaker::again_at(core::steady_time now) const noexcept
{
    const auto is = load();
    const bool timed = is.is == phase::open || is.is == phase::unreachable;
    return timed ? std::max(now, from_ + core::duration{is.value}) : now;
}

bool breaker::awaits_probe() const noexcept
{
    return load().is == phase::unreachable;
}

void breaker::probed(bool connected, core::steady_time begun) noexcept
{
    auto is = load();
    while (is.is == phase::unreachable) {
        auto then = is;
        if (connected) {
            then = is.next(phase::half_open, is.row, 0);
        } else {
            then.value = millis(begun + settings_->probe);
        }
        if (swap(is, then)) {
            return;
        }
    }
}

bool breaker::close() noexcept
{
    auto is = load();
    while (is.is != phase::closed) {
        forget_calls();
        if (swap(is, is.next(phase::closed, 0, 0))) {
            return true;
        }
    }
    return false;
}

breaker_state breaker::state() const noexcept
{
    switch (load().is) {
        case phase::closed:
            return breaker_state::closed;
        case phase::half_open:
            return breaker_state::half_open;
        case phase::open:
        case phase::unreachable:
            break;
    }
    return breaker_state::open;
}

}  // namespace gateway::balancing
