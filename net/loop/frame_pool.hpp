// Memory for coroutine frames, from a free list of the thread: they come and go a dozen times a call, in few sizes.
#pragma once

#include <cstddef>

namespace net::frame_pool {

// Before the first frame of a thread is needed: without memory for the thread's list glibc would end the process.
void prepare_thread();

void* take(std::size_t size);

// On any thread; `size` is what was asked for.
void give(void* frame, std::size_t size) noexcept;

}  // namespace net::frame_pool
