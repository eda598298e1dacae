#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_filter");

using namespace flow;
using namespace flow::mcp_calls;
TEST_CASE("callers get the part of a server that its filter lets them, under the names that it gives")
{
    auto x = mcp_gateway([](config::settings& settings) {
        auto& server = *settings.agents[0].mcp;
        server.tools.deny = {"drop_*"};
        server.tools.names = {{"read_file", "read"}};
        server.resources.allow = {"file:///pub/*"};
    });
    const auto id = begin(x);
    const field_list session{{"Mcp-Session-Id", id}};
    const std::string tools =
        R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"drop_all"},{"name":"read_file","n":1.0}]}})";
    const std::string shown = R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","n":1.0}]}})";
    const std::string list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
    x.agent.otherwise([&](const auto&) { return answer_json(tools); });
    CHECK(post(x, list, session).body == shown);
    x.agent.otherwise([&](const auto&) {
        return answer(200, "id: p\ndata: \n\nid: q\ndata: " + tools + "\n\n", {{"Content-Type", "text/event-stream"}});
    });
    const auto events = post(x, list, session).body;
    CHECK(events.find(shown) != std::string::npos);
    CHECK(events.find("drop_all") == std::string::npos);
    CHECK(events.find("id: p\n") != std::string::npos);

    x.agent.otherwise(as_server);
    const auto before = passed_on(x).size();
    const auto check_hidden = [&](std::string_view params, std::string_view method) {
        const auto body = R"({"jsonrpc":"2.0","id":5,"method":")" + std::string{method} + R"(","params":)" +
                          std::string{params} + '}';
        const auto got = post(x, body, session);
        check_error(got, 200, -32602, "invalid_params");
        CHECK(json::parse(got.body)["id"] == 5);
    };
    check_hidden(R"({"name":"drop_all"})", "tools/call");
    check_hidden(R"({"name":"read_file"})", "tools/call");
    check_hidden(R"({"name":"drop\u005fall"})", "tools/call");
    check_hidden(R"({"uri":"file:///srv/secret"})", "resources/read");
    check_hidden(R"({"uri":"file:///pub/../srv/secret"})", "resources/read");
    check_hidden(R"({"uri":"file:///pub/%2e%2e/srv/secret"})", "resources/subscribe");
    check_error(
        send(x, "GET", with(usual_fields(), {{"Mcp-Session-Id", id}, {"Last-Event-ID", "e"}})),
        400,
        -31400,
        "events_gone"
    );
    CHECK(passed_on(x).size() == before);

    CHECK(
        post(x, R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read","arguments":{}}})", session)
            .status == 200
    );
    CHECK(
        passed_on(x).back().body ==
        R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_file","arguments":{}}})"
    );
    CHECK(
        post(x, R"({"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"file:///pub/a"}})", session)
            .status == 200
    );
}

TEST_CASE("A list that is to come as an event and does not come in time is an answer with an error")
{
    auto x = mcp_gateway([](config::settings& settings) {
        auto& server = *settings.agents[0].mcp;
        server.tools.deny = {"drop_*"};
        server.call_timeout = std::chrono::milliseconds{200};
    });
    const field_list session{{"Mcp-Session-Id", begin(x)}};
    x.agent.otherwise([](const auto&) { return event_stream(); });
    const auto got = post(x, R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", session);
    check_error(got, 200, -32603, "upstream_timeout");
}

TEST_CASE("A file that is denied is not read under another spelling of its URI, whatever the method")
{
    const auto x = mcp_gateway([](config::settings& settings) {
        settings.agents[0].mcp->resources.deny = {"file:///R/secret.txt", "file:///R/a,b"};
    });
    const field_list session{{"Mcp-Session-Id", begin(x)}};
    const auto before = passed_on(x).size();
    const auto ask = [&](std::string_view method, const json& params) {
        return post(x, json{{"jsonrpc", "2.0"}, {"id", 5}, {"method", method}, {"params", params}}.dump(), session);
    };
    for (const auto* uri :
         {"file:///R/secret.txt",
          "file:///R/secret.txt?",
          "file:///R/secret.txt?x",
          "file:///R/secret.txt#",
          "file:////R/secret.txt",
          "file:///R//secret.txt",
          "file:///R/secret.txt/",
          "file:///R/./secret.txt",
          "file:///R/x/../secret.txt",
          "file:///R%2Fsecret.txt",
          "file:///R/secret%2Etxt",
          "file:///R/%73ecret.txt",
          "file:///R\\secret.txt",
          "file:///R/%5Csecret.txt",
          "file://localhost/R/secret.txt",
          "file:/R/secret.txt",
          "FILE:///R/secret.txt",
          "file:///R/secret.txt%00",
          "file:///R/secret.txt ",
          "file:///R/a%2Cb",
          "file:///R/a%2cb",
          "file://127.0.0.1/R/secret.txt",
          "file:R/secret.txt",
          "/R/secret.txt"}) {
        CAPTURE(uri);
        for (const auto* method : {"resources/read", "resources/subscribe", "resources/unsubscribe"}) {
            CAPTURE(method);
            check_error(ask(method, {{"uri", uri}}), 200, -32602, "invalid_params");
        }
        const json reference{{"ref", {{"type", "ref/resource"}, {"uri", uri}}}};
        check_error(ask("completion/complete", reference), 200, -32602, "invalid_params");
    }
    CHECK(passed_on(x).size() == before);
    CHECK(ask("resources/read", {{"uri", "file:///R/public%20file.txt"}}).status == 200);
    CHECK(passed_on(x).size() == before + 1);
}

TEST_CASE("the field that repeats the name of a tool has the server's name of it")
{
    const auto x =
        mcp_gateway([](config::settings& settings) { settings.agents[0].mcp->tools.names = {{"read file", "read"}}; });
    const std::string body =
        R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read","arguments":{},"_meta":)"
        R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    const field_list fields{
        {"MCP-Protocol-Version", "2026-07-28"},
        {"Mcp-Method", "tools/call"},
        {"Mcp-Name", "read"},
        {"Mcp-Param-user_id", "7"}
    };
    static_cast<void>(post(x, body, fields));
    const auto got = passed_on(x).at(0);
    CHECK(got.count("Mcp-Name") == 1);
    CHECK(got.header("Mcp-Name") == "read file");
    CHECK(got.header("Mcp-Param-user_id") == "7");
    CHECK(json::parse(got.body)["params"]["name"] == "read file");
}

TEST_SUITE_END();
