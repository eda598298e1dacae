// The extensions of A2A that the gateway itself defines. Their pages and JSON Schemas are in docs/extensions/. Pure; any thread.
#pragma once

#include "a2a/extension_header.hpp"
#include "core/json/json.hpp"

#include <array>
#include <string>
#include <string_view>

namespace a2a {

// A breaking change gets another URI (specification 1.0.1 section 4.6.3).

// Data-only, of the cards of MCP servers: docs/extensions/mcp-v1.md.
inline constexpr std::string_view mcp_facts_extension = "urn:cardea:a2a:extension:mcp:v1";

// Extensions of which it is known that they only add to the card, so that no caller can activate them.
inline constexpr std::array<std::string_view, 1> data_only_extensions{mcp_facts_extension};

// Declares gateway_facts_extension in `capabilities.extensions` of `card`, for the agent `id`. What a card says of it already,
// because its agent is behind another gateway, goes. A card whose `capabilities` or list is of another type stays as it is.
void declare_gateway_facts(core::json& card, const std::string& id);

}  // namespace a2a
