#include "net/loop/buffer_pool.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("net/loop/buffer_pool");

namespace {

// How many pages of a small block have memory behind them.
long resident_pages(const char* bytes)
{
    std::array<unsigned char, 4> pages{};
    auto* const at = const_cast<char*>(bytes);  // mincore() only looks
    REQUIRE(::mincore(at, net::small_block, pages.data()) == 0);
    return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; });
}

long resident_pages(const net::block& of)
{
    return resident_pages(of.bytes.get());
}

}  // namespace

TEST_CASE("a block is at least as large as asked for, in one of three sizes or exactly")
{
    net::buffer_pool pool;
    for (const auto& [asked, got] : {
             std::pair{std::size_t{1}, net::tiny_block},
             std::pair{net::tiny_block, net::tiny_block},
             std::pair{net::tiny_block + 1, net::small_block},
             std::pair{net::small_block, net::small_block},
             std::pair{net::small_block + 1, net::large_block},
             std::pair{net::large_block, net::large_block},
             std::pair{net::large_block + 1, net::large_block + 1},
         }) {
        auto taken = pool.take(asked);
        CHECK(taken.size == got);
        std::memset(taken.bytes.get(), 'x', taken.size);
        pool.give(std::move(taken));
    }
}

TEST_CASE("a block that was given back is used again, by its size")
{
    net::buffer_pool pool;
    auto small = pool.take(net::small_block);
    auto large = pool.take(net::large_block);
    const auto* small_bytes = small.bytes.get();
    const auto* large_bytes = large.bytes.get();
    pool.give(std::move(small));
    pool.give(std::move(large));
    CHECK(pool.take(net::large_block).bytes.get() == large_bytes);
    CHECK(pool.take(net::small_block).bytes.get() == small_bytes);
}

TEST_CASE("nothing and odd sizes may be given back")
{
    net::buffer_pool pool;
    pool.give({});
    pool.give(pool.take(net::large_block + 1));
    pool.give(pool.take(net::small_block));
}

TEST_CASE("many blocks at once are distinct, and a short message in each makes one page of each resident")
{
    constexpr std::size_t count = 200;
    net::buffer_pool pool;
    std::vector<net::block> taken;
    for (std::size_t i = 0; i < count; ++i) {
        taken.push_back(pool.take(net::small_block));
        std::memset(taken.back().bytes.get(), static_cast<int>(i % 100), 1000);
    }
    for (std::size_t i = 0; i < count; ++i) {
        CHECK(taken[i].bytes.get()[999] == static_cast<char>(i % 100));
        CHECK(resident_pages(taken[i]) == 1);
    }
    for (auto& each : taken) {
        pool.give(std::move(each));
    }
}

TEST_CASE("what nobody has needed for a second goes back to the kernel; what is in use, or was, stays")
{
    net::buffer_pool pool;
    std::vector<net::block> taken;
    std::vector<const char*> where;
    for (int i = 0; i < 3; ++i) {
        taken.push_back(pool.take(net::small_block));
        where.push_back(taken.back().bytes.get());
        std::memset(taken.back().bytes.get(), 'x', 1000);
    }
    const core::steady_time start{};
    pool.give(std::move(taken[0]));
    pool.give(std::move(taken[1]));  // the one to be taken next
    pool.on_sweep(start);
    pool.give(pool.take(net::small_block));
    pool.on_sweep(start + net::block_rest - std::chrono::milliseconds{1});
    CHECK(resident_pages(where[0]) == 1);
    pool.on_sweep(start + net::block_rest);
    CHECK(resident_pages(where[0]) == 0);
    CHECK(resident_pages(where[1]) == 1);
    CHECK(resident_pages(where[2]) == 1);

    auto first = pool.take(net::small_block);
    auto second = pool.take(net::small_block);
    CHECK(second.bytes.get() == where[0]);
    second.bytes[0] = 'y';
    CHECK(resident_pages(where[0]) == 1);
    pool.give(std::move(second));
    pool.give(std::move(first));
    pool.give(std::move(taken[2]));
    for (int second_later = 2; second_later < 4; ++second_later) {
        pool.on_sweep(start + second_later * net::block_rest);
    }
    CHECK(std::ranges::all_of(where, [](const char* each) { return resident_pages(each) == 0; }));
}

TEST_SUITE_END();
