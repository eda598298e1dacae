#include "mcp/protocol/raw_json.hpp"
#include "tests/unit/gateway/mcp/modern_client_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/eras/modern_client_calls");

using namespace mcp_path_test;

TEST_CASE("A call has a session of its own, which declares what the call did and ends with it")
{
    modern_client_rig x;
    const auto answer = x.call(modern(R"("a")", "tools/call", R"("name":"t","arguments":{"n":1.0})"));
    REQUIRE(x.lines().size() == 3);
    CHECK(
        x.lines()[0].find(
            R"("protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"cardea")"
        ) != std::string::npos
    );
    CHECK(x.lines()[1].find("notifications/initialized") != std::string::npos);
    CHECK(x.lines()[2] == message(R"("a")", "tools/call", R"({"name":"t","arguments":{"n":1.0},"_meta":{}})"));
    CHECK(next(answer).empty());
    x.programs.say(answer_text(R"("a")", R"({"n":1.0})"));
    x.poll();
    CHECK(next(answer) == answer_text(R"("a")", R"({"n":1.0})"));
    CHECK(next(answer) == "over");
    CHECK(x.sessions->size() == 0);
    CHECK(x.ended(session_end::done) == 1);
}

TEST_CASE("A call that its client can be asked for nothing during declares nothing")
{
    modern_client_rig x;
    const auto answer = x.call(modern("1", "completion/complete", R"("ref":{})"), "");
    CHECK(x.lines()[0].find(R"("capabilities":{},)") != std::string::npos);
    x.programs.say(message("5", "roots/list"));
    CHECK(x.lines().back().find("-32601") != std::string::npos);
}

TEST_CASE("The server is told the level that a call asks for first, and its messages reach nobody who did not ask")
{
    modern_client_rig x;
    const auto said = message("", "notifications/message", R"({"level":"info","data":1})");
    const auto with_level =
        x.call(modern("7", "tools/call", R"("name":"t")", declares + R"("io.modelcontextprotocol/logLevel":"debug",)"));
    REQUIRE(x.lines().size() == 4);
    CHECK(x.lines()[2].find(R"("method":"logging/setLevel","params":{"level":"debug"})") != std::string::npos);
    CHECK(x.lines()[3] == message("7", "tools/call", R"({"name":"t","_meta":{}})"));
    x.programs.say(said);
    x.poll();
    CHECK(next(with_level) == said);
    // The answer to the level is not waited for.
    x.programs.say(answer_text("7"));
    x.poll();
    CHECK(next(with_level) == answer_text("7"));
    CHECK(x.sessions->size() == 0);
    const auto without = x.call(modern("7", "tools/call", R"("name":"t")"));
    x.programs.say(said, 1);
    x.programs.say(message("", "notifications/progress", R"({"progressToken":1})"), 1);
    x.programs.say(answer_text("7"), 1);
    x.poll();
    CHECK(next(without) == answer_text("7"));
}

TEST_CASE("A client that leaves cancels its call and ends the session")
{
    modern_client_rig x;
    auto answer = x.call(modern("1", "tools/call", R"("name":"t")"));
    SUBCASE("before the program has begun")
    {
        answer.reset();
        x.programs.opens = false;
        answer = x.call(modern("1", "tools/call", R"("name":"t")"));
        CHECK(x.sessions->size() == 1);
        x.programs.opens = true;
    }
    answer.reset();
    CHECK(x.sessions->size() == 0);
    CHECK(x.lines().back().find(R"("method":"notifications/cancelled","params":{"requestId":1,)") != std::string::npos);
    const auto is = [](const mcp::outgoing& each) { return each.method == "notifications/cancelled"; };
    CHECK(std::ranges::count_if(x.programs.messages, is) == 1);
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
}

TEST_CASE("Over streamable HTTP a call that may be asked for something waits until its server can ask beside the call")
{
    modern_client_rig x;
    x.server.transport = core::mcp_transport::streamable_http;
    x.programs.opened.replace(x.programs.opened.find(R"("id":0)"), 6, R"("id":1)");
    SUBCASE("a client that declares nothing is not heard there")
    {
        const auto answer = x.call(modern("1", "tools/call", R"("name":"t")"), "");
        CHECK(x.programs.streams == 0);
        CHECK(x.lines().size() == 3);
        return;
    }
    SUBCASE("of a program all that it asks comes by itself")
    {
        x.server.transport = core::mcp_transport::stdio;
        x.programs.opened = opened;
        const auto answer = x.call(modern("1", "tools/call", R"("name":"t")"));
        CHECK(x.programs.streams == 0);
        CHECK(x.lines().size() == 3);
        return;
    }
    auto answer = x.call(modern("1", "tools/call", R"("name":"t")"));
    CHECK(x.programs.streams == 1);
    CHECK(x.lines().size() == 1);
    SUBCASE("which it says")
    {
        x.programs.started[0]->observer().stream_changed(mcp::stream_news::stands);
    }
    SUBCASE("or refuses")
    {
        x.programs.started[0]->observer().stream_changed(mcp::stream_news::none);
    }
    SUBCASE("or does not say within a second")
    {
        x.after(999ms);
        CHECK(x.lines().size() == 1);
        x.after(1ms);
    }
    SUBCASE("unless the client leaves")
    {
        answer.reset();
        x.poll();
        CHECK(x.sessions->size() == 0);
        CHECK(x.programs.closed == 1);
        return;
    }
    x.poll();
    REQUIRE(x.lines().size() == 3);
    x.programs.started[0]->observer().stream_changed(mcp::stream_news::gone);
    CHECK(x.lines().size() == 3);
    x.programs.say(message("7", "roots/list"));
    const auto asked = x.later(answer);
    CHECK(asked.find(R"("input-1":{"method":"roots/list"})") != std::string::npos);
}

TEST_CASE("A call fails as its session does")
{
    modern_client_rig x;
    const auto answer = x.call(modern("1", "tools/call", R"("name":"t")"));
    x.programs.die();
    x.poll();
    CHECK(next(answer) == "upstream_reset");
    x.programs.broken = true;
    CHECK(next(x.call(modern("1", "tools/call", R"("name":"t")"))) == "session_misconfigured");
    x.programs.broken = false;
    x.server.max_sessions = 1;
    const auto one = x.call(modern("1", "tools/call", R"("name":"t")"));
    CHECK(x.call(modern("2", "tools/call", R"("name":"t")")) == nullptr);
    CHECK(x.troubles == std::vector{errc::session_limit});
}

TEST_CASE("server/discover is an unknown method before a server of the legacy era, unless `sessionless` is chosen")
{
    modern_client_rig x;
    auto lists = std::make_shared<mcp::server_lists>();
    SUBCASE("while nothing is known of the server") {}
    SUBCASE("with what the gateway's own session knows")
    {
        x.known = lists;
    }
    const auto answer = x.call(modern(R"("d")", "server/discover"), "");
    const auto text = next(answer);
    CHECK(text.starts_with(R"({"jsonrpc":"2.0","id":"d","error":{"code":-32601,)"));
    CHECK(text.find("Begin with initialize") != std::string::npos);
    CHECK(next(answer) == "over");
    CHECK(x.programs.started.empty());
    x.known = lists;
    for (const auto chosen : {core::mcp_sessionless::fresh, core::mcp_sessionless::shared}) {
        x.server.sessionless = chosen;
        CHECK(next(x.call(modern("1", "server/discover"), "")).find("supportedVersions") != std::string::npos);
    }
}

TEST_CASE("A client of the modern era that has asked what a server is finds a program that waits for its first call")
{
    modern_client_rig x;
    x.server.warm = 1;
    x.known = std::make_shared<mcp::server_lists>();
    std::string method = "server/discover";
    SUBCASE("as a client of both eras, which falls back") {}
    SUBCASE("as one that is answered")
    {
        x.server.sessionless = core::mcp_sessionless::fresh;
    }
    SUBCASE("for its tools")
    {
        method = "tools/list";
    }
    REQUIRE(x.call(modern("1", method), "") != nullptr);
    CHECK(x.programs.started.size() == 1);
    CHECK(x.lines().empty());
    const auto answer = x.call(modern("2", "tools/call", R"("name":"t")"));
    REQUIRE(x.lines().size() == 3);
    CHECK(x.lines()[2] == message("2", "tools/call", R"({"name":"t","_meta":{}})"));
    x.sessions->stop();
    const auto started = x.programs.started.size();
    REQUIRE(x.call(modern("3", method), "") != nullptr);
    CHECK(x.programs.started.size() == started);
}

TEST_CASE("The server sees the name of the client, and Cardea's if the client's would be refused")
{
    modern_client_rig x;
    const auto named = [&](const std::string& info) {
        const auto member = info.empty() ? "" : R"("io.modelcontextprotocol/clientInfo":)" + info + ",";
        const auto answer = x.call(modern("1", "tools/call", R"("name":"t")", declares + member));
        const auto number = x.programs.lines.size() - 1;
        const auto params = mcp::members_of(mcp::members_of(x.lines(number)[0]).object("params"));
        return std::string{params.object("clientInfo")};
    };
    CHECK(named(R"({"name":"n","title":"T","version":"1.50"})") == R"({"name":"n","title":"T","version":"1.50"})");
    const std::string icon(4096, 'i');
    CHECK(
        named(R"({"name":"n","version":"1","icons":[{"src":")" + icon + R"("}]})") == R"({"name":"n","version":"1"})"
    );
    for (const std::string bad : {"", "[]", "null", "{}", R"({"name":"n"})", R"({"name":1,"version":"1"})"}) {
        CAPTURE(bad);
        CHECK(named(bad).starts_with(R"({"name":"cardea",)"));
    }
}

TEST_CASE("A server that no session is known of is asked what it is in a session that ends then")
{
    modern_client_rig x;
    x.server.sessionless = core::mcp_sessionless::fresh;
    x.programs.opened = answer_text(
        "0",
        R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s"}})"
    );
    const auto answer = x.call(modern("9", "server/discover"), "");
    CHECK(x.lines().size() == 1);
    CHECK(
        next(answer) ==
        R"({"jsonrpc":"2.0","id":9,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
        R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}})"
    );
    CHECK(next(answer) == "over");
    CHECK(x.sessions->size() == 0);
    x.programs.opened = R"({"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"no"}})";
    CHECK(next(x.call(modern("9", "server/discover"), "")) == "upstream_protocol");
    CHECK(x.sessions->size() == 0);
    x.programs.opens = false;
    auto leaves = x.call(modern("9", "server/discover"), "");
    leaves.reset();
    CHECK(x.sessions->size() == 0);
}

TEST_CASE("What the gateway's own session knows is answered without another one")
{
    modern_client_rig x;
    x.server.sessionless = core::mcp_sessionless::fresh;
    auto lists = std::make_shared<mcp::server_lists>();
    lists->server.capabilities = R"({"tools":{}})";
    lists->server.info = R"({"name":"known"})";
    lists->lists[0].push_back({"t", R"({"name":"t"})"});
    x.known = lists;
    CHECK(next(x.call(modern("1", "server/discover"), "")).find(R"({"name":"known"})") != std::string::npos);
    CHECK(
        next(x.call(modern("1", "tools/list"), "")) == R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t"}]}})"
    );
    CHECK(next(x.call(modern("1", "prompts/list"), "")).find(R"("prompts":[])") != std::string::npos);
    CHECK(x.call(modern("1", "tools/list", R"("cursor":"cardea:x")"), "") == nullptr);
    CHECK(x.troubles == std::vector{errc::invalid_params});
    CHECK(x.programs.started.empty());
    x.known = nullptr;
    const auto asked = x.call(modern("1", "tools/list"), "");
    CHECK(x.lines().back() == message("1", "tools/list", R"({"_meta":{}})"));
    x.known = lists;
    const auto second_page = x.call(modern("2", "tools/list", R"("cursor":"1")"), "");
    CHECK(x.lines(1).back() == message("2", "tools/list", R"({"cursor":"1","_meta":{}})"));
}

TEST_CASE("A client that listens hears of changes of the lists that it asked for, and of the end when the agent goes")
{
    modern_client_rig x;
    const auto lists = std::make_shared<mcp::server_lists>();
    x.known = lists;
    const auto* const wish = R"("notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///r"]})";
    const auto heard = x.call(modern(R"("l")", "subscriptions/listen", wish), "");
    CHECK(
        next(heard) ==
        R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":)"
        R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"toolsListChanged":true}}})"
    );
    CHECK(next(heard).empty());
    const auto prompts = std::make_shared<mcp::server_lists>();
    prompts->lists[mcp::index_of(mcp::list_kind::prompts)].push_back({"p", "{}"});
    x.calls.lists_changed("a", prompts);
    x.calls.lists_changed("b", lists);
    CHECK(next(heard).empty());
    const auto tools = std::make_shared<mcp::server_lists>(*prompts);
    tools->lists[0].push_back({"t", "{}"});
    x.calls.lists_changed("a", tools);
    CHECK(next(heard).find(R"("method":"notifications/tools/list_changed")") != std::string::npos);
    CHECK(next(heard).empty());
    x.calls.forget("b");
    CHECK(next(heard).empty());
    x.calls.forget("a");
    CHECK(next(heard).starts_with(R"({"jsonrpc":"2.0","id":"l","result":)"));
    CHECK(next(heard) == "over");
    CHECK(x.programs.started.empty());
}

TEST_CASE("Where no session notices changes, none are acknowledged")
{
    modern_client_rig x;
    const auto heard = x.call(modern("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})"), "");
    CHECK(next(heard).find(R"("notifications":{}}})") != std::string::npos);
    x.calls.lists_changed("a", std::make_shared<mcp::server_lists>());
    CHECK(next(heard).empty());
}

TEST_CASE(
    "Over streamable HTTP each id is the number of its call, by which the answer is known, and a lost session fails "
    "the call"
)
{
    modern_client_rig x;
    x.server.transport = core::mcp_transport::streamable_http;
    x.programs.opened.replace(x.programs.opened.find(R"("id":0)"), 6, R"("id":1)");
    const auto answer = x.call(modern(R"("a")", "tools/call", R"("name":"t")"));
    x.programs.started[0]->observer().stream_changed(mcp::stream_news::stands);
    std::vector<std::string> ids;
    for (const auto& each : x.programs.messages) {
        if (each.id != 0) {
            CHECK(mcp::members_of(each.text).find("id") == std::to_string(each.id));
            ids.push_back(std::to_string(each.id));
        }
    }
    REQUIRE(ids.size() == 2);
    x.programs.say(answer_text(ids[1]));
    x.poll();
    CHECK(next(answer) == answer_text(R"("a")"));
    const auto lost = x.call(modern("1", "tools/call", R"("name":"t")"));
    x.programs.started[1]->observer().session_lost();
    x.poll();
    CHECK(next(lost) == "upstream_reset");
}

TEST_CASE("An agent that refuses calls without a session refuses these")
{
    modern_client_rig x;
    x.server.sessionless = core::mcp_sessionless::refuse;
    CHECK(x.call(modern("1", "tools/list"), "") == nullptr);
    CHECK(x.troubles == std::vector{errc::session_required});
    CHECK(x.programs.started.empty());
}

TEST_SUITE_END();
