#include "mcp/calls/client_message.hpp"

#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("mcp/calls/client_message");

using mcp_test::call;
using mcp_test::with_token;

TEST_CASE("A kept message says the same when the first is gone")
{
    const auto copy = [] { return mcp::kept_message{call("17", with_token("3"))}; }();
    const auto view = copy.view();
    CHECK(view.id == "17");
    CHECK(view.progress_token == "3");
    CHECK(view.method == "tools/call");
    CHECK(view.request_id.empty());
    CHECK(mcp::field_bytes({{"a", "bc"}, {"d", ""}}) == 4);
    CHECK(mcp::one_line("{\n\"a\":\r\n1}") == "{ \"a\":  1}");
    CHECK_FALSE(mcp::is_one_line("{\n1"));
    CHECK_FALSE(mcp::is_one_line("{\r1"));
    CHECK(mcp::is_one_line("{ \"a\":  1}"));
}

TEST_CASE("What is kept of a kept message is the same text, not a copy of it, also when the first is gone")
{
    mcp::kept_message again;
    const char* at = nullptr;
    {
        const mcp::kept_message first{call("17", with_token("3"))};
        at = first.view().text.data();
        again = mcp::kept_message{first.view()};
    }
    CHECK(again.view().text.data() == at);
    CHECK(again.view().id == "17");
    CHECK(again.view().progress_token == "3");
    CHECK(mcp::kept_message{}.view().text.empty());
}
