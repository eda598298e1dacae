// A call of a client without a session, and what its session begins with. One thread.
#pragma once

#include "gateway/mcp/table/restored_state.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace gateway::mcp::programs {

struct single_call {
    ::mcp::client_message request;
    std::string_view version;            // of the legacy era
    std::string_view capabilities = {};  // that its session declares; raw JSON object; empty: none
    std::string_view client = {
    };  // raw, the name that the server sees; unless it has a name and a version, that is Cardea's
    std::string_view level = {};  // raw, of the log messages that it wants; empty: the server's own
    // Gets the call, and who waits for it, if the server refuses the session because it speaks the modern era alone; it may be empty.
    std::function<void(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)>
        modern_only = {};
};

// The request that a client would begin such a session with.
::mcp::kept_message initialize_of(const single_call& call);

// What the server is told between `initialize` and the call.
table::restored_state state_of(const single_call& call);

}  // namespace gateway::mcp::programs
