// For tests that ask of every key of agents whether something follows it.
#pragma once

#include "config/agent_table.hpp"
#include "core/choices.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
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

inline void change(std::vector<core::principal_name>& names)
{
    names.push_back({"keys", "other"});
}

inline void change(core::pin_settings& pin)
{
    pin.mode = core::pin_mode::enforce;
    pin.except.emplace_back("table_*");
}

void change(core::endpoint_rules& rules);

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

inline void change(core::endpoint_rules& rules)
{
    auto& [upstreams, balance, failback, check, path, interval, timeout, fail, pass, attempts, budget] = rules;
    const auto all =
        std::tie(upstreams, balance, failback, check, path, interval, timeout, fail, pass, attempts, budget);
    std::apply([](auto&... each) { (change(each), ...); }, all);
}

// The members of a record that keys set.
template <class Server>
    requires std::is_same_v<std::remove_const_t<Server>, core::mcp_server>
auto members_of(Server& server)
{
    auto& [transport, command, arguments, environment, directory, start, era, initialize, request, ping, walk, backoff, max_backoff, max_message, stale, sessions, sessionless, on_lost, overlap, warm, most, call, longest, silent, tools, prompts, resources, forwarded, bind] =
        server;
    return std::tie(
        command,
        start,
        era,
        initialize,
        request,
        ping,
        walk,
        backoff,
        max_backoff,
        max_message,
        stale,
        sessions,
        sessionless,
        on_lost,
        overlap,
        warm,
        most,
        call,
        tools,
        prompts,
        resources,
        forwarded,
        bind
    );
}

template <class Agent>
    requires std::is_same_v<std::remove_const_t<Agent>, core::agent>
auto members_of(Agent& agent)
{
    auto& [id, speaks, url, grpc_url, services, http, queries, mcp, card_url, trust, dialects, bridge, as_tools, tool_wait, extended, skills, overlays, patch, card, card_headers, push, shape, signatures, keys, origins, bearer, credentials, headers, of_callers, proxy, timeout, read_timeout, ca, cert, key, relay_paths, hosts, discover, call, acts_as, pin, enforced, disabled, registered, registered_by, version, protocol_version, metadata, failures, ratio, volume, window, cooldown, max_cooldown, probe, rules, in_flight, queued, streams, queue_wait] =
        agent;
    return std::tie(
        speaks,
        url,
        grpc_url,
        services,
        http,
        card_url,
        trust,
        dialects,
        bridge,
        as_tools,
        tool_wait,
        extended,
        skills,
        overlays,
        patch,
        card,
        card_headers,
        push,
        shape,
        signatures,
        keys,
        origins,
        bearer,
        credentials,
        headers,
        of_callers,
        proxy,
        timeout,
        read_timeout,
        failures,
        ratio,
        volume,
        window,
        cooldown,
        max_cooldown,
        probe,
        rules,
        in_flight,
        queued,
        streams,
        queue_wait,
        ca,
        cert,
        key,
        relay_paths,
        hosts,
        discover,
        call,
        acts_as,
        pin,
        enforced,
        disabled,
        registered,
        registered_by,
        version,
        protocol_version,
        metadata
    );
}

// An agent in which no key has its usual value.
inline core::agent changed_agent(core::agent agent)
{
    std::apply([](auto&... each) { (change(each), ...); }, members_of(agent));
    if (agent.mcp) {
        std::apply([](auto&... each) { (change(each), ...); }, members_of(*agent.mcp));
    }
    agent.proxy = core::secret{"http://gate:s3cr3t@proxy.example.com:3128"};
    return agent;
}

// Changes the value of one key. False: it is the value of another key too.
inline bool change(const agent_setting& row, core::agent& agent)
{
    if (row.type.is == agent_key::relation::transport) {
        change(agent.mcp->command);
        return true;
    }
    if (row.type.member == nullptr) {
        return false;
    }
    const auto changed = changed_agent(agent);
    row.type.member->copy(changed, agent);
    return true;
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
