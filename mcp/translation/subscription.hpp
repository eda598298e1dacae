// Subscriptions of a client of the legacy era as a server of the modern one knows them (MCP 2026-07-28,
// basic/patterns/subscriptions). Pure; any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// The params of `subscriptions/listen` for changes of these resources.
std::string listen_params(const std::set<std::string, std::less<>>& uris);

// The resources of which the server will tell, by its `notifications/subscriptions/acknowledged`.
std::vector<std::string> acknowledged_resources(std::string_view notification);

// A notification without the id of the subscription in its `_meta`; all other bytes stay.
std::string without_subscription(std::string_view notification);

// `notifications/resources/updated`.
std::string resource_updated(std::string_view uri);

}  // namespace mcp
