#include "gateway/cli/access_table.hpp"

#include "config/values.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/model/management_call.hpp"
#include "gateway/model/well_known.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::cli {
namespace {

constexpr std::size_t most_named = 5;  // agents of a group, by their ids

using row = std::array<std::string, 3>;  // listener, route, who

std::string listed(const std::vector<std::string>& all)
{
    std::string text;
    for (const auto& each : all) {
        text += (text.empty() ? "" : ", ") + each;
    }
    return text;
}

std::string text_of(const core::access_rule& rule)
{
    std::vector<std::string> claims;
    claims.reserve(rule.claims.size());
    for (const auto& [name, value] : rule.claims) {
        claims.emplace_back(name).append("=").append(value);
    }
    std::string text;
    const auto add = [&](std::string_view condition, const std::vector<std::string>& values) {
        if (!values.empty()) {
            text += (text.empty() ? "" : "; ") + std::string{condition} + ' ' + listed(values);
        }
    };
    add("principal", rule.principals);
    add("provider", rule.providers);
    add("scope", rule.scopes);
    add("group", rule.groups);
    add("tenant", rule.tenants);
    add("claim", claims);
    add("method", rule.methods);
    return text.empty() ? "every credential" : text;
}

std::string text_of(const core::access_policy& policy)
{
    if (policy.anyone) {
        return "anyone";
    }
    std::string text;
    for (const auto& rule : policy.any_of) {
        text += (text.empty() ? "" : " | ") + text_of(rule);
    }
    return text.empty() ? "nobody" : text;
}

// The routes of agents, agents with the same policies together, in the order of the first of each.
void add_agents(std::vector<row>& rows, const config::settings& settings, const access::access_plan& plan)
{
    const auto listener = config::to_text(settings.listen);
    std::vector<std::pair<std::string, std::string>> order;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    for (const auto& agent : settings.agents) {
        std::pair policies{text_of(plan.discover(agent)), text_of(plan.call(agent))};
        auto& ids = groups[policies];
        if (ids.empty()) {
            order.push_back(policies);
        }
        ids.push_back(agent.id);
    }
    for (const auto& policies : order) {
        auto ids = groups[policies];
        const auto more = ids.size() - std::min(ids.size(), most_named);
        ids.resize(ids.size() - more);
        const auto names = listed(ids) + (more > 0 ? " and " + std::to_string(more) + " more" : "");
        rows.push_back({listener, "card of " + names, policies.first});
        // A call needs both.
        const bool seen_by_all = policies.first == "anyone" || policies.first == policies.second;
        const bool by_nobody = policies.first == "nobody" || policies.second == "nobody";
        const auto* const also = seen_by_all || by_nobody ? "" : "; of those who may see the card";
        rows.push_back({listener, "calls of " + names, by_nobody ? "nobody" : policies.second + also});
    }
}

void add_bundles(std::vector<row>& rows, const config::settings& settings)
{
    for (const auto& each : settings.mcp.bundles) {
        const std::string members = "those who may call one of its agents";
        rows.push_back(
            {config::to_text(settings.listen),
             each.name == core::default_bundle ? "/mcp" : "/mcp/" + each.name,
             each.call ? text_of(*each.call) + "; of " + members : members}
        );
    }
}

std::string scope_text(const std::vector<std::string>& any_of)
{
    return (any_of.size() == 1 ? "scope " : "scopes ") + listed(any_of);
}

// Who may register agents at `listen`.
std::string registrants_of(const config::settings& settings)
{
    std::string text;
    if (!settings.registration.token.empty()) {
        text = "register.token";
    }
    if (!settings.access.providers.empty()) {
        text += (text.empty() ? "" : " | ") + scope_text({core::scope_register});
    }
    return text.empty() ? "nobody" : text;
}

void add_admin(std::vector<row>& rows, const config::settings& settings)
{
    const auto listener = config::to_text(settings.admin);
    if (settings.admin_access != core::admin_access::scopes) {
        rows.push_back({listener, "everything", "anyone"});
        return;
    }
    const auto reads = scope_text({core::scope_read});
    const auto writes = reads + " and " + scope_text({core::scope_write});
    rows.push_back({listener, "/healthz, /readyz", "anyone"});
    rows.push_back({listener, "/metrics", scope_text({core::scope_metrics}) + " | " + reads});
    rows.push_back({listener, "/", reads});
    if (settings.console) {
        rows.push_back({listener, "/console/", "anyone"});
        rows.push_back({listener, "/try", writes});
    }
    rows.push_back({listener, "/events", reads});
    rows.push_back({listener, "/rpc", reads});
    rows.push_back({listener, "/rpc, to change agents", writes});
    rows.push_back({listener, std::string{model::registration_path}, registrants_of(settings) + " | " + writes});
    rows.push_back({listener, "/reload", writes});
}

}  // namespace

std::string access_table(const config::settings& settings)
{
    std::vector<row> rows{{"listener", "route", "who"}};
    const auto listener = config::to_text(settings.listen);
    if (const auto plan = access::access_plan::make(settings.access)) {
        rows.push_back({listener, "/, /.well-known/jwks.json", "anyone"});
        if (plan->resource_metadata({})) {
            rows.push_back({listener, std::string{model::resource_metadata_path}, "anyone"});
        }
        rows.push_back({listener, "/agents, catalogs", "every credential; shows the agents whose card it may see"});
        rows.push_back({listener, "/rpc", "every credential; shows the agents whose card it may see, without addresses"}
        );
        rows.push_back({listener, "/rpc, everything about agents", scope_text({core::scope_read})});
        rows.push_back(
            {listener,
             "/rpc, to change agents",
             scope_text({core::scope_read}) + " and " + scope_text({core::scope_write})}
        );
        rows.push_back({listener, std::string{model::registration_path}, registrants_of(settings)});
        add_agents(rows, settings, *plan);
        add_bundles(rows, settings);
    } else {
        rows.push_back({listener, "/rpc, to change agents", "nobody"});
        rows.push_back({listener, std::string{model::registration_path}, registrants_of(settings)});
        rows.push_back({listener, "everything else", "anyone"});
    }
    add_admin(rows, settings);
    if (!settings.metrics.host.empty()) {
        rows.push_back({config::to_text(settings.metrics), "/metrics, /healthz, /readyz", "anyone"});
    }
    std::array<std::size_t, 2> widths{};
    for (const auto& each : rows) {
        widths[0] = std::max(widths[0], each[0].size());
        widths[1] = std::max(widths[1], each[1].size());
    }
    std::string text;
    for (const auto& each : rows) {
        text += each[0] + std::string(widths[0] + 2 - each[0].size(), ' ') + each[1] +
                std::string(widths[1] + 2 - each[1].size(), ' ') + each[2] + '\n';
    }
    return text;
}

}  // namespace gateway::cli
