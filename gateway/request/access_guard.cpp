#include "gateway/request/access_guard.hpp"

#include "gateway/access/explanation.hpp"
#include "gateway/access/gate.hpp"
#include "gateway/access/policy.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/well_known.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/request/calls_under_way.hpp"
#include "gateway/request/router.hpp"

#include <chrono>
#include <utility>

namespace gateway::request {
namespace {

// A JSON-RPC call of A2A 0.3, which is what a call is that names no version (specification 1.0.1 section 3.6.2).
bool calls_before_1(const request_context& request)
{
    const auto& head = request.caller.head();
    const auto* version = net::http1::find(head.fields, "A2A-Version");
    return request.to.where == model::route::call && request.to.grpc.empty() && head.verb == net::http1::method::post &&
           (version == nullptr || version->empty() || version->starts_with("0."));
}

std::optional<model::denial> denial_of(const request_context& request) noexcept
{
    const auto& record = request.record;
    if (record.denied) {
        return record.denied;
    }
    if (request.contained && record.code == request.contained.code) {
        return *record.code == core::errc::card_held ? std::nullopt : std::optional{model::denial::contained};
    }
    if (!record.access || !record.code || record.over) {
        return std::nullopt;
    }
    if (const auto denied = access::denial_of(*record.access, *record.code)) {
        return denied;
    }
    return request.hidden ? std::optional{model::denial::hidden} : std::nullopt;
}

// An agent that waits for an operator's approval gets as little as one that is contained.
met_containment waits_for_approval()
{
    static const auto none = std::make_shared<const model::containments>();
    static const model::containment_terms usual;
    return {none, &usual, core::errc::card_held};
}

// Routes that read messages of JSON-RPC answer themselves, with the id.
std::optional<net::routine<>> refusal_of_contained(request_context& request)
{
    const auto where = request.to.where;
    const bool posts = request.caller.head().verb == net::http1::method::post;
    const bool answers_itself =
        where == model::route::mcp || where == model::route::bundle || (where == model::route::call && posts);
    return !request.contained || answers_itself ? std::nullopt : std::optional{respond_contained(request)};
}

}  // namespace

void access_guard::set_observers(telemetry::worker_metrics& metrics, telemetry::audit_tally& tally)
{
    const auto note_key = [&metrics, &tally](const core::principal& owner) {
        tally.note_key(owner);
        metrics.note_key({owner.provider, owner.id}, std::chrono::system_clock::now());
    };
    const auto note_refusal = [&metrics, &tally](std::string_view address) {
        model::request_record record;
        record.peer = address;
        record.denied = model::denial::refused;
        metrics.count_denied(*record.denied);
        tally.note(record);
    };
    for (auto* const gate : {&gate_, &registration_gate_}) {
        gate->set_observer(note_key);
        gate->set_refusal_observer(note_refusal);
    }
}

void access_guard::set_plans(access::access_plans plans)
{
    gate_.set_plan(std::move(plans.callers), plans.failures);
    registration_gate_.set_plan(std::move(plans.registration), std::move(plans.failures));
}

access::gate& access_guard::gate_for(const request_context& request) noexcept
{
    return request.way->needs == identity::registrant ? registration_gate_ : gate_;
}

// The record of the agent that is asked for, also if it is disabled: a credential that is the server's stays so. Null: there is none.
const core::agent* access_guard::record_of(request_context& request) const
{
    if (const auto* known = known_.find(request.to.agent, request.lookup)) {
        return &known->entry->record;
    }
    return request.disabled ? &request.disabled->record : nullptr;
}

// Whether `Authorization` is the caller's login at an MCP server.
bool access_guard::is_for_agent(request_context& request) const
{
    const auto* record = request.to.where == model::route::mcp ? record_of(request) : nullptr;
    return record != nullptr && model::passes_logins(*record);
}

bool access_guard::identify(request_context& request)
{
    if (request.way->needs == identity::address) {
        return true;
    }
    auto& gate = gate_for(request);
    request.sender.access = gate.plan();
    if (request.sender.inner != nullptr) {
        request.sender.owner = request.sender.inner->principal;
        return true;
    }
    if (!request.sender.access) {
        return true;
    }
    const bool for_agent = is_for_agent(request);
    auto owner = gate.identify(request.caller, request.address(), for_agent);
    if (owner && for_agent && !may_know(request, *owner)) {
        auto as_of_none = gate.identify(request.caller, request.address());
        if (!as_of_none || !may_know(request, *as_of_none)) {
            owner = std::move(as_of_none);
        }
    }
    if (!owner) {
        return false;
    }
    request.sender.owner = std::move(*owner);
    return true;
}

// Whether the owner may know of the agent that is asked for. If not, it hears what it would hear of none, where the field is a credential.
bool access_guard::may_know(request_context& request, const core::result<access::caller>& owner) const
{
    const auto* record = record_of(request);
    return record != nullptr && request.sender.access->may_discover(*record, owner ? owner->get() : nullptr);
}

net::routine<> access_guard::ask(request_context& request)
{
    auto& caller = request.caller;
    const auto due = relay::caller_deadline(caller.head().fields, deadline_fields_, caller.started());
    auto& gate = gate_for(request);
    const bool for_agent = is_for_agent(request);
    auto owner = for_agent ? gate.identify(caller, request.address(), for_agent) : std::nullopt;
    if (!owner) {
        owner = co_await gate.ask(caller, request.address(), due, for_agent);
    }
    if (for_agent && !may_know(request, *owner)) {
        auto as_of_none = gate.identify(caller, request.address());
        if (!as_of_none) {
            as_of_none = co_await gate.ask(caller, request.address(), due);
        }
        if (!may_know(request, *as_of_none)) {
            owner = std::move(as_of_none);
        }
    }
    request.sender.owner = std::move(*owner);
}

bool access_guard::asks_first(const request_context& request) const
{
    if (request.caller.head().verb != net::http1::method::options || request.to.where != model::route::mcp) {
        return request.caller.head().verb == net::http1::method::options && request.to.where == model::route::bundle;
    }
    const auto* known = known_.find(request.to.agent);
    const bool relayed =
        known != nullptr && !known->entry->record.mcp && fits_any(known->entry->record.relay_paths, model::mcp_path);
    if (!relayed || !request.sender.access) {
        return !relayed;
    }
    const auto& record = known->entry->record;
    const auto* caller = request.principal();
    // A browser asks without credentials: after a 401 it would not send the call that has them.
    return !request.sender.access->may_discover(record, caller) ||
           (caller == nullptr && !request.sender.access->may_call_somehow(record, nullptr));
}

// Whether the request has an owner to be known: what everybody may read has none.
bool access_guard::identifies(const request_context& request) const
{
    return request.sender.access && request.way->needs != identity::nobody && !asks_first(request);
}

std::optional<net::routine<>> access_guard::admit_address(request_context& request) const
{
    if (limits_ && request.sender.inner == nullptr &&
        !limits_->admits_address(request.address(), request.caller.owner().now())) {
        constexpr auto over = model::rate_limit::address;
        return respond_limited(request, over, limits_->rate(over));
    }
    return std::nullopt;
}

std::optional<net::routine<>> access_guard::admit(request_context& request) const
{
    if (identifies(request)) {
        request.record.access = access::outcome_of(request.sender.owner);
        if (const auto* caller = request.principal()) {
            request.slot.belong_to(core::mark_of_principal(caller->provider, caller->id));
            request.record.principal = caller->id;
            request.record.provider = caller->provider;
        }
    }
    if (auto refused = admit_of_contained(request)) {
        return refused;
    }
    if (auto limited = admit_principal(request)) {
        return limited;
    }
    if (auto denied = admit_owner(request)) {
        return denied;
    }
    if (auto refused = admit_to_contained(request)) {
        return refused;
    }
    return request.contained ? std::nullopt : admit_one_more(request);
}

// The answer to a contained principal.
std::optional<net::routine<>> access_guard::admit_of_contained(request_context& request) const
{
    const auto& all = known_.containments();
    if (all == nullptr || (!identifies(request) && request.sender.inner == nullptr)) {
        return std::nullopt;
    }
    request.contained = met_by(all, request.principal(), {});
    return refusal_of_contained(request);
}

// The answer to a request for a contained agent that the caller may know of.
std::optional<net::routine<>> access_guard::admit_to_contained(request_context& request) const
{
    const bool names = request.way->needs == identity::of_agent || request.way->needs == identity::of_named;
    if (request.contained || !names || request.to.agent.empty() || !request.agent_visible) {
        return std::nullopt;
    }
    const auto& all = known_.containments();
    const auto* known = known_.find(request.to.agent, request.lookup);
    if (known == nullptr || (all == nullptr && !known->entry->held) || asks_first(request)) {
        return std::nullopt;
    }
    request.contained = met_by(all, nullptr, known->entry->record.id);
    if (!request.contained && known->entry->held) {
        request.contained = waits_for_approval();
    }
    if (request.contained) {
        request.set_agent(known->entry);
    }
    return refusal_of_contained(request);
}

bool access_guard::meets_containment(request_context& request) const
{
    if (!request.contained) {
        request.contained = met_by(known_.containments(), request.principal(), request.agent->record.id);
    }
    if (!request.contained && request.agent->held) {
        request.contained = waits_for_approval();
    }
    return static_cast<bool>(request.contained);
}

std::optional<net::routine<>> access_guard::admit_principal(request_context& request) const
{
    const auto* caller = request.principal();
    if (limits_ && caller != nullptr && request.sender.inner == nullptr &&
        !limits_->admits_principal(caller->id, caller->provider, request.caller.owner().now())) {
        constexpr auto over = model::rate_limit::principal;
        return respond_limited(request, over, limits_->rate(over));
    }
    return std::nullopt;
}

std::optional<net::routine<>> access_guard::admit_owner(request_context& request) const
{
    if (!identifies(request)) {
        return std::nullopt;
    }
    request.errors.uses_a2x_errors = a2x_ && calls_before_1(request);
    if (!request.sender.owner) {
        const auto* known = known_.find(request.to.agent, request.lookup);
        return respond_unidentified(
            request,
            request.sender.owner.error(),
            known == nullptr ? nullptr : &known->entry->record
        );
    }
    if (request.way->needs == identity::of_agent) {
        return admit_to_agent(request);
    }
    if (request.way->needs == identity::of_bundle || request.way->needs == identity::of_named) {
        return std::nullopt;
    }
    const bool registers = request.way->needs == identity::registrant;
    const bool lacks =
        registers ? !access::has_scope(request.principal(), core::scope_register) : request.principal() == nullptr;
    return lacks ? std::optional{respond_forbidden(request)} : std::nullopt;
}

std::optional<net::routine<>> access_guard::admit_one_more(request_context& request) const
{
    // What comes from within has been counted as its caller's.
    const bool counts = limits_ && request.way->reaches_agent && request.agent_visible &&
                        request.sender.inner == nullptr && !asks_first(request);
    const auto* known = counts ? known_.find(request.to.agent, request.lookup) : nullptr;
    if (known == nullptr || limits_->admits_agent(known->entry->record.id, request.caller.owner().now())) {
        return std::nullopt;
    }
    constexpr auto over = model::rate_limit::agent;
    request.set_agent(known->entry);
    return respond_limited(request, over, limits_->rate(over));
}

std::optional<net::routine<>> access_guard::admit_to_named(request_context& request) const
{
    if (identifies(request)) {
        if (auto denied = admit_to_agent(request)) {
            return denied;
        }
    }
    if (auto refused = admit_to_contained(request)) {
        return refused;
    }
    return request.contained ? std::optional{respond_contained(request)} : admit_one_more(request);
}

std::optional<net::routine<>> access_guard::admit_to_member(request_context& request) const
{
    if (!limits_ || limits_->admits_agent(request.agent->record.id, request.caller.owner().now())) {
        return std::nullopt;
    }
    constexpr auto over = model::rate_limit::agent;
    return respond_limited(request, over, limits_->rate(over));
}

std::optional<net::routine<>> access_guard::admit_to_agent(request_context& request) const
{
    const auto* known = known_.find(request.to.agent, request.lookup);
    const auto* caller = request.principal();
    request.agent_visible = known != nullptr && request.sender.access->may_discover(known->entry->record, caller);
    if (!request.agent_visible) {
        request.hidden = known == nullptr ? nullptr : known->entry;
        // To a caller with a credential an agent that it may not know of is one that does not exist.
        return caller == nullptr ? std::optional{respond_forbidden(request)} : std::nullopt;
    }
    request.may_call = request.sender.access->may_call_somehow(known->entry->record, caller);
    return std::nullopt;
}

void access_guard::note_denial(request_context& request) const
{
    auto& record = request.record;
    record.denied = denial_of(request);
    if (!record.denied) {
        return;
    }
    record.denied_agent = request.hidden ? std::string_view{request.hidden->record.id} : record.agent;
    if (record.rule.empty()) {
        request.texts.rule = rule_of_denial(request);
        record.rule = request.texts.rule;
    }
}

void access_guard::note_member_rule(request_context& request, const model::agent_entry& member, std::string_view tool)
    const
{
    const auto* const caller = request.principal();
    access::deciding_rule by{.allowed = true};
    if (const auto& plan = request.sender.access) {
        by = access::discover_rule(*plan, member, caller, rules_.get());
        by = by.allowed ? access::call_rule(*plan, member, caller, "tools/call", rules_.get()) : by;
    }
    if (by.allowed) {
        by = access::tool_rule(member, tool, caller == nullptr ? nullptr : &caller->scopes, rules_.get());
    }
    request.texts.rule = std::move(by.rule);
    request.record.rule = request.texts.rule;
}

// The rule as the steps of access/explain name it: `none` if no policy decides.
std::string access_guard::rule_of_denial(const request_context& request) const
{
    const auto denied = request.record.denied;
    const bool by_policy = denied == model::denial::hidden || denied == model::denial::forbidden ||
                           denied == model::denial::unauthenticated;
    const auto& plan = request.sender.access;
    if (!by_policy || !plan) {
        return access::deciding_rule{}.rule;
    }
    const auto* const caller = request.principal();
    if (request.hidden) {
        return access::discover_rule(*plan, *request.hidden, caller, rules_.get()).rule;
    }
    const auto* const known = request.agent ? nullptr : known_.find(request.to.agent);
    const auto* const agent = request.agent ? request.agent.get() : known == nullptr ? nullptr : known->entry.get();
    if (agent == nullptr || request.way->needs == identity::registrant) {
        return access::deciding_rule{}.rule;
    }
    if (denied == model::denial::forbidden && request.record.code == core::errc::invalid_params) {
        const auto* const scopes = caller == nullptr ? nullptr : &caller->scopes;
        return access::tool_rule(*agent, request.record.tool, scopes, rules_.get()).rule;
    }
    const auto& method = request.texts.denied_method;
    return access::call_rule(
               *plan,
               *agent,
               caller,
               method.has_value() ? std::optional<std::string_view>{method} : std::nullopt,
               rules_.get()
    )
        .rule;
}

}  // namespace gateway::request
