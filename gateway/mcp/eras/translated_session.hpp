// One client's session of the legacy era with a server that speaks only the modern one. The server knows nothing of it:
// `initialize`, `ping` and `logging/setLevel` are answered here, and everything else goes up as the server takes it
// (mcp/translation/modern_request.hpp). On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/eras/legacy_calls.hpp"
#include "gateway/mcp/eras/session_subscriptions.hpp"
#include "gateway/mcp/table/caller_session.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/mcp/table/unasked_messages.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/modern_request.hpp"
#include "net/loop/shared_budget.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::mcp::eras {

// How a session reaches its server; outlives it.
struct translated_server {
    modern_upstream ask;
    // What it lists, as far as that is known; null: it is not.
    std::function<std::shared_ptr<const ::mcp::server_lists>()> listed;
    // Bytes, of what all sessions of the agent keep of their clients' messages.
    std::shared_ptr<net::shared_budget> kept;
};

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

    // The same, for a reader that is there.
    core::result<> ask(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);

    // Does not fail. The server hears only of its calls.
    core::result<> tell(const ::mcp::client_message& message) override;

    std::shared_ptr<table::text_queue> listen() override { return unasked_.listen(); }
    void sweep(core::steady_time now) override;

    // What the server lists is `now`, which is compared with what the client knows.
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
    table::unasked_messages unasked_;
    legacy_calls calls_;
    session_subscriptions subscriptions_;
    std::shared_ptr<const ::mcp::server_lists> lists_;  // of which the client knows; null: of none
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::eras
