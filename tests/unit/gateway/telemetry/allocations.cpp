#include "tests/unit/gateway/telemetry/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t allocated = 0;

}  // namespace

namespace tests {

std::size_t allocations() noexcept
{
    return allocated;
}

}  // namespace tests

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OPERATOR_NEW_IS_TAKEN
#endif
#endif

#ifdef OPERATOR_NEW_IS_TAKEN

// This sanitizer has an operator new of its own, and calls this for every allocation.
extern "C" void __sanitizer_malloc_hook(const volatile void*, std::size_t)
{
    ++allocated;
}

#else

// The other forms of new end here, but for the aligned ones, which nothing under test uses.
void* operator new(std::size_t size)
{
    ++allocated;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc{};
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

#endif
