// One request of a caller over HTTP/2 and its answer: a stream of a connection (net/server/http2_connection.hpp), which owns it. A fault
// ends the stream alone. One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http2/session.hpp"
#include "net/loop/byte_queue.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/body_pace.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/server/server_settings.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net {

class http2_connection;

// Something has happened to the exchange: it is woken when the frames at hand are read.
using touched_hook = boost::intrusive::
    list_base_hook<boost::intrusive::tag<struct touched>, boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

class http2_exchange final : public caller_exchange, public http2::stream_user, public touched_hook {
public:
    // The connection outlives it.
    http2_exchange(http2_connection& of, std::int32_t id, http2::received_head head);

    // Answers the request, whatever happens.
    routine<> serve();

    // The connection is gone: the caller has left. For wake() after it.
    void lose() noexcept;
    void wake() { alarm_.wake().set(); }

    static void* operator new(std::size_t size) { return frame_pool::take(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::give(memory, size); }

    std::int32_t id() const noexcept { return id_; }
    // After serve(): gives back what the stream has of the session.
    void end();

    void abort() override;

    unsigned major_version() const noexcept override { return 2; }
    bool misdirected() const override;
    const client_certificate* certificate() const noexcept override;
    std::uint64_t request_bytes() const noexcept override { return head_bytes_ + body_bytes_; }
    std::uint64_t answer_bytes() const noexcept override { return answer_bytes_; }
    shared_budget* bodies() const noexcept override;

    routine<core::result<std::string_view>> read_body(std::uint64_t limit) override;
    core::result<std::string_view> body_at_hand(std::uint64_t limit) override;
    routine<core::result<bool>> hold_body(std::uint64_t enough, std::uint64_t limit) override;
    core::result<request_piece> take_piece(std::uint64_t limit) override;
    core::steady_time body_due(core::steady_time until, core::steady_time now) noexcept override
    {
        return pace_.due(until, now, body_bytes_);
    }
    void waited_for_body(core::steady_time since) noexcept override { pace_.waited(alarm_.now() - since); }
    void release_request() override;

    void complete_head(std::string& text, answer_length length) override;
    void close_after_answer() noexcept override {}
    std::optional<core::result<>> try_send(const answer_part& part) override;
    routine<core::result<>> finish_send() override;
    void cut() noexcept override { cut_ = true; }
    void hurry() override;
    void ping() override;
    bool answered() const noexcept override { return answered_; }
    void watch_caller() override {}  // RST_STREAM always comes
    bool aborted() const noexcept override { return aborted_; }
    bool caller_left() const noexcept override { return left_; }
    bool was_reset() const noexcept override { return left_; }

    void on_body(std::string_view piece) override;
    void on_trailers(std::string&) override {}  // dropped, as those of HTTP/1.1
    void on_end() override;
    void on_closed(http2::error_code code, http2::by whom) override;
    http2::outgoing next() noexcept override;
    void take(std::size_t size, std::string& out) override;
    void on_sent_all() override;

private:
    routine<> handle();
    routine<core::result<>> hold(std::uint64_t enough, std::uint64_t limit);
    routine<core::result<>> more();
    bool is_sent() const noexcept;
    core::result<> sent();
    core::duration patience() const noexcept;
    void touch() noexcept;
    std::size_t unsent() const noexcept { return out_ == nullptr ? 0 : out_->size(); }
    void forget_part() noexcept
    {
        out_ = nullptr;
        waiting_.reset();
    }
    void give_credit(std::size_t but = 0) noexcept;

    http2_connection& connection_;
    const server_settings& settings_;
    std::int32_t id_;
    std::optional<core::error> refused_;  // by its head
    byte_queue incoming_;                 // of the body, not yet given
    byte_queue given_;                    // the piece that take_piece() gave
    budget_share share_;
    body_pace pace_;
    std::size_t head_bytes_ = 0;
    std::uint64_t body_bytes_ = 0;  // that have come
    std::uint64_t taken_ = 0;       // in pieces
    std::size_t uncredited_ = 0;    // that have come, and for which the caller may not send others yet
    std::uint64_t answer_bytes_ = 0;
    core::steady_time until_{};
    pieces* out_ = nullptr;            // of the part at hand, what has not gone; null: all has
    std::unique_ptr<pieces> waiting_;  // what that points to while the caller is waited for
    std::string_view trailers_;
    bool last_ = false;   // the part at hand ends the answer
    bool whole_ = false;  // the request has come
    bool answered_ = false;
    bool sent_all_ = false;  // the end of the answer is in the output
    bool closed_ = false;    // the stream is no more
    bool left_ = false;      // it was reset, or its connection has ended
    bool cut_ = false;
    bool aborted_ = false;
    bool hurried_ = false;
};

}  // namespace net
