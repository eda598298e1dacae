#include "gateway/mcp/eras/translated_sessions.hpp"

#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/eras/translated_sessions");

using namespace mcp_path_test;

TEST_CASE("initialize is answered with what is known of the server, which hears nothing of it")
{
    translated_rig x;
    const auto session = x.begin_session();
    CHECK(session.size() == 16);
    CHECK(x.programs.started.empty());
    CHECK(x.all(x.asked(program_act::tell, session, message("", "notifications/initialized"))) == "over");
    CHECK(x.all(x.asked(program_act::tell, session, message("", "notifications/roots/list_changed"))) == "over");
    CHECK(x.all(x.asked(program_act::request, session, message("5", "ping"))) == answer_text("5") + "\nover");
    CHECK(x.programs.started.empty());
}

TEST_CASE("A server of which nothing is known is asked what it is before initialize is answered")
{
    translated_rig x;
    const auto reader = x.open(x.asked(program_act::begin, "", opening));
    CHECK(
        x.line() == R"({"jsonrpc":"2.0","id":)" + x.id_of_line() +
                        R"(,"method":"server/discover","params":{"_meta":{)" + terms_meta() + "}}}"
    );
    SUBCASE("it answers")
    {
        x.say(answer_text(x.id_of_line(), discovered));
        CHECK(x.all(*reader) == translated_opening + "\nover");
    }
    SUBCASE("it answers with an error, and there is no session")
    {
        x.say(R"({"jsonrpc":"2.0","id":)" + x.id_of_line() + R"(,"error":{"code":-32601,"message":"what?"}})");
        CHECK(
            x.all(*reader) == R"({"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"what?"}})"
                              "\nover"
        );
        CHECK(x.plane.counts().ended[static_cast<std::size_t>(session_end::refused)] == 1);
    }
    SUBCASE("it speaks no version in common")
    {
        x.say(answer_text(x.id_of_line(), R"({"supportedVersions":["2099-01-01"],"capabilities":{}})"));
        CHECK(x.all(*reader) == "upstream_protocol");
    }
    SUBCASE("it answers with 256 KiB, and with a byte more")
    {
        const auto padded = [&](std::size_t size) {
            // The session sees the client's id in it.
            const auto answer = answer_text(x.id_of_line(), discovered);
            return answer + std::string(size - answer_text("0", discovered).size(), ' ');
        };
        x.say(padded(mcp::longest_handshake));
        CHECK(x.all(*reader) == translated_opening + "\nover");
        translated_rig other;
        const auto refused = other.open(other.asked(program_act::begin, "", opening));
        other.say(padded(mcp::longest_handshake + 1));
        CHECK(other.all(*refused) == "message_too_large");
        CHECK(other.plane.counts().ended[static_cast<std::size_t>(session_end::refused)] == 1);
    }
    SUBCASE("it ends")
    {
        x.programs.die();
        x.poll();
        CHECK(x.all(*reader) == "session_crashed");
    }
    SUBCASE("it says nothing for timeouts.initialize")
    {
        x.pass(x.server.initialize_timeout - 1ms);
        CHECK(x.all(*reader).empty());
        x.pass(1ms);
        CHECK(x.all(*reader) == "upstream_timeout");
    }
}

TEST_CASE("A call goes up with the client's terms, and its answer comes back as it is")
{
    translated_rig x;
    const auto session = x.begin_session();
    const auto reader = x.open(x.asked(
        program_act::request,
        session,
        message(R"("i")", "tools/call", R"({"name":"t","arguments":{"n":1.50},"_meta":{"progressToken":"p"}})")
    ));
    const auto id = x.id_of_line();
    const auto token =
        std::string{mcp::members_of(mcp::members_of(mcp::members_of(x.line()).object("params")).object("_meta"))
                        .find("progressToken")};
    CHECK(
        x.line() == R"({"jsonrpc":"2.0","id":)" + id +
                        R"(,"method":"tools/call","params":{"name":"t","arguments":{"n":1.50},"_meta":{)" +
                        terms_meta() + R"(,"progressToken":)" + token + "}}}"
    );
    x.say(message("", "notifications/progress", R"({"progressToken":)" + token + R"(,"progress":0.50})"));
    CHECK(x.all(*reader) == message("", "notifications/progress", R"({"progressToken":"p","progress":0.50})") + "\n");
    x.say(answer_text(id, R"({"resultType":"complete","content":[],"x":1.0})"));
    CHECK(x.all(*reader) == answer_text(R"("i")", R"({"resultType":"complete","content":[],"x":1.0})") + "\nover");
}

TEST_CASE("One program serves the sessions of all clients, and equal ids get their own answers")
{
    translated_rig x;
    const auto first = x.open(x.asked(program_act::request, x.begin_session(), message("1", "tools/list")));
    const auto second = x.open(x.asked(program_act::request, x.begin_session(), message("1", "tools/list")));
    CHECK(x.programs.started.size() == 1);
    x.say(answer_text(x.id_of_line(0), R"({"of":2})"));
    x.say(answer_text(x.id_of_line(1), R"({"of":1})"));
    CHECK(x.all(*first) == answer_text("1", R"({"of":1})") + "\nover");
    CHECK(x.all(*second) == answer_text("1", R"({"of":2})") + "\nover");
}

TEST_CASE("A level of the log is taken here and goes up with every later request")
{
    translated_rig x;
    const auto session = x.begin_session();
    const auto set = [&](const std::string& level) {
        return x.all(x.asked(program_act::request, session, message("1", "logging/setLevel", level)));
    };
    CHECK(set(R"({"level":"warning"})") == answer_text("1") + "\nover");
    x.open(x.asked(program_act::request, session, message("2", "tools/list")));
    CHECK(x.line().find(terms_meta("warning")) != std::string::npos);
    CHECK(set(R"({"level":"loud"})").find(R"("code":-32602)") != std::string::npos);
    CHECK(set("{}").find(R"("code":-32602)") != std::string::npos);
}

TEST_CASE("Methods of the modern era are unknown to a client of the legacy one")
{
    translated_rig x;
    const auto session = x.begin_session();
    for (const std::string method : {"subscriptions/listen", "server/discover", "initialize"}) {
        CAPTURE(method);
        CHECK(
            x.all(x.asked(program_act::request, session, message("1", method))).find(R"("code":-32601)") !=
            std::string::npos
        );
    }
    CHECK(x.programs.started.empty());
}

TEST_CASE("A client that leaves cancels nothing, and its cancellation reaches the program with the id that it knows")
{
    translated_rig x;
    const auto session = x.begin_session();
    auto left = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    left.reset();
    x.poll();
    CHECK(x.programs.lines[0].size() == 1);
    const auto cancelled = x.open(x.asked(program_act::request, session, message("2", "tools/call")));
    const auto id = x.id_of_line();
    x.open(x.asked(program_act::tell, session, message("", "notifications/cancelled", R"({"requestId":2})")));
    CHECK(x.line().find(R"("method":"notifications/cancelled")") != std::string::npos);
    CHECK(x.line().find(R"("requestId":)" + id) != std::string::npos);
    CHECK(x.all(*cancelled) == "over");
    x.open(x.asked(program_act::tell, session, message("", "notifications/cancelled", R"({"requestId":7})")));
    CHECK(x.programs.lines[0].size() == 3);
}

TEST_CASE("A call whose program ends fails, and the session goes on with the next one")
{
    translated_rig x;
    const auto session = x.begin_session();
    const auto reader = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    x.say(message("", "notifications/message"));
    x.programs.die();
    x.poll();
    CHECK(x.all(*reader) == "upstream_reset");
    const auto next = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    x.say(answer_text(x.id_of_line(0, 1)), 1);
    CHECK(x.all(*next) == answer_text("1") + "\nover");
}

TEST_CASE("64 calls of a session are in flight, and no more")
{
    translated_rig x;
    const auto session = x.begin_session();
    std::vector<std::unique_ptr<program_reader>> calls;
    for (std::size_t i = 0; i < gateway::mcp::eras::legacy_client_calls::most_calls; ++i) {
        calls.push_back(x.open(x.asked(program_act::request, session, message(std::to_string(i), "tools/call"))));
        CHECK(x.all(*calls.back()).empty());
    }
    CHECK(x.all(x.asked(program_act::request, session, message("99", "tools/call"))) == "overloaded");
    x.say(answer_text(x.id_of_line()));
    CHECK(x.all(x.asked(program_act::request, session, message("99", "tools/call"))).empty());
}

TEST_CASE("A session is its principal's and its agent's, and over after DELETE, half an hour, a day or another record")
{
    translated_rig x;
    const auto session = x.begin_session();
    for (const auto act : {program_act::request, program_act::tell, program_act::listen, program_act::end}) {
        auto of_another = x.asked(act, session, message("2", "tools/list"));
        of_another.principal = "q";
        CHECK(x.all(std::move(of_another)) == "session_not_found");
    }
    const auto ended = [&](session_end why) { return x.plane.counts().ended[static_cast<std::size_t>(why)]; };
    const auto listener = x.open(x.asked(program_act::listen, session));
    x.all(*listener);
    const auto reader = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    SUBCASE("DELETE")
    {
        CHECK(x.all(x.asked(program_act::end, session)) == "over");
        CHECK(x.all(*reader) == "session_not_found");
        CHECK(x.all(*listener) == "over");
        CHECK(x.line().find("notifications/cancelled") != std::string::npos);
        CHECK(ended(session_end::deleted) == 1);
    }
    SUBCASE("idle, once it is neither called nor listened to")
    {
        const auto idle = gateway::mcp::programs::program_sessions::longest_idle;
        const auto quiet = x.begin_session();
        CHECK(x.plane.live("a")->sessions == 2);
        x.pass(idle - 1ms);
        CHECK(ended(session_end::idle) == 0);
        x.pass(1ms);
        CHECK(ended(session_end::idle) == 1);
        CHECK(x.plane.live("a")->sessions == 1);
        CHECK(x.all(x.asked(program_act::request, quiet, message("1", "ping"))) == "session_not_found");
        CHECK(x.all(x.asked(program_act::request, session, message("1", "ping"))) == answer_text("1") + "\nover");
        return;
    }
    SUBCASE("another record")
    {
        x.server.arguments = {"changed"};
        x.publish();
        CHECK(x.all(*reader) == "upstream_reset");
        CHECK(ended(session_end::withdrawn) == 1);
    }
    SUBCASE("the gateway's end")
    {
        x.plane.stop();
        x.poll();
        CHECK(x.all(*reader) == "draining");
        CHECK(ended(session_end::draining) == 1);
        CHECK(x.all(x.asked(program_act::begin, "", opening)) == "draining");
    }
    CHECK(x.all(x.asked(program_act::request, session, message("1", "ping"))) == "session_not_found");
}

TEST_CASE("The session that is idle for longest goes when max_sessions are there, and none that is in use")
{
    translated_rig x;
    x.server.max_sessions = 2;
    x.publish();
    const auto first = x.begin_session();
    const auto second = x.begin_session();
    CHECK(x.all(x.asked(program_act::begin, "", opening)) == "session_limit");
    x.pass(gateway::mcp::table::agent_sessions::evictable);
    CHECK(x.all(x.asked(program_act::request, second, message("1", "ping"))) == answer_text("1") + "\nover");
    x.begin_session();
    CHECK(x.all(x.asked(program_act::request, first, message("1", "ping"))) == "session_not_found");
    CHECK(x.all(x.asked(program_act::request, second, message("1", "ping"))) == answer_text("1") + "\nover");
}

TEST_CASE("An initialize over 8 KiB is refused")
{
    translated_rig x;
    const auto open = [&](std::size_t size) {
        const std::string begin = R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":")";
        return x.all(x.asked(program_act::begin, "", begin + std::string(size - begin.size() - 3, 'x') + "\"}}"));
    };
    x.begin_session();
    const auto most = gateway::mcp::programs::program_session::most_initialize;
    CHECK(open(most - 1) == translated_opening + "\nover");
    CHECK(open(most) == translated_opening + "\nover");
    CHECK(open(most + 1) == "body_too_large");
}

TEST_CASE("Over HTTP each session has a connection of its own, and hears what is logged during its calls but no request"
)
{
    translated_rig x;
    x.server.transport = core::mcp_transport::streamable_http;
    x.publish();
    const auto call = message("1", "tools/call", R"({"name":"t"})");
    const auto session = x.begin_session();
    const auto first = x.open(x.asked(program_act::request, session, call));
    const auto second = x.open(x.asked(program_act::request, x.begin_session(), call));
    REQUIRE(x.programs.started.size() == 2);
    CHECK(x.programs.messages.back().name == "t");
    CHECK(std::to_string(x.programs.messages.back().text_id) == x.id_of_line(0, 1));
    const auto logged = message("", "notifications/message");
    x.say(logged, 1);
    CHECK(x.all(*first).empty());
    CHECK(x.all(*second) == logged + "\n");
    x.say(answer_text(x.id_of_line(0, 0)), 0);
    CHECK(x.all(*first) == answer_text("1") + "\nover");
    x.say(message("1", "roots/list"), 1);
    CHECK(x.line(0, 1).find(R"("id":1,"error":{"code":-32601)") != std::string::npos);
    x.say(message("1", "ping"), 1);
    CHECK(x.line(0, 1) == answer_text("1"));
    x.say(message("1", "other/ask"), 1);
    CHECK(x.line(0, 1).find(R"("id":1,"error":{"code":-32601)") != std::string::npos);
    CHECK(x.all(*second).empty());
    CHECK(x.all(x.asked(program_act::end, session)) == "over");
    CHECK_FALSE(x.programs.runs(0));
    CHECK(x.programs.runs(1));
}

TEST_CASE("A changed timeouts.call holds for the calls of sessions over HTTP that stay")
{
    translated_rig x;
    x.server.transport = core::mcp_transport::streamable_http;
    x.publish();
    const auto session = x.begin_session();
    const auto asked = x.open(x.asked(program_act::request, session, message("1", "tools/call", R"({"name":"t"})")));
    x.server.call_timeout = 10s;
    x.publish();
    x.pass(10s);
    CHECK(x.all(*asked) == "upstream_timeout");
    CHECK(x.all(x.asked(program_act::request, session, message("2", "ping"))) == answer_text("2") + "\nover");
}

TEST_CASE("Each session hears once of lists that have changed, however many there are")
{
    translated_rig x;
    x.lists = std::make_shared<mcp::server_lists>();
    x.lists->server = *mcp::read_discover_result(discovered);
    std::vector<std::unique_ptr<program_reader>> listeners;
    for (std::size_t i = 0; i <= gateway::mcp::table::session_table::most_swept; ++i) {
        const auto reader = x.open(x.asked(program_act::begin, "", opening));
        const auto begun = reader->take();
        REQUIRE(begun.has_value());
        reader->next();
        listeners.push_back(x.open(x.asked(program_act::listen, begun->handle)));
        CHECK(x.all(*listeners.back()).empty());
    }
    auto changed = std::make_shared<mcp::server_lists>(*x.lists);
    changed->lists[mcp::index_of(mcp::list_kind::tools)] = {{.key = "t", .raw = "{}"}};
    x.plane.lists_changed("a", changed);
    for (const auto& each : listeners) {
        CHECK(
            x.all(*each) == R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"
                            "\n"
        );
    }
    x.plane.lists_changed("a", std::make_shared<mcp::server_lists>(*changed));
    for (const auto& each : listeners) {
        CHECK(x.all(*each).empty());
    }
}

TEST_CASE("New filters of resources end the sessions that are subscribed to any, and no others")
{
    translated_rig x;
    const auto other = x.begin_session();
    const auto session = x.begin_session();
    const auto asked =
        x.open(x.asked(program_act::request, session, message("1", "resources/subscribe", R"({"uri":"u"})")));
    x.server.resources.deny = {"u"};
    x.publish();
    CHECK(x.all(*asked) == "upstream_reset");
    CHECK(x.all(x.asked(program_act::request, session, message("2", "ping"))) == "session_not_found");
    CHECK(x.all(x.asked(program_act::request, other, message("2", "ping"))) == answer_text("2") + "\nover");
}

TEST_CASE("Over HTTP what Cardea asks for a client has the fields of the client's own request")
{
    translated_rig x;
    x.server.transport = core::mcp_transport::streamable_http;
    x.publish();
    const auto fields = [](const std::string& value) {
        return std::vector<std::pair<std::string, std::string>>{{"X-Tenant", value}};
    };
    auto begin = x.asked(program_act::begin, "", opening);
    begin.fields = fields("first");
    const auto discovering = x.open(std::move(begin));
    CHECK(x.programs.messages.back().method == "server/discover");
    CHECK(x.programs.messages.back().fields == fields("first"));
    auto subscribe =
        x.asked(program_act::request, x.begin_session(), message("1", "resources/subscribe", R"({"uri":"a:1"})"));
    subscribe.fields = fields("second");
    const auto subscribed = x.open(std::move(subscribe));
    CHECK(x.programs.messages.back().method == "subscriptions/listen");
    CHECK(x.programs.messages.back().fields == fields("second"));
}

TEST_CASE("A server over HTTP is translated for if its record says so, and not as long as nothing is known of it")
{
    translated_rig x;
    x.server.transport = core::mcp_transport::streamable_http;
    const auto translated = [&x](core::mcp_era era) {
        x.server.era = era;
        x.publish();
        std::optional<bool> said;
        boost::asio::co_spawn(
            x.loop.get_executor(),
            x.plane.translates("a"),
            [&said](const std::exception_ptr&, bool how) { said = how; }
        );
        x.poll();
        return said.value_or(false);
    };
    // What its tools want repeated in the header has to be known before they are called.
    CHECK(translated(core::mcp_era::modern));
    CHECK(x.lists_read == std::vector<std::string>{"a"});
    CHECK_FALSE(translated(core::mcp_era::automatic));
    CHECK_FALSE(translated(core::mcp_era::legacy));
    x.lists = std::make_shared<mcp::server_lists>();
    CHECK(translated(core::mcp_era::modern));
    x.lists = nullptr;
    x.server.transport = core::mcp_transport::stdio;
    CHECK_FALSE(translated(core::mcp_era::modern));
    CHECK(x.lists_read.size() == 1);
}

TEST_CASE("A call without a session leaves its place when it is over, and one that is answered here takes none")
{
    translated_rig x;
    x.server.max_sessions = 1;
    x.publish();
    for (int i = 0; i < 3; ++i) {
        const auto reader = x.open(x.asked(program_act::call, "", message("1", "tools/call")));
        CHECK(x.all(x.asked(program_act::call, "", message("2", "tools/call"))) == "session_limit");
        x.say(answer_text(x.id_of_line()));
        CHECK(x.all(*reader) == answer_text("1") + "\nover");
        CHECK(x.all(x.asked(program_act::call, "", message("3", "ping"))) == answer_text("3") + "\nover");
    }
    x.programs.refuses = core::gateway_error(errc::overloaded);
    for (int i = 0; i < 2; ++i) {
        CHECK(x.all(x.asked(program_act::call, "", message("1", "tools/call"))) == "overloaded");
    }
}

TEST_CASE(
    "A call without a session whose program turns out to speak the modern era alone is translated, as later ones are"
)
{
    translated_rig x;
    x.server.era = core::mcp_era::automatic;
    x.publish();
    x.programs.opened = era_refusal;
    const auto call = [&x](const std::string& id) {
        return x.open(x.asked(program_act::call, "", message(id, "tools/call", R"({"name":"t"})")));
    };
    auto first = call("7");
    REQUIRE(x.programs.started.size() == 2);
    CHECK_FALSE(x.programs.runs(0));
    CHECK(
        x.line(0, 1).find(R"("params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28")") !=
        std::string::npos
    );
    SUBCASE("it is answered")
    {
        x.say(answer_text(x.id_of_line(0, 1)), 1);
        const auto batch = first->take();
        REQUIRE(batch.has_value());
        CHECK(batch->texts == std::vector{answer_text("7")});
        CHECK(batch->over);
        CHECK(batch->translated);
        const auto second = call("8");
        CHECK(x.programs.started.size() == 2);
        x.say(answer_text(x.id_of_line(0, 1)), 1);
        CHECK(x.all(*second) == answer_text("8") + "\nover");
    }
    SUBCASE("its caller leaves")
    {
        first.reset();
        x.poll();
        CHECK(x.line(0, 1).find("notifications/cancelled") != std::string::npos);
    }
    SUBCASE("the gateway ends")
    {
        x.plane.stop();
        x.poll();
        CHECK(x.all(*first) == "draining");
    }
    SUBCASE("the program of the modern era ends")
    {
        x.programs.die(1);
        x.poll();
        CHECK(x.all(*first) == "session_crashed");
    }
    CHECK(x.plane.live("a")->sessions == 0);
}

TEST_CASE("A call without a session whose program refuses its session for another reason fails")
{
    translated_rig x;
    x.server.era = core::mcp_era::automatic;
    x.publish();
    x.programs.opened = R"({"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no"}})";
    const auto call = x.asked(program_act::call, "", message("7", "tools/call"));
    CHECK(x.all(call) == "upstream_protocol");
    x.programs.opened = opened;
    CHECK(x.all(call).empty());
    REQUIRE(x.programs.started.size() == 2);
    CHECK(x.programs.lines.at(1).at(0).find(R"("method":"initialize")") != std::string::npos);
}

TEST_CASE("A call without a session goes up with terms of the gateway's own, and a caller that leaves cancels it")
{
    translated_rig x;
    auto reader = x.open(x.asked(program_act::call, "", message("1", "tools/call")));
    CHECK(x.line().find(R"("io.modelcontextprotocol/clientCapabilities":{})") != std::string::npos);
    CHECK(x.line().find(R"("io.modelcontextprotocol/clientInfo":{"name":"cardea")") != std::string::npos);
    SUBCASE("it is answered")
    {
        x.say(answer_text(x.id_of_line()));
        CHECK(x.all(*reader) == answer_text("1") + "\nover");
        CHECK(x.programs.lines[0].size() == 1);
    }
    SUBCASE("it leaves")
    {
        reader.reset();
        x.poll();
        CHECK(x.line().find("notifications/cancelled") != std::string::npos);
    }
    CHECK(x.plane.counts().ended[static_cast<std::size_t>(session_end::done)] == 1);
}

TEST_SUITE_END();
