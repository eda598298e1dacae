// Where a card says that calls go. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/json/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// Where a card is, below the base of its agent.
inline constexpr std::string_view card_suffix = "/.well-known/agent-card.json";

// A place where the card says that JSON-RPC is spoken. As it stands in the card: not to be believed.
struct card_endpoint {
    std::string path;  // "supportedInterfaces[0].url"
    std::string url;
};

// The preferred one first: the interfaces of 1.0, then `url`, then the interfaces of 0.3.
std::vector<card_endpoint> jsonrpc_endpoints(const core::json& document);

// The path of an address in `served`, a card of any shape, that is not the gateway's; nothing: all are, or there is none.
std::optional<std::string> find_foreign_address(const core::json& served, const public_address& at);

}  // namespace a2a
