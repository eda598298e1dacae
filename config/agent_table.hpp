// Every key that an agent may have, once: how it is written, what it means, and the member of its record that it sets.
// Reading, unknown keys, the JSON Schema, the dump, the comparison, agents/get and docs/configuration.md follow from it. Pure.
#pragma once

#include "config/access_policy.hpp"
#include "config/fields.hpp"
#include "config/schema.hpp"
#include "core/agent.hpp"
#include "core/json/json.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace config {

// A member of an agent, of how its MCP server is reached, or of what is said of its endpoints.
template <class T>
using agent_member = std::variant<T core::agent::*, T core::mcp_server::*, T core::endpoint_rules::*>;

// Null: of an MCP server, and the agent is none.
template <class T, class Agent>
auto find_member(const agent_member<T>& member, Agent& agent) -> decltype(&(agent.*std::get<0>(member)))
{
    if (const auto* own = std::get_if<0>(&member)) {
        return &(agent.**own);
    }
    if (const auto* of_rules = std::get_if<2>(&member)) {
        if constexpr (std::is_const_v<Agent>) {
            return &(core::rules_of(agent).**of_rules);
        } else {
            return &((agent.rules ? *agent.rules : agent.rules.emplace()).**of_rules);
        }
    }
    return agent.mcp ? &((*agent.mcp).*std::get<1>(member)) : nullptr;
}

// T: a duration, or an optional one.
template <class T>
struct duration_key {
    agent_member<T> member;
    core::duration least;
    core::duration most = 24h;
};

struct size_key {
    agent_member<std::uint64_t> member;
    size_range range;
};

// T: a number, or an optional one.
template <class T>
struct count_key {
    agent_member<T> member;
    std::uint64_t least;
    std::uint64_t most;
};

// A part of a whole, as a decimal fraction.
struct share_key {
    agent_member<std::optional<double>> member;
    double least;
    double most;
};

// Enum: of core/choices.hpp.
template <class Enum, class T = Enum>
struct choice_key {
    agent_member<T> member;
};

struct text_key {
    agent_member<std::string> member;
    std::string_view written_as;
};

template <class T>
struct member_key {
    agent_member<T> member;
};

using secret_map = std::vector<std::pair<std::string, core::secret>>;

struct switch_key : member_key<bool> {};
struct url_key : member_key<std::string> {};
struct key_set_key : member_key<std::string> {};
struct url_list_key : member_key<std::vector<std::string>> {};
struct pattern_list_key : member_key<std::vector<std::string>> {};
struct origin_list_key : member_key<std::vector<std::string>> {};
struct dialect_list_key : member_key<std::vector<core::a2a_dialect>> {};
struct secret_key : member_key<core::secret> {};
struct proxy_key : member_key<core::secret> {};
struct secret_map_key : member_key<secret_map> {};

struct credentials_key : member_key<core::agent_credentials> {};
struct caller_credentials_key : member_key<core::caller_credentials> {};

struct access_policy_key {
    agent_member<std::optional<core::access_policy>> member;
    decision about;
};

struct skill_rules_key : member_key<std::vector<core::skill_rule>> {};
struct overlays_key : member_key<std::vector<core::card_overlay>> {};
struct card_patch_key : member_key<core::boxed<core::card_patch>> {};
struct mcp_filter_key : member_key<core::mcp_filter> {};
struct header_list_key : member_key<std::vector<std::string>> {};
struct host_name_list_key : member_key<std::vector<std::string>> {};
struct card_key : member_key<std::string> {};      // JSON text in the record
struct metadata_key : member_key<std::string> {};  // the same

// The file with the value, or a part of the value, of another key.
struct file_key {
    std::string_view of;
};

// How an MCP server is reached, and the members of this map that can be keys of the agent instead.
struct transport_key {};

struct transport_part {
    enum class form : std::uint8_t { text, list, secrets, type_name };

    form is;
    std::string_view written_as;
};

struct other_spelling {
    std::string_view of;
    bool milliseconds = false;  // a number of them, where the key itself has a duration with a unit
};

using agent_key_type = std::variant<
    duration_key<core::duration>,
    duration_key<std::optional<core::duration>>,
    size_key,
    count_key<std::uint64_t>,
    count_key<std::optional<std::uint64_t>>,
    share_key,
    switch_key,
    choice_key<core::protocol>,
    choice_key<core::card_shape, std::optional<core::card_shape>>,
    choice_key<core::signature_policy, std::optional<core::signature_policy>>,
    choice_key<core::push_mode, std::optional<core::push_mode>>,
    choice_key<core::balancing, std::optional<core::balancing>>,
    choice_key<core::health_check, std::optional<core::health_check>>,
    choice_key<core::card_trust>,
    choice_key<core::extended_card_access>,
    choice_key<core::mcp_start>,
    choice_key<core::mcp_era>,
    choice_key<core::mcp_sessions>,
    choice_key<core::mcp_sessionless>,
    choice_key<core::mcp_loss>,
    url_key,
    text_key,
    key_set_key,
    url_list_key,
    pattern_list_key,
    origin_list_key,
    dialect_list_key,
    secret_key,
    proxy_key,
    secret_map_key,
    credentials_key,
    caller_credentials_key,
    access_policy_key,
    skill_rules_key,
    overlays_key,
    card_patch_key,
    mcp_filter_key,
    header_list_key,
    host_name_list_key,
    card_key,
    metadata_key,
    file_key,
    transport_key,
    transport_part,
    other_spelling>;

// What holds if the key is not given: in words, as another setting says, or (neither) the value in usual_agent().
struct usual_value {
    std::string_view words{};
    std::string_view setting{};
};

struct agent_setting {
    std::string_view name;  // below `agents.<id>.`
    agent_key_type type;
    usual_value usual;
    std::string_view meaning;
    std::string_view also_from{};  // another path below the agent that can set the same member
};

std::span<const agent_setting> all_agent_settings();

// The row with this key or this whole name, or the first one below it (of `tls`, say). Null: there is none.
const agent_setting* find_agent_setting(std::string_view key);

// The part of a name before its dot.
std::string_view first_part(std::string_view name) noexcept;

// The keys of a map such as `timeouts`. Empty: it is none, or they are not in the table.
std::vector<std::string_view> keys_below(std::string_view map);

// The keys of `transport`; those behind `cwd` describe what the gateway does not run.
inline constexpr auto transport_keys = std::to_array<std::string_view>(
    {"type", "url", "headers", "command", "args", "env", "cwd", "package", "memory", "cpus", "network"}
);

// An agent whose definition says nothing.
core::agent usual_agent(core::protocol speaks);

// Whether only MCP servers have this key.
bool only_of_mcp(const agent_setting& row);

}  // namespace config
