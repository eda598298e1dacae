// How replicas that share a store hear of each other's writes, and who of them is alive. The store numbers what is written, each kind
// for itself and in the order of the commits; a replica asks again and again for what is behind the numbers that it has applied.
// Implemented by the store for PostgreSQL; tests have a fake.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "store/engine.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace store {

// Of one start of a process, never given twice; 0: of none.
using replica_id = std::uint64_t;

// What a replica says of itself.
struct replica_facts {
    replica_id id = 0;
    std::string name;           // replica.name
    std::string url;            // replica.url; empty: others do not reach it
    std::string version;        // of the program
    std::string configuration;  // a hash of it, in hex digits
    std::uint64_t applied = 0;  // the latest change of agents that it serves

    friend bool operator==(const replica_facts&, const replica_facts&) = default;
};

inline constexpr std::chrono::seconds beat_interval{5};
inline constexpr std::chrono::seconds replica_life{15};  // without a beat, by the clock of the store

struct live_replica {
    replica_facts facts;
    core::duration silent{};  // since its latest beat, by the clock of the store

    friend bool operator==(const live_replica&, const live_replica&) = default;
};

// What of each kind has been applied: the number of the latest write.
struct feed_position {
    std::uint64_t agents = 0;  // the version of the latest change
    std::string token;  // of that change. Another one there: the database lost writes, or an older one took its place
    std::uint64_t cards = 0;
    std::uint64_t tasks = 0;
    std::uint64_t documents = 0;
    std::uint64_t deliveries = 0;

    friend bool operator==(const feed_position&, const feed_position&) = default;
};

struct feed_change {
    change what;
    replica_id by = 0;  // which replica wrote it
};

// The parts of kept_task::word that stay as the first replica said, once they are not zero; the rest is as it was said last
// (gateway/access/task_table.hpp: the owner, and the interface where the task lives); but a replica that has seen how the task was created
// is right at once.
inline constexpr std::uint64_t task_owner_part = ~std::uint64_t{0xFFF};
inline constexpr std::uint64_t task_home_part = 0x7F;
inline constexpr std::uint64_t task_created_part = 0x80;

// A document that was kept or dropped.
struct document_change {
    std::string kind;
    std::string name;
    std::optional<kept_document> now;  // nothing: it was dropped
};

// Why a batch has everything instead of changes.
enum class feed_reload : std::uint8_t {
    none,
    trimmed,    // the trail does not reach back to the position
    regressed,  // the database has not what was applied
};

struct feed_batch {
    feed_reload reload = feed_reload::none;
    std::vector<feed_change> changes;  // in the order of their versions; empty with a reload
    std::vector<record>
        records;  // as they are now: of agents that `changes` name and that are there; with a reload of all agents
    std::vector<kept_card> cards;            // fetched or confirmed, with their documents
    std::vector<kept_task> tasks;            // whose they are, whatever was known before
    std::vector<document_change> documents;  // with a reload: all that are there, and those dropped in the last hour
    std::vector<delivery_facts>
        deliveries;  // that are this replica's to deliver from now on, but for those of which keep_delivery() gave the number
    std::vector<live_replica> replicas;  // in the order of their names; this one too, once it has said that it lives
    feed_position reached;               // the position once all of it is applied
    bool more = false;                   // there is more behind it
};

// One thread at a time, but for wake(). Every function may fail with store_unreachable, within the store's timeout.
class feed {
public:
    virtual ~feed() = default;

    // The replica that this is.
    virtual replica_id self() const noexcept = 0;

    // Where what the engine gives at the start ends.
    virtual feed_position start() const = 0;

    // What is behind `from`, at most most_changes of a kind.
    virtual core::result<feed_batch> poll(feed_position from) = 0;

    // Returns when the store says that there is something new, after wake(), or at the end of that time. Never fails: without a
    // connection it is the time alone, and a connection is tried meanwhile.
    virtual void wait(core::duration at_most) = 0;

    // Ends wait(), or the next one if none waits. Any thread.
    virtual void wake() noexcept = 0;

    // This replica lives. Deliveries of replicas that have been silent for replica_life become this one's: poll() gives them.
    virtual core::result<> beat(replica_facts own) = 0;

    // This replica ends: its deliveries are anybody's from now on.
    virtual core::result<> leave() = 0;

    // Connected at the moment; and whether the store's notifications arrive. Any thread.
    virtual bool is_up() const noexcept = 0;
    virtual bool is_notified() const noexcept = 0;

    // How far the store's clock is ahead of this process's; 0 below 2 s. What the store gives and takes is in this process's time, but for
    // texts. Any thread.
    virtual core::duration clock_ahead() const noexcept { return {}; }

    static constexpr std::size_t most_changes = 1000;
};

}  // namespace store
