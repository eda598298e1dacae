#include "core/ip.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

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

TEST_CASE("Addresses of the public internet are public, and no others")
{
    for (const std::string text :
         {"1.1.1.1",         "8.8.8.8",     "9.255.255.255",   "11.0.0.0",        "100.63.255.255",  "100.128.0.0",
          "126.255.255.255", "128.0.0.0",   "168.63.129.15",   "168.63.129.17",   "169.253.255.255", "169.255.0.0",
          "172.15.255.255",  "172.32.0.0",  "192.0.1.0",       "192.0.3.0",       "192.167.255.255", "192.169.0.0",
          "198.17.255.255",  "198.20.0.0",  "198.51.99.255",   "203.0.114.0",     "223.255.255.255", "::ffff:8.8.8.8",
          "2000::1",         "2001:200::1", "2001:4860::8888", "2001:db7:ffff::", "2001:db9::",      "2003::1",
          "3ffe:ffff::",     "3fff:1000::", "64:ff9b::8.8.8.8"}) {
        CAPTURE(text);
        REQUIRE(parse_ip(text).has_value());
        CHECK(core::is_public(*parse_ip(text)));
    }
    for (const std::string text :
         {"0.0.0.0",
          "0.255.255.255",
          "10.0.0.0",
          "10.255.255.255",
          "100.64.0.0",
          "100.100.100.200",
          "100.127.255.255",
          "127.0.0.0",
          "127.255.255.255",
          "168.63.129.16",
          "169.254.0.0",
          "169.254.169.254",
          "169.254.255.255",
          "172.16.0.0",
          "172.31.255.255",
          "192.0.0.0",
          "192.0.0.192",
          "192.0.0.255",
          "192.0.2.1",
          "192.88.99.1",
          "192.168.0.0",
          "192.168.255.255",
          "198.18.0.0",
          "198.19.255.255",
          "198.51.100.7",
          "203.0.113.9",
          "224.0.0.0",
          "239.255.255.255",
          "240.0.0.0",
          "255.255.255.255",
          "::",
          "::1",
          "::8.8.8.8",
          "::7f00:1",
          "::ffff:127.0.0.1",
          "::ffff:169.254.169.254",
          "64:ff9b::127.0.0.1",
          "64:ff9b::10.0.0.1",
          "64:ff9b:1::8.8.8.8",
          "100::1",
          "1fff:ffff::",
          "2001::1",
          "2001:0:808:808::1",
          "2001:2::1",
          "2001:1ff:ffff::",
          "2001:db8::1",
          "2001:db8:ffff::",
          "2002:808:808::1",
          "2002:7f00:1::",
          "3fff::1",
          "3fff:fff:ffff::",
          "4000::1",
          "5f00::1",
          "fc00::1",
          "fd00:ec2::254",
          "fdff:ffff::",
          "fe80::1",
          "febf::1",
          "fec0::1",
          "ff02::1",
          "ffff:ffff::"}) {
        CAPTURE(text);
        REQUIRE(parse_ip(text).has_value());
        CHECK_FALSE(core::is_public(*parse_ip(text)));
    }
}

TEST_CASE("A rule lets public addresses through and those of its blocks, and a block that is none lets nothing through")
{
    const std::vector<std::string> blocks{"10.0.0.0/8", "::1", "nonsense"};
    const core::address_rule rule{blocks};
    for (const auto* text : {"8.8.8.8", "10.0.0.1", "::ffff:10.255.255.255", "::1"}) {
        CAPTURE(text);
        CHECK(rule.allows(*parse_ip(text)));
    }
    for (const auto* text : {"9.255.255.255", "127.0.0.1", "11.0.0.1", "::2", "192.168.0.1", "64:ff9b::10.0.0.1"}) {
        CAPTURE(text);
        CHECK(
            rule.allows(*parse_ip(text)) ==
            (std::string_view{text} == "9.255.255.255" || std::string_view{text} == "11.0.0.1")
        );
    }
    CHECK_FALSE(core::address_rule{{}}.allows(*parse_ip("127.0.0.1")));
}

TEST_SUITE_END();
