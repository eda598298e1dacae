// One HTTP/2 connection (RFC 9113), of either role: bytes in, events and bytes out. libnghttp2 does frames, HPACK and windows; the limits
// of abuse are counted here. Pure: no I/O, no clock. Split-invariant. One thread.
//
// Heads have one form on both sides of it: the text of HTTP/1.1, which net/http1 reads by its rules.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/head.hpp"
#include "net/http2/codes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net::http2 {

struct session_settings {
    role as = role::server;
    bool secure = false;         // for `:scheme` of requests that the session sends
    std::size_t streams = 256;   // of the peer, whose work has not ended; REFUSED_STREAM beyond
    std::uint32_t resets = 100;  // a second: streams reset before their answer ended, by the peer or for its fault
    std::uint32_t control = 50;  // a second: frames that carry nothing
    http1::head_limits head{};   // `bytes` with 32 added for each field, and `fields` with each crumb of a cookie
    std::uint32_t stream_window = 64 * 1024;
    std::uint32_t connection_window = 16 * 1024 * 1024;
};

// A head as it came. A request's is "METHOD target HTTP/1.1", `host` first, the other fields in their order, cookies as one
// field; an answer's is "HTTP/1.1 200 ". Without a length and without the end it has `transfer-encoding: chunked`; an answer without a
// length that has ended has the length 0, unless it never has a body. The text ends with an empty line and is whole.
struct received_head {
    std::string& text;        // both may be swapped for others, whose memory is used then
    http1::line_ends& lines;  // for the parsers
    bool last = false;        // nothing follows
    const core::error* refused =
        nullptr;  // of a request: `text` is at most its first line, host and content type, answer this; header_too_large, bad_request
};

// The bytes that are sent on a stream next, when the peer and the connection have room for it.
struct outgoing {
    std::size_t size = 0;         // bytes at hand; 0 and not `last`: none yet, session::resume() says when
    bool last = false;            // nothing comes after them, but trailers
    std::string_view trailers{};  // lines; with `last` only
};

// One stream, as its user sees it. Events come within session::feed() and produce(), which may not be called within an event; the other
// functions may.
class stream_user {
public:
    // An answer's head, or an interim one. Role client.
    virtual void on_head(received_head) {}

    // A piece of the body; the bytes hold within the call. It counts against the windows until session::consume().
    virtual void on_body(std::string_view piece) = 0;

    // Lines, each with its CRLF; on_end() follows.
    virtual void on_trailers(std::string& text) = 0;

    // The peer has sent everything.
    virtual void on_end() = 0;

    // The last event, unless session::done() comes first: both sides have ended (no_error, by us), or the stream was reset. By us with protocol_error: the peer broke a rule.
    // By the peer with refused_stream: it was not processed.
    virtual void on_closed(error_code code, by whom) = 0;

    virtual outgoing next() noexcept = 0;

    // Appends the next `size` bytes to `out`: at most outgoing::size.
    virtual void take(std::size_t size, std::string& out) = 0;

    // The frame with the end is in the output.
    virtual void on_sent_all() {}

protected:
    ~stream_user() = default;
};

class session_user {
public:
    // A request has begun. Null: it is refused (REFUSED_STREAM). Its work counts until session::end_work(). Role server.
    virtual stream_user* on_request(std::int32_t id, received_head head) = 0;

    // The peer's first SETTINGS: session::room_for_requests() is known.
    virtual void on_settings() {}

    // The peer ends the connection; streams of ours above `last` were closed with refused_stream.
    virtual void on_goaway(std::int32_t last, error_code code) = 0;

    // For metrics: a stream was reset, a GOAWAY sent or received, a limit exceeded.
    virtual void count_reset(by whom, error_code code) noexcept = 0;
    virtual void count_goaway(by whom, error_code code) noexcept = 0;
    virtual void count_refused(limit which) noexcept = 0;

protected:
    ~session_user() = default;
};

struct session_state;

class session {
public:
    // The first output is ready at once: SETTINGS, for a client after the preface. Throws std::bad_alloc.
    session(const session_settings& settings, session_user& user);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    // Bytes of the peer, all of them; for a server from the preface on. Its answers to them are in output() then, but no DATA.
    void feed(std::string_view bytes, core::steady_time now);

    // Puts frames that are ready into output(). DATA only while fewer than most_unsent bytes are unsent: there, and `under_way` that were
    // taken from it. Everything else always, so whoever feeds stops while many more are unsent.
    void produce(std::size_t under_way);
    static constexpr std::size_t most_unsent = 64 * 1024;

    // Frames to be sent; the user swaps or clears it.
    std::string& output() noexcept;
    const std::string& output() const noexcept;

    // Nothing more is read, and nothing written but output(): close the connection after that. Streams that are open then end without an
    // event.
    bool done() const noexcept;

    // Since when a head of the peer has not ended, if there is one: nothing else can come before its end.
    std::optional<core::steady_time> head_since() const noexcept;

    // Role client: sends a request. The user's events come until on_closed(). `head` is text of HTTP/1.1 from its request line on, with
    // or without the empty line; fields that belong to HTTP/1.1 (RFC 9113 section 8.2.2) are dropped. `last`: it has no body.
    // Fails with upstream_reset: no stream can begin any more.
    core::result<std::int32_t> request(std::string_view head, stream_user& user, bool last);

    // How many more requests may begin now: the peer's limit less those that are open; 0 after GOAWAY.
    std::size_t room_for_requests() const noexcept;

    // The peer's SETTINGS have come.
    bool settled() const noexcept;

    // Role server: the answer's head, once, or an interim one before it. `last`: no body and no trailers come.
    void answer(std::int32_t id, std::string_view head, bool last);
    void interim(std::int32_t id, std::string_view head);

    // stream_user::next() has more than it had.
    void resume(std::int32_t id);

    // So many bytes of on_body() are taken: the peer may send as many again. Also after on_closed(), for the connection's window.
    void consume(std::int32_t id, std::size_t bytes);

    // Ends the stream in both directions. Its user is told nothing more.
    void reset(std::int32_t id, error_code code);

    // The user, which has sent the end, is told nothing more. What the peer still sends of the stream is dropped, up to a window of it.
    void detach(std::int32_t id);

    // Neither side has reset the stream, nor have both ended it.
    bool is_open(std::int32_t id) const noexcept;

    // Role server: the work that on_request() began has ended.
    void end_work() noexcept;
    std::size_t working() const noexcept;

    // RFC 9113 section 6.8: GOAWAY that names no stream yet, then the one with the last stream that is processed. Streams that have begun go on.
    void announce_end();
    void end();

    // GOAWAY for a reason; nothing is read any more.
    void fail(error_code code, std::string_view why = {});

    void ping();

private:
    struct library;  // callbacks and calls of nghttp2

    std::unique_ptr<library> library_;
    session_state& state_;  // of the library's part
};

}  // namespace net::http2
