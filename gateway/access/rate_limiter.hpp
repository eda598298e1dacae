// Counts requests against limits a second, for all workers together: each principal, agent and address has a token bucket, kept as
// the moment at which it will be full again (the generic cell rate algorithm, ITU-T I.371 annex A). Bounded: a table of
// buckets for each limit, made once, in which a new name takes the place of the bucket that is nearest to full. Any thread,
// without a lock.
#pragma once

#include "core/call_limits.hpp"
#include "core/clock.hpp"
#include "core/keyed_hash.hpp"
#include "gateway/model/request_record.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace gateway::access {

class token_buckets {
public:
    // Largest number of buckets of one limit that are not full. Beyond that, names get a full one too early.
    static constexpr std::size_t most = 65'536;

    // With a rate.
    explicit token_buckets(const core::rate_limit& limit);

    // Takes a token out of the bucket with this name; false: it is empty.
    bool take(const core::hash_value& name, core::steady_time now) noexcept;

private:
    struct bucket {
        std::atomic<std::uint64_t> name{0};    // 0: of nobody
        std::atomic<std::int64_t> full_at{0};  // nanoseconds of the steady clock; in the past: it is full
    };

    static constexpr std::size_t row = 4;  // one name is in one row: one line of the cache
    static constexpr std::size_t rows = most / row;

    struct alignas(64) bucket_row {
        std::array<bucket, row> buckets;
    };

    static bucket* find(bucket_row& in, std::uint64_t name, std::int64_t now) noexcept;

    std::int64_t interval_;  // nanoseconds between two tokens
    std::int64_t depth_;     // nanoseconds in which an empty bucket is full again
    std::vector<bucket_row> rows_;
};

class rate_limiter {
public:
    // Null: nothing is limited. `replicas`: so many share the load, at least one, which counts with core::rate_limits::divide.
    static std::shared_ptr<rate_limiter> make(const core::rate_limits& limits, std::uint64_t replicas = 1);

    // Whether one more request of these is within the limit, which then counts it. What is not limited always is.
    bool admits_principal(std::string_view id, std::string_view provider, core::steady_time now);
    bool admits_agent(std::string_view id, core::steady_time now);
    bool admits_address(std::string_view address, core::steady_time now);

    // Requests a second that this process admits.
    std::uint64_t rate(model::rate_limit of) const noexcept;

private:
    explicit rate_limiter(const core::rate_limits& limits);

    core::rate_limits limits_;
    core::keyed_hash hash_;
    std::unique_ptr<token_buckets> principals_;  // null: not limited
    std::unique_ptr<token_buckets> agents_;
    std::unique_ptr<token_buckets> addresses_;
};

}  // namespace gateway::access
