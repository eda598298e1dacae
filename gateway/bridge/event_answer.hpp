// The answer of a server within the process as a stream of events, one JSON-RPC message in each. It begins with the first. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/loop/routine.hpp"
#include "net/server/server_connection.hpp"

#include <string>
#include <string_view>

namespace gateway::bridge {

class event_answer {
public:
    // `caller` outlives it.
    explicit event_answer(net::server_connection& caller)
        : caller_{caller}
    {
    }

    bool begun() const noexcept { return begun_; }

    // Each fails with caller_gone; the stream then cannot go on. `message` is one line; nothing follows the last one.
    net::routine<core::result<>> send(std::string message, bool last);
    net::routine<core::result<>> send_comment();
    net::routine<core::result<>> send_end();

private:
    net::routine<core::result<>> write(std::string event, bool last);

    net::server_connection& caller_;
    bool begun_ = false;
};

}  // namespace gateway::bridge
