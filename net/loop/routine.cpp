#include "net/loop/routine.hpp"

#include <array>
#include <new>

namespace net::frame_pool {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CARDEA_NO_FRAME_POOL  // the sanitizers see what becomes of a frame only if it is really freed
#endif
#endif

#ifndef CARDEA_NO_FRAME_POOL

constexpr std::size_t step = 64;
constexpr std::size_t classes = 128;            // frames of up to 8 KiB: that of a whole call is over 4 KiB
constexpr std::size_t kept_bytes = 512 * 1024;  // of each class: as many frames of 2 KiB as 256 streams have

struct free_frame {
    free_frame* next;
};

class free_lists {
public:
    free_lists()
    {
        for (std::size_t i = 0; i < classes; ++i) {
            lists_[i].room = kept_bytes / ((i + 1) * step);
        }
    }
    free_lists(const free_lists&) = delete;
    free_lists& operator=(const free_lists&) = delete;
    ~free_lists()
    {
        for (auto& each : lists_) {
            while (each.first != nullptr) {
                ::operator delete(pop(each));
            }
            each.room = 0;  // the thread ends: what comes back now is not kept
        }
    }

    void* take(std::size_t size_class)
    {
        auto& list = lists_[size_class];
        return list.first == nullptr ? ::operator new((size_class + 1) * step) : pop(list);
    }

    void give(void* frame, std::size_t size_class) noexcept
    {
        auto& list = lists_[size_class];
        if (list.room == 0) {
            ::operator delete(frame);
            return;
        }
        list.first = new (frame) free_frame{list.first};
        --list.room;
    }

private:
    struct list {
        free_frame* first = nullptr;
        std::size_t room = 0;  // for so many more
    };

    static void* pop(list& from) noexcept
    {
        auto* frame = from.first;
        from.first = frame->next;
        ++from.room;
        return frame;
    }

    std::array<list, classes> lists_{};
};

thread_local free_lists of_this_thread;

#endif

}  // namespace

void* take(std::size_t size)
{
#ifndef CARDEA_NO_FRAME_POOL
    const auto size_class = (size - 1) / step;
    if (size_class < classes) {
        return of_this_thread.take(size_class);
    }
#endif
    return ::operator new(size);
}

void give(void* frame, [[maybe_unused]] std::size_t size) noexcept
{
#ifndef CARDEA_NO_FRAME_POOL
    const auto size_class = (size - 1) / step;
    if (size_class < classes) {
        of_this_thread.give(frame, size_class);
        return;
    }
#endif
    ::operator delete(frame);
}

}  // namespace net::frame_pool
