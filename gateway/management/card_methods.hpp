// Methods on cards: agents/refreshCard. On the control loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "net/loop/types.hpp"

#include <string>

namespace gateway::management {

class card_methods {
public:
    // References outlive it.
    card_methods(const registry& agents, cards::card_plane& cards, sessions::session_plane& sessions);

    // References outlive the tasks.
    net::task<rpc_result> refresh(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

    // The raw and the served card, what the gateway changes and why, and what is wrong with the raw one.
    net::task<rpc_result> card(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

    // The cards that callers got in the past.
    net::task<rpc_result> history(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

    // Ends the gateway's own session with an MCP server, and begins another.
    net::task<rpc_result> restart(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

private:
    rpc_result
    failed(const core::rpc_request& request, const std::string& id, core::errc code, const rpc_caller& caller) const;
    net::task<core::result<std::string>> refreshed(std::string id, bool for_operator);
    net::task<core::result<cards::card_status>> refreshed_status(std::string id);
    net::task<core::result<std::string>> previewed(std::string id);
    net::task<core::result<cards::card_preview>> preview(std::string id);

    const registry& registry_;
    cards::card_plane& cards_;
    sessions::session_plane& sessions_;
};

}  // namespace gateway::management
