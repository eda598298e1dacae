// Callers of either era and a control session of the other one that all of them share.
#include "gateway/mcp/local_session_plane.hpp"
#include "tests/unit/gateway/mcp/modern_client_rig.hpp"
#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("gateway/mcp/shared_translation");

using namespace mcp_path_test;

namespace {

class shared_translation_rig : public translated_rig {
public:
    shared_translation_rig()
    {
        server.era = core::mcp_era::automatic;
        server.sessions = core::mcp_sessions::shared;
        publish();
    }

    // The control session is ready, and of the legacy era.
    void become_legacy()
    {
        lists = std::make_shared<mcp::server_lists>();
        lists->server.protocol_version = "2025-06-18";
        lists->server.capabilities = R"({"tools":{"listChanged":true}})";
        lists->server.info = R"({"name":"known"})";
        lists->lists[0].push_back({"t", R"({"name":"t"})"});
    }

    std::unique_ptr<program_reader> call(
        const std::string& id,
        const std::string& method = "tools/call",
        const std::string& params = R"("name":"t")",
        const std::string& meta = declares
    )
    {
        return open(modern_client_rig::asked(mcp_path_test::modern(id, method, params, meta), "d"));
    }
};

const std::string completed = R"({"resultType":"complete","content":[]})";

}  // namespace

TEST_CASE("Calls of the modern era go over a control session of the legacy one as that takes them, with ids of its own")
{
    shared_translation_rig x;
    x.become_legacy();
    SUBCASE("all callers share it") {}
    SUBCASE("those without a session do")
    {
        x.server.sessions = core::mcp_sessions::own;
        x.server.sessionless = core::mcp_sessionless::shared;
        x.publish();
    }
    const auto first = x.call("1");
    const auto second = x.call("1", "tools/call", R"("name":"t")", declares + R"("progressToken":"p",)");
    CHECK(x.programs.started.size() == 1);
    CHECK(x.line(1) == message("1000000000", "tools/call", R"({"name":"t","_meta":{}})"));
    CHECK(x.id_of_line() == "1000000001");
    x.say(message("7", "roots/list"));
    CHECK(x.line().find("-32601") != std::string::npos);
    x.say(message("", "notifications/message", R"({"level":"info","data":1})"));
    x.say(answer_text("1000000001"));
    const auto batch = second->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts == std::vector{answer_text("1")});
    CHECK(batch->translated);
    CHECK(batch->over);
    CHECK_FALSE(first->take().has_value());
}

TEST_CASE("A client of the modern era that leaves cancels its call over a control session of the legacy one")
{
    shared_translation_rig x;
    x.become_legacy();
    auto call = x.call("1");
    call.reset();
    x.poll();
    CHECK(x.line().find(R"("method":"notifications/cancelled")") != std::string::npos);
    CHECK(x.line().find(R"("requestId":1000000000)") != std::string::npos);
}

TEST_CASE("What the control session knows is answered without a request to the server, and changes of lists are told")
{
    shared_translation_rig x;
    x.become_legacy();
    auto unknown = x.call("0", "server/discover", "");
    CHECK(x.all(*unknown).find("-32601") != std::string::npos);
    x.server.sessionless = core::mcp_sessionless::fresh;
    x.publish();
    auto tools = x.call("1", "tools/list", "");
    CHECK(x.all(*tools) == answer_text("1", R"({"tools":[{"name":"t"}]})") + "\nover");
    auto named = x.call("2", "server/discover", "");
    CHECK(x.all(*named).find(R"({"name":"known"})") != std::string::npos);
    auto listener = x.call("3", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
    CHECK(x.all(*listener).find("notifications/subscriptions/acknowledged") != std::string::npos);
    x.become_legacy();
    x.lists->lists[0].push_back({"u", R"({"name":"u"})"});
    x.plane.lists_changed("a", x.lists);
    x.poll();
    CHECK(x.all(*listener).find("notifications/tools/list_changed") != std::string::npos);
    CHECK(x.programs.started.empty());
}

TEST_CASE("Callers of either era get why the control session is not ready")
{
    shared_translation_rig x;
    CHECK(x.all(*x.call("1")) == "session_not_ready");
    CHECK(x.all(*x.call("1", "tools/list", "")) == "session_not_ready");
    CHECK(x.all(x.asked(program_act::begin, "", opening)) == "session_not_ready");
    x.become_legacy();
    x.server.sessionless = core::mcp_sessionless::refuse;
    x.publish();
    CHECK(x.all(*x.call("1")) == "session_required");
}

TEST_CASE("Clients of the legacy era are translated over a control session of the modern one, each with its own answers"
)
{
    shared_translation_rig x;
    const auto first = x.begin_session();
    const auto second = x.begin_session();
    CHECK(x.programs.started.empty());
    const auto call = message("1", "tools/call", R"({"name":"t"})");
    const auto one = x.open(x.asked(program_act::request, first, call));
    const auto two = x.open(x.asked(program_act::request, second, call));
    CHECK(x.programs.started.size() == 1);
    CHECK(x.line().find(terms_meta()) != std::string::npos);
    CHECK(x.id_of_line(1) == "1000000000");
    x.say(answer_text(x.id_of_line(), completed));
    CHECK_FALSE(one->take().has_value());
    const auto batch = two->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts == std::vector{answer_text("1", completed)});
    CHECK(batch->translated);
    const auto alone = x.open(x.asked(program_act::call, "", call));
    CHECK(x.id_of_line() == "1000000002");
    CHECK(x.all(x.asked(program_act::end, first)) == "over");
    CHECK(x.all(x.asked(program_act::request, first, call)) == "session_not_found");
    CHECK(x.programs.started.size() == 1);
}

TEST_CASE("A translated session ends when the agent does not share its own session any more")
{
    shared_translation_rig x;
    const auto session = x.begin_session();
    x.publish();
    CHECK(x.all(x.asked(program_act::request, session, message("1", "ping"))) == answer_text("1") + "\nover");
    x.server.sessions = core::mcp_sessions::own;
    x.publish();
    CHECK(x.all(x.asked(program_act::request, session, message("1", "ping"))) == "session_not_found");
}

TEST_CASE("A translated session is not found any more when the control session is of the legacy era")
{
    shared_translation_rig x;
    const auto session = x.begin_session();
    x.become_legacy();
    CHECK(x.all(x.asked(program_act::request, session, message("1", "tools/call"))) == "session_not_found");
    CHECK(x.programs.started.empty());
}

TEST_SUITE_END();
