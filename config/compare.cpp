#include "config/compare.hpp"

#include "config/schema.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <variant>

namespace config {
namespace {

using core::agent;

void note_mcp(const core::mcp_server& a, const core::mcp_server& b, std::vector<std::string_view>& keys)
{
    const auto note = [&](std::string_view key, bool same) {
        if (!same) {
            keys.push_back(key);
        }
    };
    note(
        "transport",
        a.transport == b.transport && a.command == b.command && a.arguments == b.arguments &&
            a.environment == b.environment && a.directory == b.directory
    );
    note("headers", a.headers == b.headers);
    note("start", a.start == b.start);
    note("era", a.era == b.era);
    note(
        "timeouts",
        a.initialize_timeout == b.initialize_timeout && a.request_timeout == b.request_timeout &&
            a.ping_interval == b.ping_interval
    );
    note("walk", a.walk == b.walk);
    note("restart", a.backoff == b.backoff && a.max_backoff == b.max_backoff);
    note("max_message", a.max_message == b.max_message);
    note("stale_if_error", a.stale_if_error == b.stale_if_error);
}

// An agent that differs nowhere here has the same value.
std::vector<std::string_view> different_keys(const agent& a, const agent& b)
{
    std::vector<std::string_view> keys;
    const auto note = [&](std::string_view key, bool same) {
        if (!same) {
            keys.push_back(key);
        }
    };
    note("url", a.url == b.url);
    note("protocol", a.speaks == b.speaks);
    note("bearer", a.bearer == b.bearer);
    note("timeout", a.timeout == b.timeout);
    note("relay_paths", a.relay_paths == b.relay_paths);
    note("disabled", a.disabled == b.disabled);
    note("shape", a.shape == b.shape);
    note("signatures", a.signatures == b.signatures);
    note("trusted_keys", a.trusted_keys == b.trusted_keys);
    note("key_set_origins", a.key_set_origins == b.key_set_origins);
    note("trust_card_url", a.trust == b.trust || a.speaks != b.speaks);  // of A2A alone
    note("extended_card", a.extended_card == b.extended_card);
    note("card_url", a.card_url == b.card_url);
    note("card", a.card == b.card);
    note("card_headers", a.card_headers == b.card_headers);
    note("tls", a.ca_file == b.ca_file && a.cert_file == b.cert_file && a.key_file == b.key_file);
    note("version", a.version == b.version);
    note("protocol_version", a.protocol_version == b.protocol_version);
    note("metadata", a.metadata == b.metadata);
    if (a.mcp && b.mcp) {
        note_mcp(*a.mcp, *b.mcp, keys);
    }
    return keys;
}

// Without the agents: the schema's members are of whole settings, and there may be many agents.
settings process_part(const settings& whole)
{
    settings out;
    static_cast<process_settings&>(out) = whole;
    return out;
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
    // What the control loop looks up when it needs it.
    constexpr auto paths = std::to_array<std::string_view>(
        {"cards.ttl",
         "cards.min_ttl",
         "cards.max_ttl",
         "cards.stale_if_error",
         "cards.negative_ttl",
         "cards.timeout",
         "cards.max_size",
         "cards.background",
         "mcp.walk",
         "reload.watch"}
    );
    return std::find(paths.begin(), paths.end(), path) != paths.end();
}

changes compare(const settings& before, const settings& now)
{
    changes out;
    compare_agents(before, now, out);
    auto a = process_part(before);
    auto b = process_part(now);
    for (const auto& row : all_settings()) {
        const bool same = std::visit([&](const auto& type) { return type.member(a) == type.member(b); }, row.type);
        if (!same) {
            (applies_at_once(row.path) ? out.settings : out.needs_restart).push_back(row.path);
        }
    }
    return out;
}

void apply(const settings& now, settings& into)
{
    auto from = process_part(now);
    for (const auto& row : all_settings()) {
        if (applies_at_once(row.path)) {
            std::visit([&](const auto& type) { type.member(into) = std::move(type.member(from)); }, row.type);
        }
    }
}

}  // namespace config
