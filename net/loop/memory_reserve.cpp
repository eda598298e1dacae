#include "net/loop/memory_reserve.hpp"

#include <openssl/crypto.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

namespace net::memory_reserve {
namespace {

std::array<std::atomic<void*>, pieces> kept{};
std::atomic<bool> keeping = false;

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds pause{1};
constexpr std::chrono::seconds forgotten{1};  // the waits before that

// Past malloc(): what it frees stays with the arena of one thread.
void* take_piece() noexcept
{
    auto* const memory = ::mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

// For a little of what others free. False: this thread has waited long enough; its next allocation waits as long again. Counted, not
// timed: a thread that the system lets stand still has not waited.
bool wait() noexcept
{
    using clock = std::chrono::steady_clock;
    thread_local clock::time_point last{};
    thread_local auto waits = 0ms;
    const auto now = clock::now();
    if (now - last > forgotten) {
        waits = 0ms;
    }
    last = now;
    if (waits >= patience) {
        waits = 0ms;
        return false;
    }
    std::this_thread::sleep_for(pause);
    waits += pause;
    return true;
}

void put_back(void* memory, std::atomic<void*>& place) noexcept
{
    void* none = nullptr;
    if (!place.compare_exchange_strong(none, memory)) {
        ::munmap(memory, piece);  // another thread was quicker
    }
}

// operator new tries again when it returns.
void new_handler()
{
    if (!give_up()) {
        throw std::bad_alloc{};
    }
}

template <class Attempt>
void* attempt_until_given(const Attempt& attempt) noexcept
{
    for (;;) {
        void* const memory = attempt();
        if (memory != nullptr || !give_up()) {
            return memory;
        }
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
    std::set_new_handler(new_handler);
    // Refused once OpenSSL has allocated something: then its own malloc() fails, which it says.
    ::CRYPTO_set_mem_functions(allocate_for_openssl, reallocate_for_openssl, free_for_openssl);
}

void* allocate(std::size_t size) noexcept
{
    return attempt_until_given([=] { return std::malloc(size); });
}

void* allocate_zeroed(std::size_t count, std::size_t size) noexcept
{
    return attempt_until_given([=] { return std::calloc(count, size); });
}

void* reallocate(void* memory, std::size_t size) noexcept
{
    if (size == 0) {
        std::free(memory);
        return nullptr;
    }
    return attempt_until_given([=] { return std::realloc(memory, size); });
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

bool give_up() noexcept
{
    for (auto& each : kept) {
        if (auto* const memory = each.exchange(nullptr)) {
            ::munmap(memory, piece);
            return true;
        }
    }
    return keeping && wait();
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

extern "C" {

void* __real_aligned_alloc(std::size_t alignment, std::size_t size) noexcept;  // NOLINT(bugprone-reserved-identifier)

// Asio allocates with aligned_alloc(), for which there is no new handler. The linker puts this before it (--wrap).
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) noexcept  // NOLINT(bugprone-reserved-identifier)
{
    for (;;) {
        void* const memory = __real_aligned_alloc(alignment, size);
        if (memory != nullptr || !net::memory_reserve::give_up()) {
            return memory;
        }
    }
}

}  // extern "C"
