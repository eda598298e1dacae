#include "gateway/admin/admin_guard.hpp"

#include "core/ascii.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "core/url.hpp"
#include "gateway/access/gate.hpp"
#include "gateway/access/policy.hpp"
#include "gateway/console/events.hpp"
#include "gateway/console/page.hpp"
#include "gateway/console/try.hpp"
#include "gateway/model/management_call.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace gateway::admin {
namespace {

using core::errc;
using net::http1::method;

// An origin has nothing behind its port.
bool is_own(std::string_view origin, std::string_view authority)
{
    const auto scheme = origin.find("://");
    if (scheme == std::string_view::npos || origin.find_first_of("/?#@\\ ", scheme + 3) != std::string_view::npos) {
        return false;
    }
    const auto own = core::origin_of(std::string{origin.substr(0, scheme + 3)} + std::string{authority});
    return !own.empty() && own == core::origin_of(origin);
}

// Orchestrators ask for these without a credential, and browsers for the console, which asks for one.
bool is_open(std::string_view path) noexcept
{
    return path == "/healthz" || path == "/readyz" || console::is_page_path(path);
}

// The scopes that a refused caller lacks there.
std::vector<std::string> scopes_for(std::string_view path)
{
    if (path == "/metrics") {
        return {core::scope_metrics};
    }
    if (path == "/rpc" || path == "/" || path == console::events_path) {
        return {core::scope_read};
    }
    return path == model::registration_path ? std::vector<std::string>{core::scope_register}
                                            : std::vector<std::string>{core::scope_read, core::scope_write};
}

bool may_ask(std::string_view path, const core::principal& owner, const admin_rights& rights)
{
    const bool reads = access::has_scope(&owner, core::scope_read);
    if (path == "/metrics") {
        return reads || access::has_scope(&owner, core::scope_metrics);
    }
    if (path == "/rpc" || path == "/" || path == console::events_path) {
        return reads;
    }
    if (path == model::registration_path) {
        return rights.registers;
    }
    return (path != "/reload" && path != "/handover" && !console::is_try_path(path)) || rights.writes;
}

responses::answer answer_to_contained(const model::containment_terms& terms)
{
    constexpr auto code = errc::principal_contained;
    auto answer =
        responses::refusal_answer(code, core::http_status(code), core::http_error_body(code, {}, terms.notice));
    if (terms.until) {
        responses::add_to_data(answer.body, "until", model::end_text(terms));
    }
    return answer;
}

}  // namespace

admin_guard::admin_guard(const model::control_services& control, const config::settings& settings)
    : control_{control},
      proxies_{settings.trusted_proxies},
      failures_{
          std::make_shared<access::failure_limit>(settings.limits.failed_credentials, core::keyed_hash{}({}, {})[0])
      },
      gate_{control.credentials},
      registration_gate_{control.credentials},
      tally_{settings.audit != "off"}
{
    const auto note_key = [this](const core::principal& owner) {
        tally_.note_key(owner);
        totals_.keys.note({owner.provider, owner.id}, std::chrono::system_clock::now());
    };
    gate_.set_observer(note_key);
    registration_gate_.set_observer(note_key);
    const auto note_refusal = [this](std::string_view address) {
        model::request_record record;
        record.peer = address;
        note_denial(record, model::denial::refused);
    };
    gate_.set_refusal_observer(note_refusal);
    registration_gate_.set_refusal_observer(note_refusal);
}

void admin_guard::set_plans(access::access_plans plans)
{
    gate_.set_plan(std::move(plans.callers), failures_);
    registration_gate_.set_plan(std::move(plans.registration), failures_);
}

model::cut_counts admin_guard::set_containments(model::containments_pointer now)
{
    contained_ = std::move(now);
    model::cut_counts cut;
    const auto all = contained_;
    if (all == nullptr) {
        return cut;
    }
    cut = would_cut(*all);
    for (auto at = open_.begin(); at != open_.end();) {
        auto& each = **at++;  // one that ends leaves within this, and no other
        if (each.met(*all) == nullptr) {
            continue;
        }
        each.ended_by_ = all;
        if (each.caller_.answered()) {
            each.caller_.abort();
        } else {
            each.caller_.interrupt();
        }
    }
    return cut;
}

model::cut_counts admin_guard::would_cut(const model::containments& then) const
{
    model::cut_counts counts;
    for (const auto* const each : open_) {
        if (each->met(then) != nullptr) {
            ++(each->caller_.answered() ? counts.streams : counts.calls);
        }
    }
    return counts;
}

// Null: it goes on, or has been ended before.
const model::containment_terms* admin_guard::open_answer::met(const model::containments& all) const
{
    return ended_by_ == nullptr ? all.find_principal(owner_.get()) : nullptr;
}

std::optional<responses::answer> admin_guard::open_answer::containment() const
{
    if (ended_by_ == nullptr || caller_.answered()) {
        return std::nullopt;
    }
    return answer_to_contained(*ended_by_->find_principal(owner_.get()));
}

access::gate& admin_guard::gate_for(std::string_view path) noexcept
{
    return path == model::registration_path ? registration_gate_ : gate_;
}

net::routine<std::optional<responses::answer>>
admin_guard::refuse(net::caller_exchange& caller, std::string_view path, admin_rights& rights)
{
    const std::string peer{caller.peer()};
    rights.who = peer;
    const bool proxied = !proxies_.empty() && proxies_.trusts(peer);
    rights.address = proxied ? relay::client_address(peer, caller.head().fields, proxies_) : peer;
    auto& gate = gate_for(path);
    const auto plan = gate.plan();
    if (plan == nullptr || is_open(path)) {
        co_return std::nullopt;
    }
    const auto& address = rights.address;
    core::result<access::caller> owner{access::caller{}};
    if (auto known = gate.identify(caller, address)) {
        owner = std::move(*known);
    } else {
        owner = co_await gate.ask(caller, address, net::never);
    }
    std::optional<errc> failure;
    const auto all = contained_;
    const auto* contained = owner && all != nullptr ? all->find_principal(owner->get()) : nullptr;
    if (!owner) {
        failure = owner.error().code;
    } else if (*owner == nullptr) {
        failure = errc::unauthenticated;
    } else if (contained != nullptr) {
        failure = errc::principal_contained;
    } else {
        rights.writes =
            access::has_scope(owner->get(), core::scope_read) && access::has_scope(owner->get(), core::scope_write);
        rights.registers = rights.writes || access::has_scope(owner->get(), core::scope_register);
        rights.owner = *owner;
        rights.who = (*owner)->provider + ' ' + (*owner)->id;
        if (!may_ask(path, **owner, rights)) {
            failure = errc::forbidden;
        }
    }
    note(owner, failure, address);
    if (!failure) {
        co_return std::nullopt;
    }
    if (contained != nullptr) {
        co_return answer_to_contained(*contained);
    }
    auto reply = responses::error_answer(*failure, {});
    if (*failure == errc::unauthenticated) {
        reply.fields += plan->challenges(/*refused=*/!owner, {});
    } else if (*failure == errc::forbidden) {
        reply.fields += plan->scope_challenge({}, **owner, scopes_for(path));
    }
    co_return reply;
}

void admin_guard::note(const core::result<access::caller>& owner, std::optional<errc> failure, std::string_view address)
{
    model::request_record record;
    record.peer = address;
    record.access = access::outcome_of(owner);
    if (owner && *owner) {
        record.principal = (*owner)->id;
        record.provider = (*owner)->provider;
    }
    const auto provider = record.provider.empty() ? std::string{"none"} : std::string{record.provider};
    totals_.access[provider].add(*record.access);
    const bool contained = failure == errc::principal_contained;
    const auto denied = failure ? access::denial_of(*record.access, *failure) : std::nullopt;
    note_denial(record, contained ? model::denial::contained : denied);
}

void admin_guard::note_forbidden(const admin_rights& rights)
{
    model::request_record record;
    record.peer = rights.address;
    if (rights.owner) {
        record.principal = rights.owner->id;
        record.provider = rights.owner->provider;
    }
    note_denial(record, model::denial::forbidden);
}

void admin_guard::note_denial(model::request_record& record, std::optional<model::denial> denied)
{
    record.denied = denied;
    if (denied) {
        totals_.denied.add(*denied);
        tally_.note(record);
    }
    if (auto notes = tally_.take(); !notes.empty()) {
        control_.audit(std::move(notes));
    }
}

bool is_cross_site(const net::http1::request_head& asked, std::string_view path)
{
    const bool reads = asked.verb == method::get || asked.verb == method::head || asked.verb == method::options;
    if (reads && path != console::events_path) {
        return false;
    }
    return std::ranges::any_of(asked.fields, [&](const auto& each) {
        if (each.id == net::http1::field_name::origin) {
            return !is_own(each.value, asked.authority);
        }
        return core::equal_ignoring_case(each.name, "Sec-Fetch-Site") && each.value != "same-origin" &&
               each.value != "none";
    });
}

}  // namespace gateway::admin
