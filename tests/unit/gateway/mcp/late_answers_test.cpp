// What becomes of a client's answers to questions of a program that is gone.
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/mcp/late_answers");

using namespace mcp_path_test;

namespace {

// With this id and nothing else, so that a client tells the questions apart by it.
std::string question_of(const std::string& id)
{
    return message(id, "elicitation/create", R"({"message":"really?"})");
}

}  // namespace

TEST_CASE("A late answer to a question of a program that is gone does not answer the next one's, whatever their ids")
{
    for (const std::string id : {"0", R"("a")", "1000000000", R"("a\/b")"}) {
        CAPTURE(id);
        rig x;
        const auto session = x.begin();
        const auto first = x.request(session, message("1", "tools/call"));
        x.programs.say(question_of(id));
        CHECK(next(first) == question_of(id));
        for (std::size_t number = 1; number < 3; ++number) {
            x.programs.die(number - 1);
            x.poll();
            const auto asked = x.request(session, message("2", "tools/call"));
            x.programs.say(question_of(id), number);
            const auto text = next(asked);
            const auto new_id = mcp_test::id_of(text);
            CHECK(text == question_of(new_id));
            const auto& lines = x.programs.lines[number];
            const auto before = lines.size();
            x.tell(session, answer_text(id));
            CHECK(lines.size() == before);
            x.tell(session, answer_text(new_id));
            CHECK(lines.size() == before + 1);
            CHECK(lines.back() == answer_text(id));
        }
    }
}

TEST_CASE("A question of the next program is taken back, refused and asked twice under the id that it gave it")
{
    rig x;
    const auto session = x.begin();
    x.programs.die();
    x.poll();
    auto asked = x.request(session, message("1", "tools/call"));
    x.programs.say(question_of("7"), 1);
    const auto text = next(asked);
    const auto& lines = x.programs.lines[1];
    SUBCASE("taken back")
    {
        x.programs.say(message("", "notifications/cancelled", R"({"requestId":7})"), 1);
        CHECK(next(asked) == message("", "notifications/cancelled", R"({"requestId":)" + mcp_test::id_of(text) + "}"));
    }
    SUBCASE("refused")
    {
        asked.reset();
        CHECK(lines.back().find(R"("id":7,)") != std::string::npos);
        CHECK(lines.back().find("-32601") != std::string::npos);
    }
    SUBCASE("asked twice")
    {
        x.programs.say(question_of("7"), 1);
        CHECK(lines.back().find(R"("id":7,)") != std::string::npos);
        CHECK(lines.back().find("-32600") != std::string::npos);
    }
    const auto before = lines.size();
    x.tell(session, answer_text("7"));
    CHECK(lines.size() == before);
}

TEST_CASE("A question under way to a listener that was replaced does not outlive its program")
{
    rig x;
    const auto session = x.begin();
    auto first = x.sessions->listen(x.key(session));
    x.programs.say(message("5", "roots/list"));
    CHECK(next(*first) == message("5", "roots/list"));
    const auto second = x.sessions->listen(x.key(session));
    x.programs.die();
    x.poll();
    first->reset();
    CHECK(next(*second).empty());
}

TEST_SUITE_END();
