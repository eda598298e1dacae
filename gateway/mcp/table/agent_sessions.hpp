// The sessions of one kind that callers have with one agent, and which of them goes if one more begins. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp/table/caller_session.hpp"
#include "gateway/model/snapshot.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::mcp::table {

struct agent_sessions {
    static constexpr core::duration evictable = std::chrono::seconds{10};           // without a call and a stream
    static constexpr core::duration evictable_listener = std::chrono::seconds{60};  // without a message, with a stream

    // How long they are taken to be full after none of them could go: looking at each of them takes time.
    static constexpr core::duration longest_full{1000};

    // Of this principal, empty: of all, the one that has been without a call and a stream for longest, but for at least `evictable`; if
    // there is none, the one that has only listened for longest, but for at least evictable_listener. Null: none may go.
    caller_session* next_to_go(std::string_view principal, core::steady_time now);

    std::shared_ptr<const model::agent_entry> agent{};
    std::map<std::string, std::unique_ptr<caller_session>, std::less<>> sessions{};  // by handle; never empty

    // None of this principal, empty: of all, may go before that time, unless a session ends.
    std::map<std::string, core::steady_time, std::less<>> full_until{};
};

}  // namespace gateway::mcp::table
