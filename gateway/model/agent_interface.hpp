// Where an A2A agent takes calls, and in which dialects: what its card or its operator says, and what a call needs of
// that. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "core/agent.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gateway::model {

// One dialect of an agent and its address.
struct interface_address {
    core::a2a_dialect speaks = core::a2a_dialect::v03_jsonrpc;
    std::string
        url;  // of the host and port of the agent's own `url`; of gRPC in the http or https form, without a path
    std::string tenant;  // that calls of 1.0 name; empty: none

    friend bool operator==(const interface_address&, const interface_address&) = default;
};

// Where the calls of an agent go.
struct call_route {
    std::string url;  // for JSON-RPC; empty: the agent's own
    // Each dialect once; empty: JSON-RPC of both generations at `url`, and gRPC of both if the operator says where the agent takes it.
    std::vector<interface_address> interfaces;

    friend bool operator==(const call_route&, const call_route&) = default;
};

// An interface that is ready to be called.
struct agent_interface {
    interface_address at;
    ::a2a::dialect speaks;
    std::string base_path;  // of its URL, without slashes at the end
    // With JSON-RPC: the part of every call's head that does not change, with the agent's credentials; empty: that of the
    // agent's call_url, as agent_entry::call_head.
    std::string call_head;
};

// With the agent's own URL if the route has none, and with what the record says the agent speaks if it has no interfaces.
call_route completed(const core::agent& record, call_route route);

// Where `path` of an agent at one address is if it is at another one; both are paths of their URLs. What is below the one is below
// the other, and the path itself is as it is written.
std::string moved_below(std::string_view path, std::string_view from, std::string_view to);

// For URLs without a query: `url` at the origin of `to`.
std::string moved_url(const std::string& url, const std::string& from, const std::string& to);

// The route at another address of the agent.
call_route moved_route(call_route route, const std::string& from, const std::string& to);

::a2a::dialect dialect_of(core::a2a_dialect name) noexcept;

// The interface for a caller of this dialect: the caller's own dialect, else another binding of its generation, else the caller's
// binding of the other generation, else what is left. HTTP+JSON is nearer to gRPC than JSON-RPC is, and gRPC is the farthest from
// both. Null: there are no interfaces.
const agent_interface* nearest_interface(std::span<const agent_interface> interfaces, ::a2a::dialect caller) noexcept;

// Where a task lives: one number for each dialect, so that it holds whatever becomes of the agent's list. 0: it is not known.
using task_home = std::uint8_t;
constexpr task_home home_at(const agent_interface& there) noexcept
{
    return static_cast<task_home>(static_cast<std::uint8_t>(there.at.speaks) + 1);
}

// Whether they have several addresses: a task may then live at one of them, and not be known at another. gRPC is another way to the
// same tasks.
bool has_several_addresses(std::span<const agent_interface> interfaces) noexcept;

// The interface for a call about a task that lives at `home`: the one there, unless the nearest one has the same address. The nearest one
// if the home is not known or the agent does not have it any more.
const agent_interface*
interface_for_task(std::span<const agent_interface> interfaces, ::a2a::dialect caller, task_home home) noexcept;

}  // namespace gateway::model
