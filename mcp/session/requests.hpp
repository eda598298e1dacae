// The open requests of one session: ids, purposes, deadlines. They go over its current connection. On the control loop's
// thread.
#pragma once

#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/refused_message.hpp"
#include "mcp/session/connections.hpp"
#include "mcp/session/session_host.hpp"
#include "mcp/session/timer.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace mcp {

// What a request of the gateway is for.
enum class purpose : std::uint8_t { handshake, ping, list, listen, look };

class request_observer {
public:
    virtual ~request_observer() = default;

    // It could not be sent. Never from within requests::send().
    virtual void not_sent(std::uint64_t id, const core::error& why) = 0;

    // No answer came in time.
    virtual void late(std::uint64_t id, const std::string& method) = 0;
};

class requests {
public:
    // References outlive it.
    requests(session_host& host, connections& over, request_observer& observer);

    // A new id for a message that is not waited for here: below those of callers (caller_lane.hpp), and never the same one twice
    // but after a billion.
    std::uint64_t next_id() noexcept { return last_ = last_ % (upstream_names::first_new - 1) + 1; }

    // The id of a new request, which is open until take(); after `patience` the observer is told. Programs and HTTP+SSE
    // accept a message and bound nothing by themselves.
    std::uint64_t begin(purpose use);
    std::uint64_t begin(purpose use, core::duration patience, std::string method);

    // Nothing without a connection.
    void send(outgoing message);

    // Ends the request. Nothing: it is not open; its answer is late or invented.
    std::optional<purpose> take(std::uint64_t id);
    bool waits(std::uint64_t id) const { return open_.contains(id); }

    // One is open that its answer ends: `listen` does not count.
    bool any() const;

    // The open request that a malformed answer is for. Without an id it can only be the single open one; `listen` does not
    // count, because its answer ends a stream.
    std::optional<std::uint64_t> meant_by(const addressee& whom) const;

    // Tells the server; the request stays open.
    void cancel(std::uint64_t id);

    // Tells the server and ends them.
    void cancel_all(purpose use);

    // Ends them silently.
    void end_all(purpose use);

    // Ends the oldest of them until at most `most` are open.
    void keep_latest(purpose use, std::size_t most);
    void forget() { open_.clear(); }

private:
    struct open_request {
        purpose use;
        std::optional<timer> deadline;
    };

    session_host& host_;
    connections& connections_;
    request_observer& observer_;
    std::map<std::uint64_t, open_request> open_;
    std::uint64_t last_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace mcp
