// How many calls of each session with an MCP server over HTTP are in flight, and when it was used last, for all workers together: a
// table of fixed size. Any thread, without a lock.
#pragma once

#include "core/clock.hpp"
#include "mcp/calls/session_id.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace gateway::model {

class session_calls {
public:
    static constexpr std::size_t most = 64;  // of a session
    static constexpr std::chrono::minutes longest_idle{30};

    // Sessions that there is room for. Of those beyond, calls are not counted, and none is taken for idle; nor is a limit kept to the
    // call where two threads take the first place of a session at the same moment.
    static constexpr std::size_t most_sessions = 28'672;

    // A call in flight or a stream that is open, until it is destroyed. The table outlives it.
    class place {
    public:
        place() = default;
        place(place&& other) noexcept
            : of_{other.of_},
              use_{std::exchange(other.use_, nullptr)},
              unit_{other.unit_}
        {
        }
        place& operator=(place&& other) noexcept
        {
            std::swap(of_, other.of_);
            std::swap(use_, other.use_);
            std::swap(unit_, other.unit_);
            return *this;
        }
        ~place();

    private:
        friend class session_calls;
        place(const session_calls& of, std::atomic<std::uint64_t>* use, std::uint64_t unit) noexcept
            : of_{&of},
              use_{use},
              unit_{unit}
        {
        }

        const session_calls* of_ = nullptr;
        std::atomic<std::uint64_t>* use_ = nullptr;  // null: it is not counted
        std::uint64_t unit_ = 0;
    };

    // `clock`: from any thread.
    explicit session_calls(std::function<core::steady_time()> clock = std::chrono::steady_clock::now);

    // Nothing: `most` are in flight.
    std::optional<place> take(const ::mcp::session_digest& session) noexcept;

    // A place for a stream that is open beside the calls.
    place hold(const ::mcp::session_digest& session) noexcept;

    // A message of it that is neither.
    void use(const ::mcp::session_digest& session) noexcept;

    // A session that began so long ago has not been used here for longest_idle. False as long as this table is younger than that.
    bool is_idle(const ::mcp::session_digest& session, std::chrono::seconds age) const noexcept;

private:
    static constexpr std::size_t row = 7;  // one session is in one row: one line of the cache
    static constexpr std::size_t rows = most_sessions / row;

    struct alignas(64) use_row {
        // One session each: bits of its digest, when it was used, how many streams and calls. 0: of none.
        std::array<std::atomic<std::uint64_t>, row> uses{};
        std::atomic<std::uint64_t> forgot{};  // when one was used last that is not in here; 0: never
    };

    std::uint64_t seconds() const noexcept;
    std::optional<place>
    add(const ::mcp::session_digest& session, std::uint64_t unit, std::uint64_t bits, std::uint64_t full) noexcept;
    std::atomic<std::uint64_t>* begin(use_row& in, std::uint64_t first) noexcept;

    std::function<core::steady_time()> clock_;
    core::steady_time start_;
    std::vector<use_row> rows_;
};

}  // namespace gateway::model
