// Paths of RFC 8615 that more than one room knows.
#pragma once

#include <string_view>

namespace gateway::model {

// Paths of an agent's card, below the agent: since 0.3, and in 0.2.
inline constexpr std::string_view card_path = "/.well-known/agent-card.json";
inline constexpr std::string_view legacy_card_path = "/.well-known/agent.json";

// Where an agent that is an MCP server is called, below the agent.
inline constexpr std::string_view mcp_path = "/mcp";

// The card of such an agent (MCP extension "Server Cards"), below the agent.
inline constexpr std::string_view server_card_path = "/mcp/server-card";

// Where the keys are served that cards are verified with, below the public base.
inline constexpr std::string_view key_set_path = "/.well-known/jwks.json";

// Metadata of the gateway as a protected resource (RFC 9728); followed by an agent's path, that of the agent.
inline constexpr std::string_view resource_metadata_path = "/.well-known/oauth-protected-resource";

}  // namespace gateway::model
