// Receive buffers of one loop, reused: a connection holds one only while bytes are moving. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace net {

inline constexpr std::size_t small_block = 16 * 1024;
inline constexpr std::size_t large_block = 64 * 1024;

struct block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
};

class buffer_pool {
public:
    // At least `size` bytes; small_block and large_block come from the pool, others from the heap.
    block take(std::size_t size);
    void give(block b);

private:
    std::vector<block> small_;
    std::vector<block> large_;
};

}  // namespace net
