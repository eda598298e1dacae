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
#include "net/server/caller_exchange.hpp"

#include <list>
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

    // The principals that are contained from now on; null: none. Ends what they have open, and returns how much that was.
    model::cut_counts set_containments(model::containments_pointer now);

    // Counts what set_containments() would end.
    model::cut_counts would_cut(const model::containments& then) const;

    // An admitted request whose answer takes its time, for as long as this: it ends when its owner is contained. One that has no head of an
    // answer by then is interrupted, and gets containment(); other answers are cut.
    class open_answer {
    public:
        open_answer(admin_guard& of, net::caller_exchange& caller, const access::caller& owner)
            : of_{of},
              caller_{caller},
              owner_{owner},
              at_{of.open_.insert(of.open_.end(), this)}
        {
        }
        open_answer(const open_answer&) = delete;
        open_answer& operator=(const open_answer&) = delete;
        ~open_answer() { of_.open_.erase(at_); }

        // The answer that is left to send; nullopt: it was not contained, or has answered.
        std::optional<responses::answer> containment() const;

    private:
        friend class admin_guard;

        const model::containment_terms* met(const model::containments& all) const;

        admin_guard& of_;
        net::caller_exchange& caller_;
        const access::caller owner_;
        std::list<open_answer*>::iterator at_;
        model::containments_pointer ended_by_;  // null: not yet
    };

    // The rights of a request for `path`, which outlives the routine. Fails with bad_request, unauthenticated,
    // access_unavailable, rate_limited, principal_contained and forbidden, which are counted and go to the audit; the answer says what is needed.
    net::routine<std::optional<responses::answer>>
    refuse(net::caller_exchange& caller, std::string_view path, admin_rights& rights);

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
    std::list<open_answer*> open_;
};

// Whether a page of another site has made an operator's browser send this (Fetch Metadata; RFC 6454). It matters for requests that act, and
// for GET of /events, which stays open; others are never cross-site here. The sign is an Origin that is not the Host that was asked, with
// either scheme, since a proxy may have taken TLS off, or a Sec-Fetch-Site that is neither `same-origin` nor `none`. A request without both
// fields comes from no page. Pure.
bool is_cross_site(const net::http1::request_head& asked, std::string_view path);

}  // namespace gateway::admin
