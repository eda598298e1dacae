// Where agents live that were written through the management API, who wrote them, the last good card of every agent, and push
// notifications until they are delivered.
// One interface, three engines: memory (store/memory.hpp), a file that outlives the process (store/sqlite.hpp), and a database that
// replicas share (store/postgres.hpp).
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace store {

// One agent as it was written.
struct record {
    std::string id;
    std::string definition;     // JSON text; may hold credentials, so that it is never logged
    std::uint64_t version = 0;  // the number of the change that wrote it: rises with every change, never given twice
    core::wall_time written{};  // whole milliseconds, as all times here

    friend bool operator==(const record&, const record&) = default;
};

enum class action : std::uint8_t { created, updated, deleted };

constexpr std::string_view name(action value) noexcept
{
    return value == action::created ? "created" : value == action::deleted ? "deleted" : "updated";
}

// One line of the audit trail. Says that an agent was written, never with what.
struct change {
    std::uint64_t version = 0;
    core::wall_time at{};
    std::string who;
    action what = action::created;
    std::string agent;

    friend bool operator==(const change&, const change&) = default;
};

// To whom a task belongs, in the words of whoever keeps it (gateway/access/task_index.hpp): neither is an id.
struct kept_task {
    std::uint64_t name = 0;  // each once
    std::uint64_t word = 0;
    core::wall_time seen{};

    friend bool operator==(const kept_task&, const kept_task&) = default;
};

// The last good card of an agent, as it was fetched.
struct kept_card {
    std::string agent;
    std::string source;    // what it was fetched for: the card of an agent that has changed since is no longer its card
    std::string document;  // JSON text. Empty in keep_cards(): the one that is kept is still right
    std::string url;       // where it was found, and the validators of that answer
    std::string etag;
    std::string last_modified;
    core::wall_time fetched{};
    core::duration fresh_for{};

    friend bool operator==(const kept_card&, const kept_card&) = default;
};

// A card that callers of an agent got at a time.
struct card_version {
    std::string agent;
    core::wall_time at{};  // published
    std::string sha256;    // of its bytes, in hex digits
    std::uint64_t size = 0;
    std::optional<std::string> patch;  // from the card before, as JSON; nullopt: there was none, or it is too long
    std::string document;              // the bytes; of the latest card of the agent alone

    friend bool operator==(const card_version&, const card_version&) = default;
};

inline constexpr std::size_t card_versions_kept = 20;                     // of one agent
inline constexpr std::uint64_t card_version_bytes = 64ULL * 1024 * 1024;  // of all agents
inline constexpr std::size_t card_version_overhead = 256;                 // bytes that a row counts besides its texts

// A text that is kept under a name of its kind, such as a containment, or what was approved of an agent.
struct kept_document {
    std::string kind;   // of a few, each of which has one reader
    std::string name;   // each once in a kind
    std::string agent;  // with which it goes; empty: it stays whatever becomes of agents
    std::string text;

    friend bool operator==(const kept_document&, const kept_document&) = default;
};

// The kinds that there are.
inline constexpr std::string_view containment_document = "containment";
inline constexpr std::string_view pins_document = "pins";
inline constexpr std::array document_kinds{containment_document, pins_document};

// A push notification of an agent that is to be delivered.
struct kept_delivery {
    std::uint64_t number = 0;  // given by the store: rises with each, never given twice
    std::string id;            // what the receiver sees
    std::string agent;
    std::string lane;     // what deliveries of one lane have in common; they go out in the order of their numbers
    std::string address;  // where to, sealed: it holds the receiver's credentials
    std::string body;
    core::wall_time received{};

    friend bool operator==(const kept_delivery&, const kept_delivery&) = default;
};

// The facts of a delivery without its text.
struct delivery_facts {
    std::uint64_t number = 0;
    std::string id;
    std::string agent;
    std::string lane;
    std::uint64_t size = 0;  // bytes of its body
    core::wall_time received{};

    friend bool operator==(const delivery_facts&, const delivery_facts&) = default;
};

// By whom and when a write is asked for.
struct author {
    std::string who;
    core::wall_time at{};
    std::optional<std::uint64_t> if_version;  // the version that must be there, 0: none may be; nullopt: whatever is
};

class feed;  // store/feed.hpp

// Blocks on its disk. One thread at a time. Every function may fail with store_failed (a damaged file, an error of the
// disk), every write also with store_full; a write that fails has changed nothing, unless the disk cannot even say
// whether: find() tells, once it answers again. A database that replicas share fails with store_unreachable too, when nothing was written,
// with write_unknown, when that cannot be said, and with store_newer.
class engine {
public:
    virtual ~engine() = default;

    // Whether what is written is still there after the process has ended.
    virtual bool durable() const noexcept = 0;

    // All agents, in the order of their ids.
    virtual core::result<std::vector<record>> load() = 0;
    virtual core::result<std::optional<record>> find(std::string id) = 0;

    // Creates or replaces. Once it returns, the write is on disk. Fails with version_conflict.
    virtual core::result<record> put(std::string id, std::string definition, author by) = 0;

    // Also forgets the agent's cards. Returns the version of this change. Fails with agent_not_found, version_conflict.
    virtual core::result<std::uint64_t> remove(std::string id, author by) = 0;

    // The audit trail behind `after`, oldest first, at most `most` lines. Only the latest changes_kept are there.
    virtual core::result<std::vector<change>> changes(std::uint64_t after, std::size_t most) = 0;

    // All of them or none, instead of those with the same names.
    virtual core::result<> keep_tasks(std::vector<kept_task> tasks) = 0;

    // Forgets tasks that were seen last before `since`, and of the others all but the latest `most`.
    virtual core::result<> trim_tasks(core::wall_time since, std::size_t most) = 0;

    // The oldest first. A damaged one is left out.
    virtual core::result<std::vector<kept_task>> tasks() = 0;

    // All of them or none. One without a document renews the times and validators of the card that is there.
    virtual core::result<> keep_cards(std::vector<kept_card> cards) = 0;

    // Nothing if there is none, or if it is damaged: a card can be fetched again.
    virtual core::result<std::optional<kept_card>> card(std::string agent) = 0;

    // The latest card of an agent becomes this one. The oldest go beyond card_versions_kept of the agent, and beyond
    // card_version_bytes of all.
    virtual core::result<> keep_card_version(card_version version) = 0;

    // The latest first; those before it have no document. A damaged one is left out.
    virtual core::result<std::vector<card_version>> card_versions(std::string agent) = 0;

    // On disk once it returns; instead of the one of this name.
    virtual core::result<> keep_document(kept_document document) = 0;

    // One that is not there is no failure.
    virtual core::result<> drop_document(std::string kind, std::string name) = 0;

    // All of a kind, in the order of their names. A damaged one fails, because the ones that it guards would be forgotten.
    virtual core::result<std::vector<kept_document>> documents(std::string kind) = 0;

    // The text of the key that session ids are sealed with: the one that is there, or else `made`, which is there from now on.
    // A damaged one is replaced.
    virtual core::result<core::secret> session_key(core::secret made) = 0;

    // Returns its number, once it is on disk. The one that it has is not looked at. Nothing: it is kept, and another replica, which has
    // earlier ones of its lane, delivers it.
    virtual core::result<std::optional<std::uint64_t>> keep_delivery(kept_delivery delivery) = 0;

    // All that are this process's to deliver, in the order of their numbers.
    virtual core::result<std::vector<delivery_facts>> deliveries() = 0;

    // Nothing if there is none of this number, if it is damaged, or if another replica has it now.
    virtual core::result<std::optional<kept_delivery>> delivery(std::uint64_t number) = 0;

    // One that is not there is no failure.
    virtual core::result<> drop_delivery(std::uint64_t number) = 0;

    // How this process hears of the others that share the store; null: it has the store for itself. Lives as long as the engine.
    virtual feed* shared() noexcept { return nullptr; }
};

inline constexpr std::uint64_t changes_kept = 100'000;

// What a card counts of card_version_bytes.
inline std::uint64_t bytes_of(const card_version& version) noexcept
{
    return card_version_overhead + version.document.size() + (version.patch ? version.patch->size() : 0);
}

inline core::wall_time whole_milliseconds(core::wall_time at) noexcept
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(at);
}

// Checks if_version against the stored version (0: none). Fails with version_conflict.
inline core::result<> check_version(const author& by, std::uint64_t there)
{
    if (by.if_version && *by.if_version != there) {
        return core::caller_error(
            core::errc::version_conflict,
            "version " + std::to_string(there) + " is there, " + std::to_string(*by.if_version) + " was expected"
        );
    }
    return {};
}

}  // namespace store
