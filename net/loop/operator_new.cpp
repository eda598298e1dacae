// The global operator new, which takes from the reserve: a handler (std::set_new_handler) would not know whether it is asked for one
// allocation again, or for the next. The array and nothrow forms end here, the aligned ones at aligned_alloc(), whose wrapper they meet only
// where libstdc++ is linked statically (Release).
#include "net/loop/memory_reserve.hpp"

#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CARDEA_OPERATOR_NEW_IS_TAKEN  // they have one of their own
#endif
#endif

#ifndef CARDEA_OPERATOR_NEW_IS_TAKEN

void* operator new(std::size_t size)
{
    if (void* const memory = net::memory_reserve::allocate(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc{};
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept
{
    std::free(memory);
}

#endif
