// Messages of one loop for another, which gets them together. A post to a loop that sleeps wakes its thread inside Asio's lock, and
// a thread that wakes on the same processor then waits for that lock: of a call that crosses to another loop and back that is a third.
#pragma once

#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>

namespace net {

// No loop runs more than this that another one has for it without a look at what else it has to do.
inline constexpr std::size_t most_told_together = 32;

// Runs `what` on `there`, in the order of these calls for the two loops: when `here` has done what is ready now, or once
// most_told_together wait. On the thread of `here`.
void tell(executor here, executor there, std::function<void()> what);

// Sends everything that waits for `there`, so that the next post comes after it. On the thread of `here`, also when that no
// longer runs.
void tell_now(executor here, executor there);

}  // namespace net
