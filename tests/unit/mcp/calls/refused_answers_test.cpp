// Whom the answer of a server fails that cannot be taken.
#include "mcp/calls/exchange_book.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/calls/refused_answers");

using mcp::destination;
using mcp::exchange_book;
using mcp_test::call;

TEST_CASE(
    "A malformed or too long answer fails the call with its id, and the one with that number as a string if there is "
    "none"
)
{
    exchange_book book{{}};
    const auto number = book.begin(call("7"));
    const auto string = book.begin(call(R"("7")"));
    const auto name = book.begin(call(R"("a/b")"));
    const auto other = book.begin(call(R"("c")"));
    const auto fraction = book.begin(call("8"));
    REQUIRE((number && string && name && other && fraction));
    const auto malformed = [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{},"error":{"code":1,"message":""}})";
    };
    CHECK(book.take(malformed(R"("7")")).call == string->call);
    CHECK(book.take(malformed(R"("7")")).call == number->call);
    CHECK(book.take(malformed(R"("7")")).to == destination::nobody);
    CHECK(book.take(malformed(R"("a\/b")")).call == name->call);
    CHECK(book.take_too_long(R"({"jsonrpc":"2.0","id":"c","result":{"text":"aaaa)", 20).call == other->call);
    CHECK(book.take(malformed("8.0")).call == fraction->call);
    CHECK(book.in_flight() == 0);
}

TEST_SUITE_END();
