#include "net/loop/byte_queue.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

TEST_SUITE_BEGIN("net/loop/byte_queue");

TEST_CASE("Bytes come out as they went in, whatever was added and dropped between")
{
    net::buffer_pool memory;
    net::byte_queue queue{memory};
    std::string expected;
    unsigned next = 0;
    for (std::size_t size = 1; size < 3'000; size += 37) {
        std::string more(size, static_cast<char>(next++));
        queue.add(more);
        expected += more;
        REQUIRE(queue.view() == expected);
        const auto gone = expected.size() / 3;
        queue.drop(gone);
        expected.erase(0, gone);
        REQUIRE(queue.view() == expected);
    }
    queue.drop(queue.size());
    CHECK(queue.size() == 0);
    CHECK(queue.view().empty());
}

TEST_CASE("A queue that is exchanged with another has its bytes, and one that is cleared takes new ones")
{
    net::buffer_pool memory;
    net::byte_queue one{memory};
    net::byte_queue other{memory};
    one.add("one");
    one.swap(other);
    CHECK(one.size() == 0);
    CHECK(other.view() == "one");
    other.clear();
    other.add(std::string(100'000, 'x'));
    CHECK(other.view() == std::string(100'000, 'x'));
}

TEST_SUITE_END();
