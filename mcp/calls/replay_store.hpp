// The last events of streams, for clients that resume one (MCP 2025-11-25, basic/transports, "Resumability and Redelivery"),
// whether or not the server's own streams can be resumed. Pure; one thread at a time: each worker has its own.
#pragma once

#include "core/clock.hpp"
#include "jose/sealed_text.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcp {

// Where an event stands. As text it is visible ASCII, and says nothing about other streams.
struct event_position {
    std::uint16_t worker = 0;  // whose store has the stream
    std::uint64_t stream = 0;  // random
    std::uint64_t number = 0;  // from 1 on, without gaps

    std::string to_text() const;

    // Nothing: not written by to_text().
    static std::optional<event_position> read(std::string_view text) noexcept;

    friend bool operator==(const event_position&, const event_position&) = default;
};

struct replay_limits {
    std::size_t events = 256;                       // of one stream
    std::size_t stream_bytes = 1024 * 1024;         // of one stream
    std::size_t bytes = 64 * 1024 * 1024;           // of all streams of this store; the oldest events go first
    core::duration life = std::chrono::minutes{5};  // of an event
};

// What each event counts beside its text.
inline constexpr std::size_t kept_event_overhead = 128;

struct replayed_event {
    std::uint64_t number = 0;
    std::string_view text;  // into the store, until it is changed
};

struct replay {
    std::uint64_t stream = 0;
    std::vector<replayed_event> events;  // in order
    bool gap = false;                    // some that came after the client's last one are gone
    bool ended = false;                  // nothing follows them
};

class replay_store {
public:
    replay_store(std::uint16_t worker, replay_limits limits, jose::random_source random = jose::system_random);

    // A stream that only `owner` may resume, such as a session's id. `owner` is compared and never shown.
    std::uint64_t open(std::string owner);

    // The event's place, for its `id`. `text` is the event without that. What is longer than the limits leaves a gap.
    event_position keep(std::uint64_t stream, std::string text, core::steady_time now);

    // Nothing more comes; what is kept stays as long as events do.
    void end(std::uint64_t stream);

    // Its events go at once, as when its session ends.
    void forget(std::uint64_t stream);

    // What came after `last`. Nothing: no such stream, of another owner, or no event of it.
    std::optional<replay> after(const event_position& last, std::string_view owner, core::steady_time now);

    // Drops what is too old; the other functions do so too, where time is passed to them.
    void expire(core::steady_time now);

    std::size_t bytes() const noexcept { return bytes_; }
    std::size_t streams() const noexcept { return streams_.size(); }

private:
    struct kept_event {
        std::uint64_t stream;
        std::uint64_t number;
        core::steady_time at;
        std::string text;
    };

    using place = std::list<kept_event>::iterator;

    struct stream_state {
        std::string owner;
        std::uint64_t last = 0;  // number
        std::size_t bytes = 0;
        std::deque<place> events;
        bool ended = false;
    };

    static std::size_t cost(const kept_event& event) noexcept { return event.text.size() + kept_event_overhead; }

    void drop_first(stream_state& stream);
    void drop_oldest();

    std::uint16_t worker_;
    replay_limits limits_;
    jose::random_source random_;
    std::list<kept_event> events_;  // of all streams, oldest first: so are those of each stream
    std::unordered_map<std::uint64_t, stream_state> streams_;
    std::size_t bytes_ = 0;
};

}  // namespace mcp
