// The agent's side of one call, whatever version of HTTP carries it: the request goes out, the head of the answer and its decoded body
// come in. A connection of HTTP/1.1 is one after the other (net/upstream/upstream.hpp), a stream of HTTP/2 is one
// (net/upstream/http2_side.hpp). How bodies are delimited is theirs. Heads of requests are text of HTTP/1.1, which a stream splits. One thread.
#pragma once

#include "core/error.hpp"
#include "net/http1/head.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/transport.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace net {

struct upstream_target;
class upstream_connection;

// The part of a request that goes out at once, behind its head or with it. Views: they outlive sending().
struct agent_request {
    pieces head{};  // request line and fields, with the empty line; the request line is within the first piece
    std::string_view body{};
    bool last = true;      // the request ends with this
    bool chunked = false;  // the head says so; else it has a length, or there is no body
};

class agent_side {
public:
    agent_side() = default;
    agent_side(const agent_side&) = delete;
    agent_side& operator=(const agent_side&) = delete;
    // One whose answer is not whole is reset.
    virtual ~agent_side() = default;

    // Makes the connection of a side that upstream_pool::make() gave, or joins one. The listener is set when that has ended. Fails with
    // upstream_unresolved, upstream_refused, upstream_forbidden, upstream_tls, upstream_proxy or overloaded.
    virtual void connect(signal& listener) = 0;
    // Asked whenever the listener was set.
    virtual bool connecting() = 0;
    virtual const std::optional<core::error>& failure() const noexcept = 0;

    // Sets the signal that wakes whoever waits for something here; null: nobody does.
    virtual void set_listener(signal* listener) noexcept = 0;
    virtual const upstream_target& target() const noexcept = 0;
    // The number of the socket.
    virtual int socket() noexcept = 0;

    // Sends a request, or its beginning, as much as the agent takes now; the rest goes when it takes more: sending() until then.
    virtual void send(const agent_request& request) = 0;
    // A further piece of the body. After send() without `last`, and not while sending().
    virtual void send_body(std::string_view data, bool last) = 0;
    virtual bool sending() const noexcept = 0;
    virtual error_code send_error() const noexcept = 0;

    // After send(), if no answer has come: the request cannot have been processed, so that it may be sent again on another connection,
    // whatever it asks for. HTTP/1.1: the connection had carried a call before, and had ended before the agent's kernel took a byte. HTTP/2: RFC 9113 section 8.7.
    virtual bool unprocessed() noexcept = 0;

    // Has carried a call before.
    virtual bool reused() const noexcept = 0;

    // Looks for the head of the final answer in what has come; true: it is there. Interim answers (RFC 9110 section 15.2) are skipped, at
    // most eight. Fails with upstream_protocol, or with upstream_proxy.
    virtual core::result<bool> read_head(http1::method to) = 0;
    // The views in it hold until consume_head(); values stay.
    virtual const http1::response_head& head() const noexcept = 0;
    virtual void consume_head() = 0;
    // Anything of an answer has come.
    virtual bool answering() const noexcept = 0;

    // The next part of the answer's body, decoded. Empty: wait, or release() first, unless body_done(). The view holds until release(),
    // also when more comes. Fails with upstream_protocol, or upstream_reset if the body is not whole and no more comes; it says so when everything that came
    // before is released.
    virtual core::result<std::string_view> take() = 0;
    // Gives up all that was taken. Gives whether it filled the buffer: widen() may help.
    virtual bool release() = 0;
    // Gives again all that was taken and not released; before consume_head().
    virtual void rewind() = 0;
    virtual bool body_done() const noexcept = 0;
    // No more comes until something is released.
    virtual bool full() const noexcept = 0;
    // Bytes that the framing has announced beyond those taken, as far as it says so for less than the whole body.
    virtual std::uint64_t announced() const noexcept = 0;
    // A body of many bytes is expected.
    virtual void widen() = 0;
    // After body_done(): lines, each with its CRLF. HTTP/1.1 has none.
    virtual std::string_view trailers() const noexcept { return {}; }

    // Something has come that was not taken, or nothing more comes: do not wait.
    virtual bool ready() const noexcept = 0;
    // More, or the end, is wanted: it comes with one wake-up, once. Nothing that was taken moves.
    virtual void arm() = 0;
    // The agent says nothing more.
    virtual bool ended() const noexcept = 0;
    virtual error_code end_reason() const noexcept = 0;
    // All bytes that have come of the answer: it changes while the agent lives.
    virtual std::uint64_t bytes_in() const noexcept = 0;

    // After a whole answer: the connection can carry another call.
    virtual bool reusable() const noexcept = 0;

    // The agent gets and says nothing more; what has come stays.
    virtual void close() noexcept = 0;

    // The connection that upstream_pool keeps after the answer; null: that is not for the pool to do.
    virtual upstream_connection* to_keep() noexcept { return nullptr; }
};

// So many interim answers may come before the final one.
inline constexpr unsigned most_interim_answers = 8;

using agent_lease = std::unique_ptr<agent_side>;

}  // namespace net
