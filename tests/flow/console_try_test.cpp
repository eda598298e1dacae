// Calls of operators to agents from where the console is (POST /try/agents/<id>…).
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/mcp_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/console/try");

using namespace std::chrono_literals;
using flow::call_body;
using flow::check_refusal;
using flow::relayed;
using test_support::answer_json;
using test_support::field_list;
using test_support::http_client;
using test_support::request;
using test_support::request_text;

namespace {

const field_list json_type{{"Content-Type", "application/json"}};

field_list with(field_list fields)
{
    fields.push_back(json_type[0]);
    return fields;
}

test_support::http_response attempt(
    const flow::running_gateway& gateway,
    const std::string& path,
    const field_list& fields = {},
    const std::string& body = call_body()
)
{
    return request(gateway.admin_port(), "POST", "/try" + path, with(fields), body);
}

void never_ending(config::settings& settings)
{
    settings.timeouts.upstream_head = 1h;
    settings.timeouts.upstream_idle = 1h;
}

bool has_line(const flow::running_gateway& gateway, const std::vector<std::string>& texts)
{
    return gateway.log()
        .wait_for([&](std::string_view line) {
            return std::ranges::all_of(texts, [&](const auto& text) { return line.find(text) != line.npos; });
        })
        .has_value();
}

}  // namespace

TEST_CASE("a try reaches the agent as a caller's call does, and its line says where it came from")
{
    relayed x{answer_json("{\"ok\":true}", {{"X-Agent", "1"}}), [](auto& settings) {
                  settings.public_url = "https://agents.example";
              }};
    const auto answer = attempt(
        x.gateway,
        "/agents/a?x=1",
        {{"Cookie", "a=b"},
         {"X-Free", "yes"},
         {"A2A-Version", "0.3"},
         {"Authorization", "Bearer admin"},
         {"Sec-Fetch-Site", "same-origin"},
         {"Host", "localhost:4001"},
         {"Origin", "http://localhost:4001"},
         {"X-API-Key", "operator"},
         {"Referer", "http://localhost:4001/console/"},
         {"X-Forwarded-For", "192.0.2.1"}}
    );
    CHECK(answer.status == 200);
    CHECK(answer.body == "{\"ok\":true}");
    CHECK(answer.header("X-Agent") == "1");
    CHECK(answer.header("X-Content-Type-Options") == "nosniff");
    REQUIRE(x.agent.request_count() == 1);
    const auto got = x.agent.request(0);
    CHECK(got.method == "POST");
    CHECK(got.body == call_body());
    CHECK(got.header("X-Free") == "yes");
    CHECK(got.header("A2A-Version") == "0.3");
    CHECK(got.count("Cookie") == 0);
    CHECK(got.count("Authorization") == 0);
    CHECK(got.count("Origin") == 0);
    CHECK(got.count("Sec-Fetch-Site") == 0);
    CHECK(got.count("Referer") == 0);
    CHECK(got.header("X-Forwarded-For") == "127.0.0.1");
    CHECK(got.header("X-Forwarded-Host") == "agents.example");
    CHECK(got.header("X-Forwarded-Proto") == "https");
    CHECK(has_line(x.gateway, {R"("route":"call")", R"("agent":"a")", R"("via":"console")", R"("peer":"127.0.0.1")"}));
    CHECK(x.gateway.wait_for_metric(
        R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method="message/send",outcome="ok"})",
        1
    ));
}

TEST_CASE("a try reaches the agent whichever names callers may use")
{
    for (const std::string url : {"", "https://other.example"}) {
        CAPTURE(url);
        relayed x{answer_json("{}"), [&url](auto& settings) {
                      settings.hosts = {"agents.example"};
                      settings.public_url = url;
                  }};
        CHECK(attempt(x.gateway, "/agents/a").status == 200);
        CHECK(attempt(x.gateway, "/agents/a", {{"Host", "evil.example"}}).status == 421);
        CHECK(flow::call(x.port(), call_body()).status == 421);
        CHECK(x.agent.request_count() == 1);
    }
}

TEST_CASE("an answer with as many fields as an agent may send is passed on")
{
    field_list fields;
    for (int i = 0; i < 250; ++i) {
        fields.emplace_back("X-" + std::to_string(i), "v");
    }
    relayed x{answer_json("{}", fields)};
    const auto answer = attempt(x.gateway, "/agents/a");
    CHECK(answer.status == 200);
    CHECK(answer.header("X-0") == "v");
    CHECK(answer.header("X-249") == "v");
}

TEST_CASE("a call that is no try has no such mark, and other paths and methods are refused")
{
    relayed x{answer_json("{}")};
    const auto port = x.gateway.admin_port();
    CHECK(flow::call(x.port(), call_body()).status == 200);
    CHECK(has_line(x.gateway, {R"("route":"call")"}));
    CHECK_FALSE(std::ranges::any_of(x.gateway.log().all(), [](const auto& line) {
        return line.find("via") != std::string::npos;
    }));
    for (const std::string path : {"/try", "/try/", "/try/rpc", "/try/agents", "/try/agents/", "/try/mcp"}) {
        CAPTURE(path);
        check_refusal(request(port, "POST", path, json_type, "{}"), 404, "not_found", "");
    }
    for (const std::string method : {"GET", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
        CAPTURE(method);
        check_refusal(request(port, method, "/try/agents/a"), 405, "method_not_allowed", "");
    }
    CHECK(attempt(x.gateway, "/agents/nobody").header("Cardea-Error") == "agent_not_found");
    CHECK(attempt(x.gateway, "/agents/a/../../rpc").status == 400);
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("no browser is led away, asked for a password or given a cookie by an agent")
{
    relayed x{test_support::answer(
        307,
        "{}",
        {{"Location", "/rpc"}, {"WWW-Authenticate", "Basic realm=\"x\""}, {"Set-Cookie", "a=b"}}
    )};
    const auto answer = attempt(x.gateway, "/agents/a");
    CHECK(answer.count("Location") == 0);
    CHECK(answer.count("WWW-Authenticate") == 0);
    CHECK(answer.count("Set-Cookie") == 0);
}

TEST_CASE("who may try is who may write, and the credential of a try is the caller's")
{
    test_support::scripted_agent agent{flow::answer_of_agent};
    auto settings = flow::guarded(agent.url("/rpc"));
    settings.admin_access = core::admin_access::scopes;
    const flow::running_gateway gateway{settings};
    const field_list ci{{"Cardea-Caller-X-API-Key", "key-of-ci"}};
    CHECK(attempt(gateway, "/agents/open").status == 401);
    CHECK(attempt(gateway, "/agents/open", flow::reader).status == 403);
    CHECK(attempt(gateway, "/agents/open", flow::mallory).status == 403);
    CHECK(attempt(gateway, "/agents/open", flow::operators).status == 200);
    const auto as = [&](const field_list& fields) {
        auto all = flow::operators;
        all.insert(all.end(), fields.begin(), fields.end());
        return attempt(gateway, "/agents/seen", all);
    };
    // The operator's own credential is for the admin listener.
    const auto anonymous = as({});
    CHECK(anonymous.status == 401);
    CHECK(anonymous.count("WWW-Authenticate") == 0);
    CHECK(anonymous.header("Cardea-Caller-WWW-Authenticate").find("Bearer") != std::string::npos);
    CHECK(as({{"Cardea-Caller-Authorization", "Bearer mallory-token-0123456789"}}).status == 403);
    CHECK(as({{"Cardea-Caller-Authorization", "Bearer unknown-token-0123456789"}}).status == 401);
    CHECK(as(ci).status == 200);
    CHECK(agent.request_count() == 2);
}

TEST_CASE("a key with which an operator comes is not the caller's")
{
    test_support::scripted_agent agent{flow::answer_of_agent};
    auto settings = flow::guarded(agent.url("/rpc"));
    settings.admin_access = core::admin_access::scopes;
    auto& keys = std::get<core::api_key_provider>(settings.access.providers.back().type);
    keys.keys[0].owner.scopes = {core::scope_read, core::scope_write};
    const flow::running_gateway gateway{settings};
    CHECK(attempt(gateway, "/agents/open", flow::ci).status == 200);
    CHECK(attempt(gateway, "/agents/seen", flow::ci).status == 401);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("a session with an MCP server is begun, used and ended by tries")
{
    auto x = flow::mcp_calls::mcp_gateway();
    const auto port = x.gateway.admin_port();
    auto fields = with(flow::mcp_calls::usual_fields());
    const auto begun = request(port, "POST", "/try/agents/a/mcp", fields, flow::mcp_calls::initialize_body);
    CHECK(begun.status == 200);
    const auto session = begun.header("Mcp-Session-Id");
    REQUIRE_FALSE(session.empty());
    fields.emplace_back("Mcp-Session-Id", session);
    const auto call = R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}})";
    const auto called = request(port, "POST", "/try/agents/a/mcp", fields, call);
    CHECK(called.status == 200);
    CHECK(called.body.find("\"id\":7") != std::string::npos);
    CHECK(request(port, "GET", "/try/agents/a/mcp", fields).status == 405);
    CHECK(request(port, "DELETE", "/try/agents/a/mcp", fields).status < 300);
    CHECK(request(port, "POST", "/try/agents/a/mcp", fields, call).status == 404);
    CHECK(has_line(x.gateway, {R"("route":"mcp")", R"("method":"DELETE")", R"("via":"console")"}));
}

TEST_CASE("the limits of callers hold for tries")
{
    relayed x{answer_json("{}"), [](auto& settings) { settings.rate_limits.address = {1, 2}; }};
    CHECK(attempt(x.gateway, "/agents/a").status == 200);
    CHECK(attempt(x.gateway, "/agents/a").status == 200);
    const auto over = attempt(x.gateway, "/agents/a");
    CHECK(over.status == 429);
    CHECK(over.header("Cardea-Error") == "rate_limited");
    CHECK(request(x.gateway.admin_port(), "GET", "/healthz").status == 200);
}

TEST_CASE("nothing can be tried where callers need a certificate")
{
    relayed x{answer_json("{}"), [](auto& settings) {
                  settings.access.providers = {{"certificates", core::mtls_provider{}}};
              }};
    const auto answer = attempt(x.gateway, "/agents/a");
    check_refusal(answer, 403, "forbidden", "");
    CHECK(answer.body.find("client certificate") != std::string::npos);
    CHECK(x.agent.request_count() == 0);
}

TEST_CASE("each event of a stream reaches the page before the next one is sent")
{
    relayed x{test_support::event_stream(), never_ending};
    http_client page{x.gateway.admin_port()};
    page.send(request_text("POST", "/try/agents/a", json_type, call_body("1", "message/stream")));
    const auto head = page.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    REQUIRE(x.agent.wait_for_streams(1));
    for (int i = 0; i < 20; ++i) {
        const auto data = "{\"n\":" + std::to_string(i) + "}";
        x.agent.send_event(data);
        CHECK(page.read_until(data + "\n\n\r\n").ends_with("data: " + data + "\n\n\r\n"));
    }
    x.agent.end_streams();
    CHECK(page.read_until("0\r\n\r\n") == "0\r\n\r\n");
    // The connection goes on.
    page.send(request_text("GET", "/healthz"));
    CHECK(page.read_response().status == 200);
}

TEST_CASE("answers come whole however they are cut, coded and long")
{
    const std::string text = flow::pattern_text(20'000);
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    const std::vector<test_support::script> answers{
        test_support::raw({head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(text, 1)}),
        test_support::raw({head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(text, 3000)}),
        test_support::raw({head + "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text}),
        {test_support::bytes{head + "\r\n"}, test_support::bytes{text}, test_support::close_now{}},
    };
    for (const auto& script : answers) {
        relayed x{script};
        CHECK(attempt(x.gateway, "/agents/a", {}, call_body("1", "message/stream")).body == text);
    }
    relayed byte_wise{
        test_support::byte_by_byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    };
    CHECK(attempt(byte_wise.gateway, "/agents/a").body == "{}");
    relayed empty{test_support::raw({"HTTP/1.1 204 No Content\r\n\r\n"})};
    const auto nothing = attempt(empty.gateway, "/agents/a");
    CHECK(nothing.body.empty());
    relayed large{[](const auto&) { return answer_json('"' + std::string(3'000'000, 'x') + '"'); }};
    CHECK(attempt(large.gateway, "/agents/a").body.size() == 3'000'002);
}

TEST_CASE("an answer that the agent breaks off is not taken for whole")
{
    relayed x{
        test_support::raw({"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "9\r\ndata: 1\n\n\r\n"})
    };
    x.agent.next(
        {test_support::bytes{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n"},
         test_support::close_now{}}
    );
    http_client page{x.gateway.admin_port()};
    page.send(request_text("POST", "/try/agents/a", json_type, call_body("1", "message/stream")));
    CHECK_THROWS_WITH(page.read_response(), flow::cut_answer);
}

TEST_CASE("a body is taken up to the limit of calls, however it comes")
{
    const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{"x":")";
    for (const int more : {-1, 0, 1}) {
        CAPTURE(more);
        constexpr std::size_t limit = 300'000;
        relayed x{answer_json("{}"), [](auto& settings) { settings.limits.body = limit; }};
        const auto whole =
            body + std::string(limit - body.size() - 3 + static_cast<std::size_t>(more + 1) - 1, 'x') + "\"}}";

        const auto answer = attempt(x.gateway, "/agents/a", {}, whole);
        CHECK(answer.status == (more > 0 ? 413 : 200));
        if (more <= 0) {
            CHECK(x.agent.request(0).body == whole);
            http_client page{x.gateway.admin_port()};
            page.send(
                "POST /try/agents/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n" +
                flow::chunked(whole, 1000)
            );
            CHECK(page.read_response().status == 200);
            CHECK(x.agent.request(1).body == whole);
        }
    }
}

TEST_CASE("a page that leaves cancels the call at the agent, and only its own")
{
    relayed x{test_support::event_stream(), never_ending};
    const auto begin = [&x] {
        http_client page{x.gateway.admin_port()};
        page.send(request_text("POST", "/try/agents/a", json_type, call_body("1", "message/stream")));
        CHECK(page.read_head().status == 200);
        return page;
    };
    auto stays = begin();
    for (int i = 0; i < 3; ++i) {
        CAPTURE(i);
        auto leaves = begin();
        REQUIRE(x.agent.wait_for_streams(2));
        const auto since = std::chrono::steady_clock::now();
        if (i == 0) {
            leaves.close();
        } else if (i == 1) {
            leaves.reset();
        } else {
            leaves.half_close();
        }
        CHECK(x.agent.wait_until_peer_closed(test_support::patience, static_cast<std::size_t>(i + 1)));
        CHECK(std::chrono::steady_clock::now() - since < 2s);
    }
    x.agent.send_event("still");
    CHECK(stays.read_until("still\n\n\r\n").find("still") != std::string::npos);
    CHECK(has_line(x.gateway, {R"("via":"console")", R"("stream":"caller")"}));
    relayed silent{test_support::silence(), never_ending};
    http_client early{silent.gateway.admin_port()};
    early.send(request_text("POST", "/try/agents/a", json_type, call_body()));
    REQUIRE(silent.agent.wait_for_requests(1));
    early.close();
    CHECK(silent.agent.wait_until_peer_closed());
}

TEST_CASE("a page that does not read holds nobody else up")
{
    relayed x{[](const auto& asked) {
        return asked.body.find("message/stream") == std::string::npos ? answer_json("{}")
                                                                      : test_support::huge(200'000'000, true);
    }};
    http_client idle{x.gateway.admin_port()};
    idle.send(request_text("POST", "/try/agents/a", json_type, call_body("1", "message/stream")));
    REQUIRE(x.agent.wait_for_requests(1));
    for (int i = 0; i < 20; ++i) {
        CHECK(attempt(x.gateway, "/agents/a").status == 200);
    }
    CHECK(idle.read_some().starts_with("HTTP/1.1 200"));
}

TEST_CASE("sixteen tries go on at a time, and one more is told to wait")
{
    relayed x{test_support::event_stream(), never_ending};
    std::list<http_client> pages;
    const auto begin = [&] {
        auto& page = pages.emplace_back(x.gateway.admin_port());
        page.send(request_text("POST", "/try/agents/a", json_type, call_body("1", "message/stream")));
        return page.read_head().status;
    };
    for (int i = 0; i < 16; ++i) {
        CAPTURE(i);
        CHECK(begin() == 200);
    }
    const auto refused = attempt(x.gateway, "/agents/a");
    check_refusal(refused, 503, "overloaded", "");
    CHECK(refused.header("Retry-After") == "5");
    CHECK(x.agent.request_count() == 16);
    pages.front().close();
    CHECK(x.agent.wait_until_peer_closed());
    CHECK(flow::becomes_true([&] {
        pages.pop_back();
        return begin() == 200;
    }));
    x.agent.next(answer_json("{}"));
    CHECK(flow::call(x.port(), call_body()).status == 200);  // callers have places of their own
}

TEST_CASE("a caller of HTTP/1.0 gets an answer that ends with its connection")
{
    relayed x{test_support::event_stream(), never_ending};
    http_client page{x.gateway.admin_port()};
    const auto body = call_body("1", "message/stream");
    page.send(
        "POST /try/agents/a HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body
    );
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event("1");
    CHECK(page.read_until("data: 1\n\n").find("chunked") == std::string::npos);
    x.agent.end_streams();
    CHECK(page.read_until_closed().empty());
}

TEST_CASE("tries end with the gateway as calls do")
{
    relayed x{test_support::event_stream(), never_ending};
    http_client page{x.gateway.admin_port()};
    page.send(request_text("POST", "/try/agents/a", json_type, call_body("1", "message/stream")));
    CHECK(page.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(1));
    x.gateway.stop();
    CHECK(x.gateway.wait_until_stopped());
    page.read_until_closed();
}
