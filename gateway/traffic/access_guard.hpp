// The phase of a request that says whose it is and whether its caller gets that far. One thread, that of the worker.
#pragma once

#include "config/settings.hpp"
#include "gateway/access/gate.hpp"
#include "gateway/traffic/local_snapshot.hpp"
#include "gateway/traffic/request_context.hpp"
#include "gateway/traffic/responder.hpp"

#include <memory>
#include <optional>

namespace gateway::traffic {

class access_guard {
public:
    // References outlive the guard.
    access_guard(model::control_services& control, const config::settings& settings, const local_snapshot& known)
        : gate_{control, settings.limits.failed_credentials},
          a2x_{settings.errors.a2x},
          known_{known}
    {
    }

    // Null: callers need no credential. Requests under way keep what they began with.
    void set_plan(std::shared_ptr<const access::access_plan> plan) { gate_.set_plan(std::move(plan)); }

    // Sets the owner of the request, or fails to. False: it takes a question, ask().
    bool identify(request_context& request);
    net::routine<> ask(request_context& request);

    // Once the owner is known: the answer to a caller that does not get any further; nullopt: it does. Of a request for an
    // agent, sets whether the caller may know of it and call it.
    std::optional<net::routine<>> admit(request_context& request) const;

private:
    std::optional<net::routine<>> admit_to_agent(request_context& request) const;

    access::gate gate_;
    bool a2x_;
    const local_snapshot& known_;
};

}  // namespace gateway::traffic
