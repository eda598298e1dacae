// How often this thread has allocated: allocations.cpp replaces the global operator new of the program it is linked to.
#pragma once

#include <cstddef>

namespace tests {

std::size_t allocations() noexcept;

}  // namespace tests
