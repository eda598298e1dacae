// The kernel's state of a TCP connection. Linux.
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

// A peer that takes little makes the kernel hold little for it, instead of megabytes: it takes from us what it can send,
// and so much more. Sockets that a listening socket accepts inherit it. tcp(7) says nothing of it: Linux since 3.12.
bool hold_little_unsent(int descriptor) noexcept;
inline constexpr int most_unsent = 128 * 1024;  // bytes; below it, large answers to quick peers become slower

}  // namespace net
