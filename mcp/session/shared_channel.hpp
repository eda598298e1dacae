// Carries callers' messages over the connection of a session, beside the messages of the session itself. The other end is a
// transport, one at a time, which is connected while the session is ready: from then on it gets every message that does not
// answer the session. Callers' requests have ids from upstream_names::first_new on, those of the session stay below. On the
// control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/transport/transport.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace mcp {

class shared_channel {
public:
    using send_function = std::function<core::result<>(outgoing message)>;

    // `send`: over the session's connection.
    shared_channel(net::executor on, send_function send);
    ~shared_channel();
    shared_channel(const shared_channel&) = delete;
    shared_channel& operator=(const shared_channel&) = delete;

    // The session is ready.
    void open();

    // The session is not ready any more. Calls under way are lost.
    void close();

    // Nothing is told any more but that it is lost.
    void abandon();

    // A message of the server, or the beginning of one over `limit` bytes. Nothing without another end. `answered`: the request
    // that it answers, or was meant to.
    void take(std::string_view text, std::optional<std::uint64_t> answered = std::nullopt);
    void take_too_long(std::string_view beginning, std::size_t limit);

    // The server is at work for callers: a request waits for its answer, and the server has said something, or was asked for the first
    // of those that wait, less than `silence` ago. Streams do not count.
    bool is_busy(core::steady_time now, core::duration silence) const;

    // A request of a caller waits for its answer; streams do not count.
    bool waits() const noexcept { return !link_->waiting.empty(); }

    // The request of a caller that this answers: of an answer that does not say to what, the only one that waits.
    std::optional<std::uint64_t> answered_by(const addressee& whom) const;

    // No answer will come to this request.
    void fail(std::uint64_t request, core::error why);

    // Makes the other end, instead of the one that is there. It waits in open() until the session is ready, is lost with
    // the session, and may outlive the lane. The id of an outgoing request is the one in its text.
    transport_factory factory();

private:
    class end;

    // Shared with the other ends.
    struct link {
        net::executor on;
        send_function send;    // empty: the lane has gone
        end* other = nullptr;  // that was opened last
        bool is_open = false;
        std::set<std::uint64_t> waiting{};  // requests that are to be answered
        core::steady_time heard{};          // of the server, or since when it is waited for
    };

    std::shared_ptr<link> link_;
};

}  // namespace mcp
