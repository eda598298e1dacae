// What the kernel knows of a TCP connection. Linux.
#pragma once

#include <cstdint>
#include <optional>

namespace net {

// How many bytes of this socket's stream the peer's kernel has acknowledged, the SYN counted as one; nothing if the
// kernel does not say.
std::optional<std::uint64_t> bytes_acknowledged(int descriptor) noexcept;

}  // namespace net
