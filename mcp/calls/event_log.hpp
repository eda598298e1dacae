// The last events of streams, for clients that resume one (MCP 2025-11-25, basic/transports, "Resumability and Redelivery"),
// whether or not the server's own streams can be resumed. Pure; one thread.
#pragma once

#include "core/clock.hpp"
#include "jose/sealed_text.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcp {

// Where an event stands. As text it is visible ASCII, and says nothing about other streams.
struct event_position {
    std::uint64_t stream = 0;  // random
    std::uint64_t number = 0;  // from 1 on, without gaps; 0: the beginning of the stream

    std::string to_text() const;

    // Nothing: not written by to_text().
    static std::optional<event_position> read(std::string_view text) noexcept;

    friend bool operator==(const event_position&, const event_position&) = default;
};

struct replay_limits {
    std::size_t events = 256;                       // of one stream
    std::size_t stream_bytes = 1024 * 1024;         // of one stream
    std::size_t bytes = 64 * 1024 * 1024;           // of all streams; the oldest events go first. 0: nothing is kept
    core::duration life = std::chrono::minutes{5};  // of an event
};

// The bytes that each event counts beside its text, and the end of a stream.
inline constexpr std::size_t kept_event_overhead = 128;

struct replayed_event {
    event_position at;
    std::shared_ptr<const std::string> text;  // not null
};

struct replay {
    std::vector<replayed_event> events;  // in order
    bool gap = false;                    // some that came after the client's last one are gone
    bool ended = false;                  // nothing follows them
};

class event_log {
public:
    explicit event_log(replay_limits limits, jose::random_source random = jose::system_random);

    // A stream that only `owner` may resume, such as a session. `owner` is compared and never shown.
    std::uint64_t open(std::string owner);

    // The event's place, for its `id`. Nothing: no such stream, or it has ended. `text` is the event without its id, and not
    // null. What is longer than the limits leaves a gap.
    std::optional<event_position>
    keep(std::uint64_t stream, std::shared_ptr<const std::string> text, core::steady_time now);

    // The position of the event that was kept last. Nothing: no such stream.
    std::optional<event_position> last(std::uint64_t stream) const;

    // Nothing more comes. The stream is known for as long as an event of now would be kept.
    void end(std::uint64_t stream, core::steady_time now);

    // Its streams go at once, as when a session ends. Which they were.
    std::vector<std::uint64_t> forget(const std::string& owner);

    // The events after `last`. Nothing: no such stream, of another owner, or no event of it.
    std::optional<replay> after(const event_position& last, std::string_view owner, core::steady_time now);

    // Drops what is too old; the other functions do so too, where time is passed to them.
    void expire(core::steady_time now);

    std::size_t bytes() const noexcept { return bytes_; }
    std::size_t streams() const noexcept { return streams_.size(); }

private:
    struct kept_event {
        std::uint64_t stream;
        core::steady_time at;
        std::shared_ptr<const std::string> text;  // null: the end of the stream
    };

    using place = std::list<kept_event>::iterator;

    struct stream_state {
        std::string owner;
        std::uint64_t last = 0;  // number
        std::size_t bytes = 0;
        std::deque<place> events;  // and the end, if there was one
        bool ended = false;
    };
    using stream_states = std::unordered_map<std::uint64_t, stream_state>;

    static std::size_t cost(const kept_event& event) noexcept
    {
        return (event.text == nullptr ? 0 : event.text->size()) + kept_event_overhead;
    }

    void add(stream_state& stream, kept_event event);
    void drop_first(stream_state& stream);
    void drop_oldest();
    void drop_all(stream_states::iterator stream);

    replay_limits limits_;
    jose::random_source random_;
    std::list<kept_event> events_;  // of all streams, oldest first: so are those of each stream
    stream_states streams_;
    std::set<std::pair<std::string, std::uint64_t>> by_owner_;
    std::size_t bytes_ = 0;
};

}  // namespace mcp
