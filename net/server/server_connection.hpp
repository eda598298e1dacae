// A caller's connection: reads request heads within their limits, hands each to the handler, keeps the connection for
// the next, ends it in order. What the handler sees of a request, and how it answers, is here too. One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/loop/stream.hpp"
#include "net/server/exchange_space.hpp"
#include "net/tls/tls_context.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace net {

class server_connection;

// How a caller's TLS handshake ended.
enum class handshake : std::uint8_t { complete, resumed, failed };

// What to do with requests. One per loop; outlives every connection it serves.
class http_handler {
public:
    virtual ~http_handler() = default;

    // A request head has arrived. Answers it exactly once and returns when the answer is out or cannot be finished.
    // An exception is a bug: it is reported to failed() and the caller gets 500, or an answer that is cut.
    virtual routine<> handle(server_connection& caller) = 0;

    // No request could be read; `why` says what to answer before the connection closes. Answers once, too.
    virtual routine<> refuse(server_connection& caller, core::error why) = 0;

    virtual void failed(std::string_view what) noexcept = 0;

    // A caller's TLS handshake has ended. If it failed, the connection ends without a request.
    virtual void on_handshake(handshake how, std::string_view peer, std::string_view why) noexcept = 0;
};

// A connection that has come, and whose it is.
struct accepted_socket {
    core::descriptor socket;  // non-blocking
    tcp::endpoint peer;
    tls_context tls{};  // null: plain
};

struct server_settings {
    http1::head_limits head;
    core::duration handshake_timeout{};
    core::duration header_timeout{};
    core::duration body_timeout{};
    core::duration idle_timeout{};
    core::duration write_timeout{};
    core::duration body_grace{};     // before body_rate counts
    std::uint64_t body_rate = 0;     // bytes a second of a body, while it is waited for; 0: any
    std::size_t read_ahead = 16384;  // bytes behind a request that is being answered
    std::uint64_t requests = 1000;   // on one connection

    // A caller whose request was answered before all of it had come: what it still sends is read and dropped, because a
    // reset would take the answer with it.
    core::duration linger{};
    core::duration linger_pause{500};  // in which nothing comes: it ends then, too
    std::uint64_t linger_bytes = 0;
    shared_budget* lingering = nullptr;  // such connections at a time; null: any number
    shared_budget* bodies = nullptr;     // bytes of bodies that are held; null: any number
};

// The wake-up of a connection's coroutine, with its deadline: whoever works for the exchange sets the one or starts
// the other.
class alarm {
public:
    alarm(timed& owner, const loop& on)
        : owner_{owner},
          loop_{on}
    {
    }

    void start(core::duration from_now);
    void start_until(core::steady_time when) noexcept;
    void stop() noexcept;
    bool expired() const noexcept { return expired_; }

    auto wait() noexcept { return signal_.wait(); }
    signal& wake() noexcept { return signal_; }

    void expire();  // by the owner, when it is due

private:
    timed& owner_;
    const loop& loop_;
    signal signal_;
    bool expired_ = false;
};

class server_connection final : public timed {
public:
    // `spaces` have the limits of `settings`.
    server_connection(
        loop& owner,
        accepted_socket from,
        http_handler& handler,
        const server_settings& settings,
        exchange_spaces& spaces
    );

    // Serves until the caller leaves, an answer demands the end, or close().
    routine<> run();

    // Ends a busy connection after its answer and an idle one soon, unless a request was on its way: that is answered.
    void drain();

    // Ends it now, as cut() does; what the socket has not taken yet is dropped.
    void abort();

    // What the handler may use, from handle() until it returns.
    const http1::request_head& head() const noexcept { return space_->parser.head(); }
    const std::string& peer() const noexcept { return peer_; }
    bool secure() noexcept { return caller_.wire().secure(); }
    core::steady_time started() const noexcept { return started_; }
    std::uint64_t request_bytes() const noexcept
    {
        return released_ + head_length_ + std::max(body_taken_, request_length_ - head_length_);
    }
    std::uint64_t answer_bytes() const noexcept { return caller_.bytes_out() - bytes_out_before_; }
    loop& owner() noexcept { return loop_; }

    // What bodies that are held take their bytes from; null: any number.
    shared_budget* bodies() const noexcept { return settings_.bodies; }

    // The whole request body in one piece, at most `limit` bytes; the view holds until handle() returns, but head()'s
    // views may have moved. Fails with body_too_large, bad_request (framing), request_timeout, overloaded (bodies()) or
    // caller_gone.
    routine<core::result<std::string_view>> read_body(std::uint64_t limit);

    // The same without waiting, if the whole body has come with its head and has a length; else any error: read_body().
    core::result<std::string_view> body_at_hand(std::uint64_t limit);

    // Reads the body until it is whole or larger than `enough` bytes, so that a body with a fault in it goes nowhere.
    // True: it is whole, and read_body() gives it. False: take_piece() gives it as it comes. Fails as read_body() does.
    routine<core::result<bool>> hold_body(std::uint64_t enough, std::uint64_t limit);

    // The next piece after hold_body(). One without data that is not the last means: wait for the caller, then ask again.
    // The data holds until the next piece is taken. Fails with body_too_large or bad_request.
    struct request_piece {
        std::string_view data;
        bool last = false;
    };
    core::result<request_piece> take_piece(std::uint64_t limit);

    // Until when the caller may be waited for from `now` on: `until`, or sooner if its body has come too slowly: while it
    // is waited for it may fall behind body_rate by body_grace, and what comes faster makes that up. Say so when the wait
    // is over.
    core::steady_time body_due(core::steady_time until, core::steady_time now) noexcept;
    void waited_for_body(core::steady_time since) noexcept;

    // Gives up what was read of a request whose body is whole, its buffer and request_scratch(), for an answer that takes
    // its time. From here on head()'s views and the body are void; what head() holds by value stays.
    void release_request();

    // Whether this answer must carry `Connection: close`: decided once, when its head is written.
    bool closing() const noexcept;
    void close_after_answer() noexcept { close_ = true; }

    // The same, and the end of the connection is all that ends this answer's body.
    void end_body_with_connection() noexcept { close_ = unframed_ = true; }

    // Writes a piece of the answer if the caller takes it at once: the outcome. Nothing: finish_send() says when.
    std::optional<core::result<>> try_send(pieces what);
    routine<core::result<>> finish_send();

    // Writes a piece of the answer; the bytes outlive the call. Waits at most the write timeout for a caller that
    // takes nothing. Fails with caller_gone; the answer then cannot be finished.
    routine<core::result<>> send(pieces what);

    // The answer is cut off: no next request, and the caller must not take it for complete. It gets what was written, and
    // an end by which the framing shows that something is missing; a reset, which may cost it what it has not read, only
    // where the framing cannot (end_body_with_connection()).
    void cut() noexcept { cut_ = true; }

    // The answer is about to be cut: a piece that the caller does not take waits for a second at most.
    void hurry();

    bool answered() const noexcept { return answered_; }

    // Waits that other operations of the exchange share: set their listener to wake(), watch the caller, then wait.
    alarm& clock() noexcept { return alarm_; }
    // Not while it has sent so much ahead that no more is read: its leaving is then noticed by the answer's failing.
    void watch_caller()
    {
        if (!body_read_ || caller_.received().size() - request_length_ < settings_.read_ahead) {
            caller_.arm();
        }
    }
    bool aborted() const noexcept { return aborted_; }
    bool caller_left() const noexcept { return caller_.ended() || caller_.closed(); }

    // It left with a reset or an error rather than by closing its half. Whether it says that in TLS, too, does not matter: a
    // request has its own end.
    bool was_reset() const noexcept
    {
        return caller_.closed() || (caller_.ended() && caller_.read_error() != asio::error::eof &&
                                    caller_.read_error() != asio::ssl::error::stream_truncated);
    }

    // Reused for the heads of answers and of the requests made for them, so that neither allocates.
    std::string& scratch() noexcept { return space_->scratch; }
    std::string& request_scratch() noexcept { return space_->request_scratch; }

    void on_due() override { alarm_.expire(); }

private:
    enum class phase : std::uint8_t { idle, head, exchange, closing };

    routine<bool> shake_hands();
    core::result<> sent();
    void begin_wait();
    bool waits_idle() const noexcept;
    core::duration write_patience() const noexcept;
    routine<core::result<>> read_head();
    routine<core::result<>> need(std::size_t bytes);
    routine<core::result<>> read_sized_body();
    routine<core::result<>> gather_chunks(std::uint64_t enough, std::uint64_t limit);
    routine<core::result<>> say_continue();
    routine<bool> serve_one();
    routine<> guarded_handle();
    bool is_whole() const noexcept;
    routine<> linger();
    routine<> drop_rest();
    routine<bool> dropped_some(core::steady_time until);
    bool hold(std::size_t bytes) noexcept { return body_share_.set(bytes); }
    void end_sending() noexcept;
    void close_cut();
    void make_room();
    void keep_watching();
    void finish_request();

    loop& loop_;
    http_handler& handler_;
    const server_settings& settings_;
    stream caller_;
    alarm alarm_;
    exchange_spaces& spaces_;
    exchange_spaces::lent space_;  // null: nothing of a request has come
    std::string peer_;
    core::steady_time started_{};
    std::size_t head_length_ = 0;
    std::uint64_t released_ = 0;      // bytes of the request that release_request() gave up
    std::size_t request_length_ = 0;  // head and body, as far as it has been read
    std::uint64_t begun_at_ = 0;      // the request's first byte, in bytes_in() of the caller
    budget_share body_share_;
    std::size_t held_ = 0;          // decoded bytes behind the head, not yet given as a piece
    std::size_t coded_at_ = 0;      // where what is still coded begins, in what was received
    std::uint64_t body_taken_ = 0;  // of the body, in pieces
    std::uint64_t bytes_out_before_ = 0;
    std::uint64_t body_counted_ = 0;  // bytes that have made up for waiting
    core::steady_time body_until_{};
    core::steady_time::duration body_credit_{};
    std::uint64_t served_ = 0;
    phase phase_ = phase::idle;
    bool body_read_ = false;
    bool answered_ = false;
    bool close_ = false;
    bool cut_ = false;
    bool unframed_ = false;
    bool hurried_ = false;
    bool aborted_ = false;
    bool draining_ = false;
};

}  // namespace net
