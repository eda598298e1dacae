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
constexpr std::size_t kept_tiny = 256;

// The block comes from the heap if none is kept.
block take_kept(std::vector<block>& kept, std::size_t size)
{
    if (kept.empty()) {
        kept.reserve(size == tiny_block ? kept_tiny : kept_large);  // keep() has room
        return {{new char[size], block_release{}}, size};
    }
    auto taken = std::move(kept.back());
    kept.pop_back();
    ASAN_UNPOISON_MEMORY_REGION(taken.bytes.get(), size);
    return taken;
}

// Drops it, if there are so many.
void keep(std::vector<block>& kept, block b, std::size_t most)
{
    if (kept.size() < most) {
        ASAN_POISON_MEMORY_REGION(b.bytes.get(), b.size);
        kept.push_back(std::move(b));
    }
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
        return take_kept(tiny_, tiny_block);
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
    return take_kept(large_, large_block);
}

void buffer_pool::give(block b)
{
    if (b.size == small_block) {
        ASAN_POISON_MEMORY_REGION(b.bytes.get(), small_block);
        small_.push_back(std::move(b));
    } else if (b.size == large_block) {
        keep(large_, std::move(b), kept_large);
    } else if (b.size == tiny_block) {
        keep(tiny_, std::move(b), kept_tiny);
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
