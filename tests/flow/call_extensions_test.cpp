// Extensions of calls: their header fields in both directions, and what an agent's card requires.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/call_extensions");

namespace {

using flow::call_body;
using flow::parsed;
using flow::relayed;
using test_support::answer_json;
using test_support::field_list;
using test_support::http_response;

const std::string own = "urn:cardea:a2a:extension:gateway:v1";
const std::string result = R"({"jsonrpc":"2.0","id":1,"result":{}})";

http_response call(const relayed& x, std::string_view method, const field_list& fields = {})
{
    test_support::http_client caller{x.port()};
    caller.send(flow::call_text(call_body("1", method), fields));
    return caller.read_response();
}

// Of the latest request that the agent has got.
std::string sent(const relayed& x, std::string_view name)
{
    return x.agent.requests().back().header(name);
}

// The agent answers calls with this field, and its card, which is here, requires u:a and u:b.
relayed::adjustment requiring(bool of_03 = false, bool bridge = false)
{
    return [of_03, bridge](config::settings& s) {
        s.agents[0].bridge = bridge;
        s.agents[0].card =
            R"({"name":"A","description":"d","version":"1","capabilities":{"extensions":[{"uri":"u:a","required":true},)"
            R"({"uri":"u:c"},{"uri":"u:b","required":true},{"uri":"urn:cardea:a2a:extension:gateway:v1","required":true}]},)"
            R"("defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],)"
            R"("supportedInterfaces":[{"url":"http://x/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})";
        s.agents[0].extensions_of_03 = of_03;
    };
}

}  // namespace

TEST_CASE("The agent gets the field of its generation, and the caller hears the echo under its own name")
{
    const relayed x{answer_json(result, {{"A2A-Extensions", "u:a"}})};
    CHECK(call(x, "SendMessage", {{"X-A2A-Extensions", "u:a,u:b"}}).header("X-A2A-Extensions") == "u:a");
    CHECK(sent(x, "A2A-Extensions") == "u:a, u:b");
    CHECK(sent(x, "X-A2A-Extensions").empty());

    const auto older = call(x, "message/send", {{"A2A-Extensions", "u:a"}});
    CHECK(older.header("A2A-Extensions") == "u:a");
    CHECK(sent(x, "X-A2A-Extensions") == "u:a");
    CHECK(sent(x, "A2A-Extensions").empty());
}

TEST_CASE("A field that the agent reads passes as it is")
{
    const relayed x{answer_json(result, {{"X-A2A-Extensions", "u:a"}})};
    const auto got = call(x, "SendMessage", {{"a2a-extensions", "u:a ,,u:b"}});
    CHECK(got.body == result);
    CHECK(got.header("A2A-Extensions") == "u:a");
    CHECK(got.count("X-A2A-Extensions") == 0);
    CHECK(sent(x, "A2A-Extensions") == "u:a ,,u:b");
    CHECK(call(x, "SendMessage").header("X-A2A-Extensions") == "u:a");
}

TEST_CASE("An extension method goes by the version that the caller names")
{
    const relayed x{answer_json(result)};
    CHECK(call(x, "own/action", {{"A2A-Version", "1.0"}, {"X-A2A-Extensions", "u:a"}}).status == 200);
    CHECK(sent(x, "A2A-Extensions") == "u:a");
    CHECK(call(x, "own/action", {{"A2A-Extensions", "u:a"}}).status == 200);
    CHECK(sent(x, "X-A2A-Extensions") == "u:a");
}

TEST_CASE("The gateway's own extensions do not reach the agent")
{
    const relayed x{answer_json(result)};
    CHECK(call(x, "SendMessage", {{"A2A-Extensions", own + ", u:a"}}).status == 200);
    CHECK(sent(x, "A2A-Extensions") == "u:a");
    CHECK(call(x, "SendMessage", {{"A2A-Extensions", own}}).status == 200);
    CHECK(x.agent.requests().back().count("A2A-Extensions") == 0);
}

TEST_CASE(
    "A call of 1.0 that does not name what the card requires gets -32008 with what is missing, and one of 0.3 passes"
)
{
    const relayed x{answer_json(result), requiring()};
    REQUIRE(flow::get_card(x.gateway, "a").status == 200);
    const auto none = call(x, "SendMessage");
    CHECK(none.status == 200);
    CHECK(none.header("Cardea-Error") == "extension_required");
    const auto error = parsed(none.body)["error"];
    CHECK(parsed(none.body)["id"] == 1);
    CHECK(error["code"] == -32008);
    CHECK(error["data"][0]["reason"] == "EXTENSION_SUPPORT_REQUIRED");
    CHECK(error["data"][0]["metadata"] == parsed(R"({"agent":"a","missing":"u:a, u:b"})"));
    const auto one = call(x, "SendMessage", {{"A2A-Extensions", "u:a"}});
    CHECK(parsed(one.body)["error"]["data"][0]["metadata"]["missing"] == "u:b");
    CHECK(x.agent.request_count() == 0);

    CHECK(call(x, "SendMessage", {{"A2A-Extensions", "u:b, u:a"}}).body == result);
    CHECK(call(x, "message/send").body == result);
}

TEST_CASE("With enforce_0_3 a call of 0.3 has to name it too")
{
    const relayed x{answer_json(result), requiring(/*of_03=*/true)};
    REQUIRE(flow::get_card(x.gateway, "a").status == 200);
    const auto error = parsed(call(x, "message/send").body)["error"];
    CHECK(error["code"] == -32008);
    CHECK(error["data"]["missing"] == parsed(R"(["u:a","u:b"])"));
    CHECK(call(x, "message/send", {{"X-A2A-Extensions", "u:a,u:b"}}).body == result);
}

TEST_CASE("A translated call has to name what the card requires, and callers of HTTP+JSON read what is missing")
{
    const relayed x{
        answer_json(
            R"({"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}})"
        ),
        requiring(/*of_03=*/true, /*bridge=*/true)
    };
    REQUIRE(flow::get_card(x.gateway, "a").status == 200);
    const auto rest = [&](const std::string& path, const std::string& message, field_list fields) {
        fields.emplace_back("Content-Type", "application/json");
        return test_support::request(
            x.port(),
            "POST",
            "/agents/a/rest" + path,
            fields,
            R"({"message":)" + message + "}"
        );
    };
    const std::string modern = R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]})";
    const auto refused = rest("/message:send", modern, {{"A2A-Extensions", "u:c"}});
    CHECK(refused.status == 400);
    CHECK(refused.header("Cardea-Error") == "extension_required");
    CHECK(parsed(refused.body)["error"]["details"][0]["metadata"]["missing"] == "u:a, u:b");
    const std::string old = R"({"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]})";
    const auto older = rest("/v1/message:send", old, {{"X-A2A-Extensions", "u:a"}});
    CHECK(parsed(older.body)["code"] == -32008);
    CHECK(parsed(older.body)["data"]["missing"] == parsed(R"(["u:b"])"));
    const auto get = R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}})";
    const auto translated = flow::call(x.port(), get);
    CHECK(parsed(translated.body)["error"]["data"]["missing"] == parsed(R"(["u:a","u:b"])"));
    CHECK(x.agent.request_count() == 0);

    CHECK(rest("/message:send", modern, {{"A2A-Extensions", "u:a, u:b," + own}}).status == 200);
    CHECK(sent(x, "A2A-Extensions") == "u:a, u:b");
    CHECK(rest("/v1/message:send", old, {{"X-A2A-Extensions", "u:b,u:a"}}).status == 200);
    CHECK(sent(x, "A2A-Extensions") == "u:b, u:a");
    CHECK(x.agent.requests().back().count("X-A2A-Extensions") == 0);
}

TEST_CASE("A call that names too many extensions is 431 before the agent hears of it")
{
    const relayed x{answer_json(result)};
    for (const std::size_t count : {31U, 32U, 33U}) {
        CAPTURE(count);
        std::string value;
        for (std::size_t i = 0; i < count; ++i) {
            value += (i == 0 ? "u:" : ",u:") + std::to_string(i);
        }
        CHECK(call(x, "SendMessage", {{"A2A-Extensions", value}}).status == (count <= 32 ? 200 : 431));
    }
    for (const std::size_t bytes : {4095U, 4096U, 4097U}) {
        CAPTURE(bytes);
        const auto got = call(x, "SendMessage", {{"A2A-Extensions", std::string(bytes, 'u')}});
        CHECK(got.status == (bytes <= 4096 ? 200 : 431));
        CHECK(got.header("Cardea-Error") == (bytes <= 4096 ? "" : "header_too_large"));
    }
}

TEST_CASE("A caller that activates the gateway's extension gets its facts, and hears so; no other caller does")
{
    const std::string task = R"({"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","n":1.50}})";
    const relayed x{answer_json(task, {{"X-A2A-Extensions", "u:a"}}), requiring()};
    REQUIRE(flow::get_card(x.gateway, "a").status == 200);
    const auto got = call(x, "message/send", {{"X-A2A-Extensions", own + ",u:a"}});
    CHECK(got.status == 200);
    CHECK(got.count("X-A2A-Extensions") == 2);
    CHECK(got.header("X-A2A-Extensions") == "u:a");
    CHECK(std::ranges::count(got.headers, own, &std::pair<std::string, std::string>::second) == 1);
    CHECK(got.body.find("1.50") != std::string::npos);
    const auto facts = parsed(got.body)["result"]["metadata"][own];
    CHECK(facts["agent"] == "a");
    CHECK(facts["translated"] == false);
    CHECK(facts["cardAge"] >= 0);
    CHECK(sent(x, "X-A2A-Extensions") == "u:a");

    CHECK(call(x, "message/send", {{"X-A2A-Extensions", "u:a"}}).body == task);
    // No task, message or event: no facts, and no echo of them.
    const auto pushes = call(x, "tasks/pushNotificationConfig/list", {{"X-A2A-Extensions", own}});
    CHECK(pushes.body == task);
    CHECK(pushes.count("X-A2A-Extensions") == 1);
}

TEST_CASE("An answer without a place for facts passes as it came, and does not name them")
{
    const std::string text = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}})";
    const relayed x{answer_json(text)};
    const auto got = call(x, "message/send", {{"X-A2A-Extensions", own}});
    CHECK(got.body == text);
    CHECK(got.count("X-A2A-Extensions") == 0);
}

TEST_CASE("Each event of a stream has the facts")
{
    relayed x{test_support::event_stream(), requiring()};
    test_support::http_client caller{x.port()};
    caller.send(flow::call_text(
        call_body("1", "SendStreamingMessage"),
        {{"Accept", "text/event-stream"}, {"A2A-Extensions", own + ",u:a,u:b"}}
    ));
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event(R"({"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t"}}})");
    const auto head = caller.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("A2A-Extensions") == own);
    const auto first = caller.read_until("\n\n");
    CHECK(
        first.find(R"({"task":{"metadata":{"urn:cardea:a2a:extension:gateway:v1":{"agent":"a")") != std::string::npos
    );
    x.agent.send_event(R"({"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{}}})");
    CHECK(caller.read_until("\n\n").find(R"("statusUpdate":{"metadata":)") != std::string::npos);
    x.agent.end_streams();
}

TEST_SUITE_END();
