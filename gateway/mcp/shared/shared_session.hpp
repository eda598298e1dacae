// One client's session with a server whose only session serves all clients (`sessions: shared`): whose it is, and what the server
// says unasked that concerns it. Of what nobody listens to, or reads fast enough, only the fact is kept, once. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/table/caller_session.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/mcp/table/unasked_messages.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/shared_subscriptions.hpp"
#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace gateway::mcp::shared {

class shared_calls;
class shared_owner;

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
        const shared_owner& owner,
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

    const shared_owner& owner_;
    shared_calls& calls_;
    std::string version_;
    std::uint64_t number_;  // client_message::client of its messages
    table::unasked_messages unasked_;
    ::mcp::list_set changed_;                     // since somebody listened who had room for it
    std::set<std::string, std::less<>> updated_;  // the same
    std::set<std::string, std::less<>> told_;     // as the server said it since the previous sweep()
};

}  // namespace gateway::mcp::shared
