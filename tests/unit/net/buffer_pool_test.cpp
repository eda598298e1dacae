#include "net/buffer_pool.hpp"

#include <doctest/doctest.h>

#include <utility>

TEST_SUITE_BEGIN("net/buffer_pool");

TEST_CASE("a block is at least as large as asked for, in one of two pooled sizes or exactly")
{
    net::buffer_pool pool;
    CHECK(pool.take(1).size == net::small_block);
    CHECK(pool.take(net::small_block).size == net::small_block);
    CHECK(pool.take(net::small_block + 1).size == net::large_block);
    CHECK(pool.take(net::large_block).size == net::large_block);
    CHECK(pool.take(net::large_block + 1).size == net::large_block + 1);
}

TEST_CASE("a block that was given back is used again, by its size")
{
    net::buffer_pool pool;
    auto small = pool.take(1);
    auto large = pool.take(net::large_block);
    const auto* small_bytes = small.bytes.get();
    const auto* large_bytes = large.bytes.get();
    pool.give(std::move(small));
    pool.give(std::move(large));
    CHECK(pool.take(net::large_block).bytes.get() == large_bytes);
    CHECK(pool.take(1).bytes.get() == small_bytes);
}

TEST_CASE("nothing and odd sizes may be given back")
{
    net::buffer_pool pool;
    pool.give({});
    pool.give(pool.take(net::large_block + 1));
    CHECK(pool.take(1).size == net::small_block);
}

TEST_SUITE_END();
