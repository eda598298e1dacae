// The calls of all callers who share the control session of one agent with its server: what is sent over its lane
// (mcp::caller_lane), who reads what comes of it, and the subscriptions of all. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/mcp/programs/program_calls.hpp"
#include "gateway/mcp/shared/shared_session.hpp"
#include "gateway/mcp/shared/subscription_waiters.hpp"
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

class shared_calls;

// What it needs of those who keep it, and what it tells them; outlives it.
class shared_owner {
public:
    virtual ~shared_owner() = default;
    virtual net::executor executor() = 0;
    virtual core::steady_time now() const = 0;

    // Null: the agent has no session.
    virtual ::mcp::transport_factory lane(const std::string& agent_id) = 0;

    // What the agent's server says of itself. Fails with why its session is not ready, and if that speaks another era.
    virtual core::result<std::shared_ptr<const ::mcp::server_facts>>
    server_of(const std::string& agent_id, ::mcp::era spoken) const = 0;

    // That its session speaks; of one that is not ready the legacy one.
    virtual ::mcp::era era_of(const std::string& agent_id) const = 0;

    virtual const std::shared_ptr<::mcp::question_tally>& tally() const = 0;
    virtual const core::logger& log() const = 0;

    // Perhaps in a call of its own.
    virtual void retire(std::unique_ptr<programs::program> used, const std::string& agent_id) = 0;

    // The control session is lost, and what was in flight has failed; it is ready again. It may let go of the calls, behind
    // this.
    virtual void lost(shared_calls& of) = 0;
    virtual void recovered(shared_calls& of) = 0;
};

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

    shared_calls(shared_owner& owner, std::shared_ptr<const model::agent_entry> agent);
    ~shared_calls() override;
    shared_calls(const shared_calls&) = delete;
    shared_calls& operator=(const shared_calls&) = delete;

    // Listens to what the server says unasked, from when its session is ready.
    void connect();

    // A session that hears of what changes until leave(). The number of the client; also of one without a session.
    std::uint64_t join(shared_session& client);
    bool has_sessions() const noexcept { return !sessions_.empty(); }
    std::uint64_t new_client() noexcept { return ++last_client_; }

    // What comes of a request of the client that it names; with `cancels_if_left`, letting go of it cancels the request, else
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

    // What is late ends. Sessions that have calls in flight are in use.
    void sweep(core::steady_time now);

    // What is in flight fails.
    void end(const core::error& why);

    // The client has calls in flight.
    bool is_busy(std::uint64_t client) const { return count_of(client) > 0; }
    bool subscribes(std::uint64_t client) const noexcept { return subscriptions_.has(client); }

    const model::agent_entry& agent() const noexcept { return *agent_; }
    // As modern_program::set_agent().
    void set_agent(std::shared_ptr<const model::agent_entry> agent)
    {
        if (calls_ != nullptr) {
            calls_->agent_changed(agent_->record, agent->record);
        }
        agent_ = std::move(agent);
    }

private:
    using subscriptions = ::mcp::shared_subscriptions;

    // What the server said to the latest question: a member of its answer, or why there is none.
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

    shared_owner& owner_;
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
