#include "mcp/bundle/origins.hpp"

#include "core/base64.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/bundle/origins");

using mcp::origin_of;
using mcp::question_origin;
using mcp::raw_id_of;
using mcp::with_origin;

TEST_CASE("an id of a question leads back to its member, session and spelling")
{
    for (const auto& id : {"0", "1.0", "-3e2", R"("0")", R"("a\u0062\"")", R"("")"}) {
        const question_origin origin{"team.files", "sealed~!", id};
        CHECK(origin_of(raw_id_of(origin)) == origin);
    }
    CHECK(raw_id_of({"a", "", "0"}) != raw_id_of({"b", "", "0"}));
    CHECK(raw_id_of({"a", "", "0"}) != raw_id_of({"a", "", R"("0")"}));
}

TEST_CASE("no id of another kind leads anywhere, and none puts more than an id into a message")
{
    using namespace std::string_literals;
    const auto own = [](std::string_view text) { return R"("cardea:)" + core::base64url(text) + '"'; };
    CHECK(origin_of(own("a\0\0007"s)));
    for (const auto& raw :
         {own("a\0\0007,\"x\":1"s),
          own("a\0\000"s),
          own("a\0\000 7"s),
          own("a\0\0007 "s),
          own("a\0\000null"s),
          own("a\0\000{}"s),
          own("a\0\000\"x"s),
          own("a\0007"s),
          own("\0\0007"s),
          own("a\0b\0007\0008"s),
          own(""s),
          "\"cardea:=\""s,
          "\"cardea:\""s,
          "7"s,
          "null"s,
          ""s,
          "\""s,
          "\"7\""s}) {
        CAPTURE(raw);
        CHECK_FALSE(origin_of(raw));
    }
}

TEST_CASE("a member's questions, and what ends them, name the member")
{
    const auto zero = raw_id_of({"a", "s", "0"});
    CHECK(
        with_origin(R"({"id": 0 ,"method":"ping","x":1.50})", "a", "s") ==
        R"({"id": )" + zero + R"( ,"method":"ping","x":1.50})"
    );
    CHECK(
        with_origin(
            R"({"method":"sampling/createMessage","params":{"_meta":{"progressToken":0},"id":0},"id":0})",
            "a",
            "s"
        ) == R"({"method":"sampling/createMessage","params":{"_meta":{"progressToken":)" + zero + R"(},"id":0},"id":)" +
                 zero + "}"
    );
    CHECK(
        with_origin(R"({"method":"notifications/cancelled","params":{"requestId":0}})", "a", "s") ==
        R"({"method":"notifications/cancelled","params":{"requestId":)" + zero + "}}"
    );
    CHECK_FALSE(with_origin(R"({"id":0,"result":{"method":"ping"}})", "a", "s"));
    CHECK_FALSE(with_origin(R"({"method":"notifications/progress","params":{"progressToken":0}})", "a", "s"));
    CHECK_FALSE(with_origin("nothing", "a", "s"));
}

TEST_CASE("an answer goes back to its member with the member's own id")
{
    const question_origin origin{"a", "s", "0"};
    const auto back = [](const std::string& body) -> std::optional<std::string> {
        const auto read = mcp::read_incoming(body);
        const auto returned = mcp::returned_to(read.message, body);
        return returned ? std::optional{mcp::edited(body, {&returned->edit, 1})} : std::nullopt;
    };
    const auto id = raw_id_of(origin);
    CHECK(back(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})") == R"({"jsonrpc":"2.0","id":0,"result":{}})");
    CHECK(
        back(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + id + "}}") ==
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0}})"
    );
    CHECK_FALSE(back(R"({"jsonrpc":"2.0","id":0,"result":{}})"));
    CHECK_FALSE(back(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})"));
}

TEST_CASE("an id of an event leads back to its member")
{
    for (const auto& id : {"", "0", "any text"}) {
        CHECK(mcp::origin_of_event(mcp::event_id_of({"a.b", id})) == mcp::event_origin{"a.b", id});
    }
    for (const auto& bad : {"", "7", "=", "YQ"}) {
        CHECK_FALSE(mcp::origin_of_event(bad));
    }
    // It would stand in the header of a request.
    for (const auto& bad : {"\xC3\xA9", "x\r\nX-Evil: 1", "x\ty", "\x7F"}) {
        CHECK_FALSE(mcp::origin_of_event(mcp::event_id_of({"a.b", bad})));
    }
}

TEST_SUITE_END();
