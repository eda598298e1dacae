// Parts of an extended card that the gateway makes for a principal. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "a2a/card/card_edits.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "gateway/model/answered_card.hpp"
#include "mcp/card/card.hpp"
#include "mcp/protocol/discovery.hpp"

#include <memory>

namespace gateway::cards {

using server_lists_pointer = std::shared_ptr<const ::mcp::server_lists>;

// The lists of a server as callers get them (core::mcp_filter): with the names and descriptions that they see.
server_lists_pointer exposed_lists(const server_lists_pointer& lists, const core::mcp_server& server);

// Without the tools and prompts that the audience does not see; the same object if there are none of that kind.
server_lists_pointer visible_lists(const server_lists_pointer& lists, const ::a2a::skill_audience& audience);

// The card that the overlays go over. Of an MCP server it is written as `as` says, with the tools that the caller sees; of others
// it has all skills. Fails as mcp::card_writer::write().
core::result<core::json> whole_document(const model::extended_request& asked, ::mcp::card_request as);

// That card with the overlays that are for the caller, repaired; skills that are not for the caller may still be in it. Fails
// with extended_card_incomplete.
core::result<::a2a::card> overlaid_card(core::json document, const model::extended_request& asked);

}  // namespace gateway::cards
