// To whom the tasks and contexts of agents belong, for all workers together: one belongs to the principal whose call showed it first, and
// others are told that there is none. What is said of tasks here holds for contexts too. A table of fixed size, in which a task is a hash of its agent's id and its own under
// a key that outlives the process; no id is kept. Any thread, without a lock: a task that two threads note at the same moment may
// be forgotten, which lets calls for it pass to its agent.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/keyed_hash.hpp"
#include "core/secret.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace gateway::access {

class task_index {
public:
    // `tasks`: how many are known at once, at least `row`. `keep`: how long after it was seen last. Throws std::bad_alloc.
    struct limits {
        std::uint64_t tasks = 0;
        core::duration keep{};
    };
    task_index(const limits& of, const core::keyed_hash::key& key);

    // The key that a secret which outlives the process stands for.
    static core::keyed_hash::key key_of(const core::secret& lasting);

    // A principal, or anybody.
    using owner = std::uint64_t;
    static constexpr owner anybody = 0;

    // Null: the callers without a credential, which are one principal.
    owner owner_of(const core::principal* caller) const noexcept;

    struct facts {
        owner whose = anybody;
        std::uint8_t interface = 0;  // where the task lives, as model::task_home; 0: it is not known
    };

    // Nothing: it is not known, or not any more. A task that is asked for is kept longer.
    std::optional<facts> find(std::string_view agent, std::string_view task, core::steady_time now) noexcept;
    std::optional<owner> find_context(std::string_view agent, std::string_view context, core::steady_time now) noexcept;

    // An answer has shown the task. One that is known stays whose it is, unless it is anybody's; one that is not is from now on
    // as `of` says. In the place of one that was not seen for longest, among those of the principal that has most in its row: many
    // tasks of one principal make others forgotten last. Returns whether the state is another one than when it was shown before.
    bool note(
        std::string_view agent,
        std::string_view task,
        const facts& of,
        std::optional<a2a::task_state> state,
        core::steady_time now
    ) noexcept;

    // A call or an answer of this owner's has the context.
    void note_context(std::string_view agent, std::string_view context, owner whose, core::steady_time now) noexcept;

    // A task as it is kept elsewhere.
    struct entry {
        std::uint64_t name = 0;
        std::uint64_t word = 0;
        core::duration age{};  // since it was seen last

        friend bool operator==(const entry&, const entry&) = default;
    };

    // Those of principals, and those of which it is known where they live, that were new, or seen again after a while, since they were taken last: about `most`, the others next time.
    // One thread.
    std::vector<entry> take_changed(std::size_t most, core::steady_time now);

    // All that take_changed() could give. Any thread.
    std::vector<entry> all(core::steady_time now) const;

    // Before the first call: what was taken from an index with the same key.
    void restore(const entry& kept, core::steady_time now) noexcept;

    // The same while calls go on: what is known of the task already stays.
    void learn(const entry& kept, core::steady_time now) noexcept;

    static constexpr std::size_t row = 8;  // one task is in one row

private:
    // Accessed as atomics. Pages of the table are not touched before tasks come.
    struct place_row {
        std::array<std::uint64_t, row> names;  // 0: of none, 1: being written
        std::array<std::uint64_t, row> words;  // owner, state and interface
        std::array<std::int64_t, row> seen;    // nanoseconds of the steady clock
    };
    struct freed {
        void operator()(place_row* rows) const noexcept { std::free(rows); }
    };

    struct found_place {
        std::size_t at = row;  // `row`: not there
        std::uint64_t word = 0;
        std::int64_t seen = 0;
    };

    std::uint64_t name_of(std::string_view agent, std::string_view task) const noexcept;
    std::uint64_t name_of_context(std::string_view agent, std::string_view context) const noexcept;
    std::optional<facts> find_named(std::uint64_t name, core::steady_time now) noexcept;
    bool note_named(
        std::uint64_t name,
        const facts& of,
        std::optional<a2a::task_state> state,
        core::steady_time now
    ) noexcept;
    std::size_t row_of(std::uint64_t name) const noexcept;
    static found_place look(place_row& in, std::uint64_t name) noexcept;
    void put(std::size_t number, std::uint64_t name, std::uint64_t word, std::int64_t seen, std::int64_t now) noexcept;
    std::size_t least_wanted(place_row& in, std::int64_t now) const noexcept;
    void touch(std::size_t number, const found_place& found, std::int64_t now) noexcept;
    void mark(std::size_t number) noexcept;
    void take_row(place_row& in, std::int64_t now, std::vector<entry>& out) const;

    core::keyed_hash hash_;
    std::int64_t keep_;
    std::size_t count_;
    std::unique_ptr<place_row[], freed> rows_;
    std::vector<std::atomic<std::uint64_t>> changed_;  // a bit for each row
};

}  // namespace gateway::access
