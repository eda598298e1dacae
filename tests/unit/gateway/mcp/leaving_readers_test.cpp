// What becomes of calls and questions whose readers leave.
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/mcp/leaving_readers");

using namespace mcp_path_test;

TEST_CASE("A caller that leaves its only call ends it, whether or not its program has begun")
{
    rig x;
    x.server.max_sessions = 1;
    x.programs.opens = false;
    const client_text call{message("7", "tools/call")};
    auto begun = x.sessions->call(x.new_entry(), "p", {call, "2025-06-18"});
    REQUIRE(begun.has_value());
    auto& asked = begun->answer;
    x.poll();
    REQUIRE(x.programs.lines[0].size() == 1);
    SUBCASE("it has not")
    {
        asked.reset();
    }
    SUBCASE("it has")
    {
        x.programs.say(opened);
        REQUIRE(x.programs.lines[0].back() == message("7", "tools/call"));
        asked.reset();
    }
    CHECK(x.sessions->size() == 0);
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
    CHECK(x.begin().size() == 16);
}

TEST_CASE("A question that the caller has not read when it leaves is refused, and the call goes on")
{
    rig x;
    const auto session = x.begin();
    auto asked = x.request(session, message("1", "tools/call"));
    x.programs.say(message("5", "elicitation/create"));
    SUBCASE("it waits") {}
    SUBCASE("it is under way")
    {
        CHECK(next(asked) == message("5", "elicitation/create"));
    }
    CHECK(x.programs.lines[0].size() == 2);
    asked.reset();
    REQUIRE(x.programs.lines[0].size() == 3);
    CHECK(x.programs.lines[0].back().find(R"("id":5)") != std::string::npos);
    CHECK(x.programs.lines[0].back().find("-32601") != std::string::npos);
    CHECK(x.sessions->size() == 1);
}

TEST_CASE("A question that has reached the caller is answered by the caller, also after it has left")
{
    rig x;
    const auto session = x.begin();
    auto asked = x.request(session, message("1", "tools/call"));
    x.programs.say(message("5", "elicitation/create"));
    CHECK(next(asked) == message("5", "elicitation/create"));
    asked->arrived();
    asked.reset();
    x.tell(session, answer_text("5"));
    CHECK(x.programs.lines[0].size() == 3);
    CHECK(x.programs.lines[0].back() == answer_text("5"));
}

TEST_CASE("A question is answered by the client also after the call in which it was asked has been")
{
    rig x;
    const auto session = x.begin();
    const auto asked = x.request(session, message("1", "tools/list"));
    x.programs.say(message("5", "roots/list"));
    x.programs.say(answer_text("1"));
    CHECK(next(asked) == message("5", "roots/list"));
    CHECK(next(asked) == answer_text("1"));
    x.tell(session, answer_text("5"));
    REQUIRE(x.programs.lines[0].size() == 3);
    CHECK(x.programs.lines[0].back() == answer_text("5"));
}

TEST_CASE("A question that the caller has not read when it leaves is refused also if its call is over")
{
    rig x;
    const auto session = x.begin();
    auto asked = x.request(session, message("1", "tools/call"));
    x.programs.say(message("5", "elicitation/create"));
    x.programs.say(answer_text("1"));
    CHECK(x.programs.lines[0].size() == 2);
    asked.reset();
    REQUIRE(x.programs.lines[0].size() == 3);
    CHECK(x.programs.lines[0].back().find(R"("id":5)") != std::string::npos);
    CHECK(x.programs.lines[0].back().find("-32601") != std::string::npos);
    CHECK(x.sessions->size() == 1);
}

TEST_CASE("A client that leaves with the answer to initialize, but without a question before it, keeps its session")
{
    rig x;
    x.programs.opens = false;
    auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(begun.has_value());
    x.poll();
    x.programs.say(message("5", "roots/list"));
    x.programs.say(opened);
    begun->answer.reset();
    CHECK(x.sessions->size() == 1);
    CHECK(x.programs.lines[0].back().find(R"("id":5)") != std::string::npos);
    CHECK(x.programs.lines[0].back().find("-32601") != std::string::npos);
}

TEST_CASE("A question that the client does not answer for timeouts.call is refused, and its late answer is dropped")
{
    rig x;
    x.server.call_timeout = 10s;
    const auto session = x.begin();
    const auto listener = x.sessions->listen(x.key(session));
    x.programs.say(message("5", "roots/list"));
    CHECK(next(*listener) == message("5", "roots/list"));
    (*listener)->arrived();
    x.after(1s);
    x.after(10s - 1ms);
    CHECK(x.programs.lines[0].size() == 1);
    x.after(1ms);
    REQUIRE(x.programs.lines[0].size() == 2);
    CHECK(x.programs.lines[0].back().find(R"("id":5)") != std::string::npos);
    CHECK(x.programs.lines[0].back().find("-32603") != std::string::npos);
    x.tell(session, answer_text("5"));
    CHECK(x.programs.lines[0].size() == 2);
}

TEST_CASE("A question under way to a listener that leaves is asked again, and refused after 10 s without another one")
{
    rig x;
    const auto session = x.begin();
    auto listener = x.sessions->listen(x.key(session));
    const auto question = message("5", "roots/list");
    x.programs.say(question);
    CHECK(next(*listener) == question);
    SUBCASE("the next one listens already")
    {
        const auto other = x.sessions->listen(x.key(session));
        CHECK(next(*other).empty());
        listener->reset();
        CHECK(next(*other) == question);
    }
    SUBCASE("another one comes")
    {
        listener->reset();
        listener = x.sessions->listen(x.key(session));
        CHECK(next(*listener) == question);
    }
    SUBCASE("nobody comes")
    {
        listener->reset();
        x.after(1s);
        x.after(10s - 1ms);
        CHECK(x.programs.lines[0].size() == 1);
        x.after(1ms);
        CHECK(x.programs.lines[0].back().find("-32601") != std::string::npos);
    }
}

TEST_CASE("Questions for which the next listener has no room are refused")
{
    rig x;
    const auto session = x.begin();
    auto first = x.sessions->listen(x.key(session));
    const auto question = message("5", "roots/list", R"({"a":")" + std::string(text_queue::most_bytes, 'a') + R"("})");
    x.programs.say(question);
    CHECK(next(*first) == question);
    const auto second = x.sessions->listen(x.key(session));
    x.programs.say(message("6", "roots/list"));
    first->reset();
    CHECK(x.programs.lines[0].size() == 1);
    x.after(1s);
    CHECK(x.programs.lines[0].back().find(R"("id":5)") != std::string::npos);
    CHECK(x.programs.lines[0].back().find("-32601") != std::string::npos);
    CHECK(next(*second) == message("6", "roots/list"));
    CHECK(next(*second).empty());
}

TEST_SUITE_END();
