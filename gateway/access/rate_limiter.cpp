#include "gateway/access/rate_limiter.hpp"

#include "gateway/access/failure_limit.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace gateway::access {
namespace {

std::int64_t nanoseconds(core::steady_time when) noexcept
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

std::unique_ptr<token_buckets> buckets_of(const core::rate_limit& limit)
{
    return limit.rate == 0 ? nullptr : std::make_unique<token_buckets>(limit);
}

}  // namespace

token_buckets::token_buckets(const core::rate_limit& limit)
    : interval_{static_cast<std::int64_t>(std::nano::den / limit.rate)},
      depth_{interval_ * static_cast<std::int64_t>(limit.burst == 0 ? limit.rate : limit.burst)},
      rows_(rows)
{
}

bool token_buckets::take(const core::hash_value& name, core::steady_time now) noexcept
{
    const auto time = nanoseconds(now);
    auto* const of = find(rows_[name[0] % rows], name[1] | 1U, time);
    if (of == nullptr) {
        return true;
    }
    auto full_at = of->full_at.load(std::memory_order_relaxed);
    while (true) {
        const auto then = std::max(full_at, time) + interval_;
        if (then > time + depth_) {
            return false;
        }
        if (of->full_at.compare_exchange_weak(full_at, then, std::memory_order_relaxed)) {
            return true;
        }
    }
}

// Null: other threads took one place after the other.
token_buckets::bucket* token_buckets::find(bucket_row& in, std::uint64_t name, std::int64_t now) noexcept
{
    for (std::size_t tries = 0; tries <= row; ++tries) {
        bucket* fullest = nullptr;
        std::int64_t least = 0;
        for (auto& each : in.buckets) {
            if (each.name.load(std::memory_order_relaxed) == name) {
                return &each;
            }
            const auto full_at = each.full_at.load(std::memory_order_relaxed);
            if (fullest == nullptr || full_at < least) {
                fullest = &each;
                least = full_at;
            }
        }
        auto before = fullest->name.load(std::memory_order_relaxed);
        if (before != name && fullest->name.compare_exchange_strong(before, name, std::memory_order_relaxed)) {
            if (least > now) {
                // The debt was another's. What is lost if that one pays meanwhile is a token.
                fullest->full_at.store(now, std::memory_order_relaxed);
            }
            return fullest;
        }
    }
    return nullptr;
}

std::shared_ptr<rate_limiter> rate_limiter::make(const core::rate_limits& limits, std::uint64_t replicas)
{
    if (limits.divide && replicas > 1) {
        auto part = limits;
        for (auto* each : {&part.principal, &part.agent, &part.address}) {
            each->rate = (each->rate + replicas - 1) / replicas;
            each->burst = (each->burst + replicas - 1) / replicas;
        }
        part.divide = false;
        return make(part);
    }
    const bool any = limits.principal.rate > 0 || limits.agent.rate > 0 || limits.address.rate > 0;
    return any ? std::shared_ptr<rate_limiter>{new rate_limiter{limits}} : nullptr;
}

rate_limiter::rate_limiter(const core::rate_limits& limits)
    : limits_{limits},
      principals_{buckets_of(limits.principal)},
      agents_{buckets_of(limits.agent)},
      addresses_{buckets_of(limits.address)}
{
}

bool rate_limiter::admits_principal(std::string_view id, std::string_view provider, core::steady_time now)
{
    return !principals_ || principals_->take(hash_(id, provider), now);
}

bool rate_limiter::admits_agent(std::string_view id, core::steady_time now)
{
    return !agents_ || agents_->take(hash_(id, {}), now);
}

bool rate_limiter::admits_address(std::string_view address, core::steady_time now)
{
    if (!addresses_) {
        return true;
    }
    const auto number = number_of(address);
    std::array<char, sizeof(number)> bytes{};
    std::memcpy(bytes.data(), &number, bytes.size());
    return addresses_->take(hash_({bytes.data(), bytes.size()}, {}), now);
}

std::uint64_t rate_limiter::rate(model::rate_limit of) const noexcept
{
    switch (of) {
        case model::rate_limit::principal:
            return limits_.principal.rate;
        case model::rate_limit::agent:
            return limits_.agent.rate;
        case model::rate_limit::address:
            return limits_.address.rate;
    }
    return 0;
}

}  // namespace gateway::access
