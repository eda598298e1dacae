#include "tests/unit/gateway/allocations.hpp"

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
