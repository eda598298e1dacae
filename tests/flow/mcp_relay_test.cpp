#include "core/json/json.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_relay");

using namespace flow;
using namespace flow::mcp_calls;

TEST_CASE("a session begins, is called and ends, and the server's id of it stays with the gateway")
{
    const auto x = mcp_gateway();
    const auto began = post(x, initialize_body);
    CHECK(began.status == 200);
    CHECK(began.body == initialized);
    const auto id = began.header("Mcp-Session-Id");
    CHECK(began.count("Mcp-Session-Id") == 1);
    CHECK(id.size() > 40);
    CHECK(id.size() <= 512);
    CHECK(id.find(server_id) == std::string::npos);

    const field_list session{{"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "2025-06-18"}};
    CHECK(post(x, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session).status == 202);
    const auto called = post(x, call_of(R"("one")"), session);
    CHECK(called.status == 200);
    CHECK(called.body == R"({"jsonrpc":"2.0","id":"one","result":{"content":[]}})");
    CHECK(send(x, "DELETE", with(usual_fields(), session)).status == 200);

    const auto got = passed_on(x);
    REQUIRE(got.size() == 4);
    CHECK(got[0].body == initialize_body);
    CHECK(got[0].count("Mcp-Session-Id") == 0);
    for (std::size_t i = 1; i < got.size(); ++i) {
        CHECK(got[i].header("Mcp-Session-Id") == server_id);
        CHECK(got[i].header("MCP-Protocol-Version") == "2025-06-18");
        CHECK(got[i].target == "/rpc");
    }
    CHECK(got[2].body == call_of(R"("one")"));
    CHECK(got[3].method == "DELETE");
}

TEST_CASE("An initialize without an id does not reach the server")
{
    const auto x = mcp_gateway();
    auto notification = initialize_body;
    notification.erase(notification.find(R"("id":0,)"), 7);
    check_error(post(x, notification), 400, -32600, "invalid_request");
    CHECK(passed_on(x).empty());
}

TEST_CASE("An id or a progress token of over 1 KiB does not reach the server")
{
    const auto x = mcp_gateway();
    const field_list session{{"Mcp-Session-Id", post(x, initialize_body).header("Mcp-Session-Id")}};
    for (const std::size_t bytes : {1023U, 1024U, 1025U}) {
        CAPTURE(bytes);
        const auto word = '"' + std::string(bytes - 2, 'i') + '"';
        const auto by_id = post(x, call_of(word), session);
        const auto by_token = post(
            x,
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":)" + word +
                "}}}",
            session
        );
        if (bytes <= 1024) {
            CHECK(by_id.status == 200);
            CHECK(by_token.status == 200);
        } else {
            check_error(by_id, 400, -32600, "invalid_request");
            check_error(by_token, 400, -32600, "invalid_request");
        }
    }
    CHECK(passed_on(x).size() == 5);
}

TEST_CASE("an id that is forged, cut, of another agent or of an older gateway is 404 before the server hears of it")
{
    const auto x = mcp_gateway();
    const auto id = begin(x);
    const auto other = begin(mcp_gateway());
    auto changed = id;
    changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
    for (const auto& wrong : {std::string{"x"}, id.substr(0, id.size() - 1), id + "A", changed, other}) {
        CAPTURE(wrong);
        const auto got = post(x, call_of("1"), {{"Mcp-Session-Id", wrong}});
        check_error(got, 404, -32001, "session_not_found");
        CHECK(json::parse(got.body)["id"] == 1);
    }
    CHECK(passed_on(x).size() == 1);
}

TEST_CASE("initialize with a stale id begins a new session")
{
    const auto x = mcp_gateway();
    const auto got = post(x, initialize_body, {{"Mcp-Session-Id", "stale"}});
    CHECK(got.status == 200);
    CHECK_FALSE(got.header("Mcp-Session-Id").empty());
}

TEST_CASE("the server gets the fields of MCP, of traces and those that its record lets pass, and no credential")
{
    const auto x = mcp_gateway([](config::settings& settings) {
        settings.agents[0].headers = {{"X-Team", core::secret{"words"}}};
        settings.agents[0].mcp->forward_headers = {"X-Tenant", "X-API-Key"};
    });
    CHECK(
        post(
            x,
            initialize_body,
            {{"X-Tenant", "t1"},
             {"x-api-key", "of-caller"},
             {"X-Auth-Token", "of-caller"},
             {"X-Other", "o"},
             {"X-Team", "of-caller"},
             {"Authorization", "Bearer of-caller"},
             {"Cookie", "c=1"},
             {"Mcp-Param-Region", "eu"},
             {"Forwarded", "for=1.2.3.4"},
             {"X-Forwarded-For", "1.2.3.4"},
             {"Tracestate", "a=b"}}
        )
            .status == 200
    );
    const auto got = passed_on(x).at(0);
    CHECK(got.header("X-Tenant") == "t1");
    CHECK(got.header("X-API-Key") == "of-caller");
    CHECK(got.header("X-Team") == "words");
    CHECK(got.count("X-Team") == 1);
    CHECK(got.header("Mcp-Param-Region") == "eu");
    CHECK(got.header("Tracestate") == "a=b");
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.header("Accept") == "application/json, text/event-stream");
    CHECK(got.header("User-Agent").starts_with("cardea/"));
    for (const auto* none : {"X-Other", "Authorization", "X-Auth-Token", "Cookie", "Forwarded", "X-Forwarded-For"}) {
        CAPTURE(none);
        CHECK(got.count(none) == 0);
    }
}

TEST_CASE("bad input goes no further than the gateway, and has MCP's status and code")
{
    const auto x = mcp_gateway();
    const field_list newest{{"MCP-Protocol-Version", "2026-07-28"}};
    check_error(post(x, "{"), 400, -32700, "parse_error");
    check_error(post(x, "[]"), 400, -32600, "invalid_request");
    check_error(post(x, R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})"), 400, -32600, "invalid_request");
    check_error(post(x, call_of("1"), newest), 400, -32602, "invalid_params");
    check_error(post(x, call_of("1"), {{"MCP-Protocol-Version", "2024-01-01"}}), 400, -31400, "bad_request");
    check_error(send(x, "POST", {{"Accept", "text/html"}}, call_of("1")), 406, -31406, "not_acceptable");
    check_error(post(x, call_of("1"), {{"Origin", "https://evil.example"}}), 403, -31403, "origin_forbidden");
    check_error(post(x, call_of("1"), {{"Origin", "null"}}), 403, -31403, "origin_forbidden");
    CHECK(send(x, "GET", {{"Accept", "text/event-stream"}}).status == 405);
    CHECK(send(x, "DELETE", usual_fields()).status == 405);
    CHECK(send(x, "PUT", usual_fields(), "{}").status == 405);
    CHECK(passed_on(x).empty());
}

TEST_CASE("Bad input of the modern era, and a batch, goes no further than the gateway either")
{
    const auto x = mcp_gateway();
    const auto said = [](std::string_view method, std::string_view name, std::string_view version) {
        return field_list{
            {"MCP-Protocol-Version", std::string{version}},
            {"Mcp-Method", std::string{method}},
            {"Mcp-Name", std::string{name}}
        };
    };
    const auto modern = [](std::string_view method, std::string_view version) {
        return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} +
               R"(","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":")" +
               std::string{version} + R"(","io.modelcontextprotocol/clientCapabilities":{}}}})";
    };
    constexpr std::string_view newest = "2026-07-28";
    const auto call = modern("tools/call", newest);
    check_error(post(x, call, said("tools/call", "other", newest)), 400, -32020, "header_mismatch");
    check_error(post(x, call, said("tools/list", "echo", newest)), 400, -32020, "header_mismatch");
    check_error(post(x, call, {{"MCP-Protocol-Version", std::string{newest}}}), 400, -32020, "header_mismatch");
    check_error(
        post(x, modern("tools/call", "2027-01-01"), said("tools/call", "echo", "2027-01-01")),
        400,
        -32022,
        "version_unsupported"
    );
    check_error(post(x, modern("no/such", newest), said("no/such", "echo", newest)), 404, -32601, "method_not_found");
    const std::string batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])";
    for (const auto* const version : {"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}) {
        CAPTURE(version);
        check_error(post(x, batch, {{"MCP-Protocol-Version", version}}), 400, -32600, "invalid_request");
    }
    CHECK(passed_on(x).empty());
}

TEST_CASE("a message is taken up to max_message and not beyond")
{
    const auto x = mcp_gateway([](config::settings& settings) {
        settings.agents[0].mcp->max_message = core::least_mcp_message;
        settings.limits.body = 1024;
    });
    const auto id = begin(x);
    for (const int more : {-1, 0, 1}) {
        CAPTURE(more);
        auto body = call_of("1");
        body.insert(body.size() - 1, core::least_mcp_message + static_cast<std::size_t>(more) - body.size(), ' ');
        const auto got = post(x, body, {{"Mcp-Session-Id", id}});
        if (more > 0) {
            check_error(got, 413, -31413, "body_too_large");
        } else {
            CHECK(got.status == 200);
        }
    }
}

TEST_CASE("a page of a listed origin may call and read the answer, errors too")
{
    const auto x = mcp_gateway([](config::settings& settings) { settings.mcp.origins = {"https://app.example"}; });
    const field_list of_page{{"Origin", "https://app.example"}};
    const auto asked = send(
        x,
        "OPTIONS",
        with(of_page, {{"Access-Control-Request-Method", "POST"}, {"Access-Control-Request-Headers", "mcp-method"}})
    );
    CHECK(asked.status == 204);
    CHECK(asked.header("Access-Control-Allow-Origin") == "https://app.example");
    CHECK(asked.header("Access-Control-Allow-Headers") == "mcp-method");
    CHECK(asked.header("Access-Control-Allow-Methods") == "POST, GET, DELETE, OPTIONS");
    for (const auto& body : {initialize_body, std::string{"{"}}) {
        const auto got = post(x, body, of_page);
        CHECK(got.header("Access-Control-Allow-Origin") == "https://app.example");
        CHECK(got.header("Access-Control-Expose-Headers").find("Mcp-Session-Id") != std::string::npos);
        CHECK(got.header("Vary") == "Origin");
    }
    const field_list of_another{{"Origin", "https://evil.example"}, {"Access-Control-Request-Method", "POST"}};
    CHECK(send(x, "OPTIONS", of_another).status == 403);
    CHECK(send(x, "OPTIONS", {{"Origin", "https://evil.example"}}).status == 403);
    CHECK(post(x, initialize_body).count("Access-Control-Allow-Origin") == 0);
    CHECK(post(x, initialize_body).header("Vary") == "Origin");
}

TEST_CASE("what a browser asks before it calls costs the agent nothing")
{
    const auto x = mcp_gateway([](config::settings& settings) { settings.rate_limits.agent = {1, 1}; });
    for (int i = 0; i < 5; ++i) {
        CHECK(send(x, "OPTIONS", {}).status == 204);
    }
    CHECK(post(x, initialize_body).status == 200);
}

TEST_CASE("a server that refuses the gateway is 502; in a session the failure is 200 with the JSON-RPC error")
{
    auto x = mcp_gateway();
    const auto id = begin(x);
    for (const unsigned status : {401U, 403U}) {
        x.agent.otherwise([status](const auto&) { return answer(status, "secret words"); });
        check_error(post(x, initialize_body), 502, -32603, "upstream_status");
        const auto got = post(x, call_of("7"), {{"Mcp-Session-Id", id}});
        check_error(got, 200, -32603, "upstream_status");
        CHECK(json::parse(got.body)["id"] == 7);
        CHECK(json::parse(got.body)["error"]["data"]["retryable"] == false);
        CHECK(got.body.find("secret") == std::string::npos);
    }
    x.agent.otherwise([](const auto&) { return reset(); });
    check_error(post(x, call_of("8"), {{"Mcp-Session-Id", id}}), 200, -32603, "upstream_reset");
    x.agent.otherwise([](const auto&) { return answer(404, "gone"); });
    // A lost session, and `initialize` is refused too.
    check_error(post(x, call_of("9"), {{"Mcp-Session-Id", id}}), 200, -32603, "upstream_status");
    x.agent.otherwise([](const auto&) { return answer(500, "own words"); });
    check_error(post(x, call_of("9"), {{"Mcp-Session-Id", id}}), 200, -32603, "upstream_status");
}

TEST_CASE("events of a call and of the session's own stream leave as they come")
{
    auto x = mcp_gateway();
    const auto id = begin(x);
    x.agent.otherwise([](const auto& request) {
        return request.header("Traceparent").empty() ? answer(404, "") : event_stream();
    });
    for (const auto* method : {"POST", "GET"}) {
        CAPTURE(method);
        http_client caller{x.port()};
        const auto body = std::string_view{method} == "POST" ? call_of("1") : std::string{};
        auto fields = with(usual_fields(), {{"Mcp-Session-Id", id}, {"Last-Event-ID", "e-1"}});
        if (!body.empty()) {
            fields.emplace_back("Content-Type", "application/json");
        }
        caller.send(request_text(method, "/agents/a/mcp", fields, body));
        const auto head = caller.read_head();
        CHECK(head.status == 200);
        CHECK(head.header("Content-Type").starts_with("text/event-stream"));
        CHECK(head.header("X-Accel-Buffering") == "no");
        CHECK(std::ranges::any_of(head.headers, [](const auto& field) {
            return field.first == "Cache-Control" && field.second.find("no-transform") != std::string::npos;
        }));
        REQUIRE(x.agent.wait_for_streams(1));
        x.agent.send_event(R"({"jsonrpc":"2.0","method":"notifications/progress"})");
        CHECK_FALSE(caller.read_until("progress\"}\n\n").empty());
        x.agent.end_streams();
        CHECK(passed_on(x).back().header("Last-Event-ID") == "e-1");
        CHECK(passed_on(x).back().method == method);
    }
}

TEST_CASE("a call is written down with its method, tool and era, and a session by what stands for it")
{
    const auto x = mcp_gateway();
    const auto id = begin(x);
    CHECK(post(x, call_of("1"), {{"Mcp-Session-Id", id}}).status == 200);
    const auto line = x.gateway.log().wait_for([](std::string_view each) {
        return each.find(R"("rpc":"tools/call")") != std::string_view::npos;
    });
    REQUIRE(line.has_value());
    const auto read = json::parse(*line);
    CHECK(read["route"] == "mcp");
    CHECK(read["agent"] == "a");
    CHECK(read["tool"] == "echo");
    CHECK(read["era"] == "legacy");
    CHECK(read["session"].get<std::string>().size() == 8);
    CHECK(line->find(id) == std::string::npos);
    CHECK(line->find(server_id) == std::string::npos);
}

TEST_CASE("Messages are counted by agent, method, era and outcome")
{
    const auto x = mcp_gateway();
    const auto id = begin(x);
    CHECK(post(x, call_of("1"), {{"Mcp-Session-Id", id}}).status == 200);
    CHECK(post(x, "{").status == 400);
    check_error(post(x, call_of("1"), {{"Mcp-Session-Id", "x"}}), 404, -32001, "session_not_found");
    const std::string of_a = R"(cardea_mcp_requests_total{agent="a",method=")";
    for (const auto* series :
         {R"(initialize",era="legacy",outcome="ok"})",
          R"(tools/call",era="legacy",outcome="ok"})",
          R"(tools/call",era="legacy",outcome="caller_error"})",
          R"(other",era="legacy",outcome="caller_error"})"}) {
        CAPTURE(series);
        CHECK(x.gateway.wait_for_metric(of_a + series, 1));
    }
    CHECK(x.gateway.wait_for_metric(R"(cardea_mcp_request_seconds_count{agent="a"})", 4));
}

TEST_CASE("Calls of a tool are counted under its name if the server lists it and callers get it")
{
    const relayed x{listing_server, [](config::settings& settings) {
                        make_mcp(settings);
                        auto& server = *settings.agents[0].mcp;
                        server.start = core::mcp_start::eager;
                        server.tools.names = {{"search", "find"}};
                    }};
    REQUIRE(x.gateway.wait_for_metric(R"(cardea_mcp_tools_hidden{agent="a"})", 1));
    const auto told = x.gateway.log().wait_for([](std::string_view each) {
        return each.find(R"("event":"mcp_tool_hidden")") != std::string_view::npos;
    });
    REQUIRE(told.has_value());
    CHECK(json::parse(*told)["tools"] == "find");
    const auto record = core::to_text(flow::manage(x.gateway, "agents/get", {{"id", "a"}}));
    CHECK(
        record.find(R"("hidden_tools":{"count":1,"first":[{"name":"find","why":"displaced"}]})") != std::string::npos
    );
    const auto id = begin(x);
    for (const auto* tool : {"echo", "find", "echo", "made-up"}) {
        const auto body =
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + std::string{tool} + "\"}}";
        CHECK(post(x, body, {{"Mcp-Session-Id", id}}).status == 200);
    }
    const std::string of_a = R"(cardea_mcp_tool_calls_total{agent="a",tool=")";
    CHECK(x.gateway.wait_for_metric(of_a + R"(echo",outcome="ok"})", 2));
    CHECK(x.gateway.wait_for_metric(of_a + R"(find",outcome="ok"})", 1));
    CHECK(x.gateway.wait_for_metric(of_a + R"(other",outcome="ok"})", 1));
}

TEST_CASE("an agent of A2A that is not shown as tools has no such address, unless its relay_paths have it")
{
    const relayed plain{answer_json("{}"), [](config::settings& settings) {
                            settings.agents[0].as_tools = core::tool_form::off;
                        }};
    CHECK(send(plain, "POST", usual_fields(), initialize_body).status == 404);
    const relayed open{answer_json("{}"), [](config::settings& settings) {
                           settings.agents[0].relay_paths = {"/mcp"};
                       }};
    CHECK(send(open, "POST", usual_fields(), initialize_body).status == 200);
}

TEST_SUITE_END();
