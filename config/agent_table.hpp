// The table of all keys that an agent may have: how each is written, what it means, and the member of the record that it sets.
// The reader, unknown keys, the JSON Schema, the dump, the comparison, agents/get and docs/configuration.md follow from it. Pure.
#pragma once

#include "config/value_kind.hpp"
#include "core/agent.hpp"
#include "core/json/json.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace config {

// The member of a record that a key sets: of the agent, of its MCP server (null: it is none), or of the rules of its endpoints.
template <auto Member>
struct agent_member {
    template <class Agent>
    static auto* in(Agent& agent)
    {
        using owner = decltype(owner_of(Member));
        if constexpr (std::is_same_v<owner, core::mcp_server>) {
            return agent.mcp ? &((*agent.mcp).*Member) : nullptr;
        } else if constexpr (!std::is_same_v<owner, core::endpoint_rules>) {
            return &(agent.*Member);
        } else if constexpr (std::is_const_v<Agent>) {
            return &(core::rules_of(agent).*Member);
        } else {
            return &((agent.rules ? *agent.rules : agent.rules.emplace()).*Member);
        }
    }
};

// A key sets a member of the record, or is another way to give the value of the key `of`.
struct agent_key {
    enum class relation : std::uint8_t { member, spelling, milliseconds, file, transport, transport_part };

    std::shared_ptr<const any_key> key;  // null: as `of`
    relation is = relation::member;
    std::string_view of{};
    bool only_of_mcp = false;
    const key_of<core::agent>* member = nullptr;  // null: it sets none of its own
};

template <auto Member, class T>
agent_key own(value_kind<T> kind)
{
    auto key = std::make_shared<const member_key<core::agent, T, agent_member<Member>>>(std::move(kind));
    const auto* member = key.get();
    const bool only_of_mcp = std::is_same_v<decltype(owner_of(Member)), core::mcp_server>;
    return {std::move(key), agent_key::relation::member, {}, only_of_mcp, member};
}

// The value of a key that is not given: in words, as another setting says, or (neither) the value in usual_agent().
struct usual_value {
    std::string_view words{};
    std::string_view setting{};
};

struct agent_setting {
    std::string_view name;  // below `agents.<id>.`
    agent_key type;
    usual_value usual;
    std::string_view meaning;
    std::string_view also_from{};  // another path below the agent that can set the same member

    const value_form& form() const { return type.key->form(); }
    bool is_spelling() const
    {
        return type.is == agent_key::relation::spelling || type.is == agent_key::relation::milliseconds;
    }
};

std::span<const agent_setting> all_agent_settings();

// The row with this key or this whole name, or the first one below it (of `tls`, say). Null: there is none.
const agent_setting* find_agent_setting(std::string_view key);

// The part of a name before its dot.
std::string_view first_part(std::string_view name) noexcept;

// The keys of a map such as `timeouts`. Empty: it is none, or they are not in the table.
std::vector<std::string_view> keys_below(std::string_view map);

// The keys of `transport`; those after `cwd` describe packages, which the gateway does not run.
inline constexpr auto transport_keys = std::to_array<std::string_view>(
    {"type", "url", "headers", "command", "args", "env", "cwd", "package", "memory", "cpus", "network"}
);

// An agent whose definition says nothing.
core::agent usual_agent(core::protocol speaks);

// Whether only MCP servers have this key.
bool only_of_mcp(const agent_setting& row);

// The default as docs/configuration.md says it.
std::string usual_text(const agent_setting& row);

// The value in this agent's record as `config dump` writes it, with secrets masked. Null: it has none, or it is shown in another way
// (a card, metadata, a transport).
core::json shown_value(const agent_setting& row, const core::agent& agent);

// Whether both agents have the same value. A record that cannot have the key differs from none.
bool same_value(const agent_setting& row, const core::agent& a, const core::agent& b);

}  // namespace config
