#include "net/loop/buffer_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#if __has_include(<sanitizer/asan_interface.h>)  // it comes with the sanitizers' package, which a build without them needs not
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, size) static_cast<void>(0)
#endif

namespace net {
namespace {

constexpr std::size_t kept_large = 32;

block from_heap(std::size_t size)
{
    return {{new char[size], block_release{}}, size};
}

// A huge page would make megabytes resident for the first byte in it.
void* map(std::size_t size) noexcept
{
    auto* const mapped =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        return nullptr;
    }
    ::madvise(mapped, size, MADV_NOHUGEPAGE);
    return mapped;
}

char* or_throw(void* memory)
{
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return static_cast<char*>(memory);
}

}  // namespace

void block_release::operator()(char* memory) const noexcept
{
    if (mapped > 0) {
        ::munmap(memory, mapped);
    } else if (!pooled) {
        delete[] memory;
    }
}

void buffer_pool::unmap::operator()(char* slab) const noexcept
{
    ASAN_UNPOISON_MEMORY_REGION(slab, slab_blocks * small_block);
    ::munmap(slab, slab_blocks * small_block);
}

void buffer_pool::add_slab()
{
    slabs_.reserve(slabs_.size() + 1);
    small_.reserve((slabs_.size() + 1) * slab_blocks);  // give() has room
    large_.reserve(kept_large);
    constexpr auto size = slab_blocks * small_block;
    auto* const bytes = or_throw(map(size));
    slabs_.emplace_back(bytes);
    ASAN_POISON_MEMORY_REGION(bytes, size);
    for (std::size_t i = slab_blocks; i-- > 0;) {
        small_.push_back({{bytes + i * small_block, block_release{.pooled = true}}, small_block});
    }
    clean_ = small_.size();
}

block buffer_pool::take(std::size_t size)
{
    if (size <= tiny_block) {
        return from_heap(tiny_block);
    }
    if (size <= small_block) {
        if (small_.empty()) {
            add_slab();
        }
        auto taken = std::move(small_.back());
        small_.pop_back();
        clean_ = std::min(clean_, small_.size());
        unused_ = std::min(unused_, small_.size());
        ASAN_UNPOISON_MEMORY_REGION(taken.bytes.get(), small_block);
        return taken;
    }
    if (size > large_block) {
        return {{or_throw(map(size)), block_release{.mapped = size}}, size};
    }
    if (large_.empty()) {
        return from_heap(large_block);
    }
    auto taken = std::move(large_.back());
    large_.pop_back();
    return taken;
}

void buffer_pool::give(block b)
{
    if (b.size == small_block) {
        ASAN_POISON_MEMORY_REGION(b.bytes.get(), small_block);
        small_.push_back(std::move(b));
    } else if (b.size == large_block && large_.size() < kept_large) {
        large_.push_back(std::move(b));
    }
}

void buffer_pool::on_sweep(core::steady_time now)
{
    if (now < rest_ends_) {
        return;
    }
    rest_ends_ = now + block_rest;
    for (; clean_ < unused_; ++clean_) {
        // A failure costs memory that was ours anyway.
        ::madvise(small_[clean_].bytes.get(), small_block, MADV_DONTNEED);
    }
    unused_ = small_.size();
}

}  // namespace net
