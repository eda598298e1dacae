// Says of each request of one worker whose it is. One thread, that of the worker.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "core/keyed_hash.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/failure_limit.hpp"
#include "gateway/access/hashed_cache.hpp"
#include "gateway/access/shared_question.hpp"
#include "gateway/model/credential_checks.hpp"
#include "gateway/model/request_record.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::access {

// The owner of a request's credential; null: it has none.
using caller = std::shared_ptr<const core::principal>;

class gate {
public:
    // `control` outlives the gate.
    explicit gate(const model::credential_checks& control)
        : control_{control}
    {
    }

    // From now on; null: callers need no credential. What was accepted before is forgotten. `failures` is not null with a plan.
    void set_plan(std::shared_ptr<const access_plan> plan, std::shared_ptr<failure_limit> failures);

    // From now on it is told of each key and fixed token that is accepted, and not only remembered.
    void set_observer(std::function<void(const core::principal&)> observer) { observer_ = std::move(observer); }

    // From now on it is told of each credential that is refused after whoever asked about it has given up: from which address.
    void set_refusal_observer(std::function<void(std::string_view address)> observer)
    {
        refusal_observer_ = std::move(observer);
    }

    // Null: callers need no credential. A request keeps the plan that it began with.
    const std::shared_ptr<const access_plan>& plan() const noexcept { return plan_; }

    // The owner of a request, with a plan: by its credential, and if it has none by the certificate of its connection. Fails with bad_request, unauthenticated, access_unavailable, and with
    // rate_limited after too many failures of the address. nullopt: a
    // question takes time, see ask(). `address` is the caller's. `for_agent`: as
    // credential_reader::read().
    std::optional<core::result<caller>>
    identify(net::caller_exchange& connection, std::string_view address, bool for_agent = false);

    // The owner after every question that has to be asked; requests with one credential share one, which goes on when a request
    // waits no more for it. A credential that was accepted keeps its owner meanwhile, until its own end and for as long again as it was
    // accepted: a request waits no longer than `longest_wait` for the answer to the question about it, and needs none that fails, but a
    // refusal counts. Fails also as net::gave_up(), at `due`. Connection and address outlive the routine.
    net::routine<core::result<caller>>
    ask(net::caller_exchange& connection, std::string_view address, core::steady_time due, bool for_agent = false);

    static constexpr core::duration longest_wait{200};  // of those, since the question began

private:
    struct question : shared_question<core::result<caller>> {
        explicit question(core::steady_time now) noexcept
            : begun{now}
        {
        }

        core::steady_time begun;
        bool is_left = false;  // the request that began it waits no more
    };

    // Who asks what, and from where.
    struct asking {
        std::shared_ptr<question> about;
        core::hash_value hash;
        model::presented_credential presented;
        std::string address;
        net::loop& here;
    };

    // Among the questions under way, as long as it stands.
    class asked_question {
    public:
        asked_question(gate& of, const asking& what);
        ~asked_question();
        asked_question(const asked_question&) = delete;
        asked_question& operator=(const asked_question&) = delete;

    private:
        gate& gate_;
        const asking& what_;
    };

    std::shared_ptr<question>
    begin(const credential& found, const core::hash_value& hash, std::string_view address, net::loop& here);
    net::routine<> settle(asking what);
    net::routine<core::result<caller>>
    verify(model::presented_credential presented, core::hash_value hash, net::loop& here);
    core::result<caller> owner_of(net::caller_exchange& connection);
    core::hash_value hash_of(const credential& found);
    caller keep(const core::hash_value& hash, model::accepted_credential accepted, core::steady_time now);

    const model::credential_checks& control_;
    std::shared_ptr<const access_plan> plan_;
    core::keyed_hash hash_;
    hashed_cache<caller> accepted_;
    std::map<core::hash_value, std::shared_ptr<question>> questions_;  // under way, about credentials, with this plan
    std::shared_ptr<failure_limit> failures_;
    std::function<void(const core::principal&)> observer_;
    std::function<void(std::string_view)> refusal_observer_;
};

// Outcome of authentication and access for one request, for counters and the audit. Pure.
model::access_outcome outcome_of(const core::result<caller>& owner) noexcept;

// Why a request with this outcome was denied that failed with `code`; nullopt: something else failed.
std::optional<model::denial> denial_of(model::access_outcome outcome, core::errc code) noexcept;

}  // namespace gateway::access
