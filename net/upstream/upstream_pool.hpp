// Connections to agents that can be used again, of one loop: whoever has a call gets one that rests, or makes one. Of HTTP/2 a call gets a
// stream of one that others use, too.
#pragma once

#include "core/clock.hpp"
#include "net/loop/loop.hpp"
#include "net/upstream/agent_side.hpp"
#include "net/upstream/connection_life.hpp"
#include "net/upstream/http2_origin.hpp"
#include "net/upstream/pool_settings.hpp"
#include "net/upstream/upstream.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace net {

class upstream_pool final : public timed {
public:
    upstream_pool(loop& owner, pool_settings settings);
    ~upstream_pool() override;  // close() comes first

    // A connection that was used before and is open as far as can be known, or null. One that its agent may be about to close stays where it
    // is, and shows for how long the agent keeps it. HTTP/2: a stream of one that stands, if one has room.
    agent_lease take_idle(const upstream_target& target);

    // A new one, not yet connected. HTTP/2: agent_side::connect() gives it a stream of whatever connection has one first; callers, which
    // `whose` tells apart, take turns.
    agent_lease make(std::shared_ptr<const upstream_target> target, std::uint64_t whose = 0);

    // After an exchange that left it clean: for the next one. Else: discard().
    void give_back(agent_lease lease);
    void discard(agent_lease connection);

    // Closes what is idle of this target: its host is down, or it is not called any more. What carries an exchange stays; of HTTP/2 it gets
    // no others.
    void drop_idle(std::string_view key);

    // Closes what is idle and keeps nothing from now on.
    void close();

    std::size_t idle() const noexcept;

    void on_due() override {}
    void on_sweep(core::steady_time now) override;

private:
    struct resting {
        std::vector<std::unique_ptr<upstream_connection>> list;
        keepalive_estimate trust{};
        core::steady_time used{};  // when a connection was given back
    };

    const std::shared_ptr<http2_origin>& origin_of(const upstream_target& target);

    loop& loop_;
    pool_settings settings_;
    std::unordered_map<std::string, resting> idle_;                           // by target
    std::unordered_map<std::string, std::shared_ptr<http2_origin>> origins_;  // the same
    std::size_t idle_count_ = 0;
    bool closed_ = false;
};

}  // namespace net
