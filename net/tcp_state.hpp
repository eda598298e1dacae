// What the kernel knows of a TCP connection. Linux.
#pragma once

#include <cstdint>
#include <optional>

namespace net {

// How many bytes of this socket's stream the peer's kernel has acknowledged, the SYN counted as one; nothing if the
// kernel does not say.
std::optional<std::uint64_t> bytes_acknowledged(int descriptor) noexcept;

// How long a peer that is gone without a word may go unnoticed: asked after 30 s of silence, every 10 s, 3 times; and
// what was sent to it may stay unacknowledged for 30 s. Sockets that a listening socket accepts inherit it.
bool watch_for_dead_peer(int descriptor) noexcept;

}  // namespace net
