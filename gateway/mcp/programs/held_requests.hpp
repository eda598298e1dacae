// Requests of one session that wait for its next program. That the reader of one has left cancels nothing. On the thread of one
// loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"

#include <cstddef>
#include <list>
#include <memory>

namespace gateway::mcp::programs {

class held_requests {
public:
    static constexpr std::size_t most = 64;
    static constexpr std::size_t most_bytes = 16 * 1024 * 1024;  // of all; the only one may be longer

    struct held {
        ::mcp::kept_message message;
        std::weak_ptr<table::text_queue> reader;
    };

    // Fails with overloaded.
    core::result<> push(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);

    // The request of a client's `notifications/cancelled` is over. False: it is not here.
    bool cancel(const ::mcp::client_message& notification);

    // All of them, in order, which leave.
    std::list<held> take();
    void fail(const core::error& why);

    bool empty() const noexcept { return all_.empty(); }

private:
    std::list<held> all_;
    std::size_t bytes_ = 0;
};

}  // namespace gateway::mcp::programs
