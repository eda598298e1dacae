// The phase of a request that says whose it is, whether its caller gets that far, and whether it sends too much. One
// thread, that of the worker.
#pragma once

#include "config/settings.hpp"
#include "gateway/access/gate.hpp"
#include "gateway/access/rate_limiter.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"
#include "gateway/telemetry/audit_tally.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::request {

class access_guard {
public:
    // References outlive the guard.
    access_guard(model::control_services& control, const config::settings& settings, const local_snapshot& known)
        : gate_{control.credentials},
          registration_gate_{control.credentials},
          a2x_{settings.errors.a2x},
          deadline_fields_{settings.deadlines.fields},
          known_{known}
    {
    }

    // From now on they hear of keys that are accepted, and of credentials that are refused too late for the record of their request.
    void set_observers(telemetry::worker_metrics& metrics, telemetry::audit_tally& tally);

    // Requests under way keep what they began with.
    void set_plans(access::access_plans plans);

    // Whether agents may register themselves here.
    bool takes_registrations() const noexcept { return registration_gate_.plan() != nullptr; }

    // Whether callers need a credential.
    bool asks_callers() const noexcept { return gate_.plan() != nullptr; }

    // Null: nothing is limited.
    void set_rate_limits(std::shared_ptr<access::rate_limiter> limits) { limits_ = std::move(limits); }

    // Whether the agent of the request, a member of a bundle, is contained: then the request has met that.
    bool meets_containment(request_context& request) const;

    // Before all: the answer to a caller whose address sends too much; nullopt: it does not.
    std::optional<net::routine<>> admit_address(request_context& request) const;

    // Sets the owner of the request, or fails to. False: it takes a question, ask(), which the caller's deadline bounds.
    bool identify(request_context& request);
    net::routine<> ask(request_context& request);

    // Once the owner is known: the answer to a caller that does not get any further; nullopt: it does. Of a request for an
    // agent, sets whether the caller may know of it and call it. A request counts for its principal, and for its agent if
    // the caller may know of that.
    std::optional<net::routine<>> admit(request_context& request) const;

    // Once it is known which agent a call by gRPC names, as its destination's: the answer to a caller that does not get any further;
    // nullopt: it does, with its agent_visible, may_call and contained set.
    std::optional<net::routine<>> admit_to_named(request_context& request) const;

    // Once it is known for which member of a bundle a request is, which is its agent: the answer to one too many; nullopt: it may go on.
    std::optional<net::routine<>> admit_to_member(request_context& request) const;

    // Whether a browser asks about an MCP server before it calls, without credentials (Fetch standard, "CORS-preflight fetch").
    // Every agent that the caller may not know of is answered for in the same way. Not of another agent that has `/mcp` among
    // its relay_paths. Once the owner is known.
    bool asks_first(const request_context& request) const;

    // From now on denials name the rules' places in this file; null: there is none.
    void set_rules(std::shared_ptr<const config::rule_places> rules) { rules_ = std::move(rules); }

    // For a request to a bundle: notes the rule that hides the tool from its caller, which the member calls `tool`.
    void note_member_rule(request_context& request, const model::agent_entry& member, std::string_view tool) const;

    // Once it is answered: notes what access denied it, of which agent, and by which rule.
    void note_denial(request_context& request) const;

private:
    bool identifies(const request_context& request) const;
    const core::agent* record_of(request_context& request) const;
    bool is_for_agent(request_context& request) const;
    bool may_know(request_context& request, const core::result<access::caller>& owner) const;
    std::optional<net::routine<>> admit_of_contained(request_context& request) const;
    std::optional<net::routine<>> admit_to_contained(request_context& request) const;
    std::optional<net::routine<>> admit_principal(request_context& request) const;
    std::optional<net::routine<>> admit_owner(request_context& request) const;
    std::optional<net::routine<>> admit_one_more(request_context& request) const;
    std::optional<net::routine<>> admit_to_agent(request_context& request) const;

    std::string rule_of_denial(const request_context& request) const;

    access::gate& gate_for(const request_context& request) noexcept;

    access::gate gate_;
    access::gate registration_gate_;  // has one more credential, which is good for nothing else
    bool a2x_;
    const std::vector<std::string>& deadline_fields_;
    std::shared_ptr<access::rate_limiter> limits_;      // null: none
    std::shared_ptr<const config::rule_places> rules_;  // null: none
    const local_snapshot& known_;
};

}  // namespace gateway::request
