#include "gateway/balancing/call_gate.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace gateway::balancing {
namespace {

constexpr core::duration window{10'000};  // slots of a second

// A waiter has the ticket of its address: it is kept for as long as it waits.
std::uint64_t ticket_of(const call_waiter& waiter) noexcept
{
    return reinterpret_cast<std::uintptr_t>(&waiter);  // NOLINT(*-reinterpret-cast)
}

std::uint32_t number_of(std::uint64_t limit) noexcept
{
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

retry_budget::retry_budget(core::steady_time now) noexcept
    : recent_{now, window}
{
}

bool retry_budget::take(double share, core::steady_time now) noexcept
{
    const auto this_second = recent_.add(now, {0, 1});
    if (this_second.marked <= always) {
        return true;
    }
    const auto recent = recent_.sum(now);
    if (static_cast<double>(recent.marked) <= share * static_cast<double>(recent.all)) {
        return true;
    }
    recent_.take_back(now, {0, 1});
    return false;
}

call_gate::call_gate(const core::call_limits& limits, clock now) noexcept
    : limit_{number_of(limits.in_flight)},
      length_{number_of(limits.queue)},
      most_streams_{number_of(limits.streams)},
      now_{now}
{
}

call_gate::~call_gate()
{
    for (auto* left = errands_.load(); left != nullptr;) {
        const std::unique_ptr<errand> gone{left};
        left = gone->next;
    }
}

void call_gate::set_limits(const core::call_limits& limits)
{
    limit_.store(number_of(limits.in_flight), std::memory_order_relaxed);
    length_.store(number_of(limits.queue), std::memory_order_relaxed);
    most_streams_.store(number_of(limits.streams), std::memory_order_relaxed);
    carry_on();
}

// `past_queue`: it is the queue's own call.
bool call_gate::take_place(bool past_queue) noexcept
{
    auto seen = state_.load(std::memory_order_relaxed);
    while ((past_queue || seen < one_waiting) && (seen & in_flight_bits) < limit_.load(std::memory_order_relaxed)) {
        if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

bool call_gate::try_enter() noexcept
{
    return take_place(/*past_queue=*/false);
}

std::optional<core::place_share> call_gate::try_enter(core::caller_mark whose) noexcept
{
    auto share = call_share(whose);
    return share && try_enter() ? std::move(share) : std::nullopt;
}

std::optional<core::place_share> call_gate::call_share(core::caller_mark whose) noexcept
{
    const auto most = core::half_of(limit_.load(std::memory_order_relaxed));
    return core::all_shares().take(core::place_shares::of_object(this), whose, most);
}

std::optional<core::place_share> call_gate::stream_share(core::caller_mark whose) noexcept
{
    const auto most = core::half_of(most_streams_.load(std::memory_order_relaxed));
    return core::all_shares().take(core::place_shares::of_object(this, "streams"), whose, most);
}

void call_gate::leave() noexcept
{
    if (state_.fetch_sub(1, std::memory_order_acq_rel) >= one_waiting) {
        carry_on();
    }
}

bool call_gate::begin_stream() noexcept
{
    auto seen = streams_.load(std::memory_order_relaxed);
    while (seen < most_streams_.load(std::memory_order_relaxed)) {
        if (streams_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

void call_gate::join(std::shared_ptr<call_waiter> waiter, core::caller_mark caller)
{
    add(std::make_unique<errand>(errand{.waiter = std::move(waiter), .caller = caller}));
}

bool call_gate::give_up(const std::shared_ptr<call_waiter>& waiter)
{
    if (!waiter->decide(call_waiter::state::left)) {
        return false;
    }
    add(std::make_unique<errand>(errand{.waiter = waiter, .leaves = true}));
    return true;
}

void call_gate::add(std::unique_ptr<errand> what) noexcept
{
    auto* const added = what.release();
    added->next = errands_.load(std::memory_order_relaxed);
    while (!errands_.compare_exchange_weak(added->next, added, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    carry_on();
}

// A thread that finds another one at it leaves its turn to that one.
void call_gate::carry_on() noexcept
{
    if (turns_.fetch_add(1, std::memory_order_acq_rel) != 0) {
        return;
    }
    std::uint32_t seen = 1;
    do {
        do_errands();
        admit_next();
    } while (!turns_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));
}

void call_gate::do_errands() noexcept
{
    errand* newest = errands_.exchange(nullptr, std::memory_order_acq_rel);
    errand* oldest = nullptr;
    while (newest != nullptr) {
        auto* const before = std::exchange(newest->next, oldest);
        oldest = std::exchange(newest, before);
    }
    while (oldest != nullptr) {
        const std::unique_ptr<errand> current{oldest};
        oldest = current->next;
        if (current->leaves) {
            drop(*current->waiter);
        } else {
            seat(*current);
        }
    }
}

void call_gate::seat(const errand& asked) noexcept
{
    using enum call_waiter::state;
    auto& waiter = *asked.waiter;
    if (waiter.now() != undecided) {
        return;
    }
    auto how = full;
    if (!room_) {
        room_ = std::make_unique<waiting_room>(0);
    }
    if (room_->queue.size() == 0) {
        static_cast<void>(room_->queue.pop(now_()));  // what waited before says nothing of those that come now
    }
    room_->queue.set_length(static_cast<std::size_t>(length_.load(std::memory_order_relaxed)));
    admit_next();  // who waits behind that has no share left, and is no reason to refuse this one
    if (auto taken = call_share(asked.caller); taken && take_place(/*past_queue=*/true)) {
        waiter.share_ = std::move(*taken);
        how = admitted;
    } else {
        taken.reset();
        room_->waiters.emplace(ticket_of(waiter), asked.waiter);
        const auto place = room_->queue.push(ticket_of(waiter), asked.caller, now_());
        if (place == fair_queue::place::waits) {
            state_.fetch_add(one_waiting, std::memory_order_acq_rel);
            return;
        }
        room_->waiters.erase(ticket_of(waiter));
        how = place == fair_queue::place::share ? share : full;
    }
    if (waiter.decide(how)) {
        waiter.decided();
    } else if (how == admitted) {
        waiter.share_.give_back();
        state_.fetch_sub(1, std::memory_order_acq_rel);
    }
}

// Nothing happens if it does not wait.
void call_gate::drop(const call_waiter& waiter) noexcept
{
    if (room_ == nullptr) {
        return;
    }
    if (room_->queue.remove(ticket_of(waiter))) {
        state_.fetch_sub(one_waiting, std::memory_order_acq_rel);
    }
    room_->waiters.erase(ticket_of(waiter));
}

void call_gate::admit_next() noexcept
{
    core::place_share share;
    const auto admits = [&](core::caller_mark caller) {
        auto taken = call_share(caller);
        if (taken) {
            share = std::move(*taken);
        }
        return taken.has_value();
    };
    while (room_ != nullptr && room_->queue.size() > 0 && take_place(/*past_queue=*/true)) {
        const auto ticket = room_->queue.pop(now_(), std::ref(admits));
        const auto found = room_->waiters.extract(ticket.value_or(0));
        if (found.empty()) {
            share.give_back();
            state_.fetch_sub(1, std::memory_order_acq_rel);
            if (ticket) {
                continue;
            }
            return;  // all that wait have their share
        }
        auto& waiter = *found.mapped();
        waiter.share_ = std::move(share);
        // Its place is taken before it is counted out: nobody passes the queue in between.
        state_.fetch_sub(one_waiting, std::memory_order_acq_rel);
        if (waiter.decide(call_waiter::state::admitted)) {
            waiter.decided();
        } else {
            waiter.share_.give_back();
            state_.fetch_sub(1, std::memory_order_acq_rel);
        }
    }
}

}  // namespace gateway::balancing
