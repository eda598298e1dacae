// Tells a server over HTTP of callers' sessions while nobody waits for it: that a request was given up, that its own may not be
// asked, and that a session is over. On the thread of one loop.
#pragma once

#include "gateway/model/client_sessions.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::mcp::http {

class cancel_notifier {
public:
    // Under way, of all agents and of one; over that the server is not told. One that does not answer keeps nobody else's from going.
    static constexpr std::size_t most = 256;
    static constexpr std::size_t most_of_agent = 32;

    using settings = std::shared_ptr<const ::mcp::http_settings>;

    // References outlive it.
    cancel_notifier(net::loop& on, net::exchange_client& client, const ::mcp::client_info& name);
    ~cancel_notifier();
    cancel_notifier(const cancel_notifier&) = delete;
    cancel_notifier& operator=(const cancel_notifier&) = delete;

    // `notifications/cancelled` of the request with this raw id, in the server's session that `in` names.
    void cancel(settings reached, const model::session_call& in, std::string_view request_id);

    // An answer to what the server has asked in that session.
    void answer(settings reached, const model::session_call& in, std::string text);

    // DELETE of the server's session that `of` names.
    void end(settings reached, const model::session_call& of);

    // Nothing more is told, nor what is under way.
    void stop();

private:
    class note;

    // Without a message: DELETE.
    void post(settings reached, const model::session_call& in, std::optional<::mcp::outgoing> message);
    void remove(const note& ended);

    net::loop& loop_;
    net::exchange_client& client_;
    const ::mcp::client_info& name_;
    std::list<std::unique_ptr<note>> under_way_;
    bool stopped_ = false;
};

}  // namespace gateway::mcp::http
