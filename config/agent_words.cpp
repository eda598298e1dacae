#include "config/agent_words.hpp"

#include "config/agent_cards.hpp"
#include "config/agent_credentials.hpp"
#include "config/choice.hpp"
#include "config/json_value.hpp"
#include "config/mcp_calls.hpp"
#include "config/values.hpp"
#include "core/proxy.hpp"

#include <type_traits>

namespace config {
namespace {

using core::json;

template <class T>
concept named = std::is_enum_v<T>;

constexpr overloaded shown{
    [](const std::string& text) { return text.empty() ? json{} : json(text); },
    [](bool on) { return json(on); },
    [](double share) { return json(share); },
    [](std::uint64_t bytes) { return json(size_text(bytes)); },
    [](core::duration time) { return json(to_text(time)); },
    [](const std::vector<std::string>& list) { return json(list); },
    [](const std::vector<core::a2a_dialect>& dialects) {
        auto names = json::array();
        for (const auto each : dialects) {
            names.push_back(core::name(each));
        }
        return names;
    },
    [](const core::secret& value) { return value.empty() ? json{} : json(core::masked); },
    [](const secret_map& secrets) {
        auto masked = json::object();
        for (const auto& each : secrets) {
            append_member(masked, each.first, core::masked);
        }
        return masked;
    },
    [](const core::access_policy& policy) { return shown_policy(policy); },
    [](const std::vector<core::skill_rule>& rules) { return shown_skill_rules(rules); },
    [](const std::vector<core::card_overlay>& overlays) { return shown_overlays(overlays); },
    [](const core::card_patch& patch) { return shown_card_patch(patch); },
    [](const core::mcp_filter& filter) { return shown_mcp_filter(filter); },
    [](const core::agent_credentials& credentials) { return shown_credentials(credentials); },
    [](const core::caller_credentials& passed) { return shown_caller_credentials(passed); },
    [](named auto value) { return json(core::name(value)); },
};

// Whether the row is where the agent is, whose query is kept apart from it.
bool is_address(const agent_setting& row)
{
    return row.name == "url";
}

std::string with_masked_query(const std::string& url)
{
    return url + '?' + core::masked;
}

}  // namespace

std::string written_as(const agent_setting& row)
{
    return std::visit(
        overloaded{
            []<class T>(const duration_key<T>& type) {
                return "duration, " + to_text(type.least) + " to " + to_text(type.most);
            },
            [](const size_key& type) {
                return "size, " + size_text(type.range.least) + " to " + size_text(type.range.most);
            },
            []<class T>(const count_key<T>& type) {
                return "number, " + std::to_string(type.least) + " to " + std::to_string(type.most);
            },
            [](const share_key& type) { return "number, " + share_text(type.least) + " to " + share_text(type.most); },
            [](const switch_key&) { return std::string{"`true` or `false`"}; },
            []<class Enum, class T>(const choice_key<Enum, T>&) { return listed<Enum>("`"); },
            [](const url_key&) { return std::string{"URL"}; },
            [](const url_list_key&) { return std::string{"list of URLs"}; },
            [](const text_key& type) { return std::string{type.written_as}; },
            [](const key_set_key&) { return std::string{"path of a JWK Set"}; },
            [](const pattern_list_key&) { return std::string{"list of patterns"}; },
            [](const origin_list_key&) { return std::string{"list of https origins"}; },
            [](const header_list_key&) { return std::string{"list of header fields"}; },
            [](const host_name_list_key&) { return std::string{"list of DNS names"}; },
            [](const dialect_list_key&) { return "list of " + listed<core::a2a_dialect>("`"); },
            [](const secret_key&) { return std::string{"secret"}; },
            [](const proxy_key&) { return std::string{"URL, `environment` or `none`"}; },
            [](const secret_map_key&) { return std::string{"map of secrets"}; },
            [](const access_policy_key&) { return std::string{"map, list of maps, or a word"}; },
            [](const skill_rules_key&) { return std::string{"list of maps"}; },
            [](const overlays_key&) { return std::string{"list of maps"}; },
            [](const caller_credentials_key&) { return std::string{"`drop`, `passthrough`, or a list"}; },
            [](const file_key&) { return std::string{"path"}; },
            [](const transport_part& type) { return std::string{type.written_as}; },
            [](const other_spelling& type) {
                return type.milliseconds ? "whole number" : written_as(*find_agent_setting(type.of));
            },
            [](const auto& /*card, credentials, metadata, transport*/) { return std::string{"map"}; },
        },
        row.type
    );
}

std::string usual_text(const agent_setting& row)
{
    if (const auto* other = std::get_if<other_spelling>(&row.type)) {
        return usual_text(*find_agent_setting(other->of));
    }
    if (!row.usual.words.empty()) {
        return std::string{row.usual.words};
    }
    if (!row.usual.setting.empty()) {
        return '`' + std::string{row.usual.setting} + '`';
    }
    const auto value = shown_value(row, usual_agent(only_of_mcp(row) ? core::protocol::mcp : core::protocol::a2a));
    return value.is_null() ? "" : '`' + (value.is_string() ? value.get<std::string>() : core::to_text(value)) + '`';
}

json shown_value(const agent_setting& row, const core::agent& agent)
{
    return std::visit(
        overloaded{
            [&](const url_key& type) {
                const auto& url = *find_member(type.member, agent);
                const bool has_query = is_address(row) && !core::query_of(agent).empty();
                return shown(has_query ? with_masked_query(url) : shown_url(url));
            },
            [&](const url_list_key& type) {
                auto all = *find_member(type.member, agent);
                for (std::size_t i = 0; i < all.size() && i < agent.queries.size(); ++i) {
                    all[i] = agent.queries[i].empty() ? all[i] : with_masked_query(all[i]);
                }
                return all.empty() ? json{} : shown(all);
            },
            [&](const count_key<std::uint64_t>& type) {
                const auto* count = find_member(type.member, agent);
                return count == nullptr ? json{} : json(*count);
            },
            [&](const count_key<std::optional<std::uint64_t>>& type) {
                const auto* count = find_member(type.member, agent);
                return count == nullptr || !*count ? json{} : json(**count);
            },
            [&](const proxy_key& type) { return shown(core::shown_proxy(find_member(type.member, agent)->reveal())); },
            [](const card_key& /*type*/) { return json{}; },
            [](const metadata_key& /*type*/) { return json{}; },
            [&](const auto& type) {
                if constexpr (requires { type.member; }) {
                    const auto* value = find_member(type.member, agent);
                    if constexpr (requires { value->has_value(); }) {
                        return value != nullptr && *value ? shown(**value) : json{};
                    } else {
                        return value != nullptr ? shown(*value) : json{};
                    }
                } else {
                    return json{};
                }
            },
        },
        row.type
    );
}

bool same_value(const agent_setting& row, const core::agent& a, const core::agent& b)
{
    if (is_address(row) && a.queries != b.queries) {
        return false;
    }
    return std::visit(
        overloaded{
            // Of A2A alone.
            [&](const choice_key<core::card_trust>& /*type*/) { return a.speaks != b.speaks || a.trust == b.trust; },
            [&](const transport_key& /*type*/) {
                return !a.mcp || !b.mcp ||
                       (a.mcp->transport == b.mcp->transport && a.mcp->command == b.mcp->command &&
                        a.mcp->arguments == b.mcp->arguments && a.mcp->environment == b.mcp->environment &&
                        a.mcp->directory == b.mcp->directory);
            },
            [&](const auto& type) {
                if constexpr (requires { type.member; }) {
                    const auto* of_a = find_member(type.member, a);
                    const auto* of_b = find_member(type.member, b);
                    return of_a == nullptr || of_b == nullptr || *of_a == *of_b;
                } else {
                    return true;
                }
            },
        },
        row.type
    );
}

}  // namespace config
