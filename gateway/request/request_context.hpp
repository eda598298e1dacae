// One request on its way through the phases of traffic_handler::handle(): what each phase leaves to the next.
#pragma once

#include "core/error.hpp"
#include "gateway/a2a/dialect_bridge.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/gate.hpp"
#include "gateway/mcp/route/mcp_answer.hpp"
#include "gateway/mcp/route/mcp_repair.hpp"
#include "gateway/mcp/route/program_call.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "gateway/relay/call_place.hpp"
#include "gateway/relay/relay.hpp"
#include "gateway/relay/request_trace.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/router.hpp"
#include "net/server/server_connection.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::request {

// What the caller of an agent speaks: A2A over JSON-RPC or HTTP+JSON, or MCP. A caller with a session of MCP gives it up at a 5xx, so that a failure of
// its server is 200 with the JSON-RPC error.
enum class call_words : std::uint8_t { a2a, rest, mcp, mcp_session };

// The agent at whose own name a request came.
struct agent_origin {
    std::shared_ptr<const model::agent_entry> agent;  // null: there is none
    std::string_view id;                              // of the agent; empty: there is none
    std::string_view host;  // the name; without an agent a view of the request head, for as long as that holds
    std::shared_ptr<const model::agent_entry> disabled{};  // without an agent: the one that is disabled; null: none is
};

// What the tasks and contexts come to that a call names.
struct named_facts {
    bool hidden_task = false;  // it names one of another principal
    bool hidden_context = false;
    bool unclear = false;       // it names one in a way that readers do not agree on
    model::task_home home = 0;  // where its task lives; 0: it is not known
    std::uint64_t context = 0;  // that a message names, as task_index::context_facts::name; 0: none

    bool refused() const noexcept { return hidden_task || hidden_context || unclear; }
};

// Lives in handle(), which outlives every routine that gets a reference to it. One thread.
struct request_context {
    net::server_connection& caller;
    bool from_proxy = false;               // the peer is a trusted proxy
    std::optional<agent_origin> origin{};  // nullopt: it came to the gateway's own name
    destination to{};                      // void once the body has been read: its views lie in the request head
    std::shared_ptr<const access::access_plan> access{};      // null: callers need no credential
    core::result<access::caller> owner{access::caller{}};     // whose request it is; with `access`
    local_snapshot::sighting sighted{};                       // of the agent that `to` or `agent` names
    bool sees_agent = true;                                   // the caller may know of the agent
    named_facts named{};                                      // of a call that has been looked at
    bool may_call = true;                                     // the caller may call the agent, perhaps not every method
    call_words words = call_words::a2a;                       // how a failure of the call is told
    ::a2a::generation rest_version = ::a2a::generation::v03;  // with call_words::rest
    ::a2a::error_profile error_profile = ::a2a::error_profile::v1_0_1;  // the same
    bool shed = false;             // refused for load alone, so that the same may succeed soon
    bool in_words_of_a2x = false;  // a caller that needs a credential is told so as A2X says it
    model::request_record record{};
    relay::request_trace trace{};                        // with a trace that the gateway joins
    std::shared_ptr<const model::agent_entry> agent{};   // null: none is known
    std::shared_ptr<const model::agent_entry> hidden{};  // the one that the caller may not know of, if there is one
    std::shared_ptr<const model::agent_entry> disabled{
    };  // the one that the request names, for the log; null: it is not
    std::optional<relay::relay_call> call{};  // what remains to be relayed; nullopt: the request is answered
    relay::call_place place{};                // of the call, among those of `agent`
    bool translated =
        false;  // a client of the legacy era, whose server over streamable HTTP speaks only the modern one
    std::optional<model::push_receiver> push{};         // for whom a notification of an agent is
    std::optional<mcp::route::program_call> program{};  // what remains to be passed to a program's session
    std::optional<model::card_position> managed{};      // an extended card of the gateway's own remains to be answered
    std::optional<mcp::route::mcp_answer> mcp{};        // of a message to an MCP server: what its answer has to be
    std::optional<mcp::route::mcp_repair> repair{};  // of the same: what can be done about a server that has not acted
    std::vector<std::pair<std::string, core::secret>> forwarded{
    };  // fields of the caller that the server gets in any message
    std::unique_ptr<relay::answer_edit> edit{};       // what call->edit points to
    a2a::dialect_bridge* bridge = nullptr;            // the same, of a call that is translated; null: it is not
    std::string edited_body{};                        // what call->body points into, unless it is as it came
    net::budget_share edited_share{caller.bodies()};  // for that of a call with a push configuration
    std::string call_id{};                            // the raw JSON-RPC id, which outlives the body; empty: none
    std::string head{};                               // what call->head points into, unless it is agent->call_head
    std::string detail{};                             // what record.detail points into
    std::string session_field{};                      // what call->session points into
    std::string server_name{};                        // of what is called, if callers use another one
    std::string tool{};                               // what record.tool points into
    std::string state_params{};                       // raw, of what a session that begins again has to be told again
    std::string input_digest{};  // of a long message, made where that was read; empty: of a short one, or none
    std::string session_tag{};   // what record.session points into
    std::string client{};        // what record.client points into

    // Null: an anonymous caller.
    const core::principal* principal() const noexcept { return owner ? owner->get() : nullptr; }

    // Whether everybody may know of the agent, which is set.
    bool open_to_anyone() const { return !access || access->may_discover(agent->record, nullptr); }

    void set_agent(std::shared_ptr<const model::agent_entry> entry)
    {
        agent = std::move(entry);
        record.agent = agent->record.id;
    }
};

}  // namespace gateway::request
