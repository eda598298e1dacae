#include "net/buffer_pool.hpp"

#include <utility>

namespace net {
namespace {

constexpr std::size_t kept_small = 256;
constexpr std::size_t kept_large = 32;

block make(std::size_t size)
{
    return {std::make_unique_for_overwrite<char[]>(size), size};
}

block reuse(std::vector<block>& kept, std::size_t size)
{
    if (kept.empty()) {
        return make(size);
    }
    auto b = std::move(kept.back());
    kept.pop_back();
    return b;
}

}  // namespace

block buffer_pool::take(std::size_t size)
{
    if (size <= small_block) {
        return reuse(small_, small_block);
    }
    if (size <= large_block) {
        return reuse(large_, large_block);
    }
    return make(size);
}

void buffer_pool::give(block b)
{
    if (b.size == small_block && small_.size() < kept_small) {
        small_.push_back(std::move(b));
    } else if (b.size == large_block && large_.size() < kept_large) {
        large_.push_back(std::move(b));
    }
}

}  // namespace net
