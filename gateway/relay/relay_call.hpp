// One call that a relay passes on: its terms, the call itself, and how it ended.
#pragma once

#include "config/settings.hpp"
#include "core/agent_credentials.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/access/task_index.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/relay/forwarding.hpp"
#include "net/http1/head.hpp"
#include "net/loop/routine.hpp"
#include "net/upstream/agent_side.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::access {
class credential_reader;
}

namespace gateway::model {
struct control_services;
}

namespace mcp {
class event_gate;
class tool_scan;
}  // namespace mcp

namespace gateway::relay {

class agent_exchange;
class inflight_slot;
class open_streams;
class redirect_cache;
class request_trace;

// Settings that all relays of one worker share; references outlive them.
struct relay_settings {
    const config::timeout_settings& timeouts;
    const config::limit_settings& limits;
    open_streams& streams;                     // of the worker
    model::control_services& control;          // knows the tokens of agents
    std::span<const std::string> deadlines{};  // names of the fields that say how long a caller waits
};

struct relay_call;

// The part of a route in a call: repairs it if the agent says it has not carried it out, or does not answer, and has terms of the
// answer.
class call_repair {
public:
    virtual ~call_repair() = default;

    // The caller gets an answer of the gateway's own instead of this one.
    virtual bool replaces(const net::http1::response_head& head) const
    {
        static_cast<void>(head);
        return false;
    }

    // Before anything of the answer goes to the caller, which gets the failure instead.
    virtual core::result<> accept(const net::http1::response_head& head)
    {
        static_cast<void>(head);
        return {};
    }

    // Adds fields to the head that goes to the caller.
    virtual void add_head_fields(std::string& fields) const { static_cast<void>(fields); }

    // The line that tells a caller where to log in, after a refused answer; empty: the agent has not asked who is calling.
    virtual std::string_view challenge() const noexcept { return {}; }

    // An answer with this head has come, whatever becomes of it.
    virtual void note_answer(const net::http1::response_head& head) { static_cast<void>(head); }

    // Whether an answer with this head may say so, and how many bytes of its body have to be read for that; nothing: it does not.
    virtual std::optional<std::size_t> interest(const net::http1::response_head& head) const = 0;

    // True: `call` has changed and is to be sent again. False: the answer is for the caller. Fails with what the caller gets
    // instead. `head` is that of `on`, which it may discard() before it waits for long. `body` is empty if it was not wanted, is
    // longer, or does not come in time.
    virtual net::routine<core::result<bool>>
    repair(relay_call& call, agent_exchange& on, const net::http1::response_head& head, std::string body) = 0;

    // The agent has not answered in time, and nobody waits any more.
    virtual void gave_up(const relay_call& call) = 0;

    // What the caller gets instead of this failure. `reached`: the agent may have got something of the call.
    virtual core::error told_as(core::error why, bool reached)
    {
        static_cast<void>(reached);
        return why;
    }

    // The agent has asked the caller what it may not ask: this is its answer.
    virtual void refuse(const relay_call& call, std::string answer)
    {
        static_cast<void>(call);
        static_cast<void>(answer);
    }

    // The text of a failure for a caller that has got a stream of events: the data of an event, on one line.
    virtual std::string failure_text(const core::error& why) const = 0;

    // The beginning of a stream of events: whole events, for as long as the repair; empty: nothing.
    virtual std::string_view first_events() const { return {}; }

    // The text that ends a stream that listens in order; empty: it just ends.
    virtual std::string end_text() const { return {}; }

    // The session that the call belongs to is over for the caller, whatever the server says to it.
    virtual net::routine<> end_session() { co_return; }
};

// Makes another view of an agent's side: of a protocol within HTTP.
class side_codec {
public:
    virtual ~side_codec() = default;

    // `inner` outlives the view.
    virtual std::unique_ptr<net::agent_side> view(net::agent_side& inner) = 0;
};

// The token that a call has instead of the agent's own credential, if the agent takes tokens of its callers.
struct caller_token {
    core::oauth_client client;  // of the agent, which it was asked for with
    core::secret text;
    core::steady_time until{};
    std::string principal;  // whom it stands for: provider and id
};

// Terms of the tasks that an answer shows.
struct task_terms {
    access::task_index* index = nullptr;      // outlives the relay; null: nothing, the answer shows none
    std::uint8_t interface = 0;               // as task_index::facts::interface
    bool owned = false;                       // if they are new, they are the caller's; else anybody's
    const core::principal* caller = nullptr;  // outlives the relay; null: the callers without a credential
    std::uint64_t context = 0;  // of the message, which an answer that is no error makes the caller's; 0: none
    bool new_task = false;      // a message that names no task
    bool new_context = false;   // the same of a context

    // The answer must come so that it can be read: a caller's tasks are kept from others.
    bool must_read() const noexcept { return index != nullptr && owned; }

    // With an index. Of a task that is new. Made when an answer shows one: most show none, and the owner is a hash.
    access::task_index::facts facts() const noexcept
    {
        return {owned ? index->owner_of(caller) : access::task_index::anybody, interface, new_task};
    }
    access::task_index::facts context_facts() const noexcept { return {facts().whose, 0, new_context}; }
};

// The request as the agent gets it. What its views point into outlives the relay.
struct outgoing_request {
    net::http1::method verb = net::http1::method::post;
    std::string_view head;       // request line and fixed fields
    std::string_view lines{};    // further lines of the head
    std::string inside{};        // a line that tells a server within the process whose the request is; else empty
    std::string_view cookies{};  // of the agent's session, beside the agent's own
    std::string_view body;       // held by the caller's connection, whole, or with `passed` its beginning
    std::optional<std::string> extensions{
    };  // a line instead of the caller's fields of extensions; nullopt: these pass
    std::string head_text{};    // what `head` points into, if it was made for this call
    bool passed = false;        // behind `body`: what the caller sends, piece by piece as it comes
    bool translated = false;    // `body` is not what the caller sent: its fields are in `lines`
    bool says_version = false;  // `lines` has the A2A-Version of the agent's, which replaces the caller's
    bool says_session = false;  // the same of Last-Event-ID and MCP-Protocol-Version
    bool json = false;          // the body is JSON, whatever other name of it the caller uses

    void set_head(std::string text)
    {
        head_text.swap(text);
        head = head_text;
    }
};

// The kind of a call, and the form that its answer takes.
struct call_traits {
    bool opaque = false;      // the answer may be anything; else a page of HTML is none
    bool repeatable = false;  // may be sent again even if it may have been processed
    bool streaming = false;   // may be answered with events: a caller that closes its half has left
    bool listens = false;     // part of no call: its stream ends in order with the gateway
    bool begins = false;      // a client's `initialize`, which has that time of its MCP server for all of it
    bool whole = false;       // a stream with an answer, or several, becomes JSON; with a gate of answers_only
    bool gathers = false;     // the same of several answers, which become an array
    bool as_events = false;   // JSON becomes an event
    bool forwarded = false;   // to another replica, which gets it as the caller sent it, and answers the caller
    bool by_grpc = false;     // the agent is called by gRPC
    bool both_ways = false;   // the caller may be silent between the messages that it sends, for as long as an agent
    bool messages = false;    // so does the caller call, and what both send passes as it comes, with trailers
};

// Times that a call has instead of the usual ones; 0: none.
struct call_times {
    core::duration silence{};   // of the agent during its answer; 0: timeouts.upstream_idle
    core::duration longest{};   // until the end of its answer, whatever comes meanwhile
    core::duration patience{};  // with a repair: until the caller gets events instead; 0: it waits
    core::duration asked{};  // that the caller waits for all of the answer, since its request began; 0: it does not say
};

// The caller, as far as the relay has to know it. Pointers outlive the relay.
struct call_origin {
    const core::principal* principal = nullptr;  // null: one without a credential
    std::string_view address{};
    bool from_proxy = false;                                 // the caller is a trusted proxy
    std::string_view subject_type{};                         // of the caller's own token, with relay_call::token
    const access::credential_reader* credentials = nullptr;  // that the agent does not get; null: none
    request_trace* trace = nullptr;                          // that the gateway joins; null: none

    // Calls with the same one go to the same endpoint, with balancing::caller, and are in turn together: those of a principal, or of an
    // address without one.
    std::uint64_t hash() const;
};

// The steps that the route of a call adds to it. Pointers outlive the relay; a plain call has none of them.
struct relay_hooks {
    std::vector<std::unique_ptr<answer_edit>> edits;  // of an answer that callers may not see as it is, in order
    ::mcp::event_gate* gate = nullptr;                // of a stream of events; with `repair`
    call_repair* repair = nullptr;
    std::shared_ptr<side_codec> codec;  // of the agent's side; null: what comes is as it came
    // With traits.messages: from now on gives each message of the answer as JSON. Empty: it cannot.
    std::function<void(std::function<void(std::string_view json)> to)> show_messages;
    // Looks at the next piece of a body that is passed, before the agent gets it, which has all that came before; fails with what the
    // caller gets. Empty: nobody looks.
    std::function<core::result<>(std::string_view piece, bool last)> look_at_body;
    ::mcp::tool_scan* tool = nullptr;  // that sees the answer; null: it is not to a call of a tool
    task_terms tasks{};
};

struct relay_call {
    std::shared_ptr<const model::agent_entry> agent;
    outgoing_request request;
    call_traits traits;
    call_times times;
    call_origin caller;
    call_deadline deadline{};               // of the head of its answer
    inflight_slot* slot = nullptr;          // outlives the relay; null: calls of the agent are not counted
    redirect_cache* moved = nullptr;        // that keeps where a 308 leads; outlives the relay; null: none does
    std::shared_ptr<caller_token> token{};  // at the end of the head, of callers that others know too; null: none
    std::string_view extensions_as{
    };  // the field in which the caller hears of extensions; empty: as the agent calls it
    relay_hooks hooks;
};

// How long the agent has for the head of its answer.
inline core::duration head_time(const relay_call& call) noexcept
{
    return call.traits.repeatable ? call.agent->read_timeout : call.agent->head_timeout;
}

inline answer_of answered_by(const relay_call& call) noexcept
{
    if (call.traits.forwarded) {
        return answer_of::replica;
    }
    return call.agent->record.mcp ? answer_of::mcp_server : answer_of::agent;
}

// The agent hears what the gate has kept back of what it asks the caller. With a gate.
void tell_refused(const relay_call& call);

// Makes the head of the same agent with another token of its own.
inline std::string head_with_token(std::string_view head, const model::agent_entry& agent)
{
    const auto line = head.substr(0, head.find("\r\n") + 2);
    return std::string{line} + agent.fixed_fields;
}

// The line of a token, behind which the caller's fields come.
inline std::string token_line(const core::secret& token)
{
    return "Authorization: Bearer " + token.reveal() + "\r\n";
}

// An answer of the agent instead of which the caller gets an error.
struct replaced_answer {
    unsigned status = 0;
    std::string fields;  // of it that go on, as lines: when to come again, and what is allowed
};

struct relay_outcome {
    std::optional<core::error> failure;           // nullopt: the whole answer is out
    std::optional<replaced_answer> refused;       // with a failure: what came
    bool answered = false;                        // a head went to the caller; with a failure, the answer was cut
    bool told = false;                            // the failure went to the caller, as an event
    bool replaced = false;                        // call_repair::replaces(): nothing went to the caller
    unsigned status = 0;                          // of the agent's answer; 0: no head of it came
    std::optional<model::stream_end> stream;      // the answer was an event stream
    std::optional<core::steady_time> first_byte;  // of the agent's answer
    unsigned edited_status = 0;                   // that an edit gave the answer; 0: it kept its own
    std::uint64_t lost = 0;                       // members that an edit dropped
    std::uint64_t rounded = 0;                    // numbers of its answer by gRPC that no double equals
    std::optional<core::error> refusal;           // why an edit made a refusal of the answer; nullopt: it did not
};

}  // namespace gateway::relay
