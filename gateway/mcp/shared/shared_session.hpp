// One client's session with a server whose only session serves all clients (`sessions: shared`): whose it is, and what the server
// says unasked that concerns it. Of what nobody listens to, or reads fast enough, only the fact is kept, once. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/shared_subscriptions.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace gateway::mcp::shared {

// The version of a client that asks for this one, in a session that speaks the other: the older one. Of a version that is not known
// the session's. Views into the arguments.
std::string_view common_version(std::string_view asked, std::string_view spoken) noexcept;

// To `initialize` with this raw id: what the server has said of itself, without tasks, since it cannot tell whose one is.
std::string initialize_answer(std::string_view id, std::string_view version, const ::mcp::server_facts& server);

// To `server/discover` (MCP 2026-07-28), the same.
std::string discover_answer(std::string_view id, const ::mcp::server_facts& server);

// To a request that concerns the client alone (`ping`, `logging/setLevel`), or that would let one client touch what is another's
// (`tasks/…`: -32601). Nothing: it is for the server.
std::optional<std::string> answer_here(const ::mcp::client_message& request);

class shared_calls;
class shared_sessions;

class shared_session final : public table::caller_session {
public:
    // Bytes of a notification that a client gets as the server said it. Of a longer one, which as many may get as are subscribed to
    // the resource, it gets the URI.
    static constexpr std::size_t longest_text = 16 * 1024;

    // Resources of which it is kept that they were updated: a client is subscribed to no more.
    static constexpr std::size_t most_updated = ::mcp::shared_subscriptions::most_of_one;

    // `calls` are its agent's, and end later than the session. `version`: that client and server speak.
    shared_session(
        table::session_table& in,
        table::session_name name,
        const shared_sessions& owner,
        shared_calls& calls,
        std::string version
    );

    // Fails as shared_calls::request() does, and with why the control session is not ready.
    core::result<std::shared_ptr<table::text_queue>> request(const ::mcp::client_message& request) override;

    // Does not fail. Only `notifications/cancelled` concerns the server, which has asked for no answer.
    core::result<> tell(const ::mcp::client_message& message) override;

    // With what has changed meanwhile.
    std::shared_ptr<table::text_queue> listen() override;

    void sweep(core::steady_time now) override;
    bool busy() const override;
    bool listened_to() const noexcept override { return unasked_.listened_to(); }
    bool subscribes() const noexcept override;

    void list_changed(const ::mcp::list_set& lists);

    // `uri`: what the client is subscribed to; `text`: as the server said it. Of several before the next sweep() the client hears the
    // first, and then once that there were more.
    void updated(const std::string& uri, std::string_view text);

private:
    void close(const core::error& error) override;
    void tell(std::string text);
    void catch_up();

    const shared_sessions& owner_;
    shared_calls& calls_;
    std::string version_;
    std::uint64_t number_;  // client_message::client of its messages
    table::server_notifications unasked_;
    ::mcp::list_set changed_;                     // since somebody listened who had room for it
    std::set<std::string, std::less<>> updated_;  // the same
    std::set<std::string, std::less<>> told_;     // as the server said it since the previous sweep()
};

}  // namespace gateway::mcp::shared
