// One request of a caller and its answer, whatever version of HTTP carries them: what a handler sees and how it answers. A
// connection of HTTP/1.1 is one exchange after the other (net/server/caller_exchange.hpp), a stream of HTTP/2 is one
// (net/server/http2_exchange.hpp). How bodies are delimited is theirs: a handler gives heads, pieces and the end. One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/head.hpp"
#include "net/http2/codes.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/loop/transport.hpp"
#include "net/server/alarm.hpp"
#include "net/server/request_buffers.hpp"
#include "net/tls/client_certificate.hpp"
#include "net/tls/tls_context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace net {

// A connection that has come, and whose it is.
struct accepted_socket {
    core::descriptor socket;  // non-blocking
    tcp::endpoint peer;
    tls_context tls{};  // null: plain
    // The sender of its requests, if it comes from within the process: the handler knows what this is. Null: from outside.
    std::shared_ptr<const void> sender{};
};

class caller_exchange;

// How a caller's TLS handshake ended.
enum class handshake : std::uint8_t { complete, resumed, failed };

// Answers requests. One per loop; outlives every connection it serves.
class http_handler {
public:
    virtual ~http_handler() = default;

    // A request head has arrived. Answers it exactly once and returns when the answer is out or cannot be finished.
    // An exception is a bug: it is reported to failed() and the caller gets 500, or an answer that is cut.
    virtual routine<> handle(caller_exchange& caller) = 0;

    // No request could be read; `why` says what to answer before the connection, or the stream, closes. Answers once, too.
    virtual routine<> refuse(caller_exchange& caller, core::error why) = 0;

    virtual void failed(std::string_view problem) noexcept = 0;

    // A caller's TLS handshake has ended. If it failed, the connection ends without a request.
    virtual void on_handshake(handshake how, std::string_view peer, std::string_view why) noexcept = 0;

    // A connection of HTTP/2 was ended since its caller went over this limit.
    virtual void on_abuse(std::string_view /*peer*/, http2::limit /*which*/) noexcept {}
};

// The length of an answer's body, as its head tells it.
class answer_length {
public:
    // For an answer that has no body, whatever its head says, such as 204.
    static answer_length untold() noexcept { return {kind::untold, 0}; }
    static answer_length known(std::uint64_t bytes) noexcept { return {kind::known, bytes}; }
    // The body ends with answer_part::last.
    static answer_length open() noexcept { return {kind::open, 0}; }

    bool is_open() const noexcept { return kind_ == kind::open; }
    std::optional<std::uint64_t> bytes() const noexcept
    {
        return kind_ == kind::known ? std::optional{bytes_} : std::nullopt;
    }

private:
    enum class kind : std::uint8_t { untold, known, open };

    answer_length(kind of, std::uint64_t bytes) noexcept
        : kind_{of},
          bytes_{bytes}
    {
    }

    kind kind_;
    std::uint64_t bytes_;
};

// The part of an answer that goes out at once. Views: they outlive the call that sends it.
struct answer_part {
    std::string_view head{};      // made by complete_head(); empty: it is out
    pieces body{};                // at most most_pieces
    bool last = false;            // the answer ends with this
    std::string_view trailers{};  // lines, each with its CRLF; with `last`; no caller of HTTP/1.1 gets them

    static constexpr std::size_t most_pieces = 8;
};

// How long a piece of an answer that is about to be cut waits for a caller that does not take it.
inline constexpr core::duration last_write_grace{1000};

// Makes another answer of what a handler sends: of a protocol within HTTP. One loop's thread.
class answer_filter {
public:
    virtual ~answer_filter() = default;

    // The part that goes out for this one, which may be empty: nothing does then. Its views hold until the next call. Fails with what
    // the caller cannot be sent; nothing more goes through it then.
    virtual core::result<answer_part> pass(const answer_part& part) = 0;

    // Whether pass() has put the part off, because it takes long: later() makes it then, before anything else is passed.
    virtual bool puts_off() const noexcept { return false; }
    virtual routine<core::result<answer_part>> later() = 0;

    // Once pass() has returned, nothing of the part that it was given is needed.
    virtual bool copies() const noexcept { return false; }
};

// A piece of a request's body.
struct request_piece {
    std::string_view data;
    bool last = false;
};

// A handler may use an exchange from handle() until it returns.
class caller_exchange : public timed {
public:
    caller_exchange(const caller_exchange&) = delete;
    caller_exchange& operator=(const caller_exchange&) = delete;

    const http1::request_head& head() const noexcept { return space_->parser.head(); }
    // 1 or 2.
    virtual unsigned major_version() const noexcept = 0;
    const std::string& peer() const noexcept { return peer_; }
    bool secure() const noexcept { return secure_; }
    // Over HTTP/2 and TLS: the request is for a host that its connection is not for, by certificate or SNI (RFC 9113 section 9.1.2).
    virtual bool misdirected() const { return false; }

    // The caller for whom a request comes, on a connection from within the process: as if it had come from there.
    void act_for(std::string peer, bool secure)
    {
        peer_ = std::move(peer);
        secure_ = secure_ || secure;
    }

    // Gives accepted_socket::sender.
    const void* sender() const noexcept { return sender_.get(); }

    // Null: the caller has shown no certificate, or was not asked for one.
    virtual const client_certificate* certificate() const noexcept = 0;

    core::steady_time started() const noexcept { return started_; }
    virtual std::uint64_t request_bytes() const noexcept = 0;
    virtual std::uint64_t answer_bytes() const noexcept = 0;
    loop& owner() const noexcept { return loop_; }

    // The budget of bodies that are held; null: none.
    virtual shared_budget* bodies() const noexcept = 0;

    // The whole request body in one piece, at most `limit` bytes; the view holds until handle() returns, but head()'s
    // views may have moved. Fails with body_too_large, bad_request (framing), request_timeout, overloaded (bodies()) or
    // caller_gone.
    virtual routine<core::result<std::string_view>> read_body(std::uint64_t limit) = 0;

    // Does not wait: the whole body has come with its head and has a length. Any error: call read_body().
    virtual core::result<std::string_view> body_at_hand(std::uint64_t limit) = 0;

    // Reads the body until it is whole or larger than `enough` bytes, so that a body with a fault in it goes nowhere.
    // True: it is whole, and read_body() gives it. False: take_piece() gives it as it comes. Fails as read_body() does.
    virtual routine<core::result<bool>> hold_body(std::uint64_t enough, std::uint64_t limit) = 0;

    // The next piece after hold_body(). One without data that is not the last means: wait for the caller, then ask again.
    // The data holds until the next piece is taken. Fails with body_too_large or bad_request.
    virtual core::result<request_piece> take_piece(std::uint64_t limit) = 0;

    // Until when the caller may be waited for from `now` on: `until`, or sooner if its body has come too slowly: while it
    // is waited for it may fall behind body_rate by body_grace, and what comes faster makes that up. Say so when the wait
    // is over.
    virtual core::steady_time body_due(core::steady_time until, core::steady_time now) noexcept = 0;
    virtual void waited_for_body(core::steady_time since) noexcept = 0;

    // Gives up what was read of a request whose body is whole, its buffer and request_scratch(), for an answer that takes
    // its time. From here on head()'s views and the body are void; what head() holds by value stays.
    virtual void release_request() = 0;

    // Whole lines that every answer to this request has, whoever writes its head; none, unless set before the answer.
    void set_answer_fields(std::string lines) { space_->answer_fields = std::move(lines); }

    std::string_view answer_fields() const noexcept { return space_->answer_fields; }

    // Completes a head: `text` has the status line of HTTP/1.1 and fields, each with its CRLF. Adds what this connection says of the
    // body and of its own end, the fields of set_answer_fields(), and the empty line. Once for each answer.
    virtual void complete_head(std::string& text, answer_length length) = 0;

    // The connection of HTTP/1.1 ends after this answer. One of HTTP/2 goes on: faults are those of a stream.
    virtual void close_after_answer() noexcept = 0;

    // Writes a part of the answer if the caller takes it at once: the outcome. Nothing: finish_send() says when.
    virtual std::optional<core::result<>> try_send(const answer_part& part) = 0;
    virtual routine<core::result<>> finish_send() = 0;

    // From now on what begin_send() and send() are given goes through the filter, which outlives its use. Null: through none.
    void set_filter(answer_filter* filter) noexcept { filter_ = filter; }

    // Does what try_send() promises, through the filter. Nothing: end_send() says when.
    std::optional<core::result<>> begin_send(const answer_part& part)
    {
        if (filter_ == nullptr) {
            return try_send(part);
        }
        auto passed = filter_->pass(part);
        return filter_->puts_off() ? std::nullopt : try_passed(std::move(passed));
    }

    // After begin_send(): nothing of its part is needed for end_send().
    bool part_is_free() const noexcept { return filter_ != nullptr && filter_->copies(); }

    routine<core::result<>> end_send()
    {
        return filter_ != nullptr && filter_->puts_off() ? send_later() : finish_send();
    }

    // Writes a part of the answer; the bytes outlive the call. Waits at most the write timeout for a caller that
    // takes nothing. Fails with caller_gone; the answer then cannot be finished.
    routine<core::result<>> send(answer_part part)
    {
        auto sent = begin_send(part);
        if (!sent) {
            sent = co_await end_send();
        }
        co_return std::move(*sent);
    }

    // The answer is cut off: the caller must not take it for complete. It gets what was written, and an end by which the framing shows
    // that something is missing.
    virtual void cut() noexcept = 0;

    // Cuts it at once: what the socket has not taken yet is dropped.
    virtual void abort() = 0;

    // The answer is about to be cut: a piece that the caller does not take waits for a second at most.
    virtual void hurry() = 0;

    // A stream has been silent: its caller gets a sign of life, if the connection has one that is no part of the answer (RFC 9113
    // section 6.7).
    virtual void ping() = 0;

    // Whatever the request waits for, but for its answer to go out, is over: the handler answers something else. From outside the handler,
    // which goes on within this call, and may be gone then.
    void interrupt() { alarm_.interrupt(); }
    bool interrupted() const noexcept { return alarm_.interrupted(); }
    // The answer has begun.
    virtual bool answered() const noexcept = 0;

    // Waits that other operations of the exchange share: set their listener to wake(), watch the caller, then wait.
    alarm& clock() noexcept { return alarm_; }
    // Not while it has sent so much ahead that no more is read: its leaving is then noticed by the answer's failing.
    virtual void watch_caller() = 0;
    // The gateway has ended the exchange.
    virtual bool aborted() const noexcept = 0;
    virtual bool caller_left() const noexcept = 0;

    // The caller left with a reset or an error rather than by closing its half, whether or not it said so in TLS.
    virtual bool was_reset() const noexcept = 0;

    // Reused for the heads of answers and of the requests made for them, so that neither allocates.
    std::string& scratch() noexcept { return space_->scratch; }
    std::string& request_scratch() noexcept { return space_->request_scratch; }

    void on_due() override { alarm_.expire(); }

protected:
    caller_exchange(loop& owner, std::string peer, std::shared_ptr<const void> sender)
        : loop_{owner},
          alarm_{*this, owner},
          peer_{std::move(peer)},
          sender_{std::move(sender)}
    {
        loop_.timers().add(*this);
    }
    ~caller_exchange() override = default;

private:
    std::optional<core::result<>> try_passed(core::result<answer_part> passed)
    {
        if (!passed) {
            return core::result<>{std::move(passed).error()};
        }
        const bool nothing = passed->head.empty() && passed->body.size() == 0 && !passed->last;
        return nothing ? core::result<>{} : try_send(*passed);
    }

    [[gnu::noinline]] routine<core::result<>> send_later()
    {
        auto passed = co_await filter_->later();
        auto sent = try_passed(std::move(passed));
        if (!sent) {
            sent = co_await finish_send();
        }
        co_return std::move(*sent);
    }

protected:
    loop& loop_;
    alarm alarm_;
    request_buffer_pool::lent space_;  // null: nothing of a request has come
    std::string peer_;
    std::shared_ptr<const void> sender_;
    core::steady_time started_{};
    answer_filter* filter_ = nullptr;
    bool secure_ = false;
};

}  // namespace net
