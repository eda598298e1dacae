// One call to an agent over HTTP/2: a stream of a connection that others share (net/upstream/http2_upstream.hpp). While there is none for it,
// it waits in its origin. One loop's thread.
#pragma once

#include "net/http1/head.hpp"
#include "net/http2/session.hpp"
#include "net/upstream/agent_side.hpp"
#include "net/upstream/piece_queue.hpp"
#include "net/upstream/upstream.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net {

class http2_origin;
class http2_upstream;

// In the list of the sides that wait for a stream, or in that of a connection's streams.
using http2_place_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<struct http2_place>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// Its listener is to be woken.
using http2_change_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<struct http2_change>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// How far one call has come. A side is used again, with its memory.
struct http2_progress {
    signal* listener_ = nullptr;
    std::optional<core::error> failure_;  // to connect
    std::int32_t id_ = 0;                 // 0: no stream, or not any more
    std::uint64_t sent_at_ = 0;           // the connection's bytes before the request
    std::uint64_t bytes_before_ = 0;      // that had come on the connection then
    core::steady_time sent_since_{};
    std::string_view unsent_;
    std::optional<core::error> fault_;  // of the agent
    error_code send_error_;
    error_code end_reason_;
    std::uint64_t bytes_in_ = 0;
    std::size_t uncredited_ = 0;  // released since frames were last asked for
    unsigned interim_ = 0;
    bool waiting_ = false;
    bool reused_ = false;
    bool last_ = false;           // nothing of the request comes after `unsent_`
    bool waits_to_send_ = false;  // somebody does, until that is empty
    bool asks_head_ = false;
    bool headed_ = false;  // the head has come
    bool answering_ = false;
    bool whole_ = false;  // the answer
    bool over_ = false;   // the stream is gone before that
    bool unprocessed_ = false;
    bool armed_ = false;
};

class http2_side final : public agent_side,
                         public http2::stream_user,
                         public http2_place_hook,
                         public http2_change_hook,
                         private http2_progress {
public:
    explicit http2_side(http2_origin& origin);
    ~http2_side() override;

    // For a call, from one that is not in use; and after it.
    void begin(std::shared_ptr<http2_origin> origin, std::shared_ptr<const upstream_target> target);
    void finish() noexcept;
    http2_origin& origin() noexcept { return *origin_; }

    void connect(signal& listener) override;
    bool connecting() override { return waiting_; }
    // While it waits: overloaded, if it is for the end of another call.
    const std::optional<core::error>& failure() const noexcept override;
    void set_listener(signal* listener) noexcept override { listener_ = listener; }
    const upstream_target& target() const noexcept override { return *target_; }
    int socket() noexcept override;

    void send(const agent_request& request) override;
    void send_body(std::string_view data, bool last) override;
    bool sending() const noexcept override { return !unsent_.empty(); }
    error_code send_error() const noexcept override { return send_error_; }
    bool unprocessed() noexcept override { return !answering_ && unprocessed_; }
    bool reused() const noexcept override { return reused_; }

    core::result<bool> read_head(http1::method to) override;
    const http1::response_head& head() const noexcept override { return parser_.head(); }
    void consume_head() override;
    bool answering() const noexcept override { return answering_; }
    core::result<std::string_view> take() override;
    bool release() override;
    void rewind() override { body_.rewind(); }
    bool body_done() const noexcept override;
    bool full() const noexcept override;
    std::uint64_t announced() const noexcept override { return 0; }
    void widen() override {}
    std::string_view trailers() const noexcept override { return trailers_; }
    bool ready() const noexcept override { return body_.left() > 0 || ended(); }
    void arm() override { armed_ = true; }
    bool ended() const noexcept override { return whole_ || over_; }
    error_code end_reason() const noexcept override { return end_reason_; }
    std::uint64_t bytes_in() const noexcept override { return bytes_in_; }
    bool reusable() const noexcept override { return body_done(); }
    void close() noexcept override;

    // For the origin.
    std::shared_ptr<const upstream_target> wanted() const noexcept { return target_; }
    void place(std::shared_ptr<http2_upstream> on, bool reused);
    void fail(core::error why);
    void notify();
    http2_upstream* attempt = nullptr;  // the connection that is being made for it
    std::uint64_t whose = 0;            // the caller
    std::uint64_t turn = 0;             // while it waits: among all that do

    // For the connection. It is told of nothing more after lose().
    std::int32_t id() const noexcept { return id_; }
    std::uint64_t sent_at() const noexcept { return sent_at_; }
    void lose(error_code why, bool unprocessed);
    void break_off(core::error why);  // its agent has broken a rule

    void on_head(http2::received_head head) override;
    void on_body(std::string_view piece) override;
    void on_trailers(std::string& text) override;
    void on_end() override;
    void on_closed(http2::error_code code, http2::by whom) override;
    http2::outgoing next() noexcept override;
    void take(std::size_t size, std::string& out) override;

private:
    void change() noexcept;
    void end(error_code why) noexcept;
    void produce();

    std::shared_ptr<http2_origin> origin_;
    std::shared_ptr<http2_upstream> connection_;  // null: it waits, or its connection is gone
    std::shared_ptr<const upstream_target> target_;
    http1::response_parser parser_;
    std::string head_text_;
    std::string trailers_;
    piece_queue body_;
};

}  // namespace net
