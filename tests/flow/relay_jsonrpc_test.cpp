// What is called, and what is refused because it is no JSON-RPC call.
#include "tests/flow/relay_fixture.hpp"

using flow::call;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/relay");

TEST_CASE("a call reaches the agent byte for byte and its answer comes back byte for byte")
{
    const std::string answer = "{\"jsonrpc\": \"2.0\",\t \"id\":1,\"result\":{\"a\":1.0,\"a\":\"\\u00e9\"}}\r\n ";
    relayed x{test_support::answer_json(answer)};
    const std::string bodies[] = {
        "{\"jsonrpc\":\"2.0\", \"id\":1,\"method\":\"message/send\" ,\"params\":{\"n\":1.50e+1,\"s\":\"\\u00e9\\/\"}}",
        " \r\n\t{\n\"params\":[],\"method\":\"message\\/send\",\"id\":\"\",\"jsonrpc\":\"2.0\",\"more\":null}\n",
        R"({"jsonrpc":"2.0","method":"message/send"})",
        R"({"jsonrpc":"2.0","method":"m","id":123456789012345678901234567890,"params":{"x":{"id":1,"id":2}}})",
    };
    for (const auto& body : bodies) {
        CAPTURE(body);
        const auto before = x.agent.request_count();
        const auto got = call(x.port(), body);
        CHECK(got.status == 200);
        CHECK(got.body == answer);
        REQUIRE(x.agent.request_count() == before + 1);
        const auto seen = x.agent.request(before);
        CHECK(seen.body == body);
        CHECK(seen.method == "POST");
        CHECK(seen.target == "/rpc");
    }
}

TEST_CASE("an agent is called with and without a slash, whatever the query says")
{
    relayed x{test_support::answer_json("{}")};
    for (const std::string target :
         {"/agents/a", "/agents/a/", "/agents/a?x=/../b", "/agents/a/?", "http://127.0.0.1/agents/a"}) {
        CAPTURE(target);
        if (test_support::over_http2() && !target.starts_with('/')) {
            continue;
        }
        CHECK(test_support::request(x.port(), "POST", target, {}, call_body()).status == 200);
    }
    for (const auto& seen : x.agent.requests()) {
        CHECK(seen.target == "/rpc");
    }
}

TEST_CASE("what is not JSON gets a parse error without an id, and the connection goes on")
{
    relayed x{test_support::answer_json("{}")};
    const std::string bodies[] = {
        "",
        "  ",
        "{",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",}",
        "{'jsonrpc':'2.0'}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"} x",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}{}",
        "{\"jsonrpc\":\"2.0\",\"id\":07,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":NaN,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xc0\xaf\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xed\xa0\x80\"}",
        "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}",
        std::string("{\0\"\0j\0", 6),
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":" + std::string(100'000, '['),
        "a=1&b=2",
    };
    http_client caller{x.port()};
    for (const auto& body : bodies) {
        CAPTURE(body.substr(0, 60));
        caller.send(call_text(body));
        flow::check_jsonrpc_error(caller.read_response(), flow::not_json, "null");
    }
    caller.send(call_text(call_body()));
    CHECK(caller.read_response().status == 200);
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("what is JSON but no JSON-RPC request is refused with its id if it has one")
{
    struct row {
        std::string body;
        std::string id;
    };
    const row rows[] = {
        {"[]", "null"},
        {"[1]", "null"},
        {"[" + call_body() + "]", "null"},
        {"[" + call_body("1") + "," + call_body("2") + "]", "null"},
        {"null", "null"},
        {"17", "null"},
        {"\"x\"", "null"},
        {"{}", "null"},
        {R"({"id":7,"method":"m"})", "7"},
        {R"({"jsonrpc":"1.0","id":"a\/b","method":"m"})", R"("a\/b")"},
        {R"({"jsonrpc":2.0,"id":7,"method":"m"})", "7"},
        {R"({"jsonrpc":"2.0","id":123456789012345678901234567890})", "123456789012345678901234567890"},
        {R"({"jsonrpc":"2.0","id":7,"method":1})", "7"},
        {R"({"jsonrpc":"2.0","id":7,"method":null})", "7"},
        {R"({"jsonrpc":"2.0","id":7,"method":""})", "7"},
        {R"({"jsonrpc":"2.0","id":7,"method":"m","params":"x"})", "7"},
        {R"({"jsonrpc":"2.0","id":true,"method":"m"})", "null"},
        {R"({"jsonrpc":"2.0","id":[],"method":"m"})", "null"},
        {R"({"jsonrpc":"2.0","id":{},"method":"m"})", "null"},
        {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})", "null"},
        {R"({"jsonrpc":"2.0","id":1,"i\u0064":1,"method":"m"})", "null"},
        {R"({"jsonrpc":"2.0","id":1,"method":"m","method":"n"})", "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":{}})", "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":"m","Method":"n"})", "1"},
        {R"({"jsonrpc":"2.0","id":1,"result":{}})", "1"},
    };
    relayed x{test_support::answer_json("{}")};
    http_client caller{x.port()};
    for (const auto& row : rows) {
        CAPTURE(row.body);
        caller.send(call_text(row.body));
        flow::check_jsonrpc_error(caller.read_response(), flow::not_a_call, row.id);
    }
    CHECK(x.agent.accepted_connections() == 0);
}

TEST_CASE("a body that is cut at any byte is a parse error, never a call")
{
    relayed x{test_support::answer_json("{}")};
    http_client caller{x.port()};
    const std::string body =
        R"({"jsonrpc":"2.0","id":"\u00e9","method":"message/send","params":{"a":[1,true,null,-2.5e3]}})";
    for (std::size_t size = 0; size < body.size(); ++size) {
        CAPTURE(size);
        caller.send(call_text(std::string_view{body}.substr(0, size)));
        flow::check_jsonrpc_error(caller.read_response(), flow::not_json, "null");
    }
    CHECK(x.agent.accepted_connections() == 0);
}

TEST_CASE("an unknown agent is a JSON-RPC error with the caller's id, whatever is asked of it")
{
    const relayed x{test_support::answer_json("{}"), [](config::settings& s) {
                        s.agents.push_back(flow::a2a_agent("off", s.agents[0].url));
                        s.agents.back().disabled = true;
                    }};
    http_client caller{x.port()};
    for (const std::string agent : {"b", "A", "a.", "off", "__proto__"}) {
        CAPTURE(agent);
        const std::string id = R"("\u0041-123456789012345678901234567890")";
        caller.send(test_support::request_text("POST", "/agents/" + agent, {}, call_body(id)));
        flow::check_jsonrpc_error(caller.read_response(), flow::no_agent, id, agent);
    }
    caller.send(test_support::request_text("POST", "/agents/b", {}, R"({"jsonrpc":"2.0","method":"m"})"));
    flow::check_plain_error(caller.read_response(), flow::no_agent, "b");  // a notification has no id to answer to
}

TEST_CASE("an address of nothing is 404 in plain, and never a way to an agent")
{
    constexpr flow::error_answer nothing{404, 0, "not_found", "There is nothing at this address.", false};
    relayed x{test_support::answer_json("{}")};
    const std::string targets[] = {
        "/agents//a",
        "/AGENTS/a",
        "/agents/a/x",
        "/agents/%61",
        "/agents/a;x=1",
        "/agents/a%20b",
        "/rpc//",
        "/metrics",
        "/agents/" + std::string(129, 'a'),
    };
    for (const auto& target : targets) {
        CAPTURE(target);
        flow::check_plain_error(test_support::request(x.port(), "POST", target, {}, call_body()), nothing);
    }
    constexpr flow::error_answer ambiguous{400, 0, "bad_request", "The request is malformed.", false};
    for (const auto* target :
         {"/agents/.",
          "/agents/a/../b",
          "/agents/../agents/a",
          "/./agents/a",
          "/agents/a%2fb",
          "/agents/a//",
          "//agents/a"}) {
        CAPTURE(target);
        flow::check_plain_error(test_support::request(x.port(), "POST", target, {}, call_body()), ambiguous);
    }
    CHECK(x.agent.accepted_connections() == 0);
}

TEST_CASE("a method that nobody knows passes, and is counted with all others of its kind")
{
    relayed x{test_support::answer_json("{}")};
    for (const std::string method : {"x/one", "x/two", "Message/Send", "message/send ", R"(messag\u0065/send)"}) {
        CHECK(call(x.port(), call_body("1", method)).status == 200);
    }
    CHECK(x.agent.request_count() == 5);
    const std::string series = R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method=")";
    CHECK(x.gateway.wait_for_metric(series + R"(other",outcome="ok"})", 4));
    CHECK(x.gateway.metric(series + R"(message/send",outcome="ok"})") == 1);  // its name spelt with an escape
    const auto page = test_support::request(x.gateway.admin_port(), "GET", "/metrics").body;
    CHECK(page.find("x/one") == std::string::npos);
}

TEST_SUITE_END();
