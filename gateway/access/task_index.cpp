#include "gateway/access/task_index.hpp"

#include "jose/digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <string>

namespace gateway::access {
namespace {

constexpr std::uint64_t no_task = 0;
constexpr std::uint64_t being_written = 1;
constexpr std::uint64_t first_name = 2;

// A word: the owner in its upper bits, then four of the state (0: none), then eight of the interface.
constexpr unsigned state_shift = 8;
constexpr std::uint64_t interface_bits = 0xFFU;
constexpr std::uint64_t state_bits = std::uint64_t{0xF} << state_shift;
constexpr std::uint64_t owner_bits = ~(state_bits | interface_bits);
constexpr std::uint64_t least_owner = state_bits + (std::uint64_t{1} << state_shift);

constexpr unsigned bits_of_word = 64;

// A task that is used often need not be noted each time.
constexpr std::int64_t parts_of_keep = 32;

using atomic_word = std::atomic_ref<std::uint64_t>;
using atomic_time = std::atomic_ref<std::int64_t>;

std::int64_t nanoseconds(core::steady_time when) noexcept
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

std::uint64_t with_state(std::uint64_t word, a2a::task_state state) noexcept
{
    return (word & ~state_bits) | (std::uint64_t{static_cast<std::uint8_t>(state)} + 1) << state_shift;
}

}  // namespace

task_index::task_index(const limits& of, const core::keyed_hash::key& key)
    : hash_{key},
      keep_{std::chrono::duration_cast<std::chrono::nanoseconds>(of.keep).count()},
      count_{std::max<std::size_t>(static_cast<std::size_t>(of.tasks / row), 1)},
      rows_{static_cast<place_row*>(std::calloc(count_, sizeof(place_row)))},
      changed_((count_ + bits_of_word - 1) / bits_of_word)
{
    if (rows_ == nullptr) {
        throw std::bad_alloc{};
    }
}

core::keyed_hash::key task_index::key_of(const core::secret& lasting)
{
    const auto digest = jose::sha256("cardea tasks\n" + lasting.reveal());
    core::keyed_hash::key key{};
    std::memcpy(key.data(), digest.data(), std::min(sizeof key, digest.size()));
    return key;
}

task_index::owner task_index::owner_of(const core::principal* caller) const noexcept
{
    const auto hash = caller == nullptr ? hash_({}, {}) : hash_(caller->provider, caller->id);
    return std::max(hash[1] & owner_bits, least_owner);
}

std::uint64_t task_index::name_of(std::string_view agent, std::string_view task) const noexcept
{
    return std::max(hash_(agent, task)[0], first_name);
}

// A context may have the id of a task, and is something else.
std::uint64_t task_index::name_of_context(std::string_view agent, std::string_view context) const noexcept
{
    constexpr std::uint64_t apart = 0x9E3779B97F4A7C15U;
    return std::max(hash_(agent, context)[0] ^ apart, first_name);
}

// By the name alone, so that a table of another size has a place for it too.
std::size_t task_index::row_of(std::uint64_t name) const noexcept
{
    return static_cast<std::size_t>((name >> 32U) * count_ >> 32U);
}

// What is written to a place is read under its name only: the writer takes the name away first and gives the new one last.
task_index::found_place task_index::look(place_row& in, std::uint64_t name) noexcept
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

std::optional<task_index::facts>
task_index::find(std::string_view agent, std::string_view task, core::steady_time now) noexcept
{
    return find_named(name_of(agent, task), now);
}

std::optional<task_index::owner>
task_index::find_context(std::string_view agent, std::string_view context, core::steady_time now) noexcept
{
    const auto found = find_named(name_of_context(agent, context), now);
    return found ? std::optional{found->whose} : std::nullopt;
}

std::optional<task_index::facts> task_index::find_named(std::uint64_t name, core::steady_time now) noexcept
{
    const auto number = row_of(name);
    const auto found = look(rows_[number], name);
    const auto time = nanoseconds(now);
    if (found.at == row || time - found.seen >= keep_) {
        return std::nullopt;
    }
    touch(number, found, time);
    return facts{found.word & owner_bits, static_cast<std::uint8_t>(found.word & interface_bits)};
}

bool task_index::note(
    std::string_view agent,
    std::string_view task,
    const facts& of,
    std::optional<a2a::task_state> state,
    core::steady_time now
) noexcept
{
    return note_named(name_of(agent, task), of, state, now);
}

void task_index::note_context(
    std::string_view agent,
    std::string_view context,
    owner whose,
    core::steady_time now
) noexcept
{
    note_named(name_of_context(agent, context), {whose, 0}, std::nullopt, now);
}

bool task_index::note_named(
    std::uint64_t name,
    const facts& of,
    std::optional<a2a::task_state> state,
    core::steady_time now
) noexcept
{
    const auto number = row_of(name);
    auto& in = rows_[number];
    const auto time = nanoseconds(now);
    const auto found = look(in, name);
    const auto fresh = of.whose | of.interface;
    if (found.at == row || time - found.seen >= keep_) {
        put(number, name, state ? with_state(fresh, *state) : fresh, time, time);
        return state.has_value();
    }
    const bool unclaimed = (found.word & owner_bits) == anybody && of.whose != anybody;
    const bool homeless = (found.word & interface_bits) == 0 && of.interface != 0;
    auto kept = unclaimed ? found.word | of.whose : found.word;
    kept |= homeless ? of.interface : 0;
    const auto next = state ? with_state(kept, *state) : kept;
    auto before = found.word;
    if (next != before) {
        // Whoever changes it meanwhile shows the same task.
        atomic_word{in.words[found.at]}.compare_exchange_strong(before, next, std::memory_order_release);
    }
    if (unclaimed || homeless) {
        mark(number);
    }
    touch(number, found, time);
    return (next & state_bits) != (found.word & state_bits);
}

void task_index::touch(std::size_t number, const found_place& found, std::int64_t now) noexcept
{
    if (now - found.seen >= keep_ / parts_of_keep) {
        atomic_time{rows_[number].seen[found.at]}.store(now, std::memory_order_relaxed);
        mark(number);
    }
}

void task_index::put(
    std::size_t number,
    std::uint64_t name,
    std::uint64_t word,
    std::int64_t seen,
    std::int64_t now
) noexcept
{
    auto& in = rows_[number];
    constexpr int tries = 4;
    for (int i = 0; i < tries; ++i) {
        auto at = look(in, name).at;
        at = at == row ? least_wanted(in, now) : at;
        if (at == row) {
            return;
        }
        atomic_word there{in.names[at]};
        auto before = there.load(std::memory_order_relaxed);
        if (before != being_written &&
            there.compare_exchange_strong(before, being_written, std::memory_order_acq_rel)) {
            atomic_word{in.words[at]}.store(word, std::memory_order_release);
            atomic_time{in.seen[at]}.store(seen, std::memory_order_release);
            there.store(name, std::memory_order_release);
            mark(number);
            return;
        }
    }
}

// `row`: every place is being written.
std::size_t task_index::least_wanted(place_row& in, std::int64_t now) const noexcept
{
    struct candidate {
        std::size_t at = row;
        std::size_t of_owner = 0;
        std::int64_t seen = 0;
    };
    std::array<std::uint64_t, row> owners{};
    for (std::size_t i = 0; i < row; ++i) {
        owners[i] = atomic_word{in.words[i]}.load(std::memory_order_relaxed) & owner_bits;
    }
    candidate best;
    for (std::size_t i = 0; i < row; ++i) {
        const auto name = atomic_word{in.names[i]}.load(std::memory_order_relaxed);
        const auto seen = atomic_time{in.seen[i]}.load(std::memory_order_relaxed);
        if (name == being_written) {
            continue;
        }
        if (name == no_task || now - seen >= keep_) {
            return i;
        }
        const candidate each{i, static_cast<std::size_t>(std::ranges::count(owners, owners[i])), seen};
        if (best.at == row || each.of_owner > best.of_owner ||
            (each.of_owner == best.of_owner && each.seen < best.seen)) {
            best = each;
        }
    }
    return best.at;
}

void task_index::mark(std::size_t number) noexcept
{
    const auto bit = std::uint64_t{1} << (number % bits_of_word);
    changed_[number / bits_of_word].fetch_or(bit, std::memory_order_release);
}

std::vector<task_index::entry> task_index::take_changed(std::size_t most, core::steady_time now)
{
    std::vector<entry> out;
    const auto time = nanoseconds(now);
    for (std::size_t i = 0; i < changed_.size() && out.size() < most; ++i) {
        auto bits = changed_[i].exchange(0, std::memory_order_acquire);
        for (; bits != 0; bits &= bits - 1) {
            take_row(rows_[i * bits_of_word + static_cast<std::size_t>(std::countr_zero(bits))], time, out);
        }
    }
    return out;
}

void task_index::take_row(place_row& in, std::int64_t now, std::vector<entry>& out) const
{
    for (std::size_t i = 0; i < row; ++i) {
        const auto name = atomic_word{in.names[i]}.load(std::memory_order_acquire);
        const auto found = name < first_name ? found_place{} : look(in, name);
        if (found.at != row && (found.word & (owner_bits | interface_bits)) != 0 && now - found.seen < keep_) {
            const std::chrono::nanoseconds age{std::max<std::int64_t>(now - found.seen, 0)};
            out.push_back({name, found.word, std::chrono::duration_cast<core::duration>(age)});
        }
    }
}

std::vector<task_index::entry> task_index::all(core::steady_time now) const
{
    std::vector<entry> out;
    for (std::size_t i = 0; i < count_; ++i) {
        take_row(rows_[i], nanoseconds(now), out);
    }
    return out;
}

void task_index::learn(const entry& kept, core::steady_time now) noexcept
{
    const auto time = nanoseconds(now);
    const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(kept.age).count();
    if (kept.name < first_name || age >= keep_) {
        return;
    }
    const auto number = row_of(kept.name);
    const auto found = look(rows_[number], kept.name);
    if (found.at == row || time - found.seen >= keep_) {
        return put(number, kept.name, kept.word, time - age, time);
    }
    const facts of{kept.word & owner_bits, static_cast<std::uint8_t>(kept.word & interface_bits)};
    note_named(kept.name, of, std::nullopt, now - kept.age);
}

void task_index::restore(const entry& kept, core::steady_time now) noexcept
{
    const auto time = nanoseconds(now);
    const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(kept.age).count();
    if (kept.name >= first_name && age < keep_) {
        const auto number = row_of(kept.name);
        put(number, kept.name, kept.word, time - age, time);
        changed_[number / bits_of_word].store(0, std::memory_order_relaxed);
    }
}

}  // namespace gateway::access
