// How often this thread has allocated: linking allocations.cpp replaces the global operator new.
#pragma once

#include <cstddef>

namespace tests {

std::size_t allocations() noexcept;

}  // namespace tests
