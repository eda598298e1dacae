// Clients of the modern era that want to hear of changes in the lists of a server of the legacy era: the gateway's own session
// notices them. On the thread of one loop.
#pragma once

#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/types.hpp"

#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::mcp::eras {

class list_listeners {
public:
    explicit list_listeners(net::executor on)
        : on_{on}
    {
    }

    // What comes of a `subscriptions/listen` with this raw id: first what will be told. `wishes`: raw `notifications` of its
    // params. `known`: what the server lists now; null: the gateway does not hear of changes, and tells none.
    std::shared_ptr<table::text_queue> listen(
        const std::string& agent_id,
        std::string_view raw_id,
        std::string_view wishes,
        std::shared_ptr<const ::mcp::server_lists> known
    );

    // What the agent's server lists has changed to this.
    void changed(const std::string& agent_id, const std::shared_ptr<const ::mcp::server_lists>& lists);

    // The agent is gone: its clients' subscriptions end in order.
    void end(const std::string& agent_id);

private:
    struct listener {
        std::string agent_id;
        std::string raw_id;
        ::mcp::list_set wanted;
        std::shared_ptr<const ::mcp::server_lists> known;
        std::weak_ptr<table::text_queue> reader;
    };

    net::executor on_;
    std::list<listener> all_;
};

}  // namespace gateway::mcp::eras
