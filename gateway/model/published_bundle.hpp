// A bundle as workers serve it, and what they ask the control loop about it. Immutable; shared by all loops.
#pragma once

#include "core/error.hpp"
#include "core/mcp_bundle.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/types.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::bundles {
class tool_index;
class tool_searches;
}  // namespace gateway::bundles

namespace gateway::model {

// `starting`: nothing is known of its lists, and somebody finds out. `down`: its server is away; its last lists stay.
enum class member_state : std::uint8_t { known, starting, down };

struct published_member {
    std::shared_ptr<const agent_entry> agent;          // as the snapshot has it; not null
    std::shared_ptr<const ::mcp::server_lists> lists;  // null: nothing is known of them
    member_state state = member_state::starting;

    // The agent as an MCP server. Null: it is none, and is not bridged.
    std::shared_ptr<const agent_entry> server() const { return agent->record.mcp ? agent : agent->other_side(); }
};

struct published_bundle {
    core::mcp_bundle settings;
    std::vector<published_member> members;                 // at most core::most_bundle_agents
    std::shared_ptr<const ::mcp::bundle_catalog> catalog;  // of these members, in their order; not null
    std::shared_ptr<const ::mcp::name_filters> filters;    // of the bundle, by exposed name; not null
    std::shared_ptr<const bundles::tool_index> tools;      // of the catalog; null: the bundle lists all its tools
    std::shared_ptr<const agent_entry> self;  // stands for the bundle where a stream needs an agent: without an id

    bool awaits_members() const noexcept
    {
        return std::ranges::any_of(members, [](const auto& each) { return each.state == member_state::starting; });
    }
};

using bundle_pointer = std::shared_ptr<const published_bundle>;
struct published_bundles : string_map<bundle_pointer> {};  // by name

// A session of a client of the legacy era with a bundle, as its id says.
struct bundle_session {
    std::string bundle;  // its name
    ::mcp::session_digest id{};
    std::string_view version;  // of the legacy era; static
    ::mcp::client_capabilities declared;
    std::string further{};        // mcp::further_capabilities()
    inner_caller_pointer caller;  // null where it is not needed: the one before stays
    core::caller_mark whose = 0;
};

// The part of a client's messages that concerns several members, or none.
enum class bundle_act : std::uint8_t {
    cancel,     // `text`: the raw id of the request; `member` hears of it, or all of them if it is not known who has it
    broadcast,  // `text`: a notification; each member hears it
    set_level,  // `text`: the raw level; each member is told, now or when its session begins
    subscribe,  // `text`: the URI at the member, which has been subscribed to; `asked`: the client's
    unsubscribe,  // the same
    lost,         // `text`: the id of the member's session, which is over: the next message begins another one
    touch,        // it is used, which a worker says now and then
    end,          // the session is over
};

struct bundle_message {
    bundle_session in;
    bundle_act act = bundle_act::end;
    std::string member{};  // the agent's id
    std::string text{};
    std::string asked{};
};

struct member_call {
    bundle_session in;
    std::string member;  // the agent's id
};

// A session with a member.
struct member_place {
    std::string id;                                     // as /agents/<id>/mcp gave it; empty: the member has none
    std::string version;                                // that the member has agreed to
    std::shared_ptr<std::atomic<std::uint32_t>> calls;  // in flight in the client's session, of all workers
};

// Services of the control loop. The functions that give a task only make it; it runs there. Any thread may call all of them.
struct bundle_services {
    // Returns when the members are known that the bundle waits for, or when it has waited for long enough. False: there is no such bundle.
    std::function<net::task<bool>(std::string bundle)> wait;

    // The session with the member, which may have to begin. Fails with session_not_found (the session is over), overloaded, and as the member's `initialize` does.
    std::function<net::task<core::result<member_place>>(member_call call)> enter;
    std::function<void(bundle_message message)> tell;

    // Returns true when the session is over here; each worker has been posted that by then, and may not have come to it.
    std::function<net::task<bool>(bundle_session session)> end;

    // What clients listen to: program_act::listen and ::modern, with program_request::in_bundle.
    program_port* streams = nullptr;

    bundles::tool_searches* searches = nullptr;
};

}  // namespace gateway::model
