// Which call an answer is for that does not say so as it was asked.
#include "mcp/calls/exchange_book.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/answered_calls");

using core::errc;
using mcp::destination;
using mcp::exchange_book;
using mcp_test::call;
using mcp_test::id_of;
using mcp_test::result;

TEST_CASE("An answer reaches the call whose id it has as a text, a number or with a fraction or an exponent of 0")
{
    for (const auto& [asked, said] : {
             std::pair{"7", "7.0"},
             std::pair{"7", "7e0"},
             std::pair{"7", R"("7")"},
             std::pair{R"("7")", "7"},
             std::pair{R"("7")", "7.00"},
         }) {
        CAPTURE(said);
        exchange_book book{{}};
        const auto begun = book.begin(call(asked));
        REQUIRE(begun.has_value());
        CHECK(book.take(result("7.5")).to == destination::nobody);
        const auto told = book.take(result(said));
        CHECK(told.call == begun->call);
        CHECK(told.last);
        CHECK_FALSE(told.failure);
        CHECK(told.text == result(asked));
        CHECK(book.in_flight() == 0);
    }
}

TEST_CASE("An error without an id belongs to the only call in flight, and of several to none, which is noted once")
{
    for (const std::string id : {R"("id":null,)", R"("id":"",)", ""}) {
        CAPTURE(id);
        std::vector<std::string> notes;
        mcp::book_settings settings;
        settings.note = [&](std::string_view why) { notes.emplace_back(why); };
        exchange_book book{settings};
        const auto first = book.begin(call("7"));
        REQUIRE(first.has_value());
        REQUIRE(book.begin(call("8")).has_value());
        const auto error = R"({"jsonrpc":"2.0",)" + id + R"("error":{"code":-32700,"message":"m"}})";
        CHECK(book.take(error).to == destination::nobody);
        CHECK(book.take(error).to == destination::nobody);
        CHECK(notes.size() == 1);
        CHECK(book.in_flight() == 2);
        CHECK(book.take(result("8")).last);
        const auto told = book.take(error);
        CHECK(told.call == first->call);
        CHECK(told.refused);
        CHECK_FALSE(told.failure);
        CHECK(mcp::read_message(told.text)->id == "7");
        CHECK(book.take(error).to == destination::nobody);
        CHECK(notes.size() == 1);
    }
}

TEST_CASE("Between clients an error without an id reaches nobody while it may be the answer to a call that was given up"
)
{
    for (const bool shared : {false, true}) {
        CAPTURE(shared);
        mcp::book_settings settings;
        settings.shared = shared;
        exchange_book book{settings};
        const auto first = book.begin(call("7"));
        REQUIRE(first.has_value());
        book.cancel(first->call, "too late");
        const auto second = book.begin(call("8"));
        REQUIRE(second.has_value());
        const auto error = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"about the first"}})";
        CHECK((book.take(error).to == destination::nobody) == shared);
        if (!shared) {
            continue;
        }
        CHECK(book.take(result(id_of(first->text))).to == destination::nobody);
        CHECK(book.take(error).call == second->call);
    }
}

TEST_CASE(
    "A server that answers no cancelled call owes its answer for two minutes at most, and no other answer clears it"
)
{
    using namespace std::chrono_literals;
    mcp::book_settings settings;
    settings.shared = true;
    exchange_book book{settings};
    const auto first = book.begin(call("7"));
    REQUIRE(first.has_value());
    book.cancel(first->call, "too late");
    const auto second = book.begin(call("8"));
    REQUIRE(second.has_value());
    const auto error = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"about one of them"}})";
    const core::steady_time start{1h};
    book.take(result("12345"));
    book.expire_questions(start, 10min);
    book.expire_questions(start + 59s, 10min);
    CHECK(book.take(error).to == destination::nobody);
    book.expire_questions(start + 60s, 10min);
    CHECK(book.take(error).call == second->call);
}

TEST_CASE("An answer that is none ends the call that it names, and one that names none the only call in flight")
{
    for (const auto* const text : {
             R"({"jsonrpc":"2.0","id":7})",
             R"({"id":7,"result":{}})",
             R"({"jsonrpc":"2.0","id":"7","result":})",
             R"({"jsonrpc":"2.0","id":null,"result":{}})",
             R"({"jsonrpc":"2.0","id":"","result":{}})",
             R"({"jsonrpc":"2.0","result":{"a":NaN}})",
         }) {
        CAPTURE(text);
        exchange_book book{{}};
        const auto begun = book.begin(call("7"));
        REQUIRE(begun.has_value());
        CHECK(book.take("a line of somebody's log").to == destination::nobody);
        const auto told = book.take(text);
        CHECK(told.call == begun->call);
        REQUIRE(told.failure);
        CHECK(told.failure->code == errc::upstream_protocol);
    }
}

TEST_SUITE_END();
