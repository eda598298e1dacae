// The services of the gateway for callers' sessions that live in this process.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/event_log.hpp"
#include "mcp/calls/server_questions.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/session/start_turns.hpp"
#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/loop/loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::mcp::table {

struct local_session_services {
    net::loop& loop;
    ::mcp::start_turns& turns;
    // The transport to the programs of an agent; its server is a program.
    std::function<::mcp::transport_factory(const model::agent_entry& agent)> reach;
    // Whether the agent's server speaks the modern era, as far as that is known.
    std::function<bool(const core::agent& record)> speaks_modern;
    std::function<core::steady_time()> clock;
    const core::logger& log;
    // The facts that the server of an agent has stated in the control session, which begins if it is lazy. Fails with why that is
    // not ready.
    std::function<core::result<std::shared_ptr<const ::mcp::server_facts>>(const std::string& agent_id)> control = {};
    // Carries callers' messages over the control session (mcp::shared_channel); null: there is none.
    std::function<::mcp::transport_factory(const std::string& agent_id)> lane = {};
    // The lists of the agent's server, as far as they are known; empty or null: they are not.
    std::function<std::shared_ptr<const ::mcp::server_lists>(const std::string& agent_id)> listed = {};
    // The settings for an agent's server that speaks streamable HTTP.
    std::function<::mcp::http_settings(const model::agent_entry& agent)> over_http = {};
    // The lists that the gateway's own session knows; null: that does not serve. Empty: nothing is known of any.
    std::function<std::shared_ptr<const ::mcp::server_lists>(const std::string& id)> lists = {};
    // Returns when it is known which era the agent's server speaks (sessions::session_plane::find_era()). Empty: nobody finds out.
    std::function<net::task<core::result<>>(const std::string& agent_id)> find_era = {};
    // Returns when the lists of the agent's server have been read, for which a lazy session begins (sessions::session_plane::refresh()).
    // Empty: nobody reads them.
    std::function<net::task<core::result<>>(const std::string& agent_id)> read_lists = {};
    // The state of calls that wait for input is sealed with it; without replicas it opens nothing in another process.
    std::shared_ptr<const ::mcp::session_ids> seals = nullptr;
    // The limits of streams that clients resume.
    ::mcp::replay_limits replay = {};
    // An agent of A2A as the MCP server that it is for callers, when one of them first asks for it; null: it is none. Empty: there are none.
    std::function<std::shared_ptr<const model::agent_entry>(const std::string& agent_id)> bridged = {};
    // Called for each session that is over; empty: nobody wants to know.
    std::function<void(const std::string& handle)> ended = {};
    // Counts servers' questions to callers; not null.
    std::shared_ptr<::mcp::question_tally> asked = std::make_shared<::mcp::question_tally>();
    // Its server is told nothing any more. Empty: no agent is contained.
    std::function<bool(std::string_view agent_id)> is_contained = {};
};

}  // namespace gateway::mcp::table
