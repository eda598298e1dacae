// Clients that misbehave towards servers that are programs, and programs that misbehave towards their clients: nobody else notices.
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_client_faults");

using namespace flow::mcp_programs;

TEST_CASE("A client that leaves at any byte of its request is not heard of, and the next one is served")
{
    const program_gateway x;
    const auto session = x.begin();
    for (const auto& text :
         {program_gateway::text("POST", session, call_of("cut")), program_gateway::text("POST", {}, initialize_body)}) {
        for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
            http_client caller{x.port()};
            caller.send(std::string_view{text}.substr(0, bytes));
            caller.close();
        }
    }
    CHECK(x.post(call_of("one"), session).body == done_of("1"));
    const auto all = x.got(call_of("one"));
    CHECK(all.find("cut") == std::string::npos);
    CHECK(all.find(R"("initialize")") == all.rfind(R"("initialize")"));
    CHECK(x.programs().size() == 1);
}

TEST_CASE(
    "A client that leaves at any byte of a program's answer, JSON or events, cancels nothing and keeps its session"
)
{
    const program_gateway x;
    const auto session = x.begin();
    for (const std::string_view tool : {"one", "talk"}) {
        CAPTURE(tool);
        const auto text = program_gateway::text("POST", session, call_of(tool));
        std::string whole;
        {
            http_client caller{x.port()};
            caller.send(text);
            whole = caller.read_until(done_of("1"));
        }
        for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
            http_client caller{x.port()};
            caller.send(text);
            for (std::size_t got = 0; got < bytes;) {
                const auto some = caller.read_some();
                REQUIRE_FALSE(some.empty());
                got += some.size();
            }
            bytes % 2 == 0 ? caller.close() : caller.reset();
        }
        CHECK(x.post(call_of("one", "2"), session).body == done_of("2"));
    }
    CHECK(x.got(call_of("one", "2")).find("notifications/cancelled") == std::string::npos);
    CHECK(x.programs().size() == 1);
    CHECK(x.post(call_of("one", "3"), session).body == done_of("3"));
}

TEST_CASE("A client that begins 1,000 sessions has max_sessions of them, and the others are 503 and start no program")
{
    const program_gateway x{[](config::settings& settings) { settings.agents[0].mcp->max_sessions = 4; }};
    unsigned begun = 0;
    unsigned refused = 0;
    std::string last;
    for (int i = 0; i < 1000; ++i) {
        const auto got = x.post(initialize_body);
        if (got.status == 200) {
            ++begun;
            last = got.header("Mcp-Session-Id");
        } else if (got.status == 503 && got.header("Cardea-Error") == "session_limit") {
            ++refused;
        }
    }
    CHECK(begun == 4);
    CHECK(refused == 996);
    CHECK(x.programs().size() == 4);
    CHECK(x.post(call_of("one"), {{"Mcp-Session-Id", last}}).body == done_of("1"));
}

TEST_CASE(
    "An answer to another client's question, to none or to one that is answered is 202, and no program hears of it"
)
{
    const program_gateway x;
    const auto asked = x.begin();
    const auto other = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", asked, call_of("ask")));
    caller.read_until(R"("id":77,"method":"roots/list")");
    const std::string wrong = R"({"jsonrpc":"2.0","id":77,"result":{"roots":["wrong"]}})";
    CHECK(x.post(wrong, other).status == 202);
    CHECK(x.post(wrong, {{"MCP-Protocol-Version", "2025-11-25"}}).status == 202);
    const std::string right = R"({"jsonrpc":"2.0","id":77,"result":{"roots":["right"]}})";
    CHECK(x.post(right, asked).status == 202);
    caller.read_until(R"("text":"asked")");
    CHECK(x.post(right, asked).status == 202);
    CHECK(x.post(call_of("one", "2"), asked).body == done_of("2"));
    CHECK(x.post(call_of("one", "3"), other).body == done_of("3"));
    const auto all = x.got(call_of("one", "3"));
    CHECK(all.find("wrong") == std::string::npos);
    CHECK(all.find(right) != std::string::npos);
    CHECK(all.find(right) == all.rfind(right));
}

TEST_CASE("A program that answers twice, or what nobody has asked, is heard once, and the next call with that id too")
{
    const program_gateway x;
    const auto session = x.begin();
    for (const std::string_view name : {"twice", "stray"}) {
        CAPTURE(name);
        CHECK(x.post(call_of(name), session).body == done_of("1"));
        CHECK(x.post(call_of("one"), session).body == done_of("1"));
    }
    CHECK(x.programs().size() == 1);
}

TEST_CASE("A server that lists something else to each client has each list arrive at its own client")
{
    const program_gateway x;
    x.touch("differ");
    const auto list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
    const auto first = x.begin();
    const auto second = x.begin();
    const auto programs = x.programs();
    REQUIRE(programs.size() == 2);
    for (int again = 0; again < 2; ++again) {
        CHECK(x.post(list, first).body.find(R"("name":"of)" + programs[0] + '"') != std::string::npos);
        CHECK(x.post(list, second).body.find(R"("name":"of)" + programs[1] + '"') != std::string::npos);
    }
}

TEST_CASE("A program that is killed before it has answered initialize begins no session, and the client is told")
{
    const program_gateway x{[](config::settings& settings) {
        settings.agents[0].mcp->arguments = {
            "-c",
            "echo $$ >> pids; while read -r line; do printf '%s\\n' \"$line\" >> got; done"
        };
    }};
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", {}, initialize_body));
    x.got(R"("initialize")");
    const auto programs = x.programs();
    REQUIRE(programs.size() == 1);
    ::kill(std::stoi(programs[0]), SIGKILL);
    const auto got = caller.read_response();
    check_error(got, 503, -31503, "session_crashed");
    CHECK(got.count("Mcp-Session-Id") == 0);
}

TEST_CASE("A listener keeps its stream when its program is killed, and hears the next one there")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    CHECK(listener.read_head().status == 200);
    const auto killed = x.programs().at(0);
    ::kill(std::stoi(killed), SIGKILL);
    REQUIRE(program_gateway::becomes_true([&] { return !x.running(killed); }));
    CHECK(x.post(call_of("tell"), session).status == 200);
    listener.read_until(R"("method":"notifications/tools/list_changed")");
    CHECK(x.programs().size() == 2);
}

TEST_SUITE_END();
