#include "gateway/access/explanation.hpp"

#include "a2a/card/extended_card.hpp"
#include "a2a/method.hpp"
#include "core/pattern.hpp"
#include "gateway/access/policy.hpp"
#include "mcp/calls/name_filter.hpp"
#include "mcp/pins/pinned_server.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace gateway::access {
namespace {

using core::errc;

constexpr std::string_view no_rule = "none";
constexpr std::string_view pin_rule = "pin";
constexpr std::string_view a_credential = "a credential";

// The rule at this path of a configuration, or of the store's record.
std::string text_of(
    const std::string& path,
    std::optional<std::size_t> rule,
    const model::agent_entry& agent,
    const config::rule_places* places
)
{
    if (path.empty()) {
        return std::string{no_rule};
    }
    if (agent.version > 0 && path.starts_with("agents.")) {
        const auto element = rule ? '[' + std::to_string(*rule) + ']' : std::string{};
        return "store " + path + element + " version " + std::to_string(agent.version);
    }
    return places == nullptr ? path : places->text(path, rule);
}

// A policy, its path, and whether requests are let pass, which may depend on more than the policy.
struct decided_policy {
    const core::access_policy& policy;
    std::string path;
    bool allowed;
};

deciding_rule rule_of(
    const decided_policy& decided,
    const model::agent_entry& agent,
    const core::principal* caller,
    std::optional<std::string_view> method,
    const config::rule_places* places
)
{
    const auto verdict = judge(decided.policy, caller, method);
    // The record of the store has no places, so that a rule is told from others only if there are any.
    const auto number = agent.version > 0 && decided.policy.any_of.size() < 2 ? std::nullopt : verdict.rule;
    deciding_rule out{.allowed = decided.allowed, .rule = text_of(decided.path, number, agent, places)};
    if (!decided.allowed) {
        out.missing = decided.path.empty() && caller != nullptr ? "a policy for this agent" : verdict.missing;
    }
    if (!decided.allowed && verdict.allowed) {
        out = {.allowed = false, .rule = std::string{no_rule}, .missing = "the end of the reload that is under way"};
    }
    return out;
}

// The rule of `skills` that hides a tool from a caller.
deciding_rule
hidden_by_scopes(const model::agent_entry& agent, std::string_view tool, const config::rule_places* places)
{
    deciding_rule out;
    const auto& rules = agent.record.skills;
    const auto fits = [&](const core::skill_rule& each) { return core::fits(each.id, tool); };
    const auto rule = std::ranges::find_if(rules, fits);
    const auto number = static_cast<std::size_t>(rule - rules.begin());
    out.rule = text_of("agents." + agent.record.id + ".skills", number, agent, places);
    if (rule == rules.end() || rule->required_scopes.empty()) {
        out.missing = a_credential;
        return out;
    }
    out.missing = rule->required_scopes.size() == 1 ? "the scope " : "all of the scopes ";
    for (const auto& each : rule->required_scopes) {
        out.missing.append(&each == rule->required_scopes.data() ? "" : ", ").append(each);
    }
    return out;
}

deciding_rule
hidden_by_filter(const model::agent_entry& agent, std::string_view tool, const config::rule_places* places)
{
    const auto why = agent.filters->tools.why_hidden(tool);
    const auto reason = why ? ::mcp::name(*why) : std::string_view{"callers use another one"};
    return {
        .allowed = false,
        .rule = text_of("agents." + agent.record.id + ".tools", std::nullopt, agent, places),
        .missing = "a name that callers get (" + std::string{reason} + ')'
    };
}

class explainer {
public:
    explainer(const access_question& asked, const identified& owner, const access_facts& facts)
        : asked_{asked},
          owner_{owner},
          facts_{facts},
          caller_{owner ? owner->get() : nullptr}
    {
    }

    access_explanation take()
    {
        if (caller_ != nullptr) {
            out_.who = *caller_;
        }
        identify();
        const auto* const of_caller = find_contained();
        const auto* const of_agent = of_caller == nullptr ? contained_agent() : nullptr;
        const bool held = of_agent == nullptr && facts_.agent != nullptr && facts_.agent->held;
        if (of_caller != nullptr) {
            contain(*of_caller, errc::principal_contained);
        } else if (of_agent == nullptr && !held) {
            pass(access_check::contained);
        }
        discover();
        if (of_agent != nullptr) {
            contain(*of_agent, errc::agent_contained);
        } else if (of_caller == nullptr && held) {
            const access_step waits{
                .check = access_check::contained,
                .rule = std::string{pin_rule},
                .missing = "the approval of the agent's card by an operator"
            };
            deny(waits, errc::card_held);
        }
        call();
        tool();
        return std::move(out_);
    }

private:
    bool open() const noexcept { return !out_.code; }

    void add(access_step step)
    {
        if (!open()) {
            step = {.check = step.check};
        }
        out_.steps.push_back(std::move(step));
    }

    void pass(access_check check, std::string rule = std::string{no_rule})
    {
        add({.check = check, .outcome = check_outcome::pass, .rule = std::move(rule)});
    }

    void deny(access_step step, errc code)
    {
        step.outcome = check_outcome::deny;
        const bool counts = open();
        add(std::move(step));
        if (counts) {
            out_.code = code;
            out_.status = core::http_status(code);
        }
    }

    // An anonymous caller is told to identify itself, whatever the other is told.
    errc or_unauthenticated(errc code) const noexcept
    {
        return caller_ == nullptr && facts_.plan ? errc::unauthenticated : code;
    }

    void identify()
    {
        if (owner_) {
            pass(access_check::identity);
            return;
        }
        deny({.check = access_check::identity, .missing = owner_.error().detail}, owner_.error().code);
    }

    const model::containment_terms* find_contained() const
    {
        return facts_.contained ? facts_.contained->find_principal(caller_) : nullptr;
    }

    const model::containment_terms* contained_agent() const
    {
        return facts_.contained ? facts_.contained->find_agent(asked_.agent) : nullptr;
    }

    void contain(const model::containment_terms& terms, errc code)
    {
        std::string missing =
            code == errc::agent_contained ? "the release of the agent" : "the release of the principal";
        if (terms.until) {
            core::append_timestamp(missing += ", or ", *terms.until);
        }
        deny({.check = access_check::contained, .missing = std::move(missing)}, code);
    }

    void discover()
    {
        if (facts_.agent == nullptr) {
            const auto code = or_unauthenticated(errc::agent_not_found);
            deny({.check = access_check::discover, .missing = "an agent with this id"}, code);
        } else if (!facts_.plan) {
            pass(access_check::discover);
        } else {
            decide(
                access_check::discover,
                discover_rule(*facts_.plan, *facts_.agent, caller_, facts_.places.get()),
                errc::agent_not_found
            );
        }
    }

    void decide(access_check check, deciding_rule by, errc code)
    {
        if (by.allowed) {
            pass(check, std::move(by.rule));
        } else {
            deny(
                {.check = check, .rule = std::move(by.rule), .missing = std::move(by.missing)},
                or_unauthenticated(code)
            );
        }
    }

    void call()
    {
        constexpr auto check = access_check::call;
        if (facts_.agent == nullptr) {
            add({.check = check});
            return;
        }
        const bool card = asked_.method && ::a2a::answered_card(::a2a::find_method(*asked_.method));
        deciding_rule by{.allowed = true};
        if (facts_.plan) {
            by = call_rule(*facts_.plan, *facts_.agent, caller_, asked_.method, facts_.places.get());
        }
        if (by.allowed && card && facts_.plan && caller_ == nullptr && !facts_.agent->record.mcp) {
            deny({.check = check, .missing = std::string{a_credential}}, errc::unauthenticated);
        } else {
            decide(check, std::move(by), errc::forbidden);
        }
    }

    void tool()
    {
        constexpr auto check = access_check::tool;
        const auto* const agent = facts_.agent.get();
        if (agent == nullptr || asked_.tool.empty()) {
            add({.check = check});
            return;
        }
        const auto* const scopes = caller_ == nullptr ? nullptr : &caller_->scopes;
        auto by = tool_rule(*agent, asked_.tool, scopes, facts_.places.get());
        const bool counts = open() && !by.allowed;
        if (by.allowed) {
            pass(check, std::move(by.rule));
        } else {
            deny({.check = check, .rule = std::move(by.rule), .missing = std::move(by.missing)}, errc::invalid_params);
        }
        if (counts) {
            out_.status = 200;  // as servers answer a call of what they do not have
        }
    }

    const access_question& asked_;
    const identified& owner_;
    const access_facts& facts_;
    const core::principal* caller_;
    access_explanation out_;
};

core::json to_json(const core::principal& who)
{
    core::json out{{"provider", who.provider}, {"id", who.id}, {"scopes", who.scopes}, {"groups", who.groups}};
    auto claims = core::json::object();
    for (const auto& [key, value] : who.claims) {
        claims[key].push_back(value);
    }
    out["claims"] = std::move(claims);
    if (!who.tenant.empty()) {
        out["tenant"] = who.tenant;
    }
    return out;
}

}  // namespace

deciding_rule discover_rule(
    const access_plan& plan,
    const model::agent_entry& agent,
    const core::principal* caller,
    const config::rule_places* places
)
{
    const auto& record = agent.record;
    const decided_policy decided{plan.discover(record), plan.discover_path(record), plan.may_discover(record, caller)};
    return rule_of(decided, agent, caller, std::nullopt, places);
}

deciding_rule call_rule(
    const access_plan& plan,
    const model::agent_entry& agent,
    const core::principal* caller,
    std::optional<std::string_view> method,
    const config::rule_places* places
)
{
    const auto& record = agent.record;
    const bool allowed = method ? plan.may_call(record, caller, *method) : plan.may_call_somehow(record, caller);
    return rule_of({plan.call(record), plan.call_path(record), allowed}, agent, caller, method, places);
}

deciding_rule tool_rule(
    const model::agent_entry& agent,
    std::string_view tool,
    const std::vector<std::string>* scopes,
    const config::rule_places* places
)
{
    const auto* const filters = agent.filters.get();
    const auto original = filters == nullptr ? std::optional{tool} : filters->tools.original(tool);
    if (!original) {
        return hidden_by_filter(agent, tool, places);
    }
    if (agent.pins != nullptr && !agent.pins->admits(*original)) {
        return {.allowed = false, .rule = std::string{pin_rule}, .missing = "the approval of the tool by an operator"};
    }
    if (filters != nullptr && !filters->shows(::mcp::list_kind::tools, tool, scopes)) {
        return hidden_by_scopes(agent, tool, places);
    }
    return {.allowed = true};
}

std::string_view name(access_check c) noexcept
{
    constexpr std::array<std::string_view, 5> names{"identity", "contained", "discover", "call", "tool"};
    return names[static_cast<std::size_t>(c)];
}

std::string_view name(check_outcome o) noexcept
{
    constexpr std::array<std::string_view, 3> names{"pass", "deny", "skip"};
    return names[static_cast<std::size_t>(o)];
}

access_explanation explain(const access_question& asked, const identified& owner, const access_facts& facts)
{
    return explainer{asked, owner, facts}.take();
}

core::json to_json(const access_explanation& explained)
{
    core::json out{{"allowed", !explained.code}, {"status", explained.status}};
    if (explained.code) {
        out["code"] = core::name(*explained.code);
    }
    if (explained.who) {
        out["principal"] = to_json(*explained.who);
    }
    auto steps = core::json::array();
    for (const auto& each : explained.steps) {
        auto& step = steps.emplace_back(
            core::json{{"check", name(each.check)}, {"outcome", name(each.outcome)}, {"rule", each.rule}}
        );
        if (!each.missing.empty()) {
            step["missing"] = each.missing;
        }
    }
    out["steps"] = std::move(steps);
    return out;
}

}  // namespace gateway::access
