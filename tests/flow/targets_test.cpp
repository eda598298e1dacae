// The forms of a request target (RFC 9112 section 3.2) and OPTIONS (RFC 9110 section 9.3.7), through the whole gateway.
#include "tests/flow/relay_fixture.hpp"

using flow::call_body;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/targets");

namespace {

void relaying(config::settings& settings)
{
    settings.agents[0].relay_paths = {"/v1/*"};
}

std::string host_of(const relayed& x)
{
    return "127.0.0.1:" + std::to_string(x.port());
}

constexpr const char* allowed = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

}  // namespace

TEST_CASE("an absolute target is the same as its path, and the agent gets it in our form")
{
    relayed x{test_support::answer_json("{}"), relaying};
    http_client caller{x.port()};
    const auto body = call_body();
    for (const std::string scheme : {"http://", "HTTP://", "https://"}) {
        CAPTURE(scheme);
        const auto count = x.agent.request_count();
        caller.send(test_support::request_text(
            "POST",
            scheme + host_of(x) + "/agents/a",
            {{"Host", host_of(x)}, {"Content-Type", "application/json"}},
            body
        ));
        CHECK(caller.read_response().status == 200);
        const auto call = x.agent.request(count);
        CHECK(call.target == "/rpc");
        CHECK(call.header("Host") == "127.0.0.1:" + std::to_string(x.agent.port()));
        CHECK(call.header("X-Forwarded-Host") == host_of(x));
        caller.send(
            test_support::request_text("GET", scheme + host_of(x) + "/agents/a/v1/x?y=1", {{"Host", host_of(x)}})
        );
        CHECK(caller.read_response().status == 200);
        CHECK(x.agent.request(count + 1).target == "/rpc/v1/x?y=1");
    }
    caller.send(test_support::request_text("GET", "http://" + host_of(x), {{"Host", host_of(x)}}));
    const auto index = caller.read_response();
    CHECK(index.status == 200);
    CHECK(index.body == test_support::request(x.gateway.port(), "GET", "/").body);
}

TEST_CASE("an absolute target with another host, and every other form, goes nowhere")
{
    relayed x{test_support::answer_json("{}"), relaying};
    for (const std::string line :
         {"GET http://localhost/agents/a/v1/x HTTP/1.1",
          "GET http://evil.example/agents/a/v1/x HTTP/1.1",
          "GET http://user@127.0.0.1/agents/a/v1/x HTTP/1.1",
          "GET * HTTP/1.1",
          "POST * HTTP/1.1",
          "OPTIONS *x HTTP/1.1",
          "OPTIONS 127.0.0.1 HTTP/1.1",
          "GET 127.0.0.1:80 HTTP/1.1",
          "GET agents/a/v1/x HTTP/1.1",
          "GET ftp://127.0.0.1/agents/a/v1/x HTTP/1.1"}) {
        CAPTURE(line);
        http_client caller{x.port()};
        caller.send(line + "\r\nHost: 127.0.0.1\r\n\r\n");
        CHECK(caller.read_response().status == 400);
        CHECK(caller.closed_by_peer());
    }
    http_client caller{x.port()};
    caller.send("CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
    CHECK(caller.read_response().status == 501);
    CHECK(x.agent.accepted_connections() == 0);
}

TEST_CASE("OPTIONS of the server as a whole is answered by the gateway")
{
    const relayed x{test_support::answer_json("{}"), relaying};
    http_client caller{x.port()};
    for (const std::string& target : {std::string{"*"}, "http://" + host_of(x)}) {
        CAPTURE(target);
        caller.send(test_support::request_text("OPTIONS", target, {{"Host", host_of(x)}}));
        const auto got = caller.read_response();
        CHECK(got.status == 204);
        CHECK(got.header("Allow") == allowed);
        CHECK(got.count("Content-Length") == 0);
        CHECK(got.count("Cardea-Error") == 0);
    }
    caller.send("OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    CHECK(caller.read_response().status == 421);
    CHECK(x.gateway.metric(R"(cardea_http_requests_total{route="none",method="OPTIONS",code="204"})") == 2);
}

TEST_CASE("OPTIONS goes as many hops as Max-Forwards says")
{
    relayed x{test_support::answer_json("{}"), relaying};
    http_client caller{x.port()};
    const auto ask = [&](const std::string& method, const std::string& hops) {
        caller.send(test_support::request_text(method, "/agents/a/v1/x", {{"max-forwards", hops}}));
        return caller.read_response().status;
    };
    CHECK(ask("OPTIONS", "0") == 204);
    CHECK(x.agent.request_count() == 0);
    struct row {
        const char* method;
        const char* said;
        const char* passed;
    };
    std::size_t count = 0;
    for (const auto& r :
         {row{"OPTIONS", "1", "0"},
          row{"OPTIONS", "10", "9"},
          row{"OPTIONS", "x", "x"},
          row{"OPTIONS", "-1", "-1"},
          row{"GET", "0", "0"}}) {
        CAPTURE(r.said);
        CHECK(ask(r.method, r.said) == 200);
        CHECK(x.agent.request(count++).header("Max-Forwards") == r.passed);
    }
}

TEST_CASE("OPTIONS of what takes no OPTIONS says what it takes")
{
    const relayed x{test_support::answer_json("{}")};
    http_client caller{x.port()};
    caller.send(test_support::request_text("OPTIONS", "/agents/a"));
    auto got = caller.read_response();
    CHECK(got.status == 405);
    CHECK(got.header("Allow") == "GET, HEAD, POST");
    caller.send(test_support::request_text("OPTIONS", "/agents/a/.well-known/agent-card.json"));
    got = caller.read_response();
    CHECK(got.status == 405);
    CHECK(got.header("Allow") == "GET, HEAD");
}

TEST_SUITE_END();
