// The state that a server keeps for a session by the client's wish: the next program must be told again. Pure; one thread.
#pragma once

#include "mcp/calls/client_message.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace gateway::mcp::table {

class restored_state {
public:
    static constexpr std::size_t most_subscriptions = 1000;
    static constexpr std::size_t longest_value = 4096;  // bytes of a URI or a level; a longer one is not told again
    static constexpr std::size_t value_overhead = 96;   // bytes of memory that a value takes beside its own

    // The place where next() goes on. Later notes do not invalidate it.
    struct place {
        bool behind_level = false;
        std::string uri{};  // the one before
    };

    struct request {
        std::string_view method;  // static
        std::string params;       // raw
    };

    // False: a subscription beyond most_subscriptions, which must not go up.
    bool takes(const ::mcp::client_message& request) const;

    // The request has gone up. Of its params only the level or the URI is kept; nothing if takes() is false.
    void note(const ::mcp::client_message& request);

    void initialized() noexcept { initialized_ = true; }
    bool is_initialized() const noexcept { return initialized_; }

    // The request behind `from`, which moves on. Nothing: there is none.
    std::optional<request> next(place& from) const;

    // To a resource whose URI is kept.
    bool subscribes() const noexcept { return !resources_.empty(); }

    // The state takes about so many bytes of memory.
    std::size_t bytes() const noexcept { return bytes_; }

    // All of them, in order.
    void each(const std::function<void(std::string_view method, std::string_view params)>& put) const;

private:
    void keep_level(std::string level);

    bool initialized_ = false;
    std::string level_;                             // of `logging/setLevel`; empty: none
    std::set<std::string, std::less<>> resources_;  // the URIs of `resources/subscribe`
    std::size_t bytes_ = 0;
};

}  // namespace gateway::mcp::table
