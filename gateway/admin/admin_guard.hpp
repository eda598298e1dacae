// The owners of requests on the admin listener, and whether they may do what they ask for (`admin_access`). On the control
// loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/access.hpp"
#include "core/error.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/failure_limit.hpp"
#include "gateway/access/gate.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/relay/forwarded.hpp"
#include "gateway/responses/answer.hpp"
#include "gateway/telemetry/audit_tally.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "net/http1/head.hpp"
#include "net/server/server_connection.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::admin {

// The rights of a request that is admitted.
struct admin_rights {
    bool writes = true;      // anything
    bool registers = true;   // agents, as an operator if it also writes
    std::string who;         // for the audit trail
    access::caller owner{};  // null: nobody in particular
    std::string address{};   // of the caller, behind trusted proxies too
};

class admin_guard {
public:
    // References outlive the guard.
    admin_guard(const model::control_services& control, const config::settings& settings);

    // From now on requests need a credential; without plans they need none. Requests under way keep what they began with.
    void set_plans(access::access_plans plans);

    // The principals that are contained from now on; null: none.
    void set_containments(model::containments_pointer now) { contained_ = std::move(now); }

    // The rights of a request for `path`, which outlives the routine. Fails with bad_request, unauthenticated,
    // access_unavailable, rate_limited, principal_contained and forbidden, which are counted and go to the audit; the answer says what is needed.
    net::routine<std::optional<responses::answer>>
    refuse(net::server_connection& caller, std::string_view path, admin_rights& rights);

    // A request that was admitted asked for something that its owner may not do.
    void note_forbidden(const admin_rights& rights);

    // How many requests were denied, and whose the others were.
    const telemetry::loop_totals& totals() const noexcept { return totals_; }

private:
    access::gate& gate_for(std::string_view path) noexcept;
    void note(const core::result<access::caller>& owner, std::optional<core::errc> failure, std::string_view address);
    void note_denial(model::request_record& record, std::optional<model::denial> denied);

    const model::control_services& control_;
    relay::proxy_trust proxies_;
    std::shared_ptr<access::failure_limit> failures_;
    access::gate gate_;
    access::gate registration_gate_;
    telemetry::audit_tally tally_;
    telemetry::loop_totals totals_;
    model::containments_pointer contained_;
};

// Whether a page of another site has made an operator's browser send this (Fetch Metadata; RFC 6454). It matters for requests that act, and
// for GET of /events, which stays open; others are never cross-site here. The sign is an Origin that is not the Host that was asked, with
// either scheme, since a proxy may have taken TLS off, or a Sec-Fetch-Site that is neither `same-origin` nor `none`. A request without both
// fields comes from no page. Pure.
bool is_cross_site(const net::http1::request_head& asked, std::string_view path);

}  // namespace gateway::admin
