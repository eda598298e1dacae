// Services of the control loop for the workers. The functions that give a task only make it: the task runs on `executor`, or where the
// function says. Any thread may call all of them.
#pragma once

#include "core/error.hpp"
#include "core/secret.hpp"
#include "gateway/balancing/overload.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/call_verdict.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/model/credential_checks.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/management_call.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/published_bundle.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/span.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/loop/types.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace gateway::access {
class server_metadata;
class chain_limits;
class task_index;
}  // namespace gateway::access

namespace mcp {
struct listed_item;
}

namespace gateway::model {

struct agent_entry;

struct control_services {
    net::executor executor;       // of the control loop
    net::executor card_executor;  // of the thread that reads and writes cards
    credential_checks credentials;
    threads::side_thread& long_bodies;  // reads bodies that are so long that they would hold a worker up
    client_sessions& caller_sessions;   // of MCP servers over HTTP
    program_port& programs;             // sessions of callers that live in this process
    access::server_metadata& metadata;  // where callers log in at MCP servers
    const std::atomic<balancing::overload_level>& overload;
    bundle_services bundles;
    inner_callers& inner;  // of requests to servers within the process

    std::function<net::task<bool>()> ready{};     // as /readyz says it; runs on `executor`
    std::function<std::uint64_t()> largest_card;  // `cards.max_size`, which a reload changes
    std::function<net::task<card_answer>(std::string agent_id)> card;
    std::function<net::task<std::shared_ptr<const directory_page>>(directory_request asked)> directory;

    // An answer of an agent as its callers see it: a card in it is made to point at the gateway. Runs on `card_executor`. Fails with
    // card_not_json, card_invalid, card_too_large, card_unrewritable and card_signature, as a fetched card would, and with draining.
    std::function<net::task<core::result<edited_answer>>(answered_card answer)> edit;

    // The extended card of a caller, in the dialect that was asked for. Runs on `card_executor`. Fails with extended_card_incomplete,
    // card_invalid, card_unrewritable, card_too_large, internal, overloaded if too many wait for one of this agent, and draining.
    std::function<net::task<core::result<std::string>>(extended_request asked)> extend;

    // The card at a name of the agent's own. Runs on `card_executor`. Fails with internal.
    std::function<net::task<core::result<std::shared_ptr<const card_bytes>>>(rebased_card asked)> move;

    // The agent with a token of its OAuth server other than `refused`, which the agent did not take; empty: with any. Null:
    // there is none, or the agent is not known any more.
    std::function<net::task<std::shared_ptr<const agent_entry>>(std::string agent_id, core::secret refused)>
        agent_with_token;

    // A token for the agent that stands for the caller's own. Fails with forbidden if the agent's OAuth server does not exchange
    // that; with upstream_credentials if it gives none for another reason; with overloaded if too many callers wait.
    std::function<net::task<core::result<exchanged_token>>(exchange_request asked)> exchange;

    // Takes a push notification over for delivery: the id of that. Fails with overloaded, draining, store_full and store_failed.
    std::function<net::task<core::result<std::string>>(push_delivery notification)> deliver;

    // Carries out a body sent to /agent/register.
    std::function<net::task<registration_answer>(std::string body, registrant by)> enroll;

    // Carries out a body sent to /rpc of the traffic listener. Stops soon after `left` says so.
    std::function<net::task<rpc_answer>(std::string body, rpc_rights rights, std::stop_token left)> manage;

    // Records of a worker, posted to the control loop now and then.
    std::function<void(audit_notes notes)> audit;
    std::function<void(std::vector<call_note> notes)> note_calls;
    std::function<void(span_batch batch)> note_spans;  // of requests that are recorded
    std::function<void(std::shared_ptr<const agent_entry> agent, balancing::breaker_change how)> breaker_changed;
    std::function<void(std::string agent_id)> refresh_card;  // answered with while it was stale

    // Tools that a server with pin: enforce has listed for a caller, and that nobody has approved.
    std::function<void(std::string agent_id, std::vector<::mcp::listed_item> tools)> note_tools;

    access::chain_limits* chains = nullptr;  // of calls that belong together; set before the workers start
    access::task_index* tasks = nullptr;     // to whom tasks belong; set before the workers start
};

}  // namespace gateway::model
