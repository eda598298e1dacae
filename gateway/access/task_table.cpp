#include "gateway/access/task_table.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>

namespace gateway::access {
namespace {

constexpr std::uint64_t no_name = 0;
constexpr std::uint64_t being_written = 1;

constexpr unsigned bits_of_word = 64;

// A name that is used often need not be noted each time.
constexpr std::int64_t parts_of_keep = 32;

// Owners are told apart by so many bits of their hash when places are counted.
constexpr unsigned counted_bits = 12;
constexpr std::size_t counted_owners = std::size_t{1} << counted_bits;

// Owners that have about as much of the table are equal, so that the least recent name of all goes.
constexpr std::uint64_t shares = 64;
constexpr std::uint64_t largest_share = shares / 4;

using atomic_word = std::atomic_ref<std::uint64_t>;
using atomic_time = std::atomic_ref<std::int64_t>;

}  // namespace

task_table::task_table(std::uint64_t places, std::int64_t keep)
    : keep_{keep},
      count_{std::max<std::size_t>(static_cast<std::size_t>(places / row), 1)},
      rows_{static_cast<place_row*>(std::calloc(count_, sizeof(place_row)))},
      changed_((count_ + bits_of_word - 1) / bits_of_word),
      places_of_(counted_owners)
{
    if (rows_ == nullptr) {
        throw std::bad_alloc{};
    }
}

// By the name alone, so that a table of another size has a place for it too.
std::size_t task_table::row_of(std::uint64_t name) const noexcept
{
    return static_cast<std::size_t>((name >> 32U) * count_ >> 32U);
}

// A place is read under its name only: the writer takes the name away first and gives the new one last.
task_table::found task_table::look(place_row& in, std::uint64_t name) noexcept
{
    for (std::size_t i = 0; i < row; ++i) {
        atomic_word there{in.names[i]};
        if (there.load(std::memory_order_acquire) != name) {
            continue;
        }
        const auto word = atomic_word{in.words[i]}.load(std::memory_order_acquire);
        const auto seen = atomic_time{in.seen[i]}.load(std::memory_order_acquire);
        if (there.load(std::memory_order_relaxed) == name) {
            return {i, word, seen};
        }
    }
    return {};
}

std::optional<task_table::found> task_table::find(std::uint64_t name, std::int64_t now) noexcept
{
    const auto there = look(rows_[row_of(name)], name);
    return there.at != row && now - there.seen < keep_ ? std::optional{there} : std::nullopt;
}

void task_table::touch(std::uint64_t name, const found& where, std::int64_t now) noexcept
{
    if (now - where.seen >= keep_ / parts_of_keep) {
        atomic_time{rows_[row_of(name)].seen[where.at]}.store(now, std::memory_order_relaxed);
        mark(name);
    }
}

bool task_table::change(std::uint64_t name, const found& where, std::uint64_t word) noexcept
{
    auto before = where.word;
    atomic_word there{rows_[row_of(name)].words[where.at]};
    if (!there.compare_exchange_strong(before, word, std::memory_order_release)) {
        return false;
    }
    count(before, -1);
    count(word, 1);
    return true;
}

bool task_table::put_unmarked(const content& what, std::int64_t now) noexcept
{
    auto& in = rows_[row_of(what.name)];
    constexpr int tries = 4;
    for (int i = 0; i < tries; ++i) {
        choice chosen{look(in, what.name).at, what.name};
        chosen = chosen.at == row ? free_place(in, now) : chosen;
        chosen = chosen.at == row ? least_wanted(in, what.word & owner_bits) : chosen;
        if (chosen.at == row) {
            return false;
        }
        if (fill(in, chosen, what)) {
            return true;
        }
    }
    return false;
}

// Two owners that hold a name at the same moment may have a place each. Both look again once both could be seen, and neither goes
// on with the other there.
task_table::holding task_table::hold(const content& what, std::int64_t now) noexcept
{
    auto& in = rows_[row_of(what.name)];
    const auto whose = what.word & owner_bits;
    for (bool has_place = false; !has_place;) {
        const auto there = look(in, what.name);
        const bool known = there.at != row && now - there.seen < keep_;
        const auto has = there.word & owner_bits;
        if (known && is_held(there.word) && has == anybody) {
            continue;  // its place was emptied and filled again
        }
        if (known && has != anybody && has != whose) {
            return holding::refused;
        }
        const auto holds = there.word & interface_bits;
        if (known && (!is_held(there.word) || holds == most_holds)) {
            return holding::open;
        }
        if (known) {
            has_place = add_hold(in, there, what.name);
            continue;
        }
        const auto chosen = there.at == row ? free_place(in, now) : choice{there.at, what.name};
        if (chosen.at == row) {
            return has_other(in, what.name, whose) ? holding::refused : holding::open;
        }
        has_place = fill(in, chosen, {what.name, whose | held_bits | 1, what.seen});
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (has_other(in, what.name, whose)) {
        release(what.name, whose);
        return holding::refused;
    }
    return holding::held;
}

// False: it has changed. The place may be another name's by now, with the same word.
bool task_table::add_hold(place_row& in, const found& there, std::uint64_t name) noexcept
{
    auto before = there.word;
    atomic_word word{in.words[there.at]};
    if (!word.compare_exchange_strong(before, before + 1, std::memory_order_acq_rel)) {
        return false;
    }
    const auto has = settled_name(in, there.at);
    if (has != name) {
        release(has, before & owner_bits);
    }
    return has == name;
}

bool task_table::has_other(place_row& in, std::uint64_t name, std::uint64_t whose) noexcept
{
    for (std::size_t i = 0; i < row; ++i) {
        const bool same = settled_name(in, i) == name;
        if (same && (atomic_word{in.words[i]}.load(std::memory_order_acquire) & owner_bits) != whose) {
            return true;
        }
    }
    return false;
}

// Only the last hold's end empties its place.
void task_table::release(std::uint64_t name, std::uint64_t whose) noexcept
{
    auto& in = rows_[row_of(name)];
    for (std::size_t i = 0; i < row; ++i) {
        if (settled_name(in, i) == name && end_hold(in, i, name, whose)) {
            return;
        }
    }
}

// False: the place has no hold of this owner's. The name is taken away meanwhile, since the place could be another name's by the
// time its word changes.
bool task_table::end_hold(place_row& in, std::size_t at, std::uint64_t name, std::uint64_t whose) noexcept
{
    atomic_word there{in.words[at]};
    atomic_word named{in.names[at]};
    auto word = there.load(std::memory_order_acquire);
    if (!is_held(word) || (word & owner_bits) != whose) {
        return false;
    }
    for (auto has = name; !named.compare_exchange_weak(has, being_written, std::memory_order_acq_rel); has = name) {
        if (has != name && has != being_written) {
            return false;
        }
    }
    word = there.load(std::memory_order_acquire);
    while (is_held(word) && (word & owner_bits) == whose && (word & interface_bits) > 0) {
        const bool last = (word & interface_bits) == 1;
        // Held by nobody: who looks meanwhile, and finds the name there again, sees that this is not its word.
        if (!there.compare_exchange_weak(word, last ? held_bits : word - 1, std::memory_order_acq_rel)) {
            continue;
        }
        count(last ? word : 0, -1);
        named.store(last ? no_name : name, std::memory_order_release);
        return true;
    }
    named.store(name, std::memory_order_release);
    return false;
}

// The name of a place that no thread writes to.
std::uint64_t task_table::settled_name(place_row& in, std::size_t at) noexcept
{
    auto name = being_written;
    while (name == being_written) {
        name = atomic_word{in.names[at]}.load(std::memory_order_acquire);
    }
    return name;
}

// False: another thread has written to the place, or does.
bool task_table::fill(place_row& in, const choice& chosen, const content& what) noexcept
{
    const auto at = chosen.at;
    atomic_word there{in.names[at]};
    auto before = chosen.name;
    if (!there.compare_exchange_strong(before, being_written, std::memory_order_acq_rel)) {
        return false;
    }
    count(atomic_word{in.words[at]}.exchange(what.word, std::memory_order_acq_rel), -1);
    count(what.word, 1);
    atomic_time{in.seen[at]}.store(what.seen, std::memory_order_release);
    there.store(what.name, std::memory_order_release);
    return true;
}

// A place without a name, or with one that was not seen for its time. `row`: there is none.
task_table::choice task_table::free_place(place_row& in, std::int64_t now) const noexcept
{
    for (std::size_t i = 0; i < row; ++i) {
        const auto name = atomic_word{in.names[i]}.load(std::memory_order_relaxed);
        const auto seen = atomic_time{in.seen[i]}.load(std::memory_order_relaxed);
        if (name == no_name || (name != being_written && now - seen >= keep_)) {
            return {i, name};
        }
    }
    return {};
}

// For a name of this owner's. `row`: none gives way to it.
task_table::choice task_table::least_wanted(place_row& in, std::uint64_t whose) const noexcept
{
    struct candidate {
        choice place;
        std::uint64_t share = 0;
        std::int64_t seen = 0;
    };
    const auto own = share_of(whose, 1);
    candidate best;
    for (std::size_t i = 0; i < row; ++i) {
        const auto name = atomic_word{in.names[i]}.load(std::memory_order_relaxed);
        if (name == being_written) {
            continue;
        }
        const auto has = atomic_word{in.words[i]}.load(std::memory_order_relaxed) & owner_bits;
        const auto seen = atomic_time{in.seen[i]}.load(std::memory_order_relaxed);
        const candidate each{{i, name}, has == whose ? own : share_of(has, 0), seen};
        if (best.place.at == row || each.share > best.share || (each.share == best.share && each.seen < best.seen)) {
            best = each;
        }
    }
    return own > largest_share && best.share < own ? choice{} : best.place;
}

void task_table::count(std::uint64_t word, std::int32_t change) noexcept
{
    const auto whose = word & owner_bits;
    if (whose != anybody) {
        auto& places = places_of_[whose >> (bits_of_word - counted_bits)];
        places.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_relaxed);
    }
}

// How much of the table the owner would have with so many more places. Anybody has nothing.
std::uint64_t task_table::share_of(std::uint64_t whose, std::uint64_t more) const noexcept
{
    if (whose == anybody) {
        return 0;
    }
    const auto places = places_of_[whose >> (bits_of_word - counted_bits)].load(std::memory_order_relaxed);
    return (places + more) * shares / (count_ * row);
}

void task_table::mark(std::uint64_t name) noexcept
{
    const auto number = row_of(name);
    const auto bit = std::uint64_t{1} << (number % bits_of_word);
    changed_[number / bits_of_word].fetch_or(bit, std::memory_order_release);
}

void task_table::unmark(std::uint64_t name) noexcept
{
    changed_[row_of(name) / bits_of_word].store(0, std::memory_order_relaxed);
}

std::vector<task_table::entry> task_table::take_changed(std::size_t most, std::int64_t now)
{
    std::vector<entry> out;
    for (std::size_t i = 0; i < changed_.size() && out.size() < most; ++i) {
        auto bits = changed_[i].exchange(0, std::memory_order_acquire);
        for (; bits != 0; bits &= bits - 1) {
            take_row(rows_[i * bits_of_word + static_cast<std::size_t>(std::countr_zero(bits))], now, out);
        }
    }
    return out;
}

void task_table::take_row(place_row& in, std::int64_t now, std::vector<entry>& out) const
{
    for (std::size_t i = 0; i < row; ++i) {
        const auto name = atomic_word{in.names[i]}.load(std::memory_order_acquire);
        const auto there = name < first_name ? found{} : look(in, name);
        const bool says_something = (there.word & (owner_bits | interface_bits)) != 0 && !is_held(there.word);
        if (there.at != row && says_something && now - there.seen < keep_) {
            const std::chrono::nanoseconds age{std::max<std::int64_t>(now - there.seen, 0)};
            out.push_back({name, there.word, std::chrono::duration_cast<core::duration>(age)});
        }
    }
}

std::vector<task_table::entry> task_table::all(std::int64_t now) const
{
    std::vector<entry> out;
    for (std::size_t i = 0; i < count_; ++i) {
        take_row(rows_[i], now, out);
    }
    return out;
}

}  // namespace gateway::access
