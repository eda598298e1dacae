// The attempts of one call: at which endpoints, how often, and whether it may be sent once more. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/balancing/breaker.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gateway::relay {

struct relay_call;

// 64 random bits of this thread.
std::uint64_t dice();

// Leave of an agent's breaker to call it, until the breaker hears how the call went.
class breaker_permit {
public:
    // `control` outlives the permit; it hears of breakers that change.
    explicit breaker_permit(model::control_services& control) noexcept
        : control_{control}
    {
    }
    ~breaker_permit() { end(balancing::call_end::unknown, {}); }
    breaker_permit(const breaker_permit&) = delete;
    breaker_permit& operator=(const breaker_permit&) = delete;

    // Ends the one before as unknown. False: the breaker lets no call pass now. An agent without a breaker may always be called.
    bool take(std::shared_ptr<const model::agent_entry> agent, core::steady_time now)
    {
        end(balancing::call_end::unknown, now);
        if (!agent->breaker) {
            return true;
        }
        permit_ = agent->breaker->admit(now);
        agent_ = std::move(agent);
        return permit_.has_value();
    }

    // Without one: nothing happens.
    void end(balancing::call_end how, core::steady_time now)
    {
        if (!permit_) {
            return;
        }
        auto* group = agent_->reach == nullptr ? nullptr : agent_->reach->group.get();
        const auto change = agent_->breaker->ended(*permit_, how, now, group);
        permit_.reset();
        if (change != balancing::breaker_change::none) {
            control_.breaker_changed(agent_, change);
        }
    }

private:
    model::control_services& control_;
    std::shared_ptr<const model::agent_entry> agent_;   // of the permit
    std::optional<balancing::breaker::permit> permit_;  // nullopt: no call is on its way
};

class call_attempts {
public:
    // `control` and `call` outlive the attempts. A call that moves to another endpoint gets that one's head.
    call_attempts(model::control_services& control, relay_call& call) noexcept
        : permit_{control},
          call_{call}
    {
    }
    ~call_attempts() { landed(); }
    call_attempts(const call_attempts&) = delete;
    call_attempts& operator=(const call_attempts&) = delete;

    // The call begins: from now on every endpoint may be tried.
    void begin(core::steady_time now);

    // Leave to send it to the endpoint where it is, or to another one if that is not usable. False: no endpoint is.
    bool admit(core::steady_time now);

    // The call was sent again on a new connection, because the used one had ended before.
    void sent_again() noexcept
    {
        ++record_.attempts;
        note(model::retry_reason::unacknowledged);
    }

    // How an attempt ended: the breaker hears it.
    void end(balancing::call_end how, core::steady_time now) { permit_.end(how, now); }

    // The facts of an attempt that failed.
    struct failure {
        core::errc code;
        bool connected;     // there was a connection
        bool answer_began;  // a byte of it came
    };

    // Whether the call is sent once more, and where: that is set.
    bool again(const failure& why, core::steady_time now);

    // The exchange is over: the endpoint has one call less.
    void landed() noexcept;

    const model::attempt_record& record() const noexcept { return record_; }

private:
    bool move(core::steady_time now);
    void note(model::retry_reason why) noexcept;

    breaker_permit permit_;
    relay_call& call_;
    model::attempt_record record_;
    std::shared_ptr<const model::agent_entry> flying_;  // to this endpoint, of several
    balancing::endpoint_mask tried_ = 0;
    std::uint64_t sent_ = 0;  // of the present call, with a connection
};

}  // namespace gateway::relay
