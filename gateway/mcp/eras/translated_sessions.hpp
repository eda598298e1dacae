// The sessions of callers of the legacy era with servers that speak only the modern one. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/eras/legacy_client_calls.hpp"
#include "gateway/mcp/eras/session_subscriptions.hpp"
#include "gateway/mcp/table/local_session_services.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "net/loop/shared_budget.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::eras {

// The session's way to its server; outlives it.
struct translated_server {
    modern_upstream ask;
    // Its lists, as far as they are known; null: they are not.
    std::function<std::shared_ptr<const ::mcp::server_lists>()> listed;
    // Bytes, of what all sessions of the agent keep of their clients' messages.
    std::shared_ptr<net::shared_budget> kept;
};

// One session, of which the server knows nothing: `initialize`, `ping` and `logging/setLevel` are answered here, and everything else
// goes up translated (mcp/translation/modern_request.hpp).
class translated_session final : public table::caller_session {
public:
    // `once`: it ends with its only call.
    translated_session(
        table::session_table& in,
        table::session_name name,
        translated_server server,
        ::mcp::client_terms terms,
        bool once
    );

    // The answer to the client's `initialize` goes to `reader`. The session is over if it is an error.
    void open(const ::mcp::client_message& initialize, std::shared_ptr<table::text_queue> reader);

    // Fails with overloaded (64 calls are in flight) and as modern_program::request(); what comes also as what comes of that, and
    // with the error that end() got.
    core::result<std::shared_ptr<table::text_queue>> request(const ::mcp::client_message& request) override;

    // Works as request(), for an existing reader.
    core::result<> ask(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);

    // Does not fail. The server hears only of its calls.
    core::result<> tell(const ::mcp::client_message& message) override;

    std::shared_ptr<table::text_queue> listen() override { return unasked_.listen(); }
    void sweep(core::steady_time now) override;

    // The server's lists are `now`, which is compared with what the client knows.
    void lists_changed(const std::shared_ptr<const ::mcp::server_lists>& now, ::mcp::list_differences& to_now);

    // A session of one call is over when that is.
    void end_if_done();

    bool busy() const override { return opening_ != nullptr || calls_.any(); }
    bool listened_to() const noexcept override { return unasked_.listened_to(); }
    bool subscribes() const noexcept override { return subscriptions_.any(); }

private:
    void close(const core::error& error) override;
    void discover(const ::mcp::client_message& initialize);
    void look_at_opening();
    void opened(const ::mcp::server_facts& facts);
    std::string set_level(const ::mcp::client_message& request);

    translated_server server_;
    ::mcp::client_terms terms_;
    bool once_;
    std::string opening_id_;                      // of the client's `initialize`, raw
    std::string_view version_;                    // that its answer names; static
    std::shared_ptr<table::text_queue> opening_;  // what the server says of itself; null: it is not asked
    std::weak_ptr<table::text_queue> opening_reader_;
    std::shared_ptr<const void> opening_held_;  // as message_head::held
    table::server_notifications unasked_;
    legacy_client_calls calls_;
    session_subscriptions subscriptions_;
    std::shared_ptr<const ::mcp::server_lists> lists_;  // of which the client knows; null: of none
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

class translated_sessions final : public table::session_table {
public:
    // Bytes of calls that may go up once more, of their input and of subscriptions, of all sessions of an agent.
    static constexpr std::size_t most_kept = 64 * 1024 * 1024;

    // Makes the way to an agent's server in the modern era.
    using upstream_maker = std::function<modern_upstream(const std::shared_ptr<const model::agent_entry>& agent)>;

    // References outlive it.
    translated_sessions(const table::local_session_services& services, upstream_maker ask)
        : table::session_table{services},
          ask_{std::move(ask)}
    {
    }

    // A session for the client that sent this `initialize`, whose answer goes to `reader`. Fails with session_limit: max_sessions
    // are there (10,000 unless the agent says so), and none is idle for 60 s; with body_too_large and with draining.
    core::result<>
    begin(table::session_name name, const ::mcp::client_message& initialize, std::shared_ptr<table::text_queue> reader);

    // A call without a session; its messages go to `reader`. Fails as begin() and as translated_session::request().
    core::result<> call(
        std::shared_ptr<const model::agent_entry> agent,
        std::string principal,
        const ::mcp::client_message& request,
        const std::shared_ptr<table::text_queue>& reader
    );

    // The lists of the agent's server have changed to this. Of more sessions than most_swept the others hear of it after what else is due
    // on the loop.
    void lists_changed(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& now);

    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

private:
    // Lists that have changed, and who has heard of them.
    struct news {
        std::shared_ptr<const ::mcp::server_lists> now;
        ::mcp::list_differences to_now;
        std::string told_to{};  // the handle of the last session
    };

    void tell_some(const std::string& agent_id);
    core::result<translated_session*> begin_one(table::session_name name, ::mcp::client_terms terms, bool once);

    upstream_maker ask_;
    model::string_map<std::shared_ptr<net::shared_budget>> kept_;  // by agent
    model::string_map<std::unique_ptr<news>> news_;                // by agent, until all have heard of them
};

}  // namespace gateway::mcp::eras
