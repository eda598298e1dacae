#include "gateway/access/task_index.hpp"

#include "jose/digest.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

namespace gateway::access {
namespace {

constexpr auto owner_bits = task_table::owner_bits;
constexpr auto created_bit = task_table::created_bit;
constexpr auto home_bits = task_table::home_bits;
constexpr auto state_bits = task_table::state_bits;
constexpr std::uint64_t least_owner = state_bits + (std::uint64_t{1} << task_table::state_shift);

std::int64_t steady_nanoseconds(core::steady_time when) noexcept
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

std::int64_t steady_nanoseconds(core::duration time) noexcept
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

std::uint64_t with_state(std::uint64_t word, ::a2a::task_state state) noexcept
{
    return (word & ~state_bits) | (std::uint64_t{static_cast<std::uint8_t>(state)} + 1) << task_table::state_shift;
}

}  // namespace

task_index::task_index(const limits& of, const core::keyed_hash::key& key)
    : hash_{key},
      keep_{steady_nanoseconds(of.keep)},
      shared_{of.shared},
      table_{of.tasks, keep_}
{
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
    return std::max(hash_(agent, task)[0], task_table::first_name);
}

// A context may have the id of a task, and is something else.
std::uint64_t task_index::name_of_context(std::string_view agent, std::string_view context) const noexcept
{
    constexpr std::uint64_t apart = 0x9E3779B97F4A7C15U;
    return std::max(hash_(agent, context)[0] ^ apart, task_table::first_name);
}

std::optional<task_index::facts>
task_index::find(std::string_view agent, std::string_view task, core::steady_time now) noexcept
{
    return find_named(name_of(agent, task), now);
}

task_index::context_facts
task_index::find_context(std::string_view agent, std::string_view context, core::steady_time now) noexcept
{
    const auto name = name_of_context(agent, context);
    const auto found = find_named(name, now);
    return {name, found ? found->whose : anybody};
}

std::optional<task_index::facts> task_index::find_named(std::uint64_t name, core::steady_time now) noexcept
{
    const auto time = steady_nanoseconds(now);
    const auto found = table_.find(name, time);
    if (!found) {
        return std::nullopt;
    }
    table_.touch(name, *found, time);
    return facts{found->word & owner_bits, static_cast<std::uint8_t>(found->word & home_bits)};
}

bool task_index::note(
    std::string_view agent,
    std::string_view task,
    const facts& of,
    std::optional<::a2a::task_state> state,
    core::steady_time now
) noexcept
{
    return record_named(name_of(agent, task), of, state, now);
}

void task_index::note_context(
    std::string_view agent,
    std::string_view context,
    const facts& of,
    core::steady_time now
) noexcept
{
    record_named(name_of_context(agent, context), of, std::nullopt, now);
}

void task_index::claim_context(std::uint64_t name, owner whose, core::steady_time now) noexcept
{
    record_named(name, {whose, 0}, std::nullopt, now);
}

task_index::holding task_index::hold_context(std::uint64_t name, owner whose, core::steady_time now) noexcept
{
    const auto time = steady_nanoseconds(now);
    return table_.hold({name, whose, time}, time);
}

void task_index::release_context(std::uint64_t name, owner whose) noexcept
{
    table_.release(name, whose);
}

bool task_index::record_named(
    std::uint64_t name,
    const facts& of,
    std::optional<::a2a::task_state> state,
    core::steady_time now
) noexcept
{
    const auto time = steady_nanoseconds(now);
    const auto found = table_.find(name, time);
    const auto created = shared_ && of.created && of.whose != anybody ? created_bit : 0;
    const auto fresh = of.whose | of.interface | created;
    if (!found) {
        table_.put({name, state ? with_state(fresh, *state) : fresh, time}, time);
        return state.has_value();
    }
    const bool held = task_table::is_held(found->word);
    const bool guessed = created != 0 && !held && (found->word & created_bit) == 0;
    const bool unclaimed = guessed || ((held || (found->word & owner_bits) == anybody) && of.whose != anybody);
    const bool homeless = !held && (found->word & home_bits) == 0 && of.interface != 0;
    auto kept = found->word;
    if (unclaimed) {
        kept = (held ? 0 : kept & ~owner_bits) | of.whose | created;
    }
    kept |= homeless ? of.interface : 0;
    const auto next = state ? with_state(kept, *state) : kept;
    if (next != found->word) {
        // Whoever changes it meanwhile shows the same task, or begins or ends to hold the context.
        if (!table_.change(name, *found, next) && held) {
            return record_named(name, of, state, now);
        }
    }
    if (unclaimed || homeless) {
        table_.mark(name);
    }
    table_.touch(name, *found, time);
    return (next & state_bits) != (found->word & state_bits);
}

std::vector<task_index::entry> task_index::take_changed(std::size_t most, core::steady_time now)
{
    return table_.take_changed(most, steady_nanoseconds(now));
}

std::vector<task_index::entry> task_index::all(core::steady_time now) const
{
    return table_.all(steady_nanoseconds(now));
}

void task_index::learn(const entry& kept, core::steady_time now) noexcept
{
    const auto time = steady_nanoseconds(now);
    const auto age = steady_nanoseconds(kept.age);
    if (kept.name < task_table::first_name || age >= keep_) {
        return;
    }
    if (!table_.find(kept.name, time)) {
        return table_.put({kept.name, kept.word, time - age}, time);
    }
    const facts of{
        kept.word & owner_bits,
        static_cast<std::uint8_t>(kept.word & home_bits),
        (kept.word & created_bit) != 0
    };
    record_named(kept.name, of, std::nullopt, now - kept.age);
}

void task_index::correct(const entry& kept, core::steady_time now) noexcept
{
    const auto time = steady_nanoseconds(now);
    const auto age = steady_nanoseconds(kept.age);
    if (kept.name < task_table::first_name || age >= keep_) {
        return;
    }
    constexpr int tries = 4;  // calls that show the task meanwhile change its state
    for (int i = 0; i < tries; ++i) {
        const auto found = table_.find(kept.name, time);
        if (!found || task_table::is_held(found->word)) {
            table_.put_unmarked({kept.name, kept.word, time - age}, time);
            return;
        }
        if ((found->word & created_bit) > (kept.word & created_bit)) {
            return;  // the store hears of it
        }
        const auto home = (kept.word & home_bits) != 0 ? kept.word : found->word;
        const auto next = (kept.word & (owner_bits | created_bit)) | (found->word & state_bits) | (home & home_bits);
        if (next == found->word || table_.change(kept.name, *found, next)) {
            return;
        }
    }
}

void task_index::restore(const entry& kept, core::steady_time now) noexcept
{
    const auto time = steady_nanoseconds(now);
    const auto age = steady_nanoseconds(kept.age);
    if (kept.name >= task_table::first_name && age < keep_) {
        table_.put({kept.name, kept.word, time - age}, time);
        table_.unmark(kept.name);
    }
}

}  // namespace gateway::access
