// The attempts of one call: at which endpoints, how often, and whether it may be sent once more. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/balancing/breaker.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/call_permit.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gateway::relay {

struct relay_call;

// 64 random bits of this thread.
std::uint64_t dice();

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

    call_permit permit_;
    relay_call& call_;
    model::attempt_record record_;
    std::shared_ptr<const model::agent_entry> flying_;  // to this endpoint, of several
    std::string head_;                                  // what call_.request.head points into once the call has moved
    balancing::endpoint_mask tried_ = 0;
    std::uint64_t sent_ = 0;  // of the present call, with a connection
};

}  // namespace gateway::relay
