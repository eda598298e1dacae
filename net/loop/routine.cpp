#include "net/loop/routine.hpp"

#include <array>
#include <new>
#include <utility>

namespace net::frame_pool {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CARDEA_NO_FRAME_POOL  // the sanitizers see what becomes of a frame only if it is really freed
#endif
#endif

#ifndef CARDEA_NO_FRAME_POOL

constexpr std::size_t step = 32;      // a call has a dozen frames
constexpr std::size_t of_malloc = 8;  // what malloc() keeps before each piece: with it a piece has whole steps
constexpr std::size_t classes = 256;  // frames of up to 8 KiB: that of a whole call is over 4 KiB
constexpr std::size_t kept_bytes = 512 * 1024;  // of each class: as many frames of 2 KiB as 256 streams have

constexpr std::size_t class_of(std::size_t size) noexcept
{
    return (size + of_malloc - 1) / step;
}

constexpr std::size_t size_of(std::size_t size_class) noexcept
{
    return (size_class + 1) * step - of_malloc;
}

struct free_frame {
    free_frame* next;
};

struct free_list {
    free_frame* first;
    std::size_t size;
};

constexpr auto most_kept = [] {
    std::array<std::size_t, classes> most{};
    for (std::size_t i = 0; i < classes; ++i) {
        most[i] = kept_bytes / size_of(i);
    }
    return most;
}();

// Without a constructor and a destructor: an access costs nothing else.
constinit thread_local std::array<free_list, classes> lists{};

struct end_of_thread {
    end_of_thread() = default;
    end_of_thread(const end_of_thread&) = delete;
    end_of_thread& operator=(const end_of_thread&) = delete;
    ~end_of_thread()
    {
        for (auto& each : lists) {
            while (each.first != nullptr) {
                ::operator delete(std::exchange(each.first, each.first->next));
            }
            each.size = kept_bytes;  // what comes back now is not kept
        }
    }
    void await() noexcept {}
};
thread_local end_of_thread cleaner;

[[gnu::noinline]] void* make(std::size_t size_class)
{
    return ::operator new(size_of(size_class));
}

// No list has a frame before this.
[[gnu::noinline]] void give_first(void* frame, free_list& to, std::size_t most) noexcept
{
    if (to.size >= most) {
        ::operator delete(frame);
        return;
    }
    cleaner.await();
    to = {new (frame) free_frame{nullptr}, 1};
}

#endif

}  // namespace

void* take(std::size_t size)
{
#ifndef CARDEA_NO_FRAME_POOL
    const auto size_class = class_of(size);
    if (size_class < classes) {
        auto& list = lists[size_class];
        auto* const frame = list.first;
        if (frame == nullptr) {
            return make(size_class);
        }
        list.first = frame->next;
        --list.size;
        return frame;
    }
#endif
    return ::operator new(size);
}

void give(void* frame, [[maybe_unused]] std::size_t size) noexcept
{
#ifndef CARDEA_NO_FRAME_POOL
    const auto size_class = class_of(size);
    if (size_class < classes) {
        auto& list = lists[size_class];
        if (list.first == nullptr) {
            return give_first(frame, list, most_kept[size_class]);
        }
        if (list.size < most_kept[size_class]) {
            list.first = new (frame) free_frame{list.first};
            ++list.size;
            return;
        }
    }
#endif
    ::operator delete(frame);
}

}  // namespace net::frame_pool
