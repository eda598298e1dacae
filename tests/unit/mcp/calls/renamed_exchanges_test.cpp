#include "mcp/calls/exchange_book.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/calls/renamed_exchanges");

using mcp::destination;
using mcp::exchange_book;
using namespace mcp_test;

namespace {

exchange_book renaming_book()
{
    mcp::book_settings settings;
    settings.renames = true;
    return exchange_book{settings};
}

}  // namespace

TEST_CASE("A book that renames gives every request an integer of its own, and says which")
{
    auto book = renaming_book();
    for (const std::string id : {"1", "2", R"("a")"}) {
        CAPTURE(id);
        const auto begun = book.begin(call(id, with_token("7")));
        REQUIRE(begun.has_value());
        CHECK(id_of(begun->text) == std::to_string(begun->id));
        CHECK(begun->id >= static_cast<std::uint64_t>(mcp::upstream_names::first_new));
        CHECK(begun->text.find(R"("progressToken":7)") == std::string::npos);
        CHECK(book.take(result(std::to_string(begun->id))).text == result(id));
    }
}

TEST_CASE("A book that does not rename says the integer that a client has chosen, and none for a string")
{
    exchange_book book{{}};
    CHECK(book.begin(call("5"))->id == 5);
    CHECK(book.begin(call(R"("a")"))->id == 0);
}

TEST_CASE("What is logged reaches the only client of a book that renames, and nobody of one that is shared")
{
    const auto logged = notification("message");
    auto own = renaming_book();
    const auto begun = own.begin(call("1"));
    const auto told = own.take(logged);
    CHECK(told.to == destination::call);
    CHECK(told.call == begun->call);
    mcp::book_settings settings;
    settings.shared = true;
    exchange_book shared{settings};
    CHECK(shared.begin(call("1")).has_value());
    CHECK(shared.take(logged).to == destination::nobody);
}

TEST_CASE("Subscriptions that have a limit of their own keep no call out, nor calls a subscription")
{
    mcp::book_settings settings;
    settings.most_calls = 2;
    settings.most_listens = 2;
    exchange_book book{settings};
    const client_text listen{R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}})"};
    REQUIRE(book.begin(listen).has_value());
    const auto second = book.begin(listen);
    REQUIRE(second.has_value());
    CHECK(book.begin(listen).error().code == core::errc::overloaded);
    REQUIRE(book.begin(call("1")).has_value());
    REQUIRE(book.begin(call("1")).has_value());
    CHECK(book.begin(call("1")).error().code == core::errc::overloaded);
    book.cancel(second->call, "left");
    CHECK(book.begin(call("1")).error().code == core::errc::overloaded);
    CHECK(book.begin(listen).has_value());
}

TEST_CASE("Where nothing but what was declared is asked, everything else is answered here")
{
    mcp::book_settings settings;
    settings.declared = {"roots"};
    settings.only_declared = true;
    exchange_book book{settings};
    REQUIRE(book.begin(call("1")).has_value());
    CHECK(book.take(question("5", "roots/list")).to == mcp::destination::call);
    for (const std::string method : {"ping", "sampling/createMessage", "other/ask"}) {
        CAPTURE(method);
        const auto told = book.take(question("6", method));
        CHECK(told.to == mcp::destination::server);
        CHECK(told.text.find(method == "ping" ? R"("result":{})" : "-32601") != std::string::npos);
    }
}

TEST_SUITE_END();
