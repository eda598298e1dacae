// The events extension of MCP (SEP-3415) in front of servers over streamable HTTP.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_events");

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

namespace {

// As as_server(), and it takes requests of the modern era, which have no session. A stream of events says nothing by itself, and what
// is to hang is not answered.
script events_server(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const auto method = body.is_object() ? body.value("method", "") : std::string{};
    if (method == "events/stream") {
        return event_stream();
    }
    if (request.body.find("\"hang\"") != std::string::npos) {
        return silence();
    }
    const bool modern = !request.header("Mcp-Method").empty();
    return modern ? answer_json(R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":{}})")
                  : as_server(request);
}

relayed events_gateway(const relayed::adjustment& adjust = {})
{
    return relayed{events_server, [adjust](config::settings& settings) {
                       make_mcp(settings);
                       if (adjust) {
                           adjust(settings);
                       }
                   }};
}

std::string request_of(std::string_view method, std::string_view params, bool modern = true)
{
    std::string text = R"({"jsonrpc":"2.0","id":"e","method":")" + std::string{method} + R"(","params":{)";
    text += params;
    if (modern) {
        text += params.empty() ? "" : ",";
        text += R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                R"("io.modelcontextprotocol/clientCapabilities":{}})";
    }
    return text + "}}";
}

field_list modern_fields(std::string_view method)
{
    return {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", std::string{method}}};
}

http_response subscribe(const relayed& x, const std::string& delivery, bool modern = true)
{
    const auto body = request_of("events/subscribe", R"("name":"n","delivery":)" + delivery, modern);
    return post(x, body, modern ? modern_fields("events/subscribe") : field_list{});
}

std::string webhook(const std::string& url)
{
    return R"({"mode":"webhook","url":")" + url + R"(","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})";
}

http_client opened(const relayed& x)
{
    http_client caller{x.port()};
    auto fields = with(usual_fields(), modern_fields("events/stream"));
    fields.emplace_back("Content-Type", "application/json");
    caller.send(request_text("POST", "/agents/a/mcp", fields, request_of("events/stream", R"("name":"n")")));
    return caller;
}

}  // namespace

TEST_CASE("Each method of the events extension reaches the server as it is, in both eras")
{
    const auto x = events_gateway();
    const auto session = begin(x);
    for (const std::string method : {"events/list", "events/poll", "events/subscribe", "events/unsubscribe"}) {
        CAPTURE(method);
        const auto params = R"("name":"n","arguments":{"n":1.50},"delivery":)" + webhook("https://hooks.example.com/a");
        const auto modern = request_of(method, params);
        CHECK(post(x, modern, modern_fields(method)).status == 200);
        CHECK(passed_on(x).back().body == modern);
        const auto legacy = request_of(method, params, /*modern=*/false);
        CHECK(post(x, legacy, {{"Mcp-Session-Id", session}}).status == 200);
        CHECK(passed_on(x).back().body == legacy);
    }
}

TEST_CASE("A stream of events outlives timeouts.call and the longest call, and gets its result at the gateway's end")
{
    auto x = events_gateway([](config::settings& settings) {
        settings.agents[0].mcp->call_timeout = 100ms;
        settings.agents[0].mcp->longest_call = 150ms;
    });
    auto stream = opened(x);
    REQUIRE(x.agent.wait_for_streams(1));
    for (int calls = 0; calls < 2; ++calls) {
        const auto polled = post(x, request_of("events/poll", R"("name":"hang")"), modern_fields("events/poll"));
        CHECK(polled.status == 504);
    }
    x.agent.send_event(R"({"jsonrpc":"2.0","method":"notifications/events/event","params":{"cursor":"1"}})");
    CHECK(stream.read_until("\"cursor\":\"1\"}}").find("200 OK") != std::string::npos);
    x.gateway.stop();
    const auto rest = stream.read_until("0\r\n\r\n");
    CHECK(rest.find(R"({"jsonrpc":"2.0","id":"e","result":{"resultType":"complete"}})") != std::string::npos);
    CHECK(x.gateway.wait_until_stopped());
}

TEST_CASE("Streams of events of an agent are as many as its limits.streams, and the next one gets 503")
{
    auto x = events_gateway([](config::settings& settings) { settings.defaults.calls.streams = 2; });
    std::vector<http_client> streams;
    for (std::size_t open = 1; open <= 2; ++open) {
        streams.push_back(opened(x));
        REQUIRE(x.agent.wait_for_streams(open));
    }
    const auto third = post(x, request_of("events/stream", R"("name":"n")"), modern_fields("events/stream"));
    CHECK(third.status == 503);
    CHECK(third.header("Cardea-Error") == "overloaded");
    CHECK(post(x, request_of("events/poll", R"("name":"n")"), modern_fields("events/poll")).status == 200);
}

TEST_CASE("A webhook at an address that is not public is -32602, and the server does not hear of it")
{
    const auto x = events_gateway();
    const std::vector<std::string> hidden_addresses{
        webhook("http://127.0.0.1:9000/a"),
        webhook("https://localhost/a"),
        webhook("https://a.localhost./a"),
        webhook("https://10.1.2.3/a"),
        webhook("https://169.254.169.254/latest/meta-data"),
        webhook("https://[::1]/a"),
        webhook("https://[::ffff:10.0.0.1]/a"),
        webhook("https://0x7f.1/a"),
        webhook("https://127.0x1/a"),
        webhook("https://2130706433/a"),
        webhook("https://user@hooks.example.com/a"),
        webhook("ftp://hooks.example.com/a"),
        webhook(R"(https://10.0.0.1\u002fa)"),
        webhook(""),
        R"({"mode":"webhook","url":["https://hooks.example.com/a"]})",
        R"({"mode":"webhook","\u0075rl":"https://10.0.0.1/a"})",
        R"("https://10.0.0.1/a")",
    };
    for (const bool modern : {true, false}) {
        for (const auto& each : hidden_addresses) {
            CAPTURE(each);
            const auto got = subscribe(x, each, modern);
            check_error(got, 400, -32602, "invalid_params");
            CHECK(got.body.find("params.delivery.url ") != std::string::npos);
        }
        for (const std::string twice :
             {R"({"url":"https://hooks.example.com/a","url":"https://10.0.0.1/a"})",
              R"({"url":"https://hooks.example.com/a","URL":"https://10.0.0.1/a"})",
              R"({"url":"https://hooks.example.com/a"},"delivery":{"url":"https://10.0.0.1/a"})",
              R"({"url":"https://hooks.example.com/a"},"Delivery":{"url":"https://10.0.0.1/a"})"}) {
            CAPTURE(twice);
            check_error(subscribe(x, twice, modern), 400, -32600, "invalid_request");
        }
    }
    CHECK(passed_on(x).empty());
    CHECK(subscribe(x, webhook("https://hooks.example.com/a")).status == 200);
    CHECK(subscribe(x, R"({"mode":"webhook"})").status == 200);
    const auto allowed = events_gateway([](config::settings& settings) { settings.push_allow = {"10.0.0.0/8"}; });
    CHECK(subscribe(allowed, webhook("https://10.1.2.3/a")).status == 200);
    CHECK(subscribe(allowed, webhook("https://127.0.0.1/a")).status == 400);
}

TEST_CASE("Rules of access know the methods of events")
{
    const auto x = events_gateway([](config::settings& settings) {
        const core::principal ci{.id = "ci", .provider = "ci", .tenant = {}, .scopes = {}, .groups = {}, .claims = {}};
        settings.access.providers = {{"ci", core::static_token_provider{core::secret{"token-of-ci-0123456789"}, ci}}};
        auto& agent = settings.agents[0];
        agent.discover = {.anyone = true, .any_of = {}};
        agent.call = {.anyone = false, .any_of = {{.principals = {"ci"}, .methods = {"events/list", "events/poll"}}}};
    });
    const auto ask = [&](const std::string& method) {
        auto fields = modern_fields(method);
        fields.emplace_back("Authorization", "Bearer token-of-ci-0123456789");
        return post(x, request_of(method, R"("name":"n")"), fields).status;
    };
    CHECK(ask("events/list") == 200);
    CHECK(ask("events/poll") == 200);
    for (const std::string method : {"events/stream", "events/subscribe", "events/unsubscribe"}) {
        CHECK(ask(method) == 403);
    }
    CHECK(passed_on(x).size() == 2);
}

TEST_CASE("A server that has no events answers as it does directly")
{
    relayed x{
        [](const recorded_request& request) {
            const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
            return answer(
                404,
                R"({"jsonrpc":"2.0","id":)" + (body.contains("id") ? body["id"].dump() : "null") +
                    R"(,"error":{"code":-32601,"message":"Method not found"}})",
                {{"Content-Type", "application/json"}}
            );
        },
        make_mcp
    };
    const auto got = post(x, request_of("events/list", ""), modern_fields("events/list"));
    CHECK(got.status == 404);
    CHECK(json::parse(got.body)["error"] == json::parse(R"({"code":-32601,"message":"Method not found"})"));
}

TEST_SUITE_END();
