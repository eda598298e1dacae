// The calls of all callers who share the control session of one agent with its server: what is sent over its lane
// (mcp::shared_channel), who reads what comes of it, and the subscriptions of all. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/mcp/programs/program_calls.hpp"
#include "gateway/mcp/shared/shared_session.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/shared_subscriptions.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::mcp::shared {

// Requests of clients that wait for the outcome of a change of subscriptions.
class subscription_waiters {
public:
    using ticket = ::mcp::shared_subscriptions::ticket;

    ticket add(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);
    void forget(ticket request) { all_.erase(request); }

    // Ends the request with this member of the server's answer, or with a failure; does nothing if it is not here.
    void finish(ticket request, std::string_view member, std::string_view raw);
    void fail(ticket request, const core::error& why);

    // A client's `notifications/cancelled`: its reader hears nothing more. False: the request is not here.
    bool cancel(const ::mcp::client_message& notification);

    // Those of one client (client_message::client) fail.
    void end_those_of(std::uint64_t client, const core::error& why);

    std::size_t size() const noexcept { return all_.size(); }
    std::size_t count_of(std::uint64_t client) const;
    std::size_t count_of(std::string_view principal) const;

private:
    struct waiting {
        std::uint64_t client;
        std::string principal;
        std::string id;  // raw
        std::weak_ptr<table::text_queue> reader;
    };

    std::map<ticket, waiting> all_;
    ticket last_ = 0;
};

class shared_sessions;

class shared_calls final : private programs::program_observer {
public:
    static constexpr std::size_t most_calls = 1024;                         // in flight, of all callers
    static constexpr std::size_t most_calls_of_principal = most_calls / 2;  // also while nobody else calls
    static constexpr std::size_t most_calls_of_client = 64;                 // of one session
    static constexpr std::size_t most_own_calls = 256;  // of the gateway beside them, about subscriptions
    static constexpr std::size_t most_restored = 8;     // of those at a time that make subscriptions again

    // Changes of lists that come sooner after the previous ones are told of together, with the next sweep(): there are as many
    // sessions to tell as clients.
    static constexpr core::duration least_pause = ::mcp::change_debounce;

    shared_calls(shared_sessions& owner, std::shared_ptr<const model::agent_entry> agent);
    ~shared_calls() override;
    shared_calls(const shared_calls&) = delete;
    shared_calls& operator=(const shared_calls&) = delete;

    // Listens to what the server says unasked, from when its session is ready.
    void connect();

    // A session that hears of what changes until leave(). The number of the client; also of one without a session.
    std::uint64_t join(shared_session& client);
    bool has_sessions() const noexcept { return !sessions_.empty(); }
    std::uint64_t new_client() noexcept { return ++last_client_; }

    // The messages that answer a request of the client that it names; with `cancels_if_left`, letting go of it cancels the request, else
    // nothing does. Fails with overloaded (64 calls of this client are in flight, 512 of its principal, 1,024 of all, too many
    // subscriptions, or the server does not read), invalid_params (no URI), body_too_large and upstream_reset. What comes fails with
    // upstream_reset (the session was lost), upstream_timeout, upstream_protocol and message_too_large, and with the error that
    // leave() or end() got.
    core::result<std::shared_ptr<table::text_queue>>
    request(const ::mcp::client_message& request, bool cancels_if_left);

    // A client's `notifications/cancelled`: of its own call.
    void cancel(const ::mcp::client_message& notification);

    // The client has gone: its calls are cancelled and fail with `why`, its subscriptions end.
    void leave(std::uint64_t client, const core::error& why);

    // For every session: these have changed.
    void list_changed(const ::mcp::list_set& lists);

    // Ends what is late. Sessions that have calls in flight are in use.
    void sweep(core::steady_time now);

    // Fails what is in flight.
    void end(const core::error& why);

    // The client has calls in flight.
    bool is_busy(std::uint64_t client) const { return count_of(client) > 0; }
    bool subscribes(std::uint64_t client) const noexcept { return subscriptions_.has(client); }

    const model::agent_entry& agent() const noexcept { return *agent_; }
    // See modern_program::set_agent().
    void set_agent(std::shared_ptr<const model::agent_entry> agent)
    {
        if (calls_ != nullptr) {
            calls_->agent_changed(agent_->record, agent->record);
        }
        agent_ = std::move(agent);
    }

private:
    using subscriptions = ::mcp::shared_subscriptions;

    // The server's answer to the latest question: a member of it, or why there is none.
    struct said_to_us {
        std::string_view member = {};  // `result` or `error`
        std::string_view raw = {};
        std::optional<core::error> failure = {};
    };

    void connected() override;
    void said(std::string_view text) override;
    void said_too_much(std::string_view beginning, std::size_t limit) override;
    void failed(::mcp::call_number call, core::error why) override;
    void ended(core::error why) override;

    std::size_t count_of(std::uint64_t client) const;
    std::size_t count_of(std::string_view principal) const;
    core::result<>
    change_subscription(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);
    void carry_out(subscriptions::outcome step, const said_to_us& how);
    bool ask(const subscriptions::question& what);
    void look_at_answer(const std::string& uri);
    void restore_more();
    void answer(subscriptions::ticket request, const said_to_us& how);
    void come_unasked(std::string_view text);
    void tell_changes(core::steady_time now);

    shared_sessions& owner_;
    std::shared_ptr<const model::agent_entry> agent_;
    std::unique_ptr<programs::program_calls> calls_;  // null: the session has no lane
    subscriptions subscriptions_;
    std::map<std::uint64_t, shared_session*> sessions_;  // by the number of the client
    subscription_waiters waiting_;
    std::map<std::string, std::shared_ptr<table::text_queue>, std::less<>> asked_;  // answers to the gateway, by URI
    std::uint64_t last_client_ = 0;
    ::mcp::list_set changed_;  // and not told
    core::steady_time told_ = core::steady_time::min();
    bool runs_ = false;   // the lane is open
    bool again_ = false;  // the session was lost before
};

}  // namespace gateway::mcp::shared
