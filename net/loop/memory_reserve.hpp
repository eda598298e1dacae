// Until gateway/ calls net::end_without_memory() itself.
#pragma once

#include "net/loop/loop.hpp"

#include <new>

namespace net::memory_reserve {

inline void keep()
{
    std::set_new_handler(net::end_without_memory);
}

inline bool refill() noexcept
{
    return true;
}

}  // namespace net::memory_reserve
