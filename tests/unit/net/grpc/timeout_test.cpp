#include "net/grpc/timeout.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace net::grpc;
using namespace std::chrono_literals;

namespace {

std::string written(std::chrono::nanoseconds left)
{
    std::string out;
    append_timeout(out, left);
    return out;
}

}  // namespace

TEST_CASE("a timeout has one to eight digits and a unit")
{
    CHECK(parse_timeout("1H") == 1h);
    CHECK(parse_timeout("2M") == 2min);
    CHECK(parse_timeout("3S") == 3s);
    CHECK(parse_timeout("100m") == 100ms);
    CHECK(parse_timeout("7u") == 7us);
    CHECK(parse_timeout("5999n") == 5us);
    CHECK(parse_timeout("00000001S") == 1s);
    CHECK(parse_timeout("0m") == 0us);
    CHECK(parse_timeout("99999999H") == 24'000h);
}

TEST_CASE("anything else is malformed")
{
    for (const auto* const value :
         {"", "S", "1", "1s", "1h", " 1S", "1S ", "-1S", "+1S", "1.5S", "123456789m", "0x1S", "1SS", "1,2S"}) {
        CAPTURE(value);
        CHECK_FALSE(parse_timeout(value));
    }
}

TEST_CASE("a timeout is written in the finest unit that has room for it")
{
    CHECK(written(0ns) == "1n");
    CHECK(written(-5s) == "1n");
    CHECK(written(99'999'999ns) == "99999999n");
    CHECK(written(100ms) == "100000u");
    CHECK(written(1'234'567'890ns) == "1234567u");
    CHECK(written(100s) == "100000m");
    CHECK(written(1000h) == "3600000S");
}

TEST_CASE("what is written is read as no more than it was")
{
    for (auto left = std::chrono::nanoseconds{1}; left < 20'000h; left = left * 3 + 1ns) {
        const auto read = parse_timeout(written(left));
        REQUIRE(read);
        CHECK(*read <= left);
    }
}
