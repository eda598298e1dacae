#include "gateway/relay/call_attempts.hpp"

#include "core/access.hpp"
#include "core/ip.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/relay_call.hpp"

#include <functional>
#include <random>

namespace gateway::relay {

std::uint64_t call_origin::hash() const
{
    const std::hash<std::string_view> hash;
    if (principal != nullptr) {
        return hash(principal->id) ^ (hash(principal->provider) << 1U);
    }
    const auto parsed = core::parse_ip(address);
    return parsed ? hash({reinterpret_cast<const char*>(parsed->bytes.data()), parsed->bytes.size()}) : hash(address);
}

namespace {

using core::errc;

constexpr balancing::endpoint_mask bit(std::size_t number) noexcept
{
    return balancing::endpoint_mask{1} << number;
}

bool unreached(const call_attempts::failure& why) noexcept
{
    // Another endpoint does not give what the gateway itself lacks.
    const bool of_agent = why.code == errc::upstream_refused || why.code == errc::upstream_unresolved ||
                          why.code == errc::upstream_tls || why.code == errc::upstream_timeout ||
                          why.code == errc::upstream_forbidden || why.code == errc::upstream_reset ||
                          why.code == errc::upstream_proxy;
    return !why.connected && of_agent;
}

}  // namespace

std::uint64_t dice()
{
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return engine();
}

void call_attempts::begin(core::steady_time now)
{
    tried_ = 0;
    sent_ = 0;
    if (call_.agent->calls != nullptr) {
        call_.agent->calls->retries().add_call(now);
    }
}

bool call_attempts::admit(core::steady_time now)
{
    landed();
    const auto* reach = call_.agent->reach.get();
    if (reach == nullptr) {
        const bool passes = permit_.take(call_.agent, now);
        record_.attempts += passes ? 1 : 0;
        return passes;
    }
    auto refused = tried_;
    while (!reach->group->healthy(call_.agent->number) || !permit_.take(call_.agent, now)) {
        refused |= bit(call_.agent->number);
        const auto before = tried_;
        tried_ = refused;
        const bool moved = move(now);
        tried_ = before;
        if (!moved) {
            return false;
        }
    }
    ++record_.attempts;
    flying_ = call_.agent;
    reach->group->began(flying_->number);
    return true;
}

// To an endpoint that the call has not been at. False: there is none that is usable.
bool call_attempts::move(core::steady_time now)
{
    if (call_.agent->siblings == nullptr) {
        return false;
    }
    const auto next =
        call_.agent->reach->group->choose({.now = now, .caller = call_.caller.hash(), .dice = dice(), .tried = tried_});
    if (!next) {
        return false;
    }
    auto to = model::endpoint_of(call_.agent, *next);
    call_.request.set_head(model::moved_head(call_.request.head, *call_.agent, *to));
    call_.agent = std::move(to);
    return true;
}

bool call_attempts::again(const failure& why, core::steady_time now)
{
    tried_ |= bit(call_.agent->number);
    if (unreached(why)) {
        if (!move(now)) {
            return false;
        }
        note(model::retry_reason::unconnected);
        return true;
    }
    ++sent_;
    const auto& agent = *call_.agent;
    const bool lost = why.code == errc::upstream_reset && why.connected && !why.answer_began;
    if (!lost || !call_.traits.repeatable || call_.request.passed || agent.calls == nullptr) {
        return false;
    }
    if (sent_ >= agent.terms->retry.attempts || !agent.calls->retries().take(agent.terms->retry.budget, now)) {
        return false;
    }
    move(now);  // without another endpoint: to the same one
    note(model::retry_reason::unanswered);
    return true;
}

void call_attempts::landed() noexcept
{
    if (flying_ != nullptr) {
        flying_->reach->group->ended(flying_->number);
        flying_.reset();
    }
}

void call_attempts::note(model::retry_reason why) noexcept
{
    ++record_.retries[static_cast<std::size_t>(why)];
}

}  // namespace gateway::relay
