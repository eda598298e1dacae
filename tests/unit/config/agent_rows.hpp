// For tests that ask of every key of agents whether something follows it.
#pragma once

#include "config/agent_table.hpp"
#include "core/choices.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace config::testing {

inline void change(std::string& text)
{
    text = "other";
}

inline void change(bool& on)
{
    on = !on;
}

inline void change(core::duration& time)
{
    time += 1s;
}

inline void change(double& share)
{
    share += 0.25;
}

inline void change(std::uint64_t& size)
{
    size += 1024;
}

inline void change(std::vector<std::string>& list)
{
    list.emplace_back("other");
}

inline void change(std::vector<core::a2a_dialect>& dialects)
{
    dialects.push_back(core::a2a_dialect::v1_rest);
}

inline void change(core::secret& value)
{
    value = core::secret{"s3cr3t"};
}

inline void change(std::vector<std::pair<std::string, core::secret>>& secrets)
{
    secrets.emplace_back("X-Key", core::secret{"s3cr3t"});
}

inline void change(core::agent_credentials& credentials)
{
    credentials = core::basic_credentials{"name", core::secret{"s3cr3t"}};
}

inline void change(core::caller_credentials& passed)
{
    passed.all = !passed.all;
}

inline void change(core::access_policy& policy)
{
    policy.anyone = !policy.anyone;
}

inline void change(std::vector<core::skill_rule>& rules)
{
    rules.emplace_back().id = "other";
}

inline void change(std::vector<core::card_overlay>& overlays)
{
    overlays.push_back({{.anyone = true, .any_of = {}}, R"({"version":"2"})"});
}

inline void change(core::card_patch& patch)
{
    patch.description = "other";
}

template <class Enum>
    requires std::is_enum_v<Enum>
void change(Enum& value)
{
    const auto& all = core::choices<Enum>;
    value = value == all.front().value ? all.back().value : all.front().value;
}

inline void change(core::mcp_filter& filter)
{
    filter.deny.emplace_back("other");
}

template <class T>
void change(core::boxed<T>& value)
{
    change(value.emplace());
}

template <class T>
void change(std::optional<T>& value)
{
    change(value.emplace());
}

// Changes the value of one key. False: it is the value of another key too.
inline bool change(const agent_setting& row, core::agent& agent)
{
    return std::visit(
        [&](const auto& type) {
            if constexpr (std::is_same_v<decltype(type), const proxy_key&>) {
                agent.proxy = core::secret{"http://gate:s3cr3t@proxy.example.com:3128"};
                return true;
            } else if constexpr (requires { type.member; }) {
                change(*find_member(type.member, agent));
                return true;
            } else if constexpr (std::is_same_v<decltype(type), const transport_key&>) {
                change(agent.mcp->command);
                return true;
            } else {
                return false;
            }
        },
        row.type
    );
}

// The agent that `row` is described for.
inline core::agent usual_agent_with(const agent_setting& row)
{
    auto agent = usual_agent(only_of_mcp(row) ? core::protocol::mcp : core::protocol::a2a);
    agent.id = "a";
    return agent;
}

// Where the key is in a JSON object.
inline core::json::json_pointer pointer_of(const agent_setting& row)
{
    std::string path = '/' + std::string{row.name};
    std::replace(path.begin(), path.end(), '.', '/');
    return core::json::json_pointer{path};
}

}  // namespace config::testing
