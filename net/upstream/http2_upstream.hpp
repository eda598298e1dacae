// One connection of HTTP/2 to an agent (RFC 9113): it is made, carries streams, and ends. Its origin has it (net/upstream/http2_origin.hpp)
// for as long as it takes calls, its streams until they end. It sends no PING: servers of gRPC close on them. One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http2/session.hpp"
#include "net/loop/poller.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/signal.hpp"
#include "net/upstream/http2_side.hpp"
#include "net/upstream/upstream.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace net {

class http2_upstream final : public std::enable_shared_from_this<http2_upstream>,
                             private http2::session_user,
                             private watched {
public:
    static constexpr std::size_t most_streams = 100;
    static constexpr std::uint32_t stream_window = 64 * 1024;

    http2_upstream(std::shared_ptr<http2_origin> origin, std::shared_ptr<const upstream_target> target);
    ~http2_upstream();

    // Called once. The origin hears of the end of it, not inside this call.
    void begin();
    http2_side* owner = nullptr;  // for whom it is being made

    // How many more calls it takes now.
    std::size_t room() const noexcept;
    bool settled() const noexcept { return settled_; }
    bool idle() const noexcept { return streams_ == 0; }
    // The connection takes no more calls, and closes when the last stream has ended.
    bool retired() const noexcept { return retired_; }
    void retire() noexcept;
    void close() noexcept;
    upstream_connection& wire() noexcept { return base_; }
    std::shared_ptr<const upstream_target> target() const noexcept { return target_; }
    // Gives up memory that nothing has needed since the call before.
    void rest();

    // For sides. attach() needs room(), and ends with leave() or stream_ended().
    void attach(http2_side& side);
    struct begun {
        std::int32_t id;
        std::uint64_t bytes_before;  // that were written, or wait
    };
    // Nothing: no stream can begin, and the side is not attached any more.
    std::optional<begun> request(http2_side& side, const agent_request& what);
    void leave(http2_side& side, std::int32_t id) noexcept;
    // Bytes of a stream are used.
    void credit(std::int32_t id, std::size_t bytes) noexcept;
    http2::session& session() noexcept { return *session_; }
    loop& owner_loop() noexcept { return loop_; }
    std::uint64_t bytes_in() const noexcept { return bytes_in_; }
    void stream_ended(http2_side& side) noexcept;
    void produce();
    void schedule();

private:
    using side_list = boost::intrusive::
        list<http2_side, boost::intrusive::base_hook<http2_place_hook>, boost::intrusive::constant_time_size<false>>;

    static routine<> drive(std::shared_ptr<http2_upstream> self);

    void on_settings() override {}
    void on_goaway(std::int32_t last, http2::error_code code) override;
    http2::stream_user* on_request(std::int32_t, http2::received_head) override { return nullptr; }
    void count_reset(http2::by whom, http2::error_code code) noexcept override;
    void count_goaway(http2::by whom, http2::error_code code) noexcept override;
    void count_refused(http2::limit which) noexcept override;
    void on_ready(std::uint32_t events) override;

    void turn();
    void open();
    void take_in();
    void look_at_end();
    void flush();
    void give_up(core::error why);
    void lose(error_code why);
    void rest_if_idle() noexcept;
    void count_stream(int more) noexcept;

    std::shared_ptr<http2_origin> origin_;
    std::shared_ptr<const upstream_target> target_;
    loop& loop_;
    upstream_connection base_;
    signal changed_;
    std::optional<http2::session> session_;
    std::string sending_;  // in the socket's hands
    std::string head_;     // scratch
    side_list sides_;      // placed here, whose streams have not ended
    std::size_t streams_ = 0;
    std::size_t reserved_ = 0;  // of these without a stream yet
    std::uint64_t bytes_in_ = 0;
    bool carried_ = false;  // a call
    bool settled_ = false;  // the agent's SETTINGS have come
    bool given_ = false;    // and the calls that waited then have its streams
    bool retired_ = false;
    bool failed_ = false;  // the agent has broken a rule of the connection
    bool over_ = false;
    bool active_ = false;  // since rest()
    bool running_ = false;
};

}  // namespace net
