// What clients of replicas saw: one line for each thing that they asked for. The checkers (version_check.hpp, register_check.hpp) judge
// it. Pure: times are numbers that the recorder gives.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replicas {

// Microseconds of one steady clock, which all clients of a history share.
using moment = std::int64_t;
inline constexpr moment never = std::numeric_limits<moment>::max();

enum class deed : std::uint8_t {
    write,       // agents/upsert: `text` becomes the content of `key`
    remove,      // agents/delete
    read,        // agents/get as the replica knows it
    fresh_read,  // with `fresh`
};

enum class outcome : std::uint8_t {
    done,
    conflict,  // refused: the version was not the one that was asked for
    absent,    // refused: there is no such key
    failed,    // refused without having looked, such as by store_unreachable
    unknown,   // the answer never came, or was write_unknown: it happened, happens once later, or never
};

struct operation {
    int client = 0;
    int replica = 0;  // of one life of a process; reads of one are in order
    std::string key;
    deed what = deed::read;
    outcome came = outcome::unknown;
    std::optional<std::uint64_t> if_version{};  // of a write or removal
    std::string text{};                         // written, each but once; or read: empty if there was none
    std::uint64_t version = 0;                  // of a write or removal that was done; or read, 0 if there was none
    moment invoked = 0;
    moment returned = never;

    bool reads() const noexcept { return what == deed::read || what == deed::fresh_read; }
    bool done() const noexcept { return came == outcome::done; }
};

// One line of agents/changes.
struct trail_line {
    std::uint64_t version = 0;
    std::string action;  // created, updated, deleted
    std::string key;

    friend bool operator==(const trail_line&, const trail_line&) = default;
};

struct content {
    std::uint64_t version = 0;
    std::string text;

    friend bool operator==(const content&, const content&) = default;
};

// Everything of one run, which began with nothing.
struct history {
    std::vector<operation> operations;
    std::vector<trail_line> trail;        // all of it, as it was in the end
    std::map<std::string, content> last;  // what there was in the end
    moment patience = never;  // a write that took so long may be acknowledged before its replica itself knows of it
};

// What is wrong, a sentence each; empty: nothing.
using verdict = std::vector<std::string>;

inline constexpr std::string_view name(deed what) noexcept
{
    switch (what) {
        case deed::write:
            return "write";
        case deed::remove:
            return "remove";
        case deed::read:
            return "read";
        case deed::fresh_read:
            return "fresh read";
    }
    return {};
}

inline constexpr std::string_view name(outcome came) noexcept
{
    switch (came) {
        case outcome::done:
            return "done";
        case outcome::conflict:
            return "conflict";
        case outcome::absent:
            return "absent";
        case outcome::failed:
            return "failed";
        case outcome::unknown:
            return "unknown";
    }
    return {};
}

// For messages.
inline std::string shown(const operation& each)
{
    auto text = "client " + std::to_string(each.client) + " at replica " + std::to_string(each.replica) + ": " +
                std::string{name(each.what)} + " of " + each.key + " (" + std::string{name(each.came)};
    if (each.if_version) {
        text += ", if " + std::to_string(*each.if_version);
    }
    text += ", version " + std::to_string(each.version) + ", '" + each.text + "') from " + std::to_string(each.invoked);
    return text + (each.returned == never ? ", never returned" : " to " + std::to_string(each.returned));
}

}  // namespace replicas
