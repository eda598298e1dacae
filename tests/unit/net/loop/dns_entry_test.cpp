#include "net/loop/dns_entry.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("net/loop/dns_entry");

namespace {

constexpr core::steady_time begin{1'000h};

net::address_list list(const std::vector<std::string>& texts)
{
    net::address_list out;
    for (const auto& each : texts) {
        out.push_back(boost::asio::ip::make_address(each));
    }
    return out;
}

net::dns_entry found_at(core::steady_time when, const net::name_settings& settings = {})
{
    net::dns_entry out{settings};
    out.begin(when);
    CHECK(out.found(list({"192.0.2.1"}), when));
    return out;
}

}  // namespace

TEST_CASE("A name is looked up again when the time between two lookups is over, and not before")
{
    auto name = found_at(begin);
    CHECK(name.due() == begin + 30s);
    CHECK_FALSE(name.pass(begin + 30s - 1ms).look_up);
    CHECK(name.pass(begin + 30s).look_up);
    name.begin(begin + 30s);
    CHECK_FALSE(name.pass(begin + 31s).look_up);
    CHECK(name.due() == begin + 32s);
}

TEST_CASE("A lookup tells whether the addresses or their order have changed")
{
    net::dns_entry name{{}};
    CHECK(name.found(list({"192.0.2.1", "2001:db8::1"}), begin));
    CHECK_FALSE(name.found(list({"192.0.2.1", "2001:db8::1"}), begin));
    CHECK(name.found(list({"2001:db8::1", "192.0.2.1"}), begin));
    CHECK(name.found(list({"2001:db8::1"}), begin));
}

TEST_CASE("The addresses stay valid for the set time after the first of several failures")
{
    auto name = found_at(begin);
    for (auto now = begin + 30s; now < begin + 30s + 5min; now += 30s) {
        CHECK(name.pass(now).look_up);
        name.begin(now);
        CHECK(name.failed(now));
    }
    CHECK_FALSE(name.pass(begin + 30s + 5min - 1ms).gone);
    CHECK(name.addresses() != nullptr);
    CHECK(name.due() == begin + 30s + 5min);
    CHECK(name.pass(begin + 30s + 5min).gone);
    CHECK(name.addresses() == nullptr);
    CHECK_FALSE(name.pass(begin + 31s + 5min).gone);
    CHECK(name.found(list({"192.0.2.1"}), begin + 6min));
}

TEST_CASE("A lookup that succeeds ends the failures before it")
{
    auto name = found_at(begin);
    name.begin(begin + 30s);
    name.failed(begin + 30s);
    name.begin(begin + 4min);
    CHECK_FALSE(name.found(list({"192.0.2.1"}), begin + 4min));
    CHECK_FALSE(name.pass(begin + 24h).gone);
    CHECK(name.addresses() != nullptr);
}

TEST_CASE("Without a time for old addresses the first failure ends them")
{
    auto name = found_at(begin, {.stale = 0s});
    name.begin(begin + 30s);
    name.failed(begin + 30s);
    CHECK(name.pass(begin + 30s).gone);
}

TEST_CASE("A lookup over its time is a failure once, and its answer still counts")
{
    auto name = found_at(begin);
    name.begin(begin + 30s);
    CHECK_FALSE(name.pass(begin + 32s - 1ms).late);
    CHECK(name.pass(begin + 32s).late);
    CHECK_FALSE(name.pass(begin + 33s).late);
    SUBCASE("and it fails in the end")
    {
        CHECK_FALSE(name.failed(begin + 40s));
        CHECK(name.pass(begin + 32s + 5min).gone);
    }
    SUBCASE("and it succeeds in the end")
    {
        CHECK(name.found(list({"192.0.2.2"}), begin + 40s));
        CHECK_FALSE(name.pass(begin + 32s + 5min).gone);
    }
    SUBCASE("and it never ends")
    {
        CHECK_FALSE(name.pass(begin + 1h).look_up);
        CHECK(name.addresses() == nullptr);
    }
}

TEST_SUITE_END();
