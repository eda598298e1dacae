// What becomes of MCP servers, their cards and their programs at a hand-over.
#include "tests/flow/handover_fixture.hpp"
#include "tests/flow/restart_load.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/handover_mcp");

namespace {

using flow::becomes_true;
using flow::has_ended;
using flow::succession;
using test_support::http_client;
using test_support::http_response;
using test_support::scripted_agent;

// Says in the file `story` when it begins and ends. A call of `wait` is answered when there is a file `go`; with a file `mute` it says
// nothing at all.
constexpr std::string_view server = R"(
echo begins >>story
trap 'echo ends >>story' EXIT
while read -r line; do
  [ ! -e mute ] || continue
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\),.*/\1/p')
  case "$line" in
    *'"initialize"'*)
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"one","inputSchema":{}}]}}';;
    *'"notifications/'*) ;;
    *wait*) while [ ! -e go ]; do sleep 0.01; done; echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}';;
    *) [ -z "$id" ] || echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;
  esac
done
)";

class mcp_succession {
public:
    // `more`: keys of the server's. Beside it stands an A2A agent.
    explicit mcp_succession(const std::string& more, const std::string& agent_url = "http://127.0.0.1:1/")
        : gateways{
              "store: memory\ntimeouts: {drain_idle: 100ms}\nagents:\n  a: {url: \"" + agent_url +
              "\"}\n  m: {command: /bin/sh, args: [server.sh], cwd: \"" + folder.file("") + "\", era: legacy, warm: 0" +
              more + "}\n"
          }
    {
    }

    std::string story() const { return test_support::read_whole(folder.file("story")); }
    bool story_becomes(const std::string& text) const
    {
        return becomes_true([&] { return story() == text; });
    }
    bool serves_card() const { return card().status == 200; }
    http_response card() const
    {
        return test_support::request(gateways.port(), "GET", "/agents/m/.well-known/agent-card.json");
    }

    static std::string post_text(const std::string& session, const std::string& body)
    {
        test_support::field_list fields{
            {"Accept", "application/json, text/event-stream"},
            {"Content-Type", "application/json"}
        };
        if (!session.empty()) {
            fields.emplace_back("Mcp-Session-Id", session);
        }
        return test_support::request_text("POST", "/agents/m/mcp", fields, body);
    }
    http_response post(const std::string& session, const std::string& body) const
    {
        http_client caller{gateways.port()};
        caller.send(post_text(session, body));
        return caller.read_response();
    }
    // The id of a new session.
    std::string begin() const
    {
        const auto got = post(
            "",
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
            R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
        );
        REQUIRE(got.status == 200);
        return got.header("Mcp-Session-Id");
    }

private:
    struct folder_with_server : test_support::scratch_directory {
        folder_with_server()
        {
            test_support::write_whole(file("server.sh"), server);
            test_support::write_whole(file("story"), "");
        }
    };

public:
    folder_with_server folder;
    succession gateways;
};

std::string call_of(const std::string& tool)
{
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool + R"(","arguments":{}}})";
}

}  // namespace

TEST_CASE(
    "The lists of the old process vouch for the card, and the program of the new one begins when that of the old one "
    "has ended"
)
{
    mcp_succession x{""};
    REQUIRE(becomes_true([&] { return x.serves_card(); }));
    const auto before = x.card();
    const auto old = x.gateways.now();
    x.gateways.hand_over();
    for (int i = 0; i < 20; ++i) {
        const auto now = x.card();
        CHECK(now.status == 200);
        CHECK(now.header("ETag") == before.header("ETag"));
    }
    CHECK(x.story_becomes("begins\nends\nbegins\n"));
    CHECK(x.serves_card());
    CHECK(becomes_true([&] { return has_ended(old); }));
}

TEST_CASE("The stream of a client that listens ends in order at a hand-over, and the old process does not wait for it")
{
    mcp_succession x{""};
    const auto session = x.begin();
    http_client listener{x.gateways.port()};
    listener.send(test_support::request_text(
        "GET",
        "/agents/m/mcp",
        {{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session}}
    ));
    listener.read_head();
    const auto old = x.gateways.now();
    x.gateways.hand_over();
    CHECK(listener.read_until("0\r\n\r\n").find("error") == std::string::npos);
    CHECK(becomes_true([&] { return has_ended(old); }));
}

TEST_CASE("A program that overlaps begins while that of the old process still runs")
{
    mcp_succession x{", overlap: true"};
    REQUIRE(becomes_true([&] { return x.serves_card(); }));
    const auto session = x.begin();
    CHECK(x.story_becomes("begins\nbegins\n"));
    http_client caller{x.gateways.port()};
    caller.send(mcp_succession::post_text(session, call_of("wait")));
    CHECK_FALSE(caller.closed_by_peer(std::chrono::milliseconds{200}));
    x.gateways.hand_over();
    CHECK(x.story_becomes("begins\nbegins\nbegins\n"));
    test_support::write_whole(x.folder.file("go"), "");
    CHECK(caller.read_response().status == 200);
    CHECK(x.story_becomes("begins\nbegins\nbegins\nends\nends\n"));
}

TEST_CASE("The old process finishes the calls of its programs, and another stream does not hold its programs up")
{
    scripted_agent agent{[](const auto& asked) {
        return asked.body.empty() ? test_support::answer(404, "") : test_support::event_stream();
    }};
    mcp_succession x{", sessions: shared", agent.url("/")};
    REQUIRE(becomes_true([&] { return x.serves_card(); }));
    http_client streaming{x.gateways.port()};
    streaming.send(test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}})"
    ));
    REQUIRE(agent.wait_for_streams(1));
    const auto session = x.begin();
    http_client caller{x.gateways.port()};
    caller.send(mcp_succession::post_text(session, call_of("wait")));
    CHECK_FALSE(caller.closed_by_peer(std::chrono::milliseconds{200}));
    const auto old = x.gateways.now();
    x.gateways.hand_over();
    CHECK_FALSE(caller.closed_by_peer(std::chrono::milliseconds{500}));
    CHECK(x.story() == "begins\n");
    test_support::write_whole(x.folder.file("go"), "");
    CHECK(caller.read_response().status == 200);
    CHECK(x.story_becomes("begins\nends\nbegins\n"));
    CHECK_FALSE(has_ended(old));
    agent.send_event("1");
    CHECK(streaming.read_until("data: 1\n\n").find("200 OK") != std::string::npos);
    agent.end_streams();
    CHECK(becomes_true([&] { return has_ended(old); }));
}

// The end of the 60 s is of the long form (./dev handover).
TEST_CASE("Passed lists vouch for the card of a server that says nothing for 60 s, and no longer")
{
    mcp_succession x{""};
    REQUIRE(becomes_true([&] { return x.serves_card(); }));
    test_support::write_whole(x.folder.file("mute"), "");
    x.gateways.hand_over();
    const auto begun = std::chrono::steady_clock::now();
    CHECK(x.story_becomes("begins\nends\nbegins\n"));
    CHECK(x.serves_card());
    if (flow::number_from("CARDEA_HANDOVERS", 0) > 0) {
        CHECK(flow::comes_true([&] { return !x.serves_card(); }, std::chrono::seconds{70}));
        CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::seconds{58});
        CHECK(x.card().status == 503);
    }
}

TEST_CASE("A client whose session lived in the old process gets 404, and initializes again")
{
    mcp_succession x{""};
    REQUIRE(becomes_true([&] { return x.serves_card(); }));
    const auto session = x.begin();
    CHECK(x.post(session, call_of("one")).status == 200);
    x.gateways.hand_over();
    CHECK(x.post(session, call_of("one")).status == 404);
    const auto next = x.begin();
    CHECK(next != session);
    CHECK(x.post(next, call_of("one")).status == 200);
}

TEST_CASE("Lists of a server that the new configuration has otherwise do not vouch for its card")
{
    mcp_succession x{""};
    REQUIRE(becomes_true([&] { return x.serves_card(); }));
    x.gateways.configure(
        "store: memory\nagents:\n  m: {command: /bin/sh, args: [-c, \"exec sleep 100\"], cwd: \"" + x.folder.file("") +
        "\", era: legacy}\n"
    );
    x.gateways.hand_over();
    CHECK(x.card().status == 503);
}

TEST_SUITE_END();
