// An allocation that fails, by operator new or by Asio. Compiled into the program of the tests that want it; under a sanitizer, which has
// allocations of its own, none fails.
#pragma once

namespace tests {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CARDEA_ALLOCATIONS_ARE_TAKEN
#endif
#endif

#ifdef CARDEA_ALLOCATIONS_ARE_TAKEN
inline constexpr bool allocations_can_fail = false;
#else
inline constexpr bool allocations_can_fail = true;
#endif

// Of this thread: the allocation of this number from now on, 1 or more, fails, and no other.
void fail_allocation(int number) noexcept;

// None fails any more. False: it was still to come.
bool stop_failing() noexcept;

}  // namespace tests
