// To whom the tasks and contexts of agents belong, for all workers together: one belongs to the principal whose call showed it first, and
// others are told that there is none. What is said of tasks here holds for contexts too. A table of fixed size, in which a task is a hash of its agent's id and its own under
// a key that outlives the process; no id is kept. Any thread, without a lock: a task that two threads note at the same moment may
// be forgotten, which lets calls for it pass to its agent. Of two principals that hold one context at the same moment one at most does.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/keyed_hash.hpp"
#include "core/secret.hpp"
#include "gateway/access/task_table.hpp"

#include <cstddef>
#include <cstdint>
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
        bool shared = false;  // other replicas have tasks of which this one has not heard yet
    };
    task_index(const limits& of, const core::keyed_hash::key& key);

    // The key that a secret which outlives the process stands for.
    static core::keyed_hash::key key_of(const core::secret& lasting);

    // A principal, or anybody.
    using owner = std::uint64_t;
    static constexpr owner anybody = task_table::anybody;

    // Null: the callers without a credential, which are one principal.
    owner owner_of(const core::principal* caller) const noexcept;

    struct facts {
        owner whose = anybody;
        std::uint8_t interface = 0;  // where the task lives, as model::task_home; 0: it is not known
        bool created = false;        // by a call of its owner's that named none
    };

    struct context_facts {
        std::uint64_t name = 0;  // for hold_context() and the others
        owner whose = anybody;   // also if the context is only held
    };

    // Nothing: it is not known, or not any more. A task that is asked for is kept longer.
    std::optional<facts> find(std::string_view agent, std::string_view task, core::steady_time now) noexcept;
    context_facts find_context(std::string_view agent, std::string_view context, core::steady_time now) noexcept;

    // An answer has shown the task. One that is known stays whose it is, unless it is anybody's, or with other replicas somebody's who was not
    // seen to create it; one that is not is from now on as `of` says, if task_table::put() has a place for it. Returns whether the state is another one than when it was shown before.
    bool note(
        std::string_view agent,
        std::string_view task,
        const facts& of,
        std::optional<::a2a::task_state> state,
        core::steady_time now
    ) noexcept;

    // An answer of this owner's has shown the context, or has been a success that a message in this context got.
    void
    note_context(std::string_view agent, std::string_view context, const facts& of, core::steady_time now) noexcept;
    void claim_context(std::uint64_t name, owner whose, core::steady_time now) noexcept;

    // From when a message goes to its agent until its answer is known, a context that is nobody's is kept for its principal, if a place is
    // free, or for up to 255 messages. Refused: it is another principal's, or both come at once. For each that is held one
    // release_context(): the last one frees the place if nothing has claimed the context.
    using holding = task_table::holding;
    holding hold_context(std::uint64_t name, owner whose, core::steady_time now) noexcept;
    void release_context(std::uint64_t name, owner whose) noexcept;

    // A task as it is kept elsewhere.
    using entry = task_table::entry;

    // Those of principals, and those of which it is known where they live, that were new, or seen again after a while, since they were taken last: about `most`, the others next time.
    // One thread.
    std::vector<entry> take_changed(std::size_t most, core::steady_time now);

    // All that take_changed() could give. Any thread.
    std::vector<entry> all(core::steady_time now) const;

    // Before the first call: what was taken from an index with the same key.
    void restore(const entry& kept, core::steady_time now) noexcept;

    // Learns an entry while calls go on: an entry that is known already stays.
    void learn(const entry& kept, core::steady_time now) noexcept;

    // Takes an entry of a shared store, which replaces what is known here, but for the state, and but for a task that was seen to be
    // created here and not there. It is not new to take_changed().
    void correct(const entry& kept, core::steady_time now) noexcept;

    static constexpr std::size_t row = task_table::row;

private:
    std::uint64_t name_of(std::string_view agent, std::string_view task) const noexcept;
    std::uint64_t name_of_context(std::string_view agent, std::string_view context) const noexcept;
    std::optional<facts> find_named(std::uint64_t name, core::steady_time now) noexcept;
    bool record_named(
        std::uint64_t name,
        const facts& of,
        std::optional<::a2a::task_state> state,
        core::steady_time now
    ) noexcept;

    core::keyed_hash hash_;
    std::int64_t keep_;
    bool shared_;
    task_table table_;
};

}  // namespace gateway::access
