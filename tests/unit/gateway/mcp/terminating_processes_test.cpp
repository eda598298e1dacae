#include "gateway/mcp/programs/process_pool.hpp"
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/mcp/programs/terminating_processes");

using namespace mcp_path_test;

namespace {

// All of whose places are taken by programs that do not exit.
class full_rig : public rig {
public:
    explicit full_rig(std::uint32_t places)
    {
        principal.clear();
        server.max_sessions = places;
        programs.exits = false;
        for (std::uint32_t each = 0; each < places; ++each) {
            CHECK(sessions->end(key(begin())).has_value());
        }
        poll();
    }

    reader initialize()
    {
        const auto begun = sessions->begin(new_entry(), principal, client_text{opening});
        poll();
        return begun ? begun->answer : nullptr;
    }
};

}  // namespace

TEST_CASE("A session that begins right behind the end of the only one waits until that one's program has exited")
{
    full_rig x{1};
    const auto answer = x.initialize();
    REQUIRE(answer != nullptr);
    CHECK(x.programs.started.size() == 1);
    CHECK(next(answer).empty());
    CHECK(x.begin() == "session_limit");
    x.programs.exit(0);
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
    CHECK(x.programs.started.size() == 2);
    CHECK(next(answer) == opened);
}

TEST_CASE("As many programs may be on their way out as may run, and then the next ones wait for any of them")
{
    full_rig x{2};
    const auto first = x.initialize();
    const auto second = x.initialize();
    CHECK(x.programs.started.size() == 2);
    x.programs.exit(1);
    x.poll();
    CHECK(x.programs.started.size() == 4);
    CHECK(next(first) == opened);
    CHECK(next(second) == opened);
}

TEST_CASE("A session waits for the place of its program for timeouts.initialize, then it is session_limit")
{
    full_rig x{1};
    x.server.initialize_timeout = 5s;
    const auto answer = x.initialize();
    x.after(4'999ms);
    CHECK(next(answer).empty());
    x.after(1ms);
    CHECK(next(answer) == "session_limit");
    CHECK(x.sessions->size() == 0);
    x.programs.exit(0);
    x.poll();
    CHECK(x.programs.started.size() == 1);
    CHECK(x.programs.alive.empty());
}

TEST_CASE("A client that leaves while its program waits for a place leaves nothing behind")
{
    full_rig x{1};
    x.initialize();
    CHECK(x.sessions->size() == 0);
    const auto answer = x.initialize();
    x.programs.exit(0);
    x.poll();
    CHECK(x.programs.started.size() == 2);
    CHECK(next(answer) == opened);
}

TEST_CASE("A call without a session waits for a place too")
{
    full_rig x{1};
    const auto text = message("7", "tools/call");
    const auto asked = x.sessions->call(x.new_entry(), "p", {client_text{text}, "2025-06-18", "{}"});
    REQUIRE(asked.has_value());
    x.poll();
    CHECK(x.programs.started.size() == 1);
    x.programs.exit(0);
    x.poll();
    x.programs.say(answer_text("7"), 1);
    CHECK(next(asked->answer) == answer_text("7"));
}

TEST_CASE("An agent that changes takes along what waits for a place")
{
    full_rig x{1};
    const auto answer = x.initialize();
    x.sessions->set_agent("a", nullptr);
    CHECK(next(answer) == "upstream_reset");
    x.programs.exit(0);
    x.poll();
    CHECK(x.programs.started.size() == 1);
    CHECK_FALSE(x.sessions->busy());
}

TEST_CASE("Programs on their way out count for their principal, and leave room for those of another one")
{
    rig x;
    x.server.max_sessions = 4;
    x.programs.exits = false;
    for (int i = 0; i < 2; ++i) {
        CHECK(x.sessions->end(x.key(x.begin())).has_value());
    }
    x.poll();
    CHECK(x.programs.started.size() == 2);
    const auto own = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(own.has_value());
    x.poll();
    CHECK(x.programs.started.size() == 2);
    CHECK(x.begin("q").size() == 16);
    CHECK(x.programs.started.size() == 3);
    CHECK(next(own->answer).empty());
    x.programs.exit(0);
    x.poll();
    CHECK(x.programs.started.size() == 4);
    CHECK(next(own->answer) == opened);
}

TEST_CASE("While the programs of ended sessions hold all places, none starts ahead")
{
    full_rig x{2};
    x.server.warm = 1;
    const auto answer = x.initialize();
    CHECK(x.sessions->warm("a") == 0);
    x.programs.exit(0);
    x.poll();
    CHECK(next(answer) == opened);
    CHECK(x.sessions->warm("a") == 1);
    CHECK(x.programs.started.size() == 4);
}

TEST_SUITE_END();
