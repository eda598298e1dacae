// What clients get of answers of MCP servers over HTTP that are no answers: failures, pages for people, and none in time.
#include "tests/flow/mcp_fixture.hpp"
#include "tests/flow/mcp_session_server.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_server_failures");

namespace {

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

const field_list as_page{{"Content-Type", "text/html; charset=utf-8"}};
constexpr std::string_view page = "<html>secret words</html>";

const field_list modern_call{
    {"MCP-Protocol-Version", "2026-07-28"},
    {"Mcp-Method", "tools/call"},
    {"Mcp-Name", "echo"}
};
const std::string modern_body =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":)"
    R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";

// `then` to each call of a tool and each notification.
handler failing(script then)
{
    return [then](const recorded_request& request) {
        const bool fails = request.body.find("tools/call") != std::string::npos ||
                           request.body.find("notifications/") != std::string::npos || request.method == "GET";
        return fails && !request.header("Traceparent").empty() ? then : as_server(request);
    };
}

}  // namespace

TEST_CASE("A server's 5xx to a request of a session is 200 with the JSON-RPC error, which has the status")
{
    for (const unsigned status : {500U, 502U, 503U, 504U, 599U}) {
        for (const auto& [type, body] :
             {std::pair<std::string, std::string>{
                  "application/json",
                  R"({"jsonrpc":"2.0","id":7,"result":{"secret":1}})"
              },
              {"text/html", std::string{page}},
              {"text/plain", "secret words"},
              {"", ""}}) {
            CAPTURE(status);
            CAPTURE(type);
            const field_list fields = type.empty() ? field_list{} : field_list{{"Content-Type", type}};
            const relayed x{
                failing(answer(status, body, with(fields, {{"Retry-After", "17"}}))),
                [](config::settings& settings) { make_mcp(settings); }
            };
            const auto got = post(x, call_of("7"), {{"Mcp-Session-Id", begin(x)}});
            check_error(got, 200, -32603, "upstream_status");
            const auto error = json::parse(got.body);
            CHECK(error["id"] == 7);
            CHECK(error["error"]["data"]["status"] == status);
            CHECK(error["error"]["data"]["code"] == "upstream_status");
            CHECK(error["error"]["data"]["agent"] == "a");
            CHECK(error["error"]["data"]["retryable"] == (status >= 502 && status <= 504));
            CHECK(got.header("Retry-After") == "17");
            CHECK(got.body.find("secret") == std::string::npos);
        }
    }
}

TEST_CASE("Below 500 the server's answer to a request of a session passes, and what is no request keeps a 5xx")
{
    const relayed x{failing(answer(499, "own words")), [](config::settings& settings) { make_mcp(settings); }};
    const auto got = post(x, call_of("7"), {{"Mcp-Session-Id", begin(x)}});
    CHECK(got.status == 499);
    CHECK(got.body == "own words");
    const relayed y{failing(answer(503, "own words")), [](config::settings& settings) { make_mcp(settings); }};
    const field_list session{{"Mcp-Session-Id", begin(y)}};
    CHECK(post(y, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session).status == 503);
    CHECK(send(y, "GET", with(usual_fields(), session)).status == 503);
}

TEST_CASE("A page of HTML never reaches a client of MCP: a refusal keeps its status, and anything else is an error")
{
    struct row {
        unsigned status;
        unsigned in_session;
        unsigned alone;
    };
    for (const auto& [status, in_session, alone] :
         {row{200, 200, 502}, row{400, 400, 400}, row{429, 429, 429}, row{500, 200, 500}, row{503, 200, 503}}) {
        CAPTURE(status);
        const relayed x{
            failing(answer(status, std::string{page}, with(as_page, {{"Retry-After", "17"}}))),
            [](config::settings& settings) { make_mcp(settings); }
        };
        const field_list session{{"Mcp-Session-Id", begin(x)}};
        const auto check = [&](const http_response& got, unsigned expected) {
            check_error(got, expected, -32603, "upstream_status");
            CHECK(json::parse(got.body)["error"]["data"]["status"] == status);
            CHECK(got.header("Content-Type") == "application/json");
            CHECK(got.header("Retry-After") == "17");
        };
        check(post(x, call_of("7"), session), in_session);
        check(post(x, modern_body, modern_call), alone);
        check(post(x, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session), alone);
        check(send(x, "GET", with(usual_fields(), session)), alone);
    }
}

TEST_CASE("Servers that call an empty answer HTML are understood, and pages of 405 say that there is no stream")
{
    const relayed x{failing(answer(202, "", as_page)), [](config::settings& settings) { make_mcp(settings); }};
    const field_list session{{"Mcp-Session-Id", begin(x)}};
    CHECK(post(x, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session).status == 202);
    const relayed y{
        failing(answer(405, std::string{page}, with(as_page, {{"Allow", "POST"}}))),
        [](config::settings& settings) { make_mcp(settings); }
    };
    const auto got = send(y, "GET", with(usual_fields(), {{"Mcp-Session-Id", begin(y)}}));
    CHECK(got.status == 405);
    CHECK(got.header("Allow") == "POST");
    CHECK(got.body.find("secret") == std::string::npos);
}

TEST_CASE("A modern server's errors pass with their status")
{
    const std::string error = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"own"}})";
    for (const unsigned status : {400U, 404U, 500U, 503U}) {
        CAPTURE(status);
        const relayed x{
            failing(answer(status, error, {{"Content-Type", "application/json"}})),
            [](config::settings& settings) { make_mcp(settings); }
        };
        const auto got = post(x, modern_body, modern_call);
        CHECK(got.status == status);
        CHECK(got.body == error);
    }
}

TEST_CASE("A page of 404 says that a session is lost, as any other answer does")
{
    session_rig r;
    r.begin_session();
    r.server->forget();
    CHECK(r.call().status == 200);
    CHECK(r.call().body.find(R"("of":"s-2")") != std::string::npos);
}

TEST_CASE("A server that does not answer `initialize` or `server/discover` is 504 after timeouts.initialize")
{
    const relayed x{
        [](const recorded_request& request) {
            return request.header("Traceparent").empty() ? answer(404, "{}") : silence();
        },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->initialize_timeout = 200ms;
            settings.agents[0].mcp->call_timeout = 20s;
        }
    };
    const auto begun = std::chrono::steady_clock::now();
    check_error(post(x, initialize_body), 504, -32603, "upstream_timeout");
    const std::string discover =
        R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":)"
        R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    const field_list modern{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "server/discover"}};
    check_error(post(x, discover, modern), 504, -32603, "upstream_timeout");
    CHECK(std::chrono::steady_clock::now() - begun < 3s);
}

TEST_CASE("The time of `initialize` holds for all of its answer, however slowly that comes")
{
    const relayed x{
        [](const recorded_request& request) {
            if (request.header("Traceparent").empty()) {
                return answer(404, "{}");
            }
            return raw({"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", "{"});
        },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->initialize_timeout = 300ms;
            settings.agents[0].mcp->call_timeout = 20s;
        }
    };
    const auto begun = std::chrono::steady_clock::now();
    http_client caller{x.port()};
    caller.send(request_text(
        "POST",
        "/agents/a/mcp",
        with(usual_fields(), {{"Content-Type", "application/json"}}),
        initialize_body
    ));
    caller.read_until_closed();
    CHECK(std::chrono::steady_clock::now() - begun < 3s);
}

TEST_CASE("A client of the legacy era in front of a modern server waits no longer than timeouts.initialize")
{
    const relayed x{
        [](const recorded_request& request) { return request.body.empty() ? answer(405, "") : silence(); },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->era = core::mcp_era::modern;
            settings.agents[0].mcp->initialize_timeout = 300ms;
            settings.agents[0].mcp->call_timeout = 20s;
        }
    };
    const auto begun = std::chrono::steady_clock::now();
    check_error(post(x, initialize_body), 504, -32603, "upstream_timeout");
    CHECK(std::chrono::steady_clock::now() - begun < 3s);
}

TEST_SUITE_END();
