// A caller's connection: reads request heads within their limits, hands each to the handler, keeps the connection for
// the next, ends it in order. What the handler sees of a request, and how it answers, is here too. One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/head.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/stream.hpp"
#include "net/server/alarm.hpp"
#include "net/server/answer_writer.hpp"
#include "net/server/request_body.hpp"
#include "net/server/request_buffers.hpp"
#include "net/server/server_settings.hpp"
#include "net/tls/client_certificate.hpp"
#include "net/tls/tls_context.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net {

class server_connection;

// How a caller's TLS handshake ended.
enum class handshake : std::uint8_t { complete, resumed, failed };

// Answers requests. One per loop; outlives every connection it serves.
class http_handler {
public:
    virtual ~http_handler() = default;

    // A request head has arrived. Answers it exactly once and returns when the answer is out or cannot be finished.
    // An exception is a bug: it is reported to failed() and the caller gets 500, or an answer that is cut.
    virtual routine<> handle(server_connection& caller) = 0;

    // No request could be read; `why` says what to answer before the connection closes. Answers once, too.
    virtual routine<> refuse(server_connection& caller, core::error why) = 0;

    virtual void failed(std::string_view problem) noexcept = 0;

    // A caller's TLS handshake has ended. If it failed, the connection ends without a request.
    virtual void on_handshake(handshake how, std::string_view peer, std::string_view why) noexcept = 0;
};

// A connection that has come, and whose it is.
struct accepted_socket {
    core::descriptor socket;  // non-blocking
    tcp::endpoint peer;
    tls_context tls{};  // null: plain
    // Whose requests come on it, if it comes from within the process: the handler knows what this is. Null: from outside.
    std::shared_ptr<const void> sender{};
};

class server_connection final : public timed {
public:
    // `spaces` have the limits of `settings`.
    server_connection(
        loop& owner,
        accepted_socket from,
        http_handler& handler,
        const server_settings& settings,
        request_buffer_pool& spaces
    );

    // Serves until the caller leaves, an answer demands the end, or close().
    routine<> run();

    // Ends a connection after the last answer to requests that have come, and an idle one soon, unless one was on its way.
    void drain();
    // Drains the connection if its caller has shown a certificate or is about to: its authorities do not count any more.
    void distrust();

    // Ends it now, as cut() does; what the socket has not taken yet is dropped.
    void abort();

    // The handler may use these from handle() until it returns.
    const http1::request_head& head() const noexcept { return space_->parser.head(); }
    const std::string& peer() const noexcept { return peer_; }
    bool secure() noexcept { return acts_secure_ || caller_.wire().secure(); }

    // The caller for whom a request comes, on a connection from within the process: as if it had come from there.
    void act_for(std::string peer, bool secure)
    {
        peer_ = std::move(peer);
        acts_secure_ = secure;
    }

    // As accepted_socket::sender.
    const void* sender() const noexcept { return sender_.get(); }

    // Null: the caller has shown no certificate, or was not asked for one.
    const client_certificate* certificate() const noexcept { return certificate_.get(); }

    core::steady_time started() const noexcept { return started_; }
    std::uint64_t request_bytes() const noexcept { return body_.request_bytes(); }
    std::uint64_t answer_bytes() const noexcept { return answer_.bytes(); }
    loop& owner() noexcept { return loop_; }

    // The budget of bodies that are held; null: none.
    shared_budget* bodies() const noexcept { return settings_.bodies; }

    // The whole request body in one piece, at most `limit` bytes; the view holds until handle() returns, but head()'s
    // views may have moved. Fails with body_too_large, bad_request (framing), request_timeout, overloaded (bodies()) or
    // caller_gone.
    routine<core::result<std::string_view>> read_body(std::uint64_t limit) { return body_.read(limit); }

    // Does not wait: the whole body has come with its head and has a length. Any error: call read_body().
    core::result<std::string_view> body_at_hand(std::uint64_t limit) { return body_.at_hand(limit); }

    // Reads the body until it is whole or larger than `enough` bytes, so that a body with a fault in it goes nowhere.
    // True: it is whole, and read_body() gives it. False: take_piece() gives it as it comes. Fails as read_body() does.
    routine<core::result<bool>> hold_body(std::uint64_t enough, std::uint64_t limit)
    {
        return body_.hold(enough, limit);
    }

    // The next piece after hold_body(). One without data that is not the last means: wait for the caller, then ask again.
    // The data holds until the next piece is taken. Fails with body_too_large or bad_request.
    using request_piece = request_body::piece;
    core::result<request_piece> take_piece(std::uint64_t limit) { return body_.take_piece(limit); }

    // Until when the caller may be waited for from `now` on: `until`, or sooner if its body has come too slowly: while it
    // is waited for it may fall behind body_rate by body_grace, and what comes faster makes that up. Say so when the wait
    // is over.
    core::steady_time body_due(core::steady_time until, core::steady_time now) noexcept
    {
        return body_.due(until, now);
    }
    void waited_for_body(core::steady_time since) noexcept { body_.waited(since); }

    // Gives up what was read of a request whose body is whole, its buffer and request_scratch(), for an answer that takes
    // its time. From here on head()'s views and the body are void; what head() holds by value stays.
    void release_request();

    // Whole lines that every answer to this request has, whoever writes its head; none, unless set before the answer.
    void set_answer_fields(std::string lines) { space_->answer_fields = std::move(lines); }
    std::string_view answer_fields() const noexcept { return space_->answer_fields; }

    // Whether this answer must carry `Connection: close`: decided once, when its head is written.
    bool closing() noexcept;
    void close_after_answer() noexcept { close_ = true; }
    // Ends the connection after the next answer that begins: an idle connection stays until then.
    void announce_end() noexcept { ending_ = true; }

    // Ends this answer's body by the end of the connection alone.
    void end_body_with_connection() noexcept
    {
        close_ = true;
        answer_.end_with_connection();
    }

    // Writes a piece of the answer if the caller takes it at once: the outcome. Nothing: finish_send() says when.
    std::optional<core::result<>> try_send(pieces content) { return answer_.try_send(content); }
    routine<core::result<>> finish_send() { return answer_.finish_send(); }

    // Writes a piece of the answer; the bytes outlive the call. Waits at most the write timeout for a caller that
    // takes nothing. Fails with caller_gone; the answer then cannot be finished.
    routine<core::result<>> send(pieces content) { return answer_.send(content); }

    // The answer is cut off: no next request, and the caller must not take it for complete. It gets what was written, and
    // an end by which the framing shows that something is missing; a reset, which may cost it what it has not read, only
    // where the framing cannot (end_body_with_connection()).
    void cut() noexcept { answer_.cut(); }

    // The answer is about to be cut: a piece that the caller does not take waits for a second at most.
    void hurry() { answer_.hurry(); }

    // Whatever the request waits for, but for its answer to go out, is over: the handler answers something else. From outside the handler,
    // which goes on within this call, and may be gone then.
    void interrupt() { alarm_.interrupt(); }
    bool interrupted() const noexcept { return alarm_.interrupted(); }
    bool answered() const noexcept { return answer_.answered(); }

    // Waits that other operations of the exchange share: set their listener to wake(), watch the caller, then wait.
    alarm& clock() noexcept { return alarm_; }
    // Not while it has sent so much ahead that no more is read: its leaving is then noticed by the answer's failing.
    void watch_caller()
    {
        if (!body_.whole() || body_.bytes_behind() < settings_.read_ahead) {
            caller_.arm();
        }
    }
    bool aborted() const noexcept { return answer_.aborted(); }
    bool caller_left() const noexcept { return caller_.ended() || caller_.closed(); }

    // The caller left with a reset or an error rather than by closing its half, whether or not it said so in TLS.
    bool was_reset() const noexcept { return caller_.closed() || (caller_.ended() && caller_.broken()); }

    // Reused for the heads of answers and of the requests made for them, so that neither allocates.
    std::string& scratch() noexcept { return space_->scratch; }
    std::string& request_scratch() noexcept { return space_->request_scratch; }

    void on_due() override { alarm_.expire(); }

private:
    enum class phase : std::uint8_t { idle, head, exchange, closing };

    routine<bool> shake_hands();
    void begin_wait();
    bool waits_idle() const noexcept;
    routine<core::result<>> read_head();
    routine<bool> serve_one();
    routine<> guarded_handle();
    routine<> linger();
    routine<> drop_rest();
    routine<bool> dropped_some(core::steady_time until);

    loop& loop_;
    http_handler& handler_;
    const server_settings& settings_;
    stream caller_;
    alarm alarm_;
    request_buffer_pool& spaces_;
    request_buffer_pool::lent space_;  // null: nothing of a request has come
    std::string peer_;
    std::shared_ptr<const void> sender_;
    std::unique_ptr<const client_certificate> certificate_;
    core::steady_time started_{};
    answer_writer answer_;
    request_body body_;
    std::uint64_t served_ = 0;
    phase phase_ = phase::idle;
    bool close_ = false;
    bool ending_ = false;
    bool draining_ = false;
    bool acts_secure_ = false;
};

}  // namespace net
