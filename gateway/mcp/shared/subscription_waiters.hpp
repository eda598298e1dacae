// Requests of clients about subscriptions in a shared session: they wait for what the gateway asks of the server for all who want the
// same. On the thread of one loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/shared_subscriptions.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::mcp::shared {

class subscription_waiters {
public:
    using ticket = ::mcp::shared_subscriptions::ticket;

    ticket add(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);
    void forget(ticket request) { all_.erase(request); }

    // It is over, with this member of the server's answer, or with a failure; does nothing if it is not here.
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

}  // namespace gateway::mcp::shared
