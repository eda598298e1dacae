// Memory that the process sets aside, so that a system that refuses memory ends no loop: nobody could answer for work that stops in its
// middle. operator new (net/loop/operator_new.cpp), and Asio, give up a piece of it and try again before they fail; while a piece is
// missing, the gateway has to refuse work (gateway/overload_watch.hpp). Process-wide; any thread. OpenSSL and libcurl allocate here, too;
// other libraries in C see their malloc() fail, and say so.
#pragma once

#include <chrono>
#include <cstddef>

namespace net::memory_reserve {

inline constexpr std::size_t pieces = 256;
inline constexpr std::size_t piece = 16 * 1024;  // bytes of addresses: nothing is resident

// How long one allocation waits, when nothing is left.
inline constexpr std::chrono::milliseconds patience{5000};

// Once, before there are threads and before OpenSSL is used. Without it there is no reserve, and what allocates fails as it always
// does.
void keep();

// For an allocation that failed: gives up a piece; while there is none, waits a millisecond for what others free, and adds it to
// `waited`. False: that is patience already.
bool give_up(std::chrono::milliseconds& waited) noexcept;

// Takes back what was given up. False: the system still has nothing to give.
bool refill() noexcept;

// What `attempt` returns, which is tried again with what give_up() gives. Null: there was nothing for too long.
template <class Attempt>
void* until_given(const Attempt& attempt) noexcept
{
    std::chrono::milliseconds waited{0};
    for (;;) {
        void* const memory = attempt();
        if (memory != nullptr || !give_up(waited)) {
            return memory;
        }
    }
}

// malloc() and its kin, by until_given(); to be freed with free().
void* allocate(std::size_t size) noexcept;
void* allocate_zeroed(std::size_t count, std::size_t size) noexcept;
void* reallocate(void* memory, std::size_t size) noexcept;  // to no bytes: frees it
char* duplicate(const char* text) noexcept;

}  // namespace net::memory_reserve
