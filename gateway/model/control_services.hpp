// Requests of the workers to the rest of the gateway. The coroutines run on the control loop: start them on its executor.
#pragma once

#include "core/error.hpp"
#include "core/secret.hpp"
#include "gateway/balancing/overload.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/call_verdict.hpp"
#include "gateway/model/card_answer.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/model/credential_checks.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/registration.hpp"
#include "gateway/model/rpc_answer.hpp"
#include "gateway/model/span.hpp"
#include "gateway/model/token_exchange.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace gateway::access {
class task_index;
}

namespace gateway::model {

struct agent_entry;

// How callers log in at an MCP server that asks them to (RFC 9728 section 2).
struct server_login {
    std::vector<std::string> authorization_servers;  // URLs; not empty
    std::vector<std::string> scopes;
};

class control_services : public credential_checks {
public:
    virtual ~control_services() = default;

    // `cards.max_size`, which a reload changes. Any thread may ask.
    virtual std::uint64_t largest_card() const noexcept = 0;

    virtual net::task<card_answer> card(std::string agent_id) = 0;

    // Null: no memory is left for the page.
    virtual net::task<std::shared_ptr<const directory_page>> directory(directory_request asked) = 0;

    // An answer of an agent as its callers see it: a card in it is made to point at the gateway. Runs on card_executor(), which
    // any thread may ask for. Fails with card_not_json, card_invalid, card_too_large, card_unrewritable and card_signature,
    // as a fetched card would, and with draining.
    virtual net::task<core::result<edited_answer>> edit(answered_card answer) = 0;
    virtual net::executor card_executor() = 0;

    // The extended card of a caller, in the dialect that was asked for. Runs there too. Fails with extended_card_incomplete,
    // card_invalid, card_unrewritable, card_too_large, internal, overloaded if too many wait for one of this agent, and draining.
    virtual net::task<core::result<std::string>> extend(extended_request asked) = 0;

    // The card at a name of the agent's own. Runs there too. Fails with internal.
    virtual net::task<core::result<std::shared_ptr<const card_bytes>>> move(moved_card asked) = 0;

    // For reading bodies that are so long that it would hold a worker up. Any thread may ask it.
    virtual threads::side_thread& long_bodies() = 0;

    // Knowledge of callers' sessions with MCP servers over HTTP.
    virtual client_sessions& caller_sessions() = 0;

    // To whom tasks belong; null: nobody keeps that. The same as long as there are workers. Any thread may ask for it.
    virtual access::task_index* tasks() noexcept { return nullptr; }

    // The sessions of callers that live in this process. Any thread may ask for it.
    virtual program_port& programs() = 0;

    // Notes of a worker for the audit. Any thread may call it, now and then.
    virtual void audit(audit_notes notes) = 0;

    // Outcomes of calls that a worker has seen. Any thread may call it, now and then.
    virtual void note_calls(std::vector<call_note> notes) = 0;

    // How overloaded the gateway is. Any thread may ask.
    virtual balancing::overload_level overload() const noexcept { return 0; }

    // The spans of a worker's requests that are recorded. Any thread may call it, now and then.
    virtual void note_spans(span_batch batch) = 0;

    // Its breaker has opened or closed. Any thread may call it.
    virtual void breaker_changed(std::shared_ptr<const agent_entry> agent, balancing::breaker_change how) = 0;

    // The agent with a token of its OAuth server other than `refused`, which the agent did not take; empty: with any. Null:
    // there is none, or the agent is not known any more.
    virtual net::task<std::shared_ptr<const agent_entry>>
    agent_with_token(std::string agent_id, core::secret refused) = 0;

    // Where callers log in at this MCP server, as its own metadata says. Fails with upstream_status (it has none) and
    // upstream_protocol.
    virtual net::task<core::result<server_login>> login_of(std::shared_ptr<const agent_entry> agent) = 0;

    // A token for the agent that stands for the caller's own. Fails with forbidden if the agent's OAuth server does not exchange
    // that; with upstream_credentials if it gives none for another reason; with overloaded if too many callers wait.
    virtual net::task<core::result<exchanged_token>> exchange(exchange_request asked) = 0;

    // Takes a push notification over for delivery: the id of that. Fails with overloaded, draining, store_full and store_failed.
    virtual net::task<core::result<std::string>> deliver(push_delivery notification) = 0;

    // Carries out a body sent to /agent/register.
    virtual net::task<registration_answer> enroll(std::string body, registrant by) = 0;

    // Carries out a body sent to /rpc of the traffic listener. Stops soon after `left` says so.
    virtual net::task<rpc_answer> manage(std::string body, rpc_rights rights, std::stop_token left) = 0;
};

}  // namespace gateway::model
