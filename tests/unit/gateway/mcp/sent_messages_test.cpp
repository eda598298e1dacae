// What a transport is told of the messages of a session, and what becomes of one that did not arrive.
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>

TEST_SUITE_BEGIN("gateway/mcp/sent_messages");

using namespace mcp_path_test;

TEST_CASE("Messages go up with their methods, and requests with numbers that are never the same")
{
    rig x;
    const auto session = x.begin();
    x.tell(session, message("", "notifications/initialized"));
    x.request(session, message("1", "tools/call"));
    x.request(session, message(R"("1")", "tools/list"));
    x.tell(session, message("", "notifications/cancelled", R"({"requestId":1})"));
    const auto& sent = x.programs.messages;
    REQUIRE(sent.size() == 5);
    CHECK(sent[0].method == "initialize");
    CHECK(sent[1].method == "notifications/initialized");
    CHECK(sent[2].method == "tools/call");
    CHECK(sent[3].method == "tools/list");
    CHECK(sent[4].method == "notifications/cancelled");
    CHECK(sent[0].id != 0);
    CHECK(sent[1].id == 0);
    CHECK(sent[2].id > sent[0].id);
    CHECK(sent[3].id > sent[2].id);
    CHECK(std::ranges::all_of(sent, &mcp::outgoing::of_caller));
    // The next program is told so too.
    x.programs.die();
    x.request(session, message("2", "tools/call"));
    REQUIRE(sent.size() == 8);
    CHECK(sent[6].method == "notifications/initialized");
}

TEST_CASE("A message that did not arrive fails its call alone, once")
{
    rig x;
    const auto session = x.begin();
    const auto first = x.request(session, message("1", "tools/call"));
    const auto failed_call = x.programs.messages.back().id;
    const auto second = x.request(session, message("2", "tools/call"));
    x.programs.fail(failed_call);
    CHECK(next(first) == "upstream_status");
    x.programs.say(answer_text("1"));
    x.programs.fail(failed_call);
    x.programs.fail(0);
    CHECK(next(second).empty());
    x.programs.say(answer_text("2"));
    CHECK(next(second) == answer_text("2"));
    x.programs.fail(x.programs.messages.back().id);
    CHECK(x.sessions->size() == 1);
    CHECK(x.programs.started.size() == 1);
}

TEST_CASE("An initialize that did not arrive is the end of the session")
{
    rig x;
    x.programs.opens = false;
    auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(begun.has_value());
    x.poll();
    x.programs.fail(x.programs.messages.at(0).id);
    CHECK(next(begun->answer) == "upstream_status");
    CHECK(x.sessions->size() == 0);
}

TEST_SUITE_END();
