// Bytes that have come, given piece by piece: what was given stays where it is until it is released, also when more is added. Memory is
// of the loop's pool, and there is none while nothing is held. One thread.
#pragma once

#include "net/loop/buffer_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace net {

class piece_queue {
public:
    // Outlives the queue.
    explicit piece_queue(buffer_pool& memory) noexcept
        : memory_{memory}
    {
    }
    ~piece_queue() { clear(); }
    piece_queue(const piece_queue&) = delete;
    piece_queue& operator=(const piece_queue&) = delete;

    // Throws std::bad_alloc.
    void add(std::string_view bytes)
    {
        size_ += bytes.size();
        while (!bytes.empty()) {
            if (parts_.empty() || parts_.back().end == parts_.back().memory.size) {
                parts_.push_back({memory_.take(bytes.size() <= tiny_block ? tiny_block : small_block), 0});
            }
            auto& last = parts_.back();
            const auto fits = std::min(bytes.size(), last.memory.size - last.end);
            std::memcpy(last.memory.bytes.get() + last.end, bytes.data(), fits);
            last.end += fits;
            bytes.remove_prefix(fits);
        }
    }

    // The next bytes that were not given; empty: there are none. They hold until release().
    std::string_view take() noexcept
    {
        if (at_ < parts_.size() && given_ == parts_[at_].end && at_ + 1 < parts_.size()) {
            ++at_;
            given_ = 0;
        }
        if (at_ == parts_.size() || given_ == parts_[at_].end) {
            return {};
        }
        const auto& part = parts_[at_];
        const std::string_view out{part.memory.bytes.get() + given_, part.end - given_};
        given_ = part.end;
        given_size_ += out.size();
        return out;
    }

    // Drops what was given. How many bytes that were.
    std::size_t release() noexcept
    {
        if (given_size_ == 0) {
            return 0;
        }
        if (given_size_ == size_) {
            at_ = parts_.size();
            given_ = 0;
        }
        for (std::size_t i = 0; i < at_; ++i) {
            memory_.give(std::move(parts_[i].memory));
        }
        parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(at_));
        at_ = 0;
        first_ = given_;
        size_ -= given_size_;
        return std::exchange(given_size_, 0);
    }

    // Gives again all that was given and not released.
    void rewind() noexcept
    {
        at_ = 0;
        given_ = first_;
        given_size_ = 0;
    }

    std::size_t size() const noexcept { return size_; }
    std::size_t left() const noexcept { return size_ - given_size_; }

    // How many bytes were held.
    std::size_t clear() noexcept
    {
        for (auto& each : parts_) {
            memory_.give(std::move(each.memory));
        }
        parts_.clear();
        at_ = given_ = first_ = given_size_ = 0;
        return std::exchange(size_, 0);
    }

private:
    struct part {
        block memory;
        std::size_t end = 0;
    };

    buffer_pool& memory_;
    std::vector<part> parts_;
    std::size_t at_ = 0;          // the part that is being given
    std::size_t given_ = 0;       // of that part, up to here
    std::size_t first_ = 0;       // of the first part, so many are released
    std::size_t size_ = 0;        // not released
    std::size_t given_size_ = 0;  // of these
};

}  // namespace net
