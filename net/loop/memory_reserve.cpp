#include "net/loop/memory_reserve.hpp"

#include <openssl/crypto.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace net::memory_reserve {
namespace {

std::array<std::atomic<void*>, pieces> kept{};
std::atomic<bool> keeping = false;

constexpr std::chrono::milliseconds pause{1};

// Past malloc(): what it frees stays with the arena of one thread.
void* take_piece() noexcept
{
    auto* const memory = ::mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void put_back(void* memory, std::atomic<void*>& place) noexcept
{
    void* none = nullptr;
    if (!place.compare_exchange_strong(none, memory)) {
        ::munmap(memory, piece);  // another thread was quicker
    }
}

void* allocate_for_openssl(std::size_t size, const char* /*file*/, int /*line*/) noexcept
{
    return allocate(size);
}

void* reallocate_for_openssl(void* memory, std::size_t size, const char* /*file*/, int /*line*/) noexcept
{
    return reallocate(memory, size);
}

void free_for_openssl(void* memory, const char* /*file*/, int /*line*/) noexcept
{
    std::free(memory);
}

}  // namespace

void keep()
{
    keeping = true;
    refill();
    // Refused once OpenSSL has allocated something: then its own malloc() fails, which it says.
    ::CRYPTO_set_mem_functions(allocate_for_openssl, reallocate_for_openssl, free_for_openssl);
}

void* allocate(std::size_t size) noexcept
{
    return until_given([=] { return std::malloc(size); });
}

void* allocate_zeroed(std::size_t count, std::size_t size) noexcept
{
    return until_given([=] { return std::calloc(count, size); });
}

void* reallocate(void* memory, std::size_t size) noexcept
{
    if (size == 0) {
        std::free(memory);
        return nullptr;
    }
    return until_given([=] { return std::realloc(memory, size); });
}

char* duplicate(const char* text) noexcept
{
    const auto size = std::strlen(text) + 1;
    auto* const copy = static_cast<char*>(allocate(size));
    if (copy != nullptr) {
        std::memcpy(copy, text, size);
    }
    return copy;
}

// Counted, not timed: a thread that the system lets stand still has not waited.
bool give_up(std::chrono::milliseconds& waited) noexcept
{
    for (auto& each : kept) {
        if (auto* const memory = each.exchange(nullptr)) {
            ::munmap(memory, piece);
            return true;
        }
    }
    if (!keeping || waited >= patience) {
        return false;
    }
    std::this_thread::sleep_for(pause);
    waited += pause;
    return true;
}

bool refill() noexcept
{
    if (!keeping) {
        return true;
    }
    for (auto& each : kept) {
        if (each == nullptr) {
            auto* const memory = take_piece();
            if (memory == nullptr) {
                return false;
            }
            put_back(memory, each);
        }
    }
    return true;
}

}  // namespace net::memory_reserve

// Asio allocates with aligned_alloc(), for which there is no new handler. The linker puts this before it (--wrap). Not by aligned_alloc()
// itself: under a sanitizer the linker may find none.
extern "C" void*
__wrap_aligned_alloc(std::size_t alignment, std::size_t size) noexcept  // NOLINT(bugprone-reserved-identifier)
{
    return net::memory_reserve::until_given([=]() -> void* {
        void* memory = nullptr;
        return ::posix_memalign(&memory, std::max(alignment, sizeof memory), size) == 0 ? memory : nullptr;
    });
}
