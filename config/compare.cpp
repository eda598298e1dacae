#include "config/compare.hpp"

#include "config/agent_table.hpp"
#include "config/schema.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace config {
namespace {

using core::agent;

std::vector<std::string_view> different_keys(const agent& a, const agent& b)
{
    std::vector<std::string_view> keys;
    for (const auto& row : all_agent_settings()) {
        const auto key = first_part(row.name);
        if (!same_value(row, a, b) && (keys.empty() || keys.back() != key)) {
            keys.push_back(key);
        }
    }
    return keys;
}

void compare_agents(const settings& before, const settings& now, changes& out)
{
    std::unordered_map<std::string_view, const agent*> old;
    for (const auto& each : before.agents) {
        old.emplace(each.id, &each);
    }
    for (const auto& each : now.agents) {
        const auto found = old.find(each.id);
        if (found == old.end()) {
            out.added.push_back(each.id);
            continue;
        }
        if (*found->second == each) {
            ++out.unchanged;
        } else {
            out.changed.push_back({each.id, different_keys(*found->second, each)});
        }
        old.erase(found);
    }
    for (const auto& each : before.agents) {
        if (old.contains(each.id)) {
            out.removed.push_back(each.id);
        }
    }
}

}  // namespace

bool applies_at_once(std::string_view path) noexcept
{
    // The control loop looks these up when it needs them.
    // clang-format off
    constexpr auto paths = std::to_array<std::string_view>({
        "access", "admin_access", "console", "metrics_agents", "register.token", "log.level", "log.format",
        "rate_limits.principal.rate", "rate_limits.principal.burst", "rate_limits.agent.rate",
        "rate_limits.agent.burst", "rate_limits.address.rate", "rate_limits.address.burst", "rate_limits.divide",
        "cards.ttl",
        "cards.min_ttl", "cards.max_ttl", "cards.stale_if_error", "cards.negative_ttl", "cards.timeout",
        "cards.max_size", "cards.background", "chains.in_flight", "chains.calls", "chains.window", "mcp.walk", "mcp.session_keys", "mcp.bundles", "pins.file", "reload.watch", "trace.endpoint",
        "trace.sample"
    });
    // clang-format on
    return std::find(paths.begin(), paths.end(), path) != paths.end();
}

changes compare(const settings& before, const settings& now)
{
    changes out;
    compare_agents(before, now, out);
    for (const auto& row : all_settings()) {
        if (!row.key->same(before, now) && row.file_of.empty()) {
            (applies_at_once(row.path) ? out.settings : out.needs_restart).push_back(row.path);
        }
    }
    return out;
}

void apply(const settings& now, settings& into)
{
    for (const auto& row : all_settings()) {
        if (applies_at_once(row.path)) {
            row.key->copy(now, into);
        }
    }
    into.rules = now.rules;
}

}  // namespace config
