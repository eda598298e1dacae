#include "core/ip.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using core::parse_ip;
using core::parse_ip_block;

TEST_SUITE_BEGIN("core/ip");

TEST_CASE("addresses of both families are read, and an IPv4 address is the same when it is mapped")
{
    CHECK(parse_ip("192.0.2.1")->bytes[12] == 192);
    CHECK(parse_ip("192.0.2.1")->bytes[15] == 1);
    CHECK(parse_ip("192.0.2.1") == parse_ip("::ffff:192.0.2.1"));
    CHECK(parse_ip("192.0.2.1") == parse_ip("::FFFF:c000:201"));
    CHECK(parse_ip("::1") == parse_ip("0:0:0:0:0:0:0:1"));
    CHECK_FALSE(parse_ip("0.0.0.1") == parse_ip("::1"));
    CHECK(parse_ip("2001:db8:1111:2222:3333:4444:255.255.255.255").has_value());
}

TEST_CASE("what is no address is none")
{
    for (const std::string text :
         {"",
          "1",
          "1.2.3",
          "1.2.3.4.5",
          "1.2.3.256",
          "01.2.3.4",
          "0x7f.1.1.1",
          " 1.2.3.4",
          "1.2.3.4 ",
          "1.2.3.4:80",
          "[::1]",
          "::1%lo",
          ":::",
          "g::",
          "unknown",
          "_hidden",
          "localhost",
          "1::2::3"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_ip(text).has_value());
    }
    CHECK_FALSE(parse_ip(std::string(100, '1')).has_value());
    CHECK_FALSE(parse_ip(std::string_view{"1.2.3.4\0", 8}).has_value());
}

TEST_CASE("a block has the addresses that share its prefix, and no others")
{
    struct row {
        const char* block;
        const char* inside;
        const char* outside;
    };
    for (const auto& r :
         {row{"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
          row{"10.0.0.0/8", "::ffff:10.1.2.3", "::10.1.2.3"},
          row{"192.0.2.4/30", "192.0.2.7", "192.0.2.8"},
          row{"192.0.2.4/31", "192.0.2.5", "192.0.2.6"},
          row{"192.0.2.4", "192.0.2.4", "192.0.2.5"},
          row{"192.0.2.4/32", "192.0.2.4", "192.0.2.5"},
          row{"0.0.0.0/0", "255.255.255.255", "2001:db8::1"},
          row{"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"},
          row{"fd00::/8", "fdff::", "fe00::"},
          row{"::1", "::1", "::2"},
          row{"::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.0"},
          row{"2000::/3", "3fff::", "127.0.0.1"}}) {
        CAPTURE(r.block);
        const auto block = parse_ip_block(r.block);
        REQUIRE(block.has_value());
        CHECK(block->contains(*parse_ip(r.inside)));
        CHECK_FALSE(block->contains(*parse_ip(r.outside)));
    }
    CHECK(parse_ip_block("::/0")->contains(*parse_ip("10.0.0.1")));
}

TEST_CASE("what is no block is none")
{
    for (const std::string text :
         {"",
          "/",
          "10.0.0.0/",
          "10.0.0.0/33",
          "10.0.0.0/-1",
          "10.0.0.0/+8",
          "10.0.0.0/8 ",
          "10.0.0.0/0008",
          "10.0.0.0/8/8",
          "10.0.0.1/8",
          "::1/127",
          "::/129",
          "10/8",
          "::ffff:0:0/80",
          "localhost",
          "*"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_ip_block(text).has_value());
    }
}

TEST_SUITE_END();
