// How many file descriptors the process may have, and what of them is kept for the admin listener. Any thread.
#pragma once

#include <cstddef>

namespace net {

inline constexpr int reserved_descriptors = 16;

// RLIMIT_NOFILE as it is now.
std::size_t descriptor_limit() noexcept;

// Raises it as far as the process may: to the hard limit.
void raise_descriptor_limit() noexcept;

// Whether only reserved descriptors are left once `number` is open: the system gives the lowest number that is free.
bool is_reserved(int number) noexcept;

// Whether a quarter of the others is still free for callers once `number` is open. What stays open for agents though nobody
// calls, such as programs and sessions, is opened only then.
bool leaves_room_for_callers(int number) noexcept;

// Callers' connections for which there is room: 45 % of the descriptors, because each may need one to an agent.
std::size_t default_connections() noexcept;

}  // namespace net
