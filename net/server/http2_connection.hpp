// A caller's connection that speaks HTTP/2: reads frames, hands each request to the handler as an exchange of its own, writes what is
// ready once in a turn of the loop, ends in order. Belongs to a server_connection, which has the socket. One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "net/http2/session.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/poller.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/stream.hpp"
#include "net/server/alarm.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/server/http2_exchange.hpp"
#include "net/server/server_settings.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net {

// The parts that a connection of HTTP/2 has of the one that it replaces. All outlive it.
struct http2_parts {
    loop& owner;
    stream& caller;
    alarm& clock;  // of the connection; the listener of `caller`
    http_handler& handler;
    const server_settings& settings;
    request_buffer_pool& spaces;
    const std::string& peer;
    const std::shared_ptr<const void>& sender;
    const std::unique_ptr<const client_certificate>& certificate;
    bool secure;
};

class http2_connection final : private http2::session_user, private watched {
public:
    explicit http2_connection(const http2_parts& parts);
    ~http2_connection();
    http2_connection(const http2_connection&) = delete;
    http2_connection& operator=(const http2_connection&) = delete;

    // Serves until the connection is over and the last exchange has ended. The caller's socket is open or closed then.
    routine<> run();

    // GOAWAY that names no stream yet, a second later the one that does. Streams that have begun go on.
    void drain();
    // Does so once its first request has come: a caller that connects while the gateway goes on accepting connections is to be served.
    void drain_after_request() noexcept { drains_after_request_ = true; }

    // Cuts every exchange.
    void abort();

    // Gives up the buffers of a connection that has sent nothing since the last time.
    void rest();

    // The peer has broken a rule of the connection, or gone over a limit.
    bool failed() const noexcept { return failed_; }

    // For exchanges.
    const http2_parts& parts() const noexcept { return parts_; }
    http2::session& session() noexcept { return session_; }
    // Its own part of those of the settings; null: any number.
    shared_budget* bodies() noexcept { return parts_.settings.bodies != nullptr ? &bodies_ : nullptr; }
    // Frames are ready, or exchanges to be woken.
    void schedule();
    // Puts what is ready into the output at once.
    void produce();
    void touch(http2_exchange& exchange) noexcept;
    // This stream was answered before its request had come. A reset at once could cost the caller the answer, and hides the caller's own
    // faults.
    void linger(std::int32_t stream);

private:
    using touched_list = boost::intrusive::
        list<http2_exchange, boost::intrusive::base_hook<touched_hook>, boost::intrusive::constant_time_size<false>>;

    http2::stream_user* on_request(std::int32_t id, http2::received_head head) override;
    void on_goaway(std::int32_t /*last*/, http2::error_code /*code*/) override {}
    void count_reset(http2::by whom, http2::error_code code) noexcept override;
    void count_goaway(http2::by whom, http2::error_code code) noexcept override;
    void count_refused(http2::limit which) noexcept override;
    void on_ready(std::uint32_t events) override;

    bool is_over() const noexcept;
    bool may_read() const noexcept;
    void turn();
    void take_in();
    void start_some();
    void wake_touched();
    bool flush();
    void look_at_clock();
    void end_lingering(core::steady_time now);
    core::steady_time due() const noexcept;
    void count_streams(int more) noexcept;
    void ended(http2_exchange* exchange, const std::exception_ptr& bug);

    http2_parts parts_;
    std::optional<http2::limit> exceeded_;
    bool failed_ = false;
    shared_budget bodies_;
    http2::session session_;
    std::string sending_;  // in the socket's hands
    std::vector<std::unique_ptr<http2_exchange>> exchanges_;
    std::vector<http2_exchange*> starting_;  // the first is the next
    std::size_t started_ = 0;                // of `starting_`
    touched_list touched_;
    struct lingering_stream {
        std::int32_t id;
        core::steady_time until;
    };
    std::deque<lingering_stream> lingering_;  // in their order
    core::steady_time begun_;
    core::steady_time idle_since_;
    core::steady_time old_at_;
    core::steady_time final_at_ = never;  // the last GOAWAY
    core::steady_time stalled_at_ = never;
    std::uint64_t bytes_out_ = 0;  // when that was set
    bool announced_ = false;
    bool drains_after_request_ = false;
    bool ended_idle_ = false;
    bool running_ = false;
    bool written_ = false;  // since rest()
    bool over_ = false;     // the session knows exchanges that may be gone: it is used no more
};

}  // namespace net
