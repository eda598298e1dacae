#include "net/loop/resolver.hpp"

#include "net/loop/loop.hpp"

#include <doctest/doctest.h>

#include <vector>

TEST_SUITE_BEGIN("net/loop/resolver");

namespace {

struct outcome {
    int answers = 0;
    net::error_code ec;
    std::vector<net::tcp::endpoint> found;
};

auto keep(net::loop& loop, outcome& into, int last)
{
    return [&loop, &into, last](net::error_code ec, const std::vector<net::tcp::endpoint>& found) {
        ++into.answers;
        into.ec = ec;
        into.found = found;
        if (into.answers == last) {
            loop.stop();
        }
    };
}

}  // namespace

TEST_CASE("a name becomes its addresses with the port, for all callers at the same time")
{
    net::loop loop;
    outcome both;
    const auto first = loop.names().ask("localhost", "4321", keep(loop, both, 2));
    const auto second = loop.names().ask("localhost", "4321", keep(loop, both, 2));
    CHECK(both.answers == 0);
    loop.run();
    CHECK(both.answers == 2);
    CHECK_FALSE(both.ec);
    REQUIRE_FALSE(both.found.empty());
    for (const auto& address : both.found) {
        CHECK(address.port() == 4321);
        CHECK(address.address().is_loopback());
    }
}

TEST_CASE("a name that nobody has is an error")
{
    net::loop loop;
    outcome got;
    const auto question = loop.names().ask("no-such-host.invalid", "80", keep(loop, got, 1));
    loop.run();
    CHECK(got.ec);
    CHECK(got.found.empty());
}

TEST_CASE("a question that was withdrawn is not answered, and its asker may be gone")
{
    net::loop loop;
    outcome got;
    {
        outcome gone;
        const auto withdrawn = loop.names().ask("localhost", "1", keep(loop, gone, 1));
    }
    const auto question = loop.names().ask("localhost", "1", keep(loop, got, 1));
    loop.run();
    CHECK(got.answers == 1);
}

TEST_CASE("a loop may end while names are looked up")
{
    net::loop loop;
    outcome got;
    const auto question = loop.names().ask("localhost", "2", keep(loop, got, 1));
    loop.stop();
    CHECK(got.answers == 0);
}

TEST_SUITE_END();
