// Lets calls to their agents: one of few at a time, the others after a while in the agent's queue, or not at all. One thread.
#pragma once

#include "core/error.hpp"
#include "gateway/balancing/overload.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "net/loop/routine.hpp"

#include <optional>

namespace gateway::model {
struct control_services;
}

namespace gateway::relay {
struct relay_call;
}

namespace gateway::request {

struct request_context;

class admission {
public:
    // Calls with a larger body are refused at level 2 of overload.
    static constexpr std::uint64_t small_body = 64 * 1024;

    // References outlive the object.
    admission(const model::control_services& control, telemetry::worker_metrics& metrics)
        : control_{control},
          metrics_{metrics}
    {
    }

    // Before the body is read: what speaks against serving the request while the gateway is overloaded. Its answers end their
    // connections then.
    std::optional<core::error> objection(request_context& request) const;

    // Takes request.slot for the call, or says why it gets none; nothing: the call has to wait.
    std::optional<core::result<>> enter(request_context& request, const relay::relay_call& call) const;

    // Waits for a slot in the queue. Fails with overloaded and as waits do: interrupted().
    net::routine<core::result<>> wait(request_context& request, const relay::relay_call& call) const;

private:
    core::error shed(request_context& request, telemetry::shed_reason why) const;

    const model::control_services& control_;
    telemetry::worker_metrics& metrics_;
};

}  // namespace gateway::request
