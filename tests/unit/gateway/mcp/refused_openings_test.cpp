#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/mcp/eras/legacy_clients");

using namespace mcp_path_test;

namespace {

// A program of which nobody has said what it speaks.
class tried_rig : public translated_rig {
public:
    tried_rig()
    {
        server.era = core::mcp_era::automatic;
        publish();
        programs.opened = era_refusal;
    }

    // The handle of the session, whose opening is answered in the modern era.
    std::string begin()
    {
        const auto reader = open(asked(program_act::begin, "", opening));
        const auto number = programs.lines.size() - 1;
        say(answer_text(id_of_line(0, number), discovered), number);
        auto batch = reader->take();
        REQUIRE(batch.has_value());
        CHECK(batch->texts == std::vector{translated_opening});
        CHECK(batch->translated);
        reader->next();
        poll();
        return batch->handle;
    }
};

}  // namespace

TEST_CASE(
    "A program that refuses initialize as one of the modern era gets a session in that era, and the client sees no "
    "refusal"
)
{
    tried_rig x;
    const auto session = x.begin();
    REQUIRE(x.programs.started.size() == 2);
    CHECK_FALSE(x.programs.runs(0));
    const auto reader = x.open(x.asked(program_act::request, session, message("1", "tools/list")));
    x.say(answer_text(x.id_of_line(0, 1)), 1);
    CHECK(x.all(*reader) == answer_text("1") + "\nover");
    CHECK(x.all(x.asked(program_act::end, session)) == "over");
    CHECK(x.all(x.asked(program_act::end, session)) == "session_not_found");
}

TEST_CASE("A program that has refused initialize is not asked again for a day, or until its record changes")
{
    tried_rig x;
    x.begin();
    const auto openings = [&x] {
        std::size_t count = 0;
        for (const auto& each : x.programs.messages) {
            count += each.method == "initialize" ? 1 : 0;
        }
        return count;
    };
    CHECK(openings() == 1);
    x.begin_session();
    CHECK(openings() == 1);
    x.server.max_sessions = 7;
    x.publish();
    x.begin_session();
    CHECK(openings() == 1);
    SUBCASE("a day")
    {
        x.pass(gateway::mcp::eras::legacy_clients::verdict_life - 1ms);
        x.begin_session();
        CHECK(openings() == 1);
        x.pass(1ms);
    }
    SUBCASE("another record")
    {
        x.server.arguments = {"changed"};
        x.publish();
    }
    x.begin_session();
    CHECK(openings() == 2);
}

TEST_CASE("A program that refuses initialize for another reason is heard by the client, and nothing else is tried")
{
    tried_rig x;
    x.programs.opened = R"({"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"not today"}})";
    const auto reader = x.open(x.asked(program_act::begin, "", opening));
    const auto heard = reader->take();
    REQUIRE(heard.has_value());
    CHECK(heard->texts == std::vector{x.programs.opened});
    CHECK(heard->over);
    CHECK_FALSE(heard->translated);
    CHECK(x.programs.started.size() == 1);
    CHECK(x.plane.counts().begun == 1);
}

TEST_CASE(
    "A refusal that one client's initialize deserves says nothing about the next client, which gets a program of its "
    "own"
)
{
    tried_rig x;
    x.modern = true;
    std::string begin = opening;
    SUBCASE("an error of no era")
    {
        begin = message("0", "initialize");
        x.programs.opened = R"({"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no version"}})";
    }
    SUBCASE("an error of the modern era, about a version of that era")
    {
        begin = message("0", "initialize", R"({"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{}})");
    }
    const auto translated = x.open(x.asked(program_act::begin, "", begin));
    CHECK(x.line(0, 1).find("server/discover") != std::string::npos);
    x.programs.opened = opened;
    CHECK(x.all(x.asked(program_act::begin, "", opening)) == opened + "\nover");
    CHECK(x.programs.started.size() == 3);
}

TEST_CASE("A program whose agent changes before it refuses initialize begins no session, and the client hears why")
{
    tried_rig x;
    x.programs.opens = false;
    const auto reader = x.open(x.asked(program_act::begin, "", opening));
    x.server.arguments = {"changed"};
    x.publish();
    x.poll();
    CHECK(x.all(*reader) == "upstream_reset");
    CHECK(x.plane.counts().begun == 1);
}

TEST_CASE("A program that speaks both eras serves clients of the legacy one as it is")
{
    tried_rig x;
    x.modern = true;
    x.programs.opened = opened;
    CHECK(x.all(x.asked(program_act::begin, "", opening)) == opened + "\nover");
    CHECK(x.programs.started.size() == 1);
}

TEST_CASE("What a program says before it answers initialize comes first, and one that ends instead fails the session")
{
    tried_rig x;
    x.programs.opens = false;
    const auto reader = x.open(x.asked(program_act::begin, "", opening));
    const auto said = message("", "notifications/message");
    x.say(said);
    CHECK(x.all(*reader) == said + "\n");
    SUBCASE("it answers")
    {
        x.say(opened);
        CHECK(x.all(*reader) == opened + "\nover");
    }
    SUBCASE("it ends")
    {
        x.programs.die();
        x.poll();
        CHECK(x.all(*reader) == "session_crashed");
    }
}

TEST_CASE("A client that leaves while its opening is tried has no session")
{
    tried_rig x;
    x.programs.opens = false;
    auto reader = x.open(x.asked(program_act::begin, "", opening));
    reader.reset();
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
}

TEST_SUITE_END();
