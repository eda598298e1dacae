// How many calls of each session with an MCP server over HTTP are in flight, for all workers together. Only sessions with a call
// are in here: a table of fixed size. Any thread, without a lock.
#pragma once

#include "mcp/calls/session_id.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gateway::model {

class session_calls {
public:
    static constexpr std::size_t most = 64;  // of a session

    // Sessions that are counted at once. Of those beyond, calls are not counted; nor is a limit kept to the call where two
    // threads take the first place of a session at the same moment.
    static constexpr std::size_t most_sessions = 8192;

    // A call in flight, until it is destroyed. What it is of outlives it.
    class place {
    public:
        place() = default;
        place(place&& other) noexcept
            : count_{std::exchange(other.count_, nullptr)}
        {
        }
        place& operator=(place&& other) noexcept
        {
            std::swap(count_, other.count_);
            return *this;
        }
        ~place();

    private:
        friend class session_calls;
        explicit place(std::atomic<std::uint64_t>* count) noexcept
            : count_{count}
        {
        }

        std::atomic<std::uint64_t>* count_ = nullptr;  // null: it is not counted
    };

    session_calls();

    // Nothing: `most` are in flight.
    std::optional<place> take(const mcp::session_digest& session) noexcept;

private:
    static constexpr std::size_t row = 8;  // one session is in one row: one line of the cache
    static constexpr std::size_t rows = most_sessions / row;

    // Of one session: bits of its digest, then 8 of the count. 0: of none.
    struct alignas(64) count_row {
        std::array<std::atomic<std::uint64_t>, row> counts{};
    };

    std::vector<count_row> rows_;
};

}  // namespace gateway::model
