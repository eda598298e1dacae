#include "tests/unit/net/failing_allocations.hpp"

#include <malloc.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

thread_local int left = 0;  // until one fails; 0: none does

}  // namespace

namespace tests {

void fail_allocation(int number) noexcept
{
    left = number;
}

bool stop_failing() noexcept
{
    return std::exchange(left, 0) == 0;
}

}  // namespace tests

#ifndef CARDEA_ALLOCATIONS_ARE_TAKEN

namespace {

bool fails() noexcept
{
    return left > 0 && --left == 0;
}

}  // namespace

void* operator new(std::size_t size)
{
    if (void* const memory = fails() ? nullptr : std::malloc(size == 0 ? 1 : size)) {
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

// Asio's, by net/loop/memory_reserve.cpp.
extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept
{
    *memory = fails() ? nullptr : ::memalign(alignment, size);
    return *memory == nullptr ? ENOMEM : 0;
}

#endif
