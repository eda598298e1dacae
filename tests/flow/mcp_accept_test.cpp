#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_accept");

using namespace flow;
using namespace flow::mcp_calls;

namespace {

const std::string asking = R"({"jsonrpc":"2.0","id":9,"method":"custom/ask"})";
const std::string noting = R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})";

std::string event_of(std::string_view data)
{
    return "event: message\ndata: " + std::string{data} + "\n\n";
}

std::string result_of(const json& body)
{
    return R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":{"content":[]}})";
}

// As as_server(), but every answer is a stream that begins with an event without data, a notification and a question, as the
// servers of the SDKs answer. The stream of a call with the id 7 ends without an answer.
script streaming_server(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const bool from_caller = !request.header("Traceparent").empty();
    const bool answers = body.is_object() && body.contains("id") && !body.contains("result") && !body.contains("error");
    if (!from_caller || request.method != "POST" || !(answers || body.is_array())) {
        return as_server(request);
    }
    std::string events = "id: 1\ndata:\n\n: a comment\n\n" + event_of(noting) + event_of(asking);
    if (body.is_array()) {
        for (const auto& each : body) {
            events += event_of(result_of(each));
        }
        return answer(200, events, {{"Content-Type", "text/event-stream"}});
    }
    const bool begins = body.value("method", "") == "initialize";
    if (body["id"] != 7) {
        events += event_of(begins ? initialized : result_of(body));
    }
    field_list fields{{"Content-Type", "text/event-stream; charset=utf-8"}, {"Cache-Control", "no-cache"}};
    if (begins) {
        fields.emplace_back("Mcp-Session-Id", server_id);
    }
    return answer(200, events, fields);
}

relayed streaming_gateway(const relayed::adjustment& adjust = {})
{
    return relayed{streaming_server, [adjust](config::settings& settings) {
                       make_mcp(settings);
                       if (adjust) {
                           adjust(settings);
                       }
                   }};
}

http_response
post_taking(const relayed& x, std::string_view accept, std::string_view body, const field_list& further = {})
{
    field_list fields{{"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
    if (!accept.empty()) {
        fields.emplace_back("Accept", accept);
    }
    return send(x, "POST", with(fields, further), body);
}

}  // namespace

TEST_CASE("A caller that takes anything or says nothing is served, and the server is told that both forms are taken")
{
    const auto x = mcp_gateway();
    for (const auto* const accept : {"", "*/*", "application/*", "application/json", "text/html, */*;q=0.1"}) {
        CAPTURE(accept);
        const auto got = post_taking(x, accept, initialize_body);
        CHECK(got.status == 200);
        CHECK(got.header("Content-Type") == "application/json");
        CHECK(got.body == initialized);
        CHECK(passed_on(x).back().header("Accept") == "application/json, text/event-stream");
        CHECK(passed_on(x).back().count("Accept") == 1);
    }
}

TEST_CASE("A caller that excludes JSON and events gets 406")
{
    const auto x = mcp_gateway();
    for (const auto* const accept : {"text/html", "application/json;q=0", "application/json;q=0, text/*;q=0.0"}) {
        CAPTURE(accept);
        check_error(post_taking(x, accept, initialize_body), 406, -31406, "not_acceptable");
    }
    CHECK(passed_on(x).empty());
}

TEST_CASE("A caller that takes JSON alone gets the answer in a server's stream as JSON")
{
    const auto x = streaming_gateway();
    const auto began = post_taking(x, "application/json", initialize_body);
    CHECK(began.status == 200);
    CHECK(began.header("Content-Type") == "application/json");
    CHECK(began.count("Content-Type") == 1);
    CHECK(began.header("Content-Length") == std::to_string(initialized.size()));
    CHECK(began.body == initialized);
    const field_list session{{"Mcp-Session-Id", began.header("Mcp-Session-Id")}};
    CHECK_FALSE(session[0].second.empty());
    CHECK(
        post_taking(x, "application/json", R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session)
            .status == 202
    );
    const auto called = post_taking(x, "application/json", call_of("3"), session);
    CHECK(called.status == 200);
    CHECK(called.body == R"({"jsonrpc":"2.0","id":3,"result":{"content":[]}})");
}

TEST_CASE("A question in a stream that becomes JSON is answered with -32601")
{
    const auto x = streaming_gateway();
    const auto began = post_taking(x, "application/json", initialize_body);
    const field_list session{{"Mcp-Session-Id", began.header("Mcp-Session-Id")}};
    CHECK(post_taking(x, "application/json", call_of("3"), session).status == 200);
    const auto is_answered = [&] {
        for (const auto& each : x.agent.requests()) {
            if (each.body == R"({"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"Method not found"}})") {
                return true;
            }
        }
        return false;
    };
    CHECK(becomes_true(is_answered));
}

TEST_CASE("A stream that ends without an answer is an error to a caller that takes JSON alone")
{
    const auto x = streaming_gateway();
    const auto began = post_taking(x, "application/json", initialize_body);
    const field_list session{{"Mcp-Session-Id", began.header("Mcp-Session-Id")}};
    const auto called = post_taking(x, "application/json", call_of("7"), session);
    CHECK(called.header("Cardea-Error") == "upstream_protocol");
    CHECK(json::parse(called.body)["id"] == 7);
}

TEST_CASE("A list that is edited becomes JSON for a caller that takes JSON alone")
{
    const auto x = relayed{
        [](const recorded_request& request) {
            const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
            if (request.header("Traceparent").empty() || !body.is_object() ||
                body.value("method", "") != "tools/list") {
                return streaming_server(request);
            }
            const auto list =
                R"({"jsonrpc":"2.0","id":)" + body["id"].dump() +
                R"(,"result":{"tools":[{"name":"one","inputSchema":{}},{"name":"two","inputSchema":{}}]}})";
            return answer(200, event_of(noting) + event_of(list), {{"Content-Type", "text/event-stream"}});
        },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->tools.deny = {"two"};
        }
    };
    const auto began = post_taking(x, "application/json", initialize_body);
    const field_list session{{"Mcp-Session-Id", began.header("Mcp-Session-Id")}};
    const auto got = post_taking(x, "application/json", R"({"jsonrpc":"2.0","id":4,"method":"tools/list"})", session);
    CHECK(got.status == 200);
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.body == R"({"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"one","inputSchema":{}}]}})");
}

TEST_CASE("A caller that takes events alone gets a JSON answer as one event, and an error as what it is")
{
    const auto x = mcp_gateway();
    const auto began = post_taking(x, "text/event-stream", initialize_body);
    CHECK(began.status == 200);
    CHECK(began.header("Content-Type") == "text/event-stream");
    CHECK(began.body.ends_with("data: " + initialized + "\n\n"));
    const field_list session{{"Mcp-Session-Id", began.header("Mcp-Session-Id")}};
    CHECK_FALSE(session[0].second.empty());
    const auto called = post_taking(x, "text/event-stream", call_of("3"), session);
    CHECK(called.body.ends_with("data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}\n\n"));
    CHECK(post_taking(x, "text/event-stream", "{", session).status == 400);
}

TEST_SUITE_END();
