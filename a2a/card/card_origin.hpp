// A card as it is served, at another address of the gateway. Pure; any thread.
#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>

namespace a2a {

// Returns the text with `to` instead of `from` in front of the addresses in it that callers use: `url`, `additionalInterfaces[].url`
// and `supportedInterfaces[].url`, the same in a nested `agentCard`, and the `url` of an MCP server (`mcp.url`, and in the
// `params` of extensions). An address is one of `from` if that is all of it or a '/' follows. Everything else stays as it is,
// to the digits of numbers; so do signatures, which hold no more. `text` is one JSON value that the gateway has written; neither
// address has anything that JSON escapes. Fails with internal if it is none.
core::result<std::string> move_card(std::string_view text, std::string_view from, std::string_view to);

}  // namespace a2a
