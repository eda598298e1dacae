#include "mcp/protocol/read_text.hpp"

#include "mcp/calls/exchange_book.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/protocol/read_text");

using mcp_test::call;
using mcp_test::notification;
using mcp_test::question;
using mcp_test::result;
using mcp_test::with_token;

namespace {

mcp::exchange_book book_with_a_call()
{
    mcp::book_settings settings;
    settings.declared = {"elicitation"};
    mcp::exchange_book book{std::move(settings)};
    REQUIRE(book.begin(call("1", with_token("7"))).has_value());
    return book;
}

}  // namespace

TEST_CASE("A text that was read elsewhere goes where it would go if it were read here")
{
    const std::string meta = R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1}})";
    for (const auto& text : std::vector<std::string>{
             result("1", R"({"a":[1,2]})"),
             result("1.0"),
             result("2"),
             result("\"1\""),
             R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}})",
             R"({"jsonrpc":"2.0","id":1,"result":{})",
             R"({"jsonrpc":"2.0","id":1,"result":{},"result":{}})",
             R"({"id":1,"result":{}})",
             "nothing",
             "",
             question("3", "elicitation/create"),
             question("3", "roots/list"),
             question("3", "ping"),
             notification("notifications/progress", R"({"progressToken":7,"progress":1})"),
             notification("notifications/progress", R"({"progressToken":8,"progress":1})"),
             notification("notifications/message", R"({"data":"x"})"),
             notification("notifications/cancelled", R"({"requestId":3})"),
             notification("notifications/cancelled", R"({"requestId":1})"),
             notification("notifications/tools/list_changed"),
             notification("notifications/resources/updated", meta),
             notification("notifications/message", "[]"),
         }) {
        CAPTURE(text);
        auto here = book_with_a_call();
        auto elsewhere = book_with_a_call();
        const auto read = mcp::read_apart(text, {});
        CHECK(read->batch.empty());
        const auto one = here.take(text);
        const auto other = elsewhere.take(read->whole);
        CHECK(one.to == other.to);
        CHECK(one.call == other.call);
        CHECK(one.last == other.last);
        CHECK(one.refused == other.refused);
        CHECK(one.question == other.question);
        CHECK(one.text == other.text);
        REQUIRE(one.failure.has_value() == other.failure.has_value());
        if (one.failure) {
            CHECK(one.failure->code == other.failure->code);
            CHECK(one.failure->detail == other.failure->detail);
        }
        CHECK(here.dropped() == elsewhere.dropped());
        CHECK(here.in_flight() == elsewhere.in_flight());
    }
}

TEST_CASE("Of a batch each message is read, but for one that has too many or none, or is not whole")
{
    const auto one = result("1");
    CHECK(mcp::read_apart("[" + one + "," + notification("a") + "]", {})->batch.size() == 2);
    CHECK(mcp::read_apart("[" + one + "]", {})->batch.size() == 1);
    CHECK(mcp::read_apart("[]", {})->batch.empty());
    CHECK(mcp::read_apart("[" + one, {})->batch.empty());
    std::string many{"["};
    for (std::size_t i = 0; i < mcp::most_in_batch; ++i) {
        many += one + ',';
    }
    CHECK(mcp::read_apart(many + one + "]", {})->batch.empty());
    many.back() = ']';
    CHECK(mcp::read_apart(many, {})->batch.size() == mcp::most_in_batch);
}

TEST_SUITE_END();
