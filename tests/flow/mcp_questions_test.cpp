// What servers over HTTP say in streams that is not for their client, and what a client hears of a session that began again.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/mcp_session_server.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/mcp_questions");

namespace {

using namespace flow;
using namespace flow::mcp_calls;

std::string asking(std::string_view method, std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":")" + std::string{method} + R"(","params":{}})";
}

std::string event(std::string_view data)
{
    return "event: message\ndata: " + std::string{data} + "\n\n";
}

script streamed(const std::string& events)
{
    return answer(200, events, {{"Content-Type", "text/event-stream"}});
}

// Whether the server has got this, in the session.
bool server_gets(session_rig& r, std::string_view id, std::string_view text)
{
    return r.x->agent.wait_for([&](const auto& all) {
        return std::ranges::any_of(all, [&](const auto& each) {
            return each.body == text && each.header("Mcp-Session-Id") == id;
        });
    });
}

std::string refusal(std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"error":{"code":-32601,"message":"Method not found"}})";
}

}  // namespace

TEST_CASE("What a client has not declared is answered for it, in the stream of a call and in that of its session")
{
    session_rig r;
    const auto questions = event(asking("elicitation/create", "7")) + event(asking("sampling/createMessage", "8")) +
                           event(asking("tasks/list", "9")) + event(asking("ping", "10"));
    const auto passed = event(asking("sampling/createMessage", "8")) + event(asking("ping", "10"));
    const auto done = event(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
    r.server->calls = [&](const auto&) { return streamed(questions + done); };
    r.begin_session();  // declares sampling and roots
    CHECK(r.call().body == passed + done);
    CHECK(server_gets(r, "s-1", refusal("7")));
    CHECK(server_gets(r, "s-1", refusal("9")));
    CHECK_FALSE(std::ranges::any_of(r.x->agent.requests(), [&](const auto& each) { return each.body == refusal("8"); })
    );
    r.server->listens = [&](const auto&) { return streamed(questions); };
    CHECK(send(*r.x, "GET", with(usual_fields(), r.session)).body == passed);
}

TEST_CASE("Answers to other requests and second answers stay here, and the server's own stream has none")
{
    session_rig r;
    const auto right = event(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
    const auto again = event(R"({"jsonrpc":"2.0","id":1,"result":{"again":true}})");
    const auto other = event(R"({"jsonrpc":"2.0","id":2,"result":{"other":true}})");
    r.server->calls = [&](const auto&) { return streamed(other + right + again + other); };
    r.server->listens = [&](const auto&) { return streamed(right + other + right); };
    r.begin_session();
    CHECK(r.call().body == right);
    CHECK(send(*r.x, "GET", with(usual_fields(), r.session)).body.empty());
    const auto resumed = with(with(usual_fields(), r.session), {{"Last-Event-ID", "e"}});
    CHECK(send(*r.x, "GET", resumed).body == right + other + right);
    r.server->listens = [&](const auto&) { return streamed(right + right); };
    CHECK(send(*r.x, "GET", resumed).body == right);
}

TEST_CASE("An event of a relayed stream leaves when it is whole")
{
    session_rig r;
    r.server->calls = [](const auto&) { return event_stream(); };
    r.begin_session();
    http_client caller{r.x->port()};
    const auto fields = with(with(usual_fields(), r.session), {{"Content-Type", "application/json"}});
    caller.send(request_text("POST", "/agents/a/mcp", fields, call_of("1")));
    REQUIRE(r.x->agent.wait_for_streams(1));
    r.x->agent.send_stream("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":");
    caller.read_head();
    r.x->agent.send_stream("\"notifications/progress\"}\n\n");
    caller.read_until("progress\"}\n\n");
    r.x->agent.send_stream(event(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
    caller.read_until("\"result\":{}}\n\n");
    r.x->agent.end_streams();
    caller.read_until("0\r\n\r\n");
}

TEST_CASE("A session that begins again has all that its client has declared")
{
    for (const std::string further :
         {R"("experimental":{"x":{"y":[1.50]}})",
          R"("extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}})",
          R"("experimental":{},"extensions":{"a/b":{}})"}) {
        CAPTURE(further);
        session_rig r;
        const auto got = post(
            *r.x,
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{)" +
                further + R"(,"roots":{}},"clientInfo":{"name":"test","version":"1"}}})"
        );
        REQUIRE(got.status == 200);
        r.session = {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2025-06-18"}};
        r.server->forget();
        const auto before = r.x->agent.request_count();
        CHECK(r.call().status == 200);
        const auto all = r.x->agent.requests();
        const auto again =
            std::find_if(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(), [](const auto& each) {
                return each.body.find("\"initialize\"") != std::string::npos;
            });
        REQUIRE(again != all.end());
        const auto declared = json::parse(again->body)["params"]["capabilities"];
        CHECK(declared == json::parse("{" + further + R"(,"roots":{}})"));
        CHECK(again->body.find(further) != std::string::npos);  // as it is written
    }
}

TEST_CASE("Who listens to a session that has begun again hears once that the lists have changed")
{
    const std::string said = event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})") +
                             event(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})");
    const relayed::adjustment bind = [](config::settings& settings) {
        settings.access.providers = {token("operator", "operator-token-0123456789", {core::scope_read})};
        settings.agents[0].discover = anyone;
        settings.agents[0].call = anyone;
        settings.agents[0].mcp->bind = true;
    };
    using pair = std::pair<bool, bool>;
    for (const auto& [by_call, bound] : {pair{true, false}, pair{false, false}, pair{true, true}, pair{false, true}}) {
        CAPTURE(by_call);
        CAPTURE(bound);
        session_rig r{bound ? bind : relayed::adjustment{}};
        r.server->capabilities = R"({"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{}})";
        r.server->listens = [](const auto&) { return streamed(": own\n\n"); };
        r.begin_session();
        const auto listening = with(usual_fields(), r.session);
        CHECK(send(*r.x, "GET", listening).body == ": own\n\n");
        r.server->forget();
        if (by_call) {
            CHECK(r.call().status == 200);
        }
        CHECK(send(*r.x, "GET", listening).body == said + ": own\n\n");
        CHECK(send(*r.x, "GET", listening).body == ": own\n\n");
    }
}

TEST_CASE("In a stream of the modern era a server asks nothing, and answers once")
{
    session_rig r;
    const auto right = event(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
    const auto x = relayed{
        [&](const recorded_request&) {
            return streamed(
                event(asking("roots/list", "5")) + event(R"({"jsonrpc":"2.0","id":2,"result":{}})") + right + right
            );
        },
        [](config::settings& settings) { make_mcp(settings); }
    };
    const std::string body =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":)"
        R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    const field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "echo"}};
    CHECK(post(x, body, fields).body == right);
}

TEST_SUITE_END();
