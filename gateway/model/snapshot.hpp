// Snapshot that the control loop publishes and the workers read: the agents as they are configured, ready to be called. Immutable;
// a request in flight keeps what it began with.
#pragma once

#include "config/settings.hpp"
#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "gateway/balancing/shelves.hpp"
#include "gateway/model/agent_interface.hpp"
#include "gateway/model/published_card.hpp"
#include "mcp/calls/name_filter.hpp"
#include "net/upstream/upstream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcp {
class pinned_server;
}

namespace gateway::model {

struct string_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

template <class Value>
using string_map = std::unordered_map<std::string, Value, string_hash, std::equal_to<>>;

struct endpoint_entries;
struct agent_entry;

// An agent as one of the other protocol, at the bridge's server for it within the process. It is made when it is first asked for: most agents
// are called in their own protocol alone. Any thread.
class bridged_agent {
public:
    // As upstream_target::dial.
    explicit bridged_agent(std::function<core::descriptor()> dial)
        : dial_{std::move(dial)}
    {
    }

    // Of the agent that this is of; not null, always the same.
    const std::shared_ptr<const agent_entry>& entry(const core::agent& of) const;

private:
    std::function<core::descriptor()> dial_;
    mutable std::once_flag once_;
    mutable std::shared_ptr<const agent_entry> made_;
};

struct agent_entry {
    core::agent record;
    std::vector<std::string> tags;                         // of the record's metadata, sorted, each once
    std::vector<std::string> hosts;                        // its names, as config::hosts_of()
    std::shared_ptr<const net::upstream_target> upstream;  // null: this agent is not called over HTTP
    std::string call_url;           // where calls go: the record's own url, unless its card is trusted with that
    core::secret token;             // of its OAuth server; empty: none that holds, or it needs none
    bool awaits_token = false;      // it needs one, and cannot be called without
    bool awaits_card = false;       // its card may say where calls go, and has not been seen since the record changed
    bool exchanges_tokens = false;  // as exchanges_tokens(): each call needs a token for its caller
    bool mediates_push = false;     // the gateway delivers the push notifications of its calls itself
    std::string call_head;          // the part of every call's head that does not change; holds the agent's credentials
    std::vector<agent_interface> interfaces;  // of A2A; empty: JSON-RPC of both generations at call_url
    bool several_addresses = false;           // has_several_addresses() of these
    std::string fixed_fields;             // the same without the request line, for requests of other methods and paths
    std::vector<std::string> own_fields;  // names of header fields in it that are never the caller's
    core::secret query_key;               // what every request has in its query; empty: nothing
    std::string own_path;                 // of the record's URL; at least "/"
    std::string base_path;                // the same without slashes at the end
    core::duration head_timeout{};        // from a request that may start work to the head of the answer
    core::duration read_timeout{};        // the same of a request that only reads
    std::shared_ptr<balancing::breaker>
        breaker;  // of where calls go, one for all threads; null: it is not called over HTTP
    std::shared_ptr<balancing::agent_reach>
        reach;  // of all its endpoints, one for all threads; null: there is one, which nobody checks
    // This agent where it takes gRPC, if `upstream` is another place or not of HTTP/2: its target, heads and breaker are for there.
    // Whatever is not about the way to the agent is asked of this entry. Null: gRPC goes to `upstream`.
    std::shared_ptr<const agent_entry> grpc;
    const endpoint_entries* siblings = nullptr;          // that hold this entry; null: the agent has one endpoint
    std::size_t number = 0;                              // of its endpoint, from 0
    std::shared_ptr<balancing::call_gate> calls;         // the same, of the agent; has its limits once it is published
    std::shared_ptr<const balancing::call_terms> terms;  // of these calls; null as they
    std::shared_ptr<const ::mcp::name_filters>
        filters;  // of an MCP server that hides or renames something, or some of it for some callers; null: nothing
    std::shared_ptr<const ::mcp::pinned_server>
        pins;           // of an MCP server with pin: enforce; null: lists and calls are not compared
    bool held = false;  // it waits for an operator's approval: card and calls are card_held
    std::shared_ptr<const core::address_rule> addresses;  // as addresses_of()
    std::shared_ptr<const bridged_agent> bridged;         // one for all its endpoints; null: it is not bridged
    std::uint64_t version = 0;                            // in the store; 0: the configuration declares it
    bool fell_back = false;  // of an MCP server over streamable HTTP: the gateway's own session found HTTP+SSE only

    // The agent is an MCP server whose sessions with callers live in this process: a program, one that speaks HTTP+SSE, or one whose
    // only session serves all of them.
    bool has_program_sessions() const noexcept
    {
        return record.mcp && (record.mcp->transport == core::mcp_transport::stdio ||
                              record.mcp->transport == core::mcp_transport::sse ||
                              record.mcp->sessions == core::mcp_sessions::shared || fell_back);
    }

    // The gateway's own session with this MCP server serves callers: all of them, or those without a session.
    bool shares_session() const noexcept
    {
        return record.mcp && (record.mcp->sessions == core::mcp_sessions::shared ||
                              record.mcp->sessionless == core::mcp_sessionless::shared);
    }

    // A call needs a token that it may have to wait for.
    bool needs_token() const noexcept { return awaits_token || exchanges_tokens; }

    // A call of A2A needs a step of its own before it is prepared for the relay. False for most agents.
    bool needs_preparation() const noexcept { return awaits_card || mediates_push; }

    // The agent takes calls of A2A.
    bool takes_a2a() const noexcept { return upstream && record.speaks == core::protocol::a2a; }

    // A caller of A2A gets answers of the agent, be it one of A2A or a bridged MCP server.
    bool serves_a2a() const noexcept { return takes_a2a() || (record.mcp && bridged != nullptr); }

    // This agent as one of the other protocol. Null: it is not bridged.
    std::shared_ptr<const agent_entry> other_side() const { return bridged ? bridged->entry(record) : nullptr; }

    call_route route() const;
};

struct snapshot {
    string_map<std::shared_ptr<const agent_entry>> agents;    // disabled ones are not here
    string_map<std::shared_ptr<const agent_entry>> disabled;  // these
    std::string public_base;                                  // scheme and authority, no slash at the end
    std::shared_ptr<const card_bytes> key_set;                // what cards are verified with; null: none is signed
};

// Defaults for an agent whose record does not say.
struct entry_defaults {
    core::duration head_timeout{};
    core::duration read_timeout = core::duration::max();
    std::span<const std::string> register_allow = {};  // as core::registration_settings::allow
    std::string_view agent_hosts = {};                 // as config::process_settings::agent_hosts
    core::push_mode push = core::push_mode::passthrough;
    core::breaker_settings breaker{};
    balancing::breaker_shelf* breakers = nullptr;  // null: every entry has a breaker of its own
    core::endpoint_defaults endpoints{};
    balancing::reach_shelf* reaches = nullptr;  // null: the same
    core::call_limits calls{};
    balancing::gate_shelf* gates = nullptr;  // null: every entry has a gate of its own
    std::function<core::descriptor()> bridge{
    };  // as upstream_target::dial, to the bridges' servers; empty: there are none
};

// The addresses that an agent which registered itself may have; null: any, the agent did not.
std::shared_ptr<const core::address_rule>
addresses_of(const core::agent& record, std::span<const std::string> register_allow);

// How its endpoints are checked: never `automatic`, and `none` for an MCP server.
core::health_check health_check_of(const core::agent& record, const core::health_settings& defaults) noexcept;

// Calls go where `route` says; without a URL in it: to the record's own, until its card has been seen. `token`: of the
// agent's OAuth server; empty: none. Fails with config_invalid if the URL or the trust store cannot be used; the detail names the agent.
core::result<std::shared_ptr<const agent_entry>> make_entry(
    const core::agent& record,
    const entry_defaults& defaults,
    net::client_contexts& contexts,
    const call_route& route = {},
    const core::secret& token = {}
);

// A copy of the entry with this agent_entry::fell_back.
std::shared_ptr<const agent_entry> with_fallback(const std::shared_ptr<const agent_entry>& agent, bool fell_back);

// A copy of the entry with this agent_entry::version.
std::shared_ptr<const agent_entry> with_version(const std::shared_ptr<const agent_entry>& agent, std::uint64_t version);

// Fails with config_invalid if an agent's URL or trust store cannot be used; the detail names the agent.
core::result<std::shared_ptr<const snapshot>> make_snapshot(const config::settings& settings, std::string public_base);

// Where callers reach an agent, and what its card advertises.
std::string public_address(std::string_view public_base, std::string_view agent_id);

// The public address at a name of the agent's own: an origin with the scheme and the port of `public_base`. The name is in lower case there,
// however a request spells it.
std::string own_origin(std::string_view public_base, std::string_view host);

// The entries of an agent that has several endpoints, in the order of its addresses. They hold each other, so that whatever is made for
// one of them can be sent to another one. The first one is what a snapshot has.
struct endpoint_entries {
    std::vector<agent_entry> all;
};

// The i-th entry of the same agent, from 0; the agent itself if there is none.
std::shared_ptr<const agent_entry> endpoint_of(const std::shared_ptr<const agent_entry>& agent, std::size_t i);

// The entry that a snapshot has of the same agent.
const agent_entry& first_of(const agent_entry& agent) noexcept;

// Those keys of `before`'s targets that `now` does not have: connections there are not wanted any more. Null: no agent. They are valid as
// long as `before`.
std::vector<std::string_view> keys_that_leave(const agent_entry* before, const agent_entry* now);

// Calls `visit(name, breaker)` for each breaker of the agent: of its endpoints, named by their numbers from 1, and of its address for gRPC,
// named `grpc`.
template <class Visit>
void each_breaker(const agent_entry& agent, const Visit& visit)
{
    if (agent.breaker == nullptr) {
        return;
    }
    visit(std::string{"1"}, *agent.breaker);
    for (std::size_t i = 1; agent.siblings != nullptr && i < agent.siblings->all.size(); ++i) {
        visit(std::to_string(i + 1), *agent.siblings->all[i].breaker);
    }
    if (agent.grpc) {
        visit(std::string{"grpc"}, *agent.grpc->breaker);
    }
}

// How many endpoints the agent has; at least 1.
std::size_t endpoint_count(const agent_entry& agent) noexcept;

// Until when its breakers admit no call for sure.
core::steady_time again_at(const agent_entry& agent, core::steady_time now) noexcept;

// The path of one endpoint where the other one has `path`, which may have a query: what is below the path of `from`'s URL is below
// that of `to`'s. The own path of an endpoint is as its URL has it.
std::string moved_path(std::string_view path, const agent_entry& from, const agent_entry& to);

// A request head that was made for one endpoint, for the other one.
std::string moved_head(std::string_view head, const agent_entry& from, const agent_entry& to);

}  // namespace gateway::model
