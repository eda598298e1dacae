// What an MCP server may list to keep the gateway busy, as bench/hostile_cards.hpp.
#pragma once

#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace bench {

struct hostile_list {
    std::string_view name;
    mcp::server_lists (*make)(std::size_t bytes);  // of which a card of at most so many bytes is made, and nearly
};

std::span<const hostile_list> hostile_lists() noexcept;

}  // namespace bench
