// Receive buffers of one loop, reused: a connection holds one only while bytes are moving. Small ones begin at a page of
// their own, so that a short message makes one page resident and no neighbour's; what nobody has needed for a second goes
// back to the kernel. One thread.
#pragma once

#include "net/loop/deadlines.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace net {

inline constexpr std::size_t tiny_block = 2 * 1024;
inline constexpr std::size_t small_block = 16 * 1024;
inline constexpr std::size_t large_block = 64 * 1024;
inline constexpr std::chrono::seconds block_rest{1};

struct block_release {
    void operator()(char* memory) const noexcept;
    bool pooled = false;     // the pool's own memory, which ends with the pool
    std::size_t mapped = 0;  // bytes of memory of its own
};

// Whoever takes one gives it back, and does so before the pool ends.
struct block {
    std::unique_ptr<char[], block_release> bytes;
    std::size_t size = 0;
};

class buffer_pool final : public timed {
public:
    // At least `size` bytes. Blocks of up to large_block come from the pool. Larger ones are memory of
    // their own, which goes back to the kernel at once: of the heap, bodies of megabytes would leave behind what a heap does not give
    // up. Throws std::bad_alloc.
    block take(std::size_t size);
    void give(block b);

    void on_due() override {}
    void on_sweep(core::steady_time now) override;

private:
    static constexpr std::size_t slab_blocks = 64;

    struct unmap {
        void operator()(char* slab) const noexcept;
    };

    void add_slab();

    std::vector<std::unique_ptr<char[], unmap>> slabs_;
    std::vector<block> small_;  // the one that was used last is at the end
    std::size_t clean_ = 0;     // so many at its beginning have no memory behind them
    std::size_t unused_ = 0;    // so many at its beginning have not been taken since the last rest began
    core::steady_time rest_ends_ = core::steady_time::min();
    std::vector<block> large_;
    std::vector<block> tiny_;
};

}  // namespace net
