// Places in rows of eight for what a task_index keeps: a word and a time for each name, which is a hash. Any thread, without a lock: a
// place is written with its name taken away, and read with its name before and behind. Full rows make room so that no owner takes
// what others need.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace gateway::access {

class task_table {
public:
    static constexpr std::size_t row = 8;  // one name is in one row

    // A word: the owner in its upper bits, then four of the state (0: none), then eight of the interface: one that says that the owner was
    // seen to create it, which counts more than to be the first who named it, and where it lives.
    static constexpr unsigned state_shift = 8;
    static constexpr std::uint64_t interface_bits = 0xFFU;
    static constexpr std::uint64_t created_bit = 0x80U;
    static constexpr std::uint64_t home_bits = interface_bits & ~created_bit;
    static constexpr std::uint64_t state_bits = std::uint64_t{0xF} << state_shift;
    static constexpr std::uint64_t owner_bits = ~(state_bits | interface_bits);
    static constexpr std::uint64_t anybody = 0;
    static constexpr std::uint64_t first_name = 2;  // less is the name of no task

    // The state of what is only held, which no task has: take_changed() and all() leave it out. Instead of the interface its word
    // has how many hold it.
    static constexpr std::uint64_t held_bits = state_bits;
    static constexpr std::uint64_t most_holds = interface_bits;
    static constexpr bool is_held(std::uint64_t word) noexcept { return (word & state_bits) == held_bits; }

    struct content {
        std::uint64_t name = 0;
        std::uint64_t word = 0;
        std::int64_t seen = 0;  // nanoseconds of the steady clock
    };

    // Where a name is, as it was when it was found.
    struct found {
        std::size_t at = row;
        std::uint64_t word = 0;
        std::int64_t seen = 0;
    };

    // Entry that the store keeps.
    struct entry {
        std::uint64_t name = 0;
        std::uint64_t word = 0;
        core::duration age{};  // since it was seen last

        friend bool operator==(const entry&, const entry&) = default;
    };

    // `places`: at least a row. `keep`: nanoseconds after which what was not seen is as good as forgotten. Throws std::bad_alloc.
    task_table(std::uint64_t places, std::int64_t keep);

    // Nothing: the name has no place, or was not seen for its time.
    std::optional<found> find(std::uint64_t name, std::int64_t now) noexcept;

    // Seen now, which is noted now and then.
    void touch(std::uint64_t name, const found& where, std::int64_t now) noexcept;

    // Another word. False: it is another one than when it was found.
    bool change(std::uint64_t name, const found& where, std::uint64_t word) noexcept;

    // Gives the name a place. In a full row a name is forgotten: the one seen least recently of the owner that has most in the whole
    // table, counted in parts of 1/64 of it. So an owner that takes all it can loses its own oldest first, and others keep what they have
    // as long as they have less. One that has over a quarter displaces nobody who has less: without a name in the row it gets no
    // place.
    // False: it got no place.
    bool put_unmarked(const content& what, std::int64_t now) noexcept;
    // The same, and the name has changed for take_changed().
    void put(const content& what, std::int64_t now) noexcept
    {
        if (put_unmarked(what, now)) {
            mark(what.name);
        }
    }

    enum class holding {
        held,     // until release()
        open,     // the name has a place that is no hold, or could get none: there is nothing to be released
        refused,  // another owner has the name, or is about to
    };

    // Holds it in a free place, if there is one, for something that is only held, or one hold more. Of two owners that hold a name at the
    // same moment one at most has it, unless put() takes its place; they may both be refused.
    holding hold(const content& what, std::int64_t now) noexcept;

    // One hold of this owner's less. The last one frees the place.
    void release(std::uint64_t name, std::uint64_t whose) noexcept;

    // The name has changed for take_changed(), or has not.
    void mark(std::uint64_t name) noexcept;
    void unmark(std::uint64_t name) noexcept;

    std::vector<entry> take_changed(std::size_t most, std::int64_t now);  // one thread
    std::vector<entry> all(std::int64_t now) const;

private:
    // Accessed as atomics. Pages of the table are not touched before tasks come.
    struct place_row {
        std::array<std::uint64_t, row> names;  // 0: of none, 1: being written
        std::array<std::uint64_t, row> words;
        std::array<std::int64_t, row> seen;
    };
    struct freed {
        void operator()(place_row* rows) const noexcept { std::free(rows); }
    };

    // A place to be filled, and whose name it had when it was chosen.
    struct choice {
        std::size_t at = row;
        std::uint64_t name = 0;
    };

    std::size_t row_of(std::uint64_t name) const noexcept;
    static found look(place_row& in, std::uint64_t name) noexcept;
    bool add_hold(place_row& in, const found& there, std::uint64_t name) noexcept;
    bool end_hold(place_row& in, std::size_t at, std::uint64_t name, std::uint64_t whose) noexcept;
    static std::uint64_t settled_name(place_row& in, std::size_t at) noexcept;
    static bool has_other(place_row& in, std::uint64_t name, std::uint64_t whose) noexcept;
    bool fill(place_row& in, const choice& chosen, const content& what) noexcept;
    choice free_place(place_row& in, std::int64_t now) const noexcept;
    choice least_wanted(place_row& in, std::uint64_t whose) const noexcept;
    void count(std::uint64_t word, std::int32_t change) noexcept;
    std::uint64_t share_of(std::uint64_t whose, std::uint64_t more) const noexcept;
    void take_row(place_row& in, std::int64_t now, std::vector<entry>& out) const;

    std::int64_t keep_;
    std::size_t count_;
    std::unique_ptr<place_row[], freed> rows_;
    std::vector<std::atomic<std::uint64_t>> changed_;    // a bit for each row
    std::vector<std::atomic<std::uint32_t>> places_of_;  // by a part of the owner's hash: how many places it has
};

}  // namespace gateway::access
