// A transport whose long texts are read away from its loop (mcp/protocol/read_text.hpp). On the loop's thread.
#pragma once

#include "mcp/protocol/read_text.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace mcp {

// Reads it elsewhere, and then calls `done` on the loop, never from within this call.
using apart_reading = std::function<void(std::string text, std::function<void(std::shared_ptr<const read_text>)> done)>;

// The limit for texts that wait after one that is being read, with that text: so many bytes, and room for a few of the largest messages.
inline constexpr std::size_t most_behind = 64 * 1024 * 1024;
inline constexpr std::size_t largest_behind = 4;
inline constexpr std::size_t behind_cost = 64;  // bytes that each of them takes beside its text

// Wraps `made`: texts over read_at_once are reported with received_long(). Everything is told in its order: what comes while one is
// being read waits. Beyond what may wait the connection is lost() with upstream_protocol. `largest`: bytes of one message.
transport_factory reading_apart(transport_factory made, apart_reading read, std::size_t largest);

}  // namespace mcp
