// The connections of HTTP/2 to one target, and the calls that wait for a stream of one. A call takes a stream of any connection that stands;
// if none has room it begins one of its own, up to the limit, and takes whichever stream is free first. One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/poller.hpp"
#include "net/upstream/agent_side.hpp"
#include "net/upstream/connection_life.hpp"
#include "net/upstream/http2_side.hpp"
#include "net/upstream/http2_upstream.hpp"
#include "net/upstream/pool_settings.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace net {

class http2_origin final : public std::enable_shared_from_this<http2_origin>, private watched {
public:
    http2_origin(loop& owner, const pool_settings& settings)
        : loop_{owner},
          settings_{settings}
    {
    }

    // A stream of a connection that stands and may be used; null: none has room.
    agent_lease take(const upstream_target& target);
    // For a call that waits for one, of this caller.
    agent_lease make(std::shared_ptr<const upstream_target> target, std::uint64_t whose = 0);
    // One of take() or make(), after its call: its memory is used again.
    void give_back(std::unique_ptr<http2_side> side);

    // Closes what is idle; what has streams takes no more.
    void drop_idle();
    // Does so too, and from now on a connection closes with its last stream.
    void close();
    // Must not resume a coroutine, and does not.
    void sweep(core::steady_time now);
    std::size_t idle() const noexcept;
    bool unused() const noexcept { return connections_.empty() && waiting_.empty(); }
    core::steady_time used() const noexcept { return used_; }

    loop& owner() noexcept { return loop_; }
    const pool_settings& settings() const noexcept { return settings_; }

    // For sides: it waits for a stream, until it is placed, has failed, or leaves.
    void join(http2_side& side);
    void leave(http2_side& side) noexcept;
    // Whether those that wait do so for the end of other calls.
    bool full() const noexcept;

    // For connections.
    void give_streams(http2_upstream& of);
    void failed(http2_upstream& which, core::error why);
    void ended(http2_upstream& which, bool by_agent) noexcept;
    bool closed() const noexcept { return closed_; }

    // The listener of a side is to be woken: soon, or by tell().
    void note_change(http2_side& side) noexcept;
    void tell();

private:
    using waiting_list = boost::intrusive::
        list<http2_side, boost::intrusive::base_hook<http2_place_hook>, boost::intrusive::constant_time_size<false>>;
    using changed_list = boost::intrusive::
        list<http2_side, boost::intrusive::base_hook<http2_change_hook>, boost::intrusive::constant_time_size<false>>;

    void on_ready(std::uint32_t events) override;
    bool usable(http2_upstream& which, const upstream_target& target, core::steady_time now);
    http2_upstream* find(const upstream_target& target, core::steady_time now);
    void place(http2_side& side, http2_upstream& on);
    void line_up(http2_side& side) noexcept;
    void begin_attempts();
    std::size_t open() const noexcept;
    bool end_idle() noexcept;
    void pass_on(http2_side& side) noexcept;
    static void end(http2_upstream& which);

    loop& loop_;
    pool_settings settings_;
    std::vector<std::shared_ptr<http2_upstream>> connections_;
    std::vector<std::unique_ptr<http2_side>> spare_;
    waiting_list waiting_;  // the first is next
    std::uint64_t turn_ = 0;
    changed_list changed_;
    keepalive_estimate trust_;
    core::steady_time used_{};
    bool closed_ = false;
};

}  // namespace net
