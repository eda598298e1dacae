// Ports by which cards and lists are compared with what was approved (mcp/pins/). On the control loop's thread.
#pragma once

#include "net/loop/types.hpp"

#include <functional>
#include <memory>
#include <string>

namespace mcp {
struct server_lists;
}

namespace gateway::model {

struct agent_entry;

// Whether a card is held, and the approved one that callers get meanwhile.
struct card_verdict {
    bool held = false;
    std::string text;   // of the approved card; empty: none is approved
    std::string place;  // where that was found
};

// `text` is what the agent sent, found at `place`. Empty: nothing is compared.
using card_judge = std::function<
    net::task<card_verdict>(std::shared_ptr<const agent_entry> agent, std::string text, std::string place)>;

// Gives the lists that callers get: those that were seen, unless the agent has pins. Empty: nothing is compared.
using list_judge = std::function<net::task<std::shared_ptr<const ::mcp::server_lists>>(
    std::shared_ptr<const agent_entry> agent,
    std::shared_ptr<const ::mcp::server_lists> seen
)>;

}  // namespace gateway::model
