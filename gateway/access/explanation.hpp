// Why the gateway lets a request pass or denies it, step by step, in a request's order; and the texts of the rules that decide, which
// denials have too. Decides with the same functions as requests. Pure; any thread.
#pragma once

#include "config/rule_places.hpp"
#include "core/access.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

// The rule of a policy that lets a caller pass, or that lacks the least.
struct deciding_rule {
    bool allowed = false;
    std::string rule =
        "none";             // `cardea.yml:31:5 agents.words.call[1]`, `store agents.maps.call version 12`, or `none`
    std::string missing{};  // what the caller lacks, in words of operators; empty: nothing
};

// The decision of access_plan::may_discover(). `places`: null: the texts have paths alone.
deciding_rule discover_rule(
    const access_plan& plan,
    const model::agent_entry& agent,
    const core::principal* caller,
    const config::rule_places* places
);

// That of may_call(); without a method of may_call_somehow().
deciding_rule call_rule(
    const access_plan& plan,
    const model::agent_entry& agent,
    const core::principal* caller,
    std::optional<std::string_view> method,
    const config::rule_places* places
);

// Whether a caller with these scopes, null without a credential, may call the tool that callers call `tool`, by the agent's `tools`,
// its `pin` (the rule is `pin`), then its `skills`.
deciding_rule tool_rule(
    const model::agent_entry& agent,
    std::string_view tool,
    const std::vector<std::string>* scopes,
    const config::rule_places* places
);

enum class access_check : std::uint8_t { identity, contained, discover, call, tool };
enum class check_outcome : std::uint8_t { pass, deny, skip };

std::string_view name(access_check c) noexcept;
std::string_view name(check_outcome o) noexcept;

struct access_step {
    access_check check = access_check::identity;
    check_outcome outcome = check_outcome::skip;
    std::string rule = "none";
    std::string missing{};
};

struct access_explanation {
    unsigned status = 200;               // of HTTP, that a caller gets; 200: what the agent makes of it
    std::optional<core::errc> code;      // nullopt: it is allowed
    std::vector<access_step> steps;      // of each check one
    std::optional<core::principal> who;  // with all that is known of it; nullopt: anonymous, or refused
};

// A request that somebody would send.
struct access_question {
    std::string agent;
    std::optional<std::string> method;  // of JSON-RPC; nullopt: any
    std::string tool;                   // of tools/call, as callers name it; empty: none
};

// The state of the gateway that decides.
struct access_facts {
    std::shared_ptr<const access_plan> plan;                 // null: callers need no credential
    std::shared_ptr<const model::agent_entry> agent;         // null: there is none, or it is disabled
    std::shared_ptr<const config::rule_places> places;       // null: there is no file
    std::shared_ptr<const model::containments> contained{};  // null: nothing
};

using identified = core::result<std::shared_ptr<const core::principal>>;  // null: anonymous

access_explanation explain(const access_question& asked, const identified& owner, const access_facts& facts);

// `{"allowed":…,"status":…,"code":…,"principal":…,"steps":[…]}`.
core::json to_json(const access_explanation& explained);

}  // namespace gateway::access
