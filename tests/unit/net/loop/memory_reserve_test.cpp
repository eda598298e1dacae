#include "net/loop/memory_reserve.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <new>

TEST_SUITE_BEGIN("net/memory_reserve");

TEST_CASE("An allocation may be tried again for each piece of the reserve, then for a second, and again after a refill")
{
    CHECK(net::memory_reserve::refill());  // nothing is kept, so nothing is missing
    CHECK_FALSE(net::memory_reserve::give_up());
    net::memory_reserve::keep();
    const auto handler = std::get_new_handler();
    REQUIRE((handler != nullptr));
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < net::memory_reserve::pieces; ++i) {
            CHECK_NOTHROW(handler());
        }
        CHECK(net::memory_reserve::refill());
    }
    std::set_new_handler(nullptr);
}

TEST_SUITE_END();
