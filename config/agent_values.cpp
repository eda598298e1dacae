#include "config/agent_values.hpp"

#include "config/agent_cards.hpp"
#include "config/agent_credentials.hpp"
#include "config/agent_hosts.hpp"
#include "config/agent_parts.hpp"
#include "config/agent_table.hpp"
#include "config/agent_upstreams.hpp"
#include "config/choice.hpp"
#include "config/mcp_calls.hpp"
#include "config/signatures.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace config {
namespace {

std::optional<std::string> read_one_line(const field& f, std::string_view key, problem_list& problems)
{
    if (key == "health.path") {
        return read_health_path(f, problems);
    }
    return read_line(f, key == "registered_by" ? "a provider and the id of a principal" : "a version", problems);
}

}  // namespace

namespace {

// Null: the key is not given, or the agent cannot have it.
const field* readable(const members& given, const agent_setting& row, const core::agent& agent, problem_list& problems)
{
    const auto* f = find_field(given, row.name);
    if (f != nullptr && !agent.mcp && only_of_mcp(row)) {
        problems.add(f->at, f->path, "is for MCP servers; remove it");
        return nullptr;
    }
    return f;
}

}  // namespace

void read_agent_values(const members& given, const tls_checks& tls, core::agent& into, problem_list& problems)
{
    const auto set = [&](const auto& type, auto value) {
        if (value) {
            // The member may be optional too.
            *find_member(type.member, into) = std::move(*value);  // NOLINT(bugprone-optional-value-conversion)
        }
    };
    for (const auto& row : all_agent_settings()) {
        const auto* given_value = readable(given, row, into, problems);
        if (given_value == nullptr) {
            continue;
        }
        const auto& f = *given_value;
        std::visit(
            overloaded{
                [&]<class T>(const duration_key<T>& type) {
                    set(type, read_duration(f, type.least, type.most, problems));
                },
                [&](const size_key& type) {
                    set(type, read_size(f, "a size such as 512KiB or 8MiB", type.range, problems));
                },
                [&]<class T>(const count_key<T>& type) {
                    const auto expected =
                        "a number from " + std::to_string(type.least) + " to " + std::to_string(type.most);
                    set(type, read_count(f, expected, {type.least, type.most}, problems));
                },
                [&](const share_key& type) { set(type, read_share(f, {type.least, type.most}, problems)); },
                [&](const switch_key& type) { set(type, read_switch(f, problems)); },
                [&]<class Enum, class T>(const choice_key<Enum, T>& type) {
                    set(type, read_choice<Enum>(f, problems));
                },
                [&](const url_key& type) { set(type, read_url(f, problems)); },
                [&](const text_key& type) { set(type, read_one_line(f, row.name, problems)); },
                [&](const key_set_key& type) {
                    set(type, std::optional{read_checked_file(f, file_kind::key_set, tls, problems)});
                },
                [&](const pattern_list_key& type) { set(type, std::optional{read_relay_paths(f, problems)}); },
                [&](const origin_list_key& type) { set(type, std::optional{read_origins(f, problems)}); },
                [&](const dialect_list_key& type) { set(type, std::optional{read_dialects(f, problems)}); },
                [&](const access_policy_key& type) { set(type, read_policy(f, type.about, problems)); },
                [&](const skill_rules_key& type) { set(type, std::optional{read_skill_rules(f, problems)}); },
                [&](const card_patch_key& type) { set(type, std::optional{read_card_patch(f, problems)}); },
                [&](const mcp_filter_key& type) { set(type, std::optional{read_mcp_filter(f, problems)}); },
                [&](const host_name_list_key& type) { set(type, std::optional{read_agent_hosts(f, problems)}); },
                [&](const header_list_key& type) { set(type, std::optional{read_forwarded_headers(f, problems)}); },
                [&](const secret_map_key& type) {
                    const bool calls = row.name == "headers";
                    const auto use = calls ? header_use::calls : header_use::cards;
                    set(type, std::optional{read_headers(f, problems, use)});
                },
                [&](const caller_credentials_key& type) {
                    set(type, std::optional{read_caller_credentials(f, problems)});
                },
                [](const auto& /*what other keys depend on is read before*/) {},
            },
            row.type
        );
    }
}

}  // namespace config
