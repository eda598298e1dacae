// How messages get to an MCP server and back. One object is one connection in the words of session_state.hpp: opened once,
// closed once. Everything on the control loop's thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

struct read_text;

// The state of the stream of the server's own messages. `stands` twice in a row: it was made again, and what was said
// meanwhile was not heard. `none`: it offers none, which is no failure.
enum class stream_news : std::uint8_t { stands, gone, none };

// The reports of a transport. Never from within a call of its own functions; each may destroy the transport.
class transport_observer {
public:
    virtual ~transport_observer() = default;

    // Messages may be sent.
    virtual void connected() = 0;

    // One message, whoever it is for and whether it is one or not; valid during the call.
    virtual void received(std::string_view text) = 0;

    // A long message that another thread has read (mcp/transport/offloading_transport.hpp). Unless it is overridden it is received().
    virtual void received_long(const read_text& what);

    // A message was too long, and is dropped to its end: its beginning, valid during the call, and the
    // limit in bytes. Of transports whose messages do not come each to its own request.
    virtual void refused(std::string_view beginning, std::size_t limit) = 0;

    // No answer will come to the request with this id: it could not be delivered, or its answer was no message. Of a message
    // that is no request (id 0): it was not taken, where the transport hears of that. `says`: what that says of the server's era, if
    // it was the first thing that the connection carried; later only if it is another era than the one that is spoken.
    virtual void failed(std::uint64_t request, core::error why, std::optional<era> says) = 0;

    // The server has forgotten the session; what was under way is lost.
    virtual void session_lost() = 0;

    virtual void stream_changed(stream_news news) = 0;

    // The connection could not be made, or is gone: by itself, whatever the reason. Nothing is told after that but closed().
    virtual void lost(core::error why) = 0;

    // The close is done: nothing of the transport is left. The last report.
    virtual void closed() = 0;
};

struct outgoing {
    std::string text;       // one message, without a line end
    std::uint64_t id = 0;   // of a request; 0: a notification or an answer
    std::string method;     // of a request or notification; empty: an answer
    std::string name = {};  // what the method is about (`Mcp-Name`); empty: nothing
    // A caller's, which waits for timeouts.call: `id` need not be the one in the text, and HTTP+SSE matches nothing by it.
    bool of_caller = false;
    std::uint64_t text_id = 0;  // of a caller's request: the integer that is the id in the text; 0: it is another one
    std::uint64_t cancels = 0;  // of `notifications/cancelled`: the `id` of the request that is given up; 0: none
    std::vector<std::pair<std::string, std::string>> fields = {};  // further ones of its header

    // The id by which its answer is known.
    std::uint64_t answered_as() const noexcept { return of_caller ? text_id : id; }
};

class transport {
public:
    virtual ~transport() = default;

    // Tells connected() or lost().
    virtual void open() = 0;

    // Fails with overloaded (the server does not take what is sent) and upstream_reset: nothing was sent.
    virtual core::result<> send(outgoing message) = 0;

    // Until told otherwise it is not on trial. On trial, as a probe is, nobody may ever need what the server says beside
    // messages: it is logged at debug level, and after close() not kept either.
    virtual void set_trial(bool /*on*/) {}

    // The last words of its program on stderr, without what it was given to keep; a line or two. Empty: nothing, or no program.
    virtual std::string last_words() const { return {}; }

    // The dialect from the next message on: settled by the handshake.
    virtual void settle(const dialect& speaks) = 0;

    // The server answers over HTTP+SSE, not over streamable HTTP as was tried first.
    virtual bool fell_back() const noexcept { return false; }

    // Bytes that wait until the server takes them.
    virtual std::size_t queued() const noexcept { return 0; }

    // A text of it that was read elsewhere (mcp/transport/offloading_transport.hpp) is the answer to the request that has this id in its text.
    virtual void answered_offloaded(std::uint64_t /*text_id*/) {}

    // Listens to what the server says unasked; `listen` is the request for it in the modern era, else empty. Nothing where
    // that comes by itself. A stream of the modern era that has ended is not made again unless this is called again.
    virtual void open_stream(outgoing listen) = 0;

    // Ends everything; with `end_session` the server is told to forget the session first. Then closed().
    virtual void close(bool end_session) = 0;
};

// Makes the next connection to one server, not opened yet. `observer` outlives it.
using transport_factory = std::function<std::unique_ptr<transport>(transport_observer& observer)>;

}  // namespace mcp
