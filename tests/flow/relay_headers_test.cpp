#include "core/ascii.hpp"
#include "net/upstream/via.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/http2_front.hpp"

#include <algorithm>

using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::field_list;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/relay");

namespace {

constexpr std::string_view bearer = "agent-token-5f3a";
constexpr std::string_view caller_token = "caller-token-91c7";

void with_bearer(config::settings& settings)
{
    settings.log_level = core::log_level::debug;
    settings.agents[0].bearer = core::secret{std::string(bearer)};
}

// In Via.
std::string own_hop()
{
    return test_support::http_version() + " " + std::string{net::own_pseudonym()};
}

// In any order: Beast keeps lines of one name together. HTTP/2 has names in lower case alone.
field_list comparable(field_list fields)
{
    if (test_support::over_http2() || test_support::agents_speak_http2()) {
        for (auto& [name, value] : fields) {
            name = core::in_lower_case(name);
        }
    }
    std::ranges::sort(fields);
    return fields;
}

}  // namespace

TEST_CASE("an agent gets exactly the fields that are meant for it")
{
    relayed x{test_support::answer_json("{}"), with_bearer};
    http_client caller{x.port()};
    const auto body = call_body();
    caller.send(call_text(
        body,
        {
            {"A2A-Version", "1.0"},
            {"a2a-extensions", "https://x.example/one, https://x.example/two"},
            {"X-A2A-Extensions", "https://x.example/old"},
            {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
            {"tracestate", "vendor=\"a,b\""},
            {"Accept", "application/json, text/event-stream"},
            {"Accept-Encoding", "gzip"},
            {"User-Agent", "test/1"},
            {"X-Twice", "one"},
            {"X-Twice", "two"},
            {"Authorization", "Bearer " + std::string(caller_token)},
            {"Cookie", "session=" + std::string(caller_token)},
            {"Proxy-Authorization", "Basic " + std::string(caller_token)},
            {"X-Forwarded-For", "6.6.6.6"},
            {"X-Forwarded-Host", "evil.example"},
            {"X-Forwarded-Anything", "x"},
            {"X-Real-IP", "6.6.6.6"},
            {"Forwarded", "for=6.6.6.6"},
            {"Via", "1.0 first (a, b)"},
            {"via", ""},
            {"Via", "1.1 second:80"},
            {"X-HTTP-Method-Override", "DELETE"},
            {"x-http-method", "DELETE"},
            {"X-Method-Override", "DELETE"},
            {"X-Original-URL", "/admin"},
            {"X-Rewrite-URL", "/admin"},
            {"Cardea-Principal", "root"},
            {"cardea-anything", "x"},
            {"A2A_Version", "9"},
            {"X_Forwarded_For", "6.6.6.6"},
            {"Connection", "keep-alive, X-Named, x-other"},
            {"X-Named", "hop"},
            {"X-Other", "hop"},
            {"Keep-Alive", "timeout=5"},
            {"Proxy-Connection", "keep-alive"},
            {"TE", "trailers"},
            {"Trailer", "X-T"},
            {"Upgrade", "h2c"},
            {"HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA"},
        }
    ));
    CHECK(caller.read_response().status == 200);

    field_list expected{
        {"Host", "127.0.0.1:" + std::to_string(x.agent.port())},
        {"Via", "1.0 first (a, b), 1.1 second:80, " + own_hop()},
        {"Authorization", "Bearer " + std::string(bearer)},
        {"Content-Type", "application/json"},
        {"A2A-Version", "1.0"},
        {"a2a-extensions", "https://x.example/one, https://x.example/two"},
        {"X-A2A-Extensions", "https://x.example/old"},
        {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        {"tracestate", "vendor=\"a,b\""},
        {"Accept", "application/json, text/event-stream"},
        {"Accept-Encoding", "gzip"},
        {"User-Agent", "test/1"},
        {"X-Twice", "one"},
        {"X-Twice", "two"},
        {"X-Forwarded-For", "127.0.0.1"},
        {"X-Forwarded-Proto", "http"},
        {"X-Forwarded-Host", "127.0.0.1"},
        {"Content-Length", std::to_string(body.size())},
    };
    if (test_support::over_http2()) {  // whose callers have no Connection to name them
        expected.insert(expected.end(), {{"X-Named", "hop"}, {"X-Other", "hop"}});
    }
    CHECK(comparable(x.agent.request(0).headers) == comparable(expected));
}

TEST_CASE("Connection cannot strip what the gateway itself sends")
{
    relayed x{test_support::answer_json("{}"), with_bearer};
    http_client caller{x.port()};
    caller.send(call_text(call_body(), {{"Connection", "Host, Authorization, Via, Content-Length, Content-Type"}}));
    CHECK(caller.read_response().status == 200);
    const auto seen = x.agent.request(0);
    CHECK(seen.header("Host") == "127.0.0.1:" + std::to_string(x.agent.port()));
    CHECK(seen.header("Authorization") == "Bearer " + std::string(bearer));
    CHECK(seen.header("Via") == own_hop());
    CHECK(seen.header("Content-Length") == std::to_string(call_body().size()));
    CHECK(seen.body == call_body());
}

TEST_CASE("an agent without a bearer gets none, least of all the caller's")
{
    relayed x{test_support::answer_json("{}")};
    http_client caller{x.port()};
    caller.send(call_text(call_body(), {{"Authorization", "Bearer " + std::string(caller_token)}}));
    CHECK(caller.read_response().status == 200);
    CHECK(x.agent.request(0).count("Authorization") == 0);
}

TEST_CASE("one caller's fields are not in the next call on the agent's connection")
{
    relayed x{test_support::answer_json("{}")};
    http_client first{x.port()};
    first.send(call_text(call_body(), {{"X-Mine", "secret"}, {"X-Long", std::string(5000, 'l')}}));
    CHECK(first.read_response().status == 200);
    http_client second{x.port()};
    second.send(call_text(call_body("2")));
    CHECK(second.read_response().status == 200);
    REQUIRE(x.agent.request_count() == 2);
    CHECK(x.agent.request(1).connection == 1);
    CHECK(x.agent.request(0).header("X-Mine") == "secret");
    CHECK(x.agent.request(1).count("X-Mine") == 0);
    CHECK(x.agent.request(1).count("X-Long") == 0);
}

TEST_CASE("a caller gets exactly the fields that are meant for it")
{
    const relayed x{
        test_support::raw({"HTTP/1.1 200 OK\r\n"
                           "Date: Tue, 01 Jan 2030 00:00:00 GMT\r\n"
                           "Server: agent/2\r\n"
                           "Content-Type: application/json\r\n"
                           "A2A-Version: 0.3\r\n"
                           "A2A-Extensions: https://x.example/one\r\n"
                           "X-A2A-Extensions: https://x.example/old\r\n"
                           "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
                           "tracestate: v=1\r\n"
                           "Cache-Control: no-store\r\n"
                           "Content-Encoding: gzip\r\n"
                           "X-Twice: one\r\n"
                           "X-Twice: two\r\n"
                           "Set-Cookie: session=1\r\n"
                           "Set-Cookie: other=2\r\n"
                           "Cardea-Error: overloaded\r\n"
                           "Cardea-Card: stale\r\n"
                           "Connection: X-Named, keep-alive\r\n"
                           "X-Named: hop\r\n"
                           "Keep-Alive: timeout=5\r\n"
                           "Proxy-Authenticate: Basic realm=\"x\"\r\n"
                           "Upgrade: h2c\r\n"
                           "Trailer: X-T\r\n"
                           "Content-Length: 2\r\n\r\n{}"})
    };
    const auto got = flow::call(x.port(), call_body());
    CHECK(got.status == 200);
    CHECK(got.body == "{}");
    field_list expected{
        {"Date", "Tue, 01 Jan 2030 00:00:00 GMT"},
        {"Content-Type", "application/json"},
        {"A2A-Version", "0.3"},
        {"A2A-Extensions", "https://x.example/one"},
        {"X-A2A-Extensions", "https://x.example/old"},
        {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        {"tracestate", "v=1"},
        {"Cache-Control", "no-store"},
        {"Content-Encoding", "gzip"},
        {"X-Twice", "one"},
        {"X-Twice", "two"},
        {"Content-Length", "2"},
    };
    if (test_support::agents_speak_http2()) {
        expected.emplace_back("X-Named", "hop");
    }
    CHECK(comparable(got.headers) == comparable(expected));
}

TEST_CASE("what an agent says for the whole origin stays here, on every route")
{
    const std::string fields =
        "Service-Worker-Allowed: /\r\nClear-Site-Data: \"*\"\r\nSet-Cookie2: a=1\r\nNEL: {}\r\n"
        "Strict-Transport-Security: max-age=1\r\nReport-To: {}\r\nReporting-Endpoints: a=\"b\"\r\n"
        "Alt-Svc: h2=\":1\"\r\nX-Accel-Redirect: /x\r\nX-Sendfile: /etc/passwd\r\n"
        "X-Reproxy-URL: http://10.0.0.1/\r\nAccess-Control-Allow-Origin: *\r\nServer: agent\r\n";
    const auto names = {
        "Service-Worker-Allowed",
        "Clear-Site-Data",
        "Set-Cookie2",
        "NEL",
        "Strict-Transport-Security",
        "Report-To",
        "Reporting-Endpoints",
        "Alt-Svc",
        "X-Accel-Redirect",
        "X-Sendfile",
        "X-Reproxy-URL",
        "Access-Control-Allow-Origin",
        "Server"
    };
    const std::string task =
        R"({"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"working"}}})";
    const auto answer = [&](const std::string& type, const std::string& body) {
        return test_support::raw(
            {"HTTP/1.1 200 OK\r\nX-Stays: 1\r\nContent-Type: " + type + "\r\n" + fields +
             "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body}
        );
    };
    const relayed x{
        [&](const test_support::recorded_request& asked) {
            const bool streams = asked.body.find("message/stream") != std::string::npos;
            return streams ? answer("text/event-stream", "data: " + task + "\n\n") : answer("application/json", task);
        },
        [](config::settings& s) {
            s.agents[0].relay_paths = {"/files/*"};
            s.agents[0].dialects = {core::a2a_dialect::v03_jsonrpc, core::a2a_dialect::v03_rest};
        }
    };
    const field_list json{{"Content-Type", "application/json"}};
    const test_support::http_response all[] = {
        flow::call(x.port(), call_body()),
        flow::call(x.port(), call_body("1", "message/stream")),
        test_support::request(x.port(), "GET", "/agents/a/files/one"),
        test_support::request(x.port(), "OPTIONS", "/agents/a/files/one", {{"Origin", "https://x.example"}}),
        test_support::request(x.port(), "GET", "/agents/a/rest/v1/tasks/t"),
        test_support::request(x.port(), "GET", "/agents/a/rest/tasks/t"),  // translated
        test_support::request(x.port(), "POST", "/agents/a/rest/v1/message:send", json, R"({"message":{}})"),
    };
    for (const auto& got : all) {
        CHECK(got.header("X-Stays") == "1");
        for (const auto* name : names) {
            CAPTURE(name);
            CHECK(got.count(name) == 0);
        }
    }
    CHECK(x.agent.request_count() == std::size(all));
}

TEST_CASE("a key of a caller reaches an agent only if the agent's record names it, on every route")
{
    for (const bool named : {false, true}) {
        CAPTURE(named);
        const relayed x{test_support::answer_json("{}"), [named](config::settings& s) {
                            s.agents[0].relay_paths = {"/files/*"};
                            if (named) {
                                s.agents[0].of_callers.names = {"x-api-key"};
                            }
                        }};
        const field_list keys{{"X-API-Key", "secret"}, {"Content-Type", "application/json"}, {"Api-Key", "secret"}};
        const std::size_t count = named ? 1 : 0;
        test_support::request(x.port(), "POST", "/agents/a", keys, call_body());
        test_support::request(x.port(), "GET", "/agents/a/files/one", keys);
        REQUIRE(x.agent.request_count() == 2);
        for (const auto& seen : x.agent.requests()) {
            CHECK(seen.count("X-API-Key") == count);
            CHECK(seen.count("Api-Key") == 0);
        }
    }
}

TEST_CASE("an answer without a Date gets one")
{
    const relayed x{test_support::raw({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"})};
    const auto got = flow::call(x.port(), call_body());
    CHECK(got.count("Date") == 1);
    CHECK(got.header("Date").ends_with(" GMT"));
}

TEST_CASE("neither the agent's credentials nor the caller's nor what either of them wrote is in the log or the metrics")
{
    relayed x{test_support::answer_json("{\"text\":\"answer-words\"}"), [](config::settings& s) {
                  with_bearer(s);
                  s.agents.push_back(
                      flow::a2a_agent("b", "http://127.0.0.1:" + std::to_string(test_support::unused_port()))
                  );
                  s.agents.back().bearer = core::secret{std::string(bearer)};
              }};
    const field_list credentials{
        {"Authorization", "Bearer " + std::string(caller_token)},
        {"Cookie", std::string(caller_token)},
    };
    const std::string body = R"({"jsonrpc":"2.0","id":"id-words","method":"method-words","params":["param-words"]})";
    {
        http_client caller{x.port()};
        caller.send(call_text(body, credentials));
        CHECK(caller.read_response().status == 200);
        CHECK(test_support::request(x.port(), "POST", "/agents/b", credentials, body).status == 502);
        CHECK(test_support::request(x.port(), "POST", "/agents/path-words", credentials, body).status == 404);
        CHECK(test_support::request(x.port(), "GET", "/path-words", credentials).status == 404);
        CHECK(test_support::request(x.port(), "POST", "/rpc", credentials, body).status == 200);
        const std::string name = test_support::over_http2() ? "X-Token: " : "";
        caller.send("BREW /path-words HTTP/1.1\r\nHost: a\r\n" + name + std::string(caller_token) + "\r\n\r\n");
        CHECK(caller.read_response().status == 501);
    }
    x.agent.next(test_support::raw({"HTTP/9.9 answer-words " + std::string(bearer) + "\r\n\r\n"}));
    CHECK(flow::call(x.port(), body).status == 502);
    REQUIRE(x.agent.request(0).header("Authorization") == "Bearer " + std::string(bearer));
    REQUIRE(flow::access_lines(x.gateway, 7).size() == 7);
    auto text = test_support::request(x.gateway.admin_port(), "GET", "/metrics").body;
    REQUIRE(text.find("cardea_http_requests_total") != std::string::npos);
    for (const auto& line : x.gateway.log().all()) {
        text += line;
    }
    for (const std::string_view secret :
         {bearer,
          caller_token,
          std::string_view{"id-words"},
          std::string_view{"method-words"},
          std::string_view{"param-words"},
          std::string_view{"answer-words"},
          std::string_view{"path-words"}}) {
        CAPTURE(secret);
        CHECK(text.find(secret) == std::string::npos);
    }
}

TEST_SUITE_END();
