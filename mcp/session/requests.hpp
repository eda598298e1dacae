// The open requests of one session: ids, purposes, deadlines. They go over its current connection. On the control loop's
// thread.
#pragma once

#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/session/connections.hpp"
#include "mcp/session/session_context.hpp"
#include "mcp/session/session_timers.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace mcp {

// The purpose of a request of the gateway.
enum class purpose : std::uint8_t { handshake, ping, list, listen, look };

class requests {
public:
    // A request could not be sent, or (`late`) got no answer in time. Never from within send().
    using failure_handler = std::function<void(std::uint64_t id, const core::error& why, bool late)>;

    // References outlive it.
    requests(session_context& host, connections& over, failure_handler failed);

    // A new id for a message that is not waited for here: below those of callers (shared_channel.hpp), and never the same one twice
    // but after a billion.
    std::uint64_t next_id() noexcept { return last_ = last_ % (upstream_names::first_new - 1) + 1; }

    // The id of a new request, which is open until take(); after `patience` it fails as late. Programs and HTTP+SSE
    // accept a message and bound nothing by themselves.
    std::uint64_t begin(purpose use);
    std::uint64_t begin(purpose use, core::duration patience, std::string method);

    // Nothing without a connection.
    void send(outgoing message);

    // From now on nothing is sent.
    void mute() noexcept { muted_ = true; }

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

    session_context& host_;
    connections& connections_;
    failure_handler failed_;
    std::map<std::uint64_t, open_request> open_;
    std::uint64_t last_ = 0;
    bool muted_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace mcp
