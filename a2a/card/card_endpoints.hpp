// Where a card says that calls go. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "a2a/dialect/dialect.hpp"
#include "core/json/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// Where a card is, below the base of its agent.
inline constexpr std::string_view card_suffix = "/.well-known/agent-card.json";

// A place where the card says that A2A is spoken over JSON-RPC or HTTP+JSON. As it stands in the card: not to be believed.
struct card_endpoint {
    std::string path;  // "supportedInterfaces[0].url"
    std::string url;
    binding over = binding::jsonrpc;
    std::optional<generation> version;  // nothing: the card names none, or one of neither generation
    std::string tenant;                 // of 1.0; empty: none
};

// The preferred one first: the interfaces of 1.0, then `url`, then the interfaces of 0.3.
std::vector<card_endpoint> json_endpoints(const core::json& document);

// The path of an address in `served`, a card of any shape, that is not the gateway's; nothing: all are, or there is none.
std::optional<std::string> find_foreign_address(const core::json& served, const public_address& at);

}  // namespace a2a
