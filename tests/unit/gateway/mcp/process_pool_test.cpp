#include "gateway/mcp/programs/process_pool.hpp"

#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/programs/process_pool");

using namespace mcp_path_test;

TEST_CASE("Programs wait ahead for clients, are not spoken to, and none is used twice")
{
    rig x;
    x.server.warm = 2;
    CHECK(x.sessions->warm("a") == 0);
    const auto session = x.begin();
    CHECK(x.sessions->warm("a") == 2);
    REQUIRE(x.programs.started.size() == 3);
    CHECK(x.programs.lines[0].size() == 1);
    CHECK(x.programs.lines[1].empty());
    x.begin();
    CHECK(x.sessions->warm("a") == 2);
    CHECK(x.programs.started.size() == 4);
    CHECK(x.programs.lines[1] == std::vector{opening});
    CHECK(x.programs.lines[2].empty());
    x.programs.say("a greeting", 2);
    x.programs.die(2);
    CHECK(x.sessions->warm("a") == 1);
    x.poll();
    CHECK_FALSE(x.programs.runs(2));
    CHECK(x.programs.started.size() == 4);
    CHECK(x.sessions->end(x.key(session)).has_value());
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
}

TEST_CASE(
    "A program that waited and ends without an answer to initialize is replaced, and the client hears nothing of it"
)
{
    rig x;
    x.server.warm = 1;
    const auto session = x.begin();
    REQUIRE(x.programs.started.size() == 2);
    x.programs.opens = false;
    const auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(begun.has_value());
    x.poll();
    CHECK(x.programs.lines[1] == std::vector{opening});
    x.programs.opens = true;
    x.programs.die(1);
    x.poll();
    CHECK(begun->answer->take() == opened);
    CHECK_FALSE(x.programs.runs(1));
    // The same behind a session that recovers.
    x.begin();
    REQUIRE(x.programs.started.size() == 5);
    x.programs.opens = false;
    x.programs.die(0);
    const auto asked = x.request(session, message("1", "tools/list"));
    REQUIRE(x.programs.started.size() == 5);
    CHECK(x.programs.lines[4] == std::vector{opening});
    x.programs.opens = true;
    x.programs.die(4);
    x.poll();
    REQUIRE(x.programs.started.size() > 5);
    x.programs.say(answer_text("1"), 5);
    CHECK(next(asked) == answer_text("1"));
}

TEST_CASE(
    "While a client waits for a program that had waited the next one is not started, and it is once that has answered"
)
{
    rig x;
    x.server.warm = 1;
    x.begin();
    REQUIRE(x.programs.started.size() == 2);
    x.programs.opens = false;
    const auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(begun.has_value());
    x.poll();
    REQUIRE(x.programs.lines[1] == std::vector{opening});
    CHECK(x.sessions->warm("a") == 0);
    CHECK(x.programs.started.size() == 2);
    x.programs.say(opened, 1);
    x.poll();
    CHECK(x.sessions->warm("a") == 1);
    CHECK(x.programs.started.size() == 3);
    // Without one that waits, the next one begins beside the client's own.
    const auto last = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(last.has_value());
    x.poll();
    const auto cold = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(cold.has_value());
    x.poll();
    CHECK(x.programs.started.size() == 5);
    CHECK(x.sessions->warm("a") == 1);
}

TEST_CASE("Programs that wait count among max_sessions, and go 10 min after the last session")
{
    rig x;
    x.server.warm = 16;
    x.principal.clear();
    x.server.max_sessions = 3;
    const auto first = x.begin();
    CHECK(x.sessions->warm("a") == 2);
    x.begin();
    CHECK(x.sessions->warm("a") == 1);
    const auto third = x.begin();
    CHECK(x.sessions->warm("a") == 0);
    CHECK(x.programs.started.size() == 3);
    CHECK(x.sessions->end(x.key(first)).has_value());
    x.after(30min);
    CHECK(x.sessions->size() == 0);
    x.begin();
    REQUIRE(x.sessions->warm("a") == 2);
    x.after(30min);
    REQUIRE(x.sessions->size() == 0);
    x.after(10min - 1ms);
    CHECK(x.sessions->warm("a") == 2);
    x.after(1ms);
    CHECK(x.sessions->warm("a") == 0);
    CHECK(x.programs.alive.empty());
}
