// Bytes that have come and wait to be used, in one piece, in memory of the loop's pool while there are any. One thread.
#pragma once

#include "net/loop/buffer_pool.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace net {

class byte_queue {
public:
    explicit byte_queue(buffer_pool& memory) noexcept
        : memory_{memory}
    {
    }
    ~byte_queue() { clear(); }
    byte_queue(const byte_queue&) = delete;
    byte_queue& operator=(const byte_queue&) = delete;

    // Holds until something is added, dropped or exchanged.
    std::string_view view() const noexcept { return {block_.bytes.get() + begin_, size()}; }
    std::size_t size() const noexcept { return end_ - begin_; }

    // Throws std::bad_alloc.
    void add(std::string_view bytes)
    {
        if (block_.size - end_ < bytes.size()) {
            make_room(bytes.size());
        }
        std::memcpy(block_.bytes.get() + end_, bytes.data(), bytes.size());
        end_ += bytes.size();
    }

    void drop(std::size_t bytes) noexcept
    {
        assert(bytes <= size());
        begin_ += bytes;
        if (begin_ == end_) {
            clear();
        }
    }

    void clear() noexcept
    {
        if (block_.size > 0) {
            memory_.give(std::exchange(block_, {}));
        }
        begin_ = 0;
        end_ = 0;
    }

    // Swaps the bytes with those of a queue with the same pool.
    void swap(byte_queue& other) noexcept
    {
        std::swap(block_, other.block_);
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
    }

private:
    // By doubling: what is announced counts for nothing.
    void make_room(std::size_t more)
    {
        const auto needed = size() + more;
        if (needed <= block_.size && begin_ >= block_.size / 2) {
            std::memmove(block_.bytes.get(), block_.bytes.get() + begin_, size());
        } else {
            const auto least = needed <= tiny_block ? tiny_block : std::max(small_block, block_.size * 2);
            auto other = memory_.take(std::max(needed, least));
            if (size() > 0) {
                std::memcpy(other.bytes.get(), block_.bytes.get() + begin_, size());
            }
            if (block_.size > 0) {
                memory_.give(std::move(block_));
            }
            block_ = std::move(other);
        }
        end_ -= begin_;
        begin_ = 0;
    }

    buffer_pool& memory_;
    block block_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace net
