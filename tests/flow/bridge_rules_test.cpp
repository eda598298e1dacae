// Translated calls: what is refused and how, versions, limits, access, cards, extensions, pages, and what is counted.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"

#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/bridge/rules");

namespace {

using enum core::a2a_dialect;
using flow::asked;
using flow::bridged;
using flow::plain_json;
using flow::wire_request;

wire_request call_of(const std::string& method, const std::string& params)
{
    return {"POST", "", R"({"jsonrpc":"2.0","id":"q-1","method":")" + method + R"(","params":)" + params + "}"};
}

plain_json error_of(const test_support::http_response& got)
{
    const auto said = plain_json::parse(got.body, nullptr, /*allow_exceptions=*/false);
    return said.is_object() ? said.value("error", plain_json{}) : plain_json{};
}

}  // namespace

TEST_CASE("what carries meaning and cannot be said is refused with its place, and the agent is not asked")
{
    const bridged with{v03_jsonrpc};
    const auto rpc = with.ask(
        v1_jsonrpc,
        call_of("SendMessage", R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"},{}]}})")
    );
    CHECK(rpc.status == 200);
    CHECK(error_of(rpc).at("code") == -32602);
    CHECK(error_of(rpc).at("message").get<std::string>().find("message.parts[1]") != std::string::npos);
    CHECK(rpc.header("Cardea-Error") == "invalid_params");
    const auto rest = with.ask(v1_rest, {"POST", "/message:send", R"({"message":{"messageId":"m"})"});
    CHECK(rest.status == 400);
    CHECK(rest.header("Cardea-Error") == "parse_error");
    const auto list = with.ask(v1_jsonrpc, call_of("ListTasks", "{}"));
    CHECK(list.status == 200);
    CHECK(error_of(list).at("code") == -32004);
    CHECK(list.header("Cardea-Error") == "operation_unsupported");
    CHECK(with.ask(v1_rest, {"GET", "/tasks", ""}).status == 400);
    CHECK(with.x.agent.request_count() == 0);
}

TEST_CASE("an id that makes a target longer than limits.target does not reach an agent of HTTP+JSON")
{
    constexpr std::size_t limit = 256;
    const auto small = [](config::settings& s) { s.limits.target = limit; };
    const bridged with{v1_rest, small};
    const std::string_view path = "/tasks/";
    for (const std::size_t size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        const auto before = with.x.agent.request_count();
        const std::string id(size - path.size(), 't');
        const auto got = with.ask(v1_jsonrpc, call_of("GetTask", R"({"id":")" + id + "\"}"));
        CHECK(got.status == 200);
        if (size <= limit) {
            CHECK(with.last().target == "/base/tasks/" + id);
        } else {
            CHECK(error_of(got).at("code") == -32602);
            CHECK(with.x.agent.request_count() == before);
        }
    }
}

TEST_CASE("an id of a call up to limits.target comes back, and a longer one is refused")
{
    constexpr std::size_t limit = 256;
    const auto small = [](config::settings& s) { s.limits.target = limit; };
    const bridged with{v03_jsonrpc, small};
    for (const std::size_t size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        const auto before = with.x.agent.request_count();
        const auto id = std::string(size - 2, 'i');
        const auto got = with.ask(v1_jsonrpc, flow::request_in(v1_jsonrpc, asked::get, '"' + id + '"'));
        CHECK(got.status == 200);
        CHECK(plain_json::parse(got.body).at("id") == id);
        CHECK((error_of(got).is_null() ? 0 : error_of(got).at("code").get<int>()) == (size <= limit ? 0 : -32600));
        CHECK(with.x.agent.request_count() == before + (size <= limit ? 1 : 0));
    }
}

TEST_CASE("methods of extensions pass in the same generation, and are unknown across")
{
    const auto echo = [](const auto&) {
        return test_support::answer_json(R"({"jsonrpc":"2.0","id":"q-1","result":7})");
    };
    const bridged old{v03_jsonrpc, {}, echo};
    const auto own = call_of("x/own", "{\"a\" : 1}");
    CHECK(plain_json::parse(old.ask(v03_jsonrpc, own).body).at("result") == 7);
    CHECK(old.last().body == own.body);
    CHECK(error_of(old.ask(v1_jsonrpc, own, {{"A2A-Version", "1.0"}})).at("code") == -32601);
    CHECK(old.x.agent.request_count() == 1);
    const bridged modern{v1_jsonrpc, {}, echo};
    CHECK(plain_json::parse(modern.ask(v1_jsonrpc, own).body).at("result") == 7);
    const bridged rest{v1_rest, {}, echo};
    CHECK(error_of(rest.ask(v1_jsonrpc, own)).at("code") == -32601);
}

TEST_CASE("a version that is not supported is -32009, and what is no version is 400")
{
    const bridged with{v1_jsonrpc};
    const auto wire = flow::request_in(v1_jsonrpc, asked::send);
    for (const std::string good : {"1.0", "1.0.1", "", "0.3", "0.2.6"}) {
        CAPTURE(good);
        CHECK(error_of(with.ask(v1_jsonrpc, wire, {{"A2A-Version", good}})).is_null());
    }
    for (const std::string other : {"2.0", "1.1", "0.1", "10"}) {
        CAPTURE(other);
        const auto got = with.ask(v1_jsonrpc, wire, {{"A2A-Version", other}});
        CHECK(got.status == 200);
        CHECK(error_of(got).at("code") == -32009);
        CHECK(
            error_of(got).at("data") ==
            plain_json::parse(R"([{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":)"
                              R"("VERSION_NOT_SUPPORTED","domain":"a2a-protocol.org","metadata":{"agent":"a"}}])")
        );
        const auto old = with.ask(v03_jsonrpc, flow::request_in(v03_jsonrpc, asked::send), {{"A2A-Version", other}});
        CHECK(error_of(old).at("data").at("code") == "version_not_supported");
        const auto rest = with.ask(v1_rest, flow::request_in(v1_rest, asked::send), {{"A2A-Version", other}});
        CHECK(rest.status == 400);
        CHECK(error_of(rest).at("details").at(0).at("reason") == "VERSION_NOT_SUPPORTED");
    }
    for (const std::string garbage : {"one", "1.", ".0", "1.0.0.0", "1.0, 0.3", "v1"}) {
        CAPTURE(garbage);
        CHECK(with.ask(v1_jsonrpc, wire, {{"A2A-Version", garbage}}).status == 400);
        const auto rest = with.ask(v1_rest, flow::request_in(v1_rest, asked::send), {{"A2A-Version", garbage}});
        CHECK(rest.status == 400);
        CHECK(rest.header("Cardea-Error") == "bad_request");
    }
    CHECK(with.ask(v1_rest, {"GET", "/tasks/t?A2A-Version=2.0", ""}).status == 400);
    CHECK(with.ask(v1_rest, {"GET", "/tasks/t?A2A-Version=1.0", ""}).status == 200);
}

TEST_CASE("the editions of A2A 1.0 give some errors different statuses")
{
    for (const bool old : {true, false}) {
        const auto edition = [old](config::settings& s) {
            s.errors.profile = old ? core::error_edition::v1_0_0 : core::error_edition::v1_0_1;
        };
        const bridged with{v03_jsonrpc, edition, [](const auto&) {
                               return test_support::answer_json(
                                   R"({"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"done"}})"
                               );
                           }};
        const auto got = with.ask(v1_rest, asked::cancel);
        CHECK(got.status == (old ? 409 : 400));
        CHECK(error_of(got).at("details").at(0).at("reason") == "TASK_NOT_CANCELABLE");
    }
}

TEST_CASE("an address of HTTP+JSON that is none is 404, and another verb there is 405 with what it takes")
{
    const bridged with{v03_jsonrpc};
    const auto none = with.ask(v1_rest, {"GET", "/nothing/here/at/all", ""});
    CHECK(none.status == 404);
    CHECK(error_of(none).at("status") == "NOT_FOUND");
    const auto verb = with.ask(v1_rest, {"DELETE", "/message:send", ""});
    CHECK(verb.status == 405);
    CHECK(verb.header("Allow") == "POST");
    CHECK(with.ask(v03_rest, {"PUT", "/v1/tasks/t", ""}).status == 405);
    const auto page = test_support::request(
        with.x.port(),
        "POST",
        "/agents/a/rest/message:send",
        {{"Content-Type", "text/plain"}, {"Origin", "https://evil.example"}},
        "{}"
    );
    CHECK(page.header("Cardea-Error") == "unsupported_media_type");
    CHECK(test_support::request(with.x.port(), "GET", "/agents/none/rest/tasks/t").status == 404);
    CHECK(with.x.agent.request_count() == 0);
}

TEST_CASE("relay_paths let requests through as they are, also below /rest")
{
    const auto opaque = [](config::settings& s) { s.agents[0].relay_paths = {"/rest/**"}; };
    const bridged with{v03_jsonrpc, opaque, [](const auto&) { return test_support::answer(200, "as it is"); }};
    CHECK(with.ask(v1_rest, asked::send).body == "as it is");
    CHECK(with.last().target == "/base/rest/message:send");
}

TEST_CASE("an answer up to limits.sse_event is translated, and a longer one is not")
{
    constexpr std::size_t limit = 2048;
    const auto small = [](config::settings& s) { s.limits.sse_event = limit; };
    for (const std::size_t size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        const std::string front =
            R"({"jsonrpc":"2.0","id":"q-1","result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},)"
            R"("metadata":{"x":")";
        const std::string end = R"("}}})";
        const auto body = front + std::string(size - front.size() - end.size(), 'x') + end;
        for (const bool chunked : {false, true}) {
            const bridged with{v03_jsonrpc, small, [&](const auto&) {
                                   return chunked ? test_support::raw(
                                                        {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                                         "Transfer-Encoding: chunked\r\n\r\n" +
                                                         flow::chunked(body, 100)}
                                                    )
                                                  : test_support::answer_json(body);
                               }};
            const auto got = with.ask(v1_jsonrpc, asked::get);
            CHECK(got.status == 200);
            if (size <= limit) {
                CHECK(plain_json::parse(got.body).at("result").at("id") == "t");
            } else {
                CHECK(error_of(got).at("code") == -32006);
            }
        }
    }
}

TEST_CASE("an event over limits.sse_event ends its stream, and the events before it have gone out")
{
    const auto small = [](config::settings& s) { s.limits.sse_event = 2048; };
    const auto good = flow::enveloped(v03_jsonrpc, "1", flow::update_in(v03_jsonrpc, "working"));
    const auto stream = "data: " + good + "\n\ndata: " + std::string(4096, 'x') + "\n\n";
    bridged with{v03_jsonrpc, small, [&](const auto&) {
                     return test_support::answer(200, stream, {{"Content-Type", "text/event-stream"}});
                 }};
    test_support::http_client caller{with.x.port()};
    caller.send(flow::call_text(flow::request_in(v1_jsonrpc, asked::stream).body));
    const auto got = caller.read_until_closed();
    CHECK(got.find("TASK_STATE_WORKING") != std::string::npos);
    CHECK(got.find("0\r\n\r\n") == std::string::npos);
    CHECK(with.x.gateway.wait_for_metric(R"(cardea_upstream_errors_total{agent="a",reason="event_too_large"})", 1));
}

TEST_CASE("a translated call is judged by the name that its caller's generation has for it")
{
    test_support::scripted_agent agent{flow::speaking(v03_jsonrpc)};
    auto settings = flow::guarded(agent.url("/base"));
    auto& sends = settings.agents[2];
    REQUIRE(sends.id == "sends");
    sends.dialects = {v03_jsonrpc};
    flow::running_gateway gateway{std::move(settings)};
    const auto ask = [&](core::a2a_dialect caller, asked what) {
        const auto wire = flow::request_in(caller, what);
        auto fields = flow::ci;
        fields.emplace_back("Content-Type", "application/json");
        const std::string target = "/agents/sends" + std::string{flow::is_rest(caller) ? "/rest" : ""} + wire.path;
        return test_support::request(gateway.port(), wire.verb, target, fields, wire.body).status;
    };
    // `message/send` alone is allowed: it is the name of `POST /v1/message:send` too, but not of what 1.0 calls SendMessage.
    CHECK(ask(v03_jsonrpc, asked::send) == 200);
    CHECK(ask(v03_rest, asked::send) == 200);
    CHECK(agent.request_count() == 2);
    CHECK(ask(v1_jsonrpc, asked::send) == 403);
    CHECK(ask(v1_rest, asked::send) == 403);
    CHECK(ask(v03_rest, asked::stream) == 403);
    CHECK(ask(v03_rest, asked::get) == 403);
    CHECK(agent.request_count() == 2);
    CHECK(test_support::request(gateway.port(), "GET", "/agents/sends/rest/v1/tasks/t", flow::mallory).status == 404);
}

TEST_CASE("an extended card of an agent of the other generation comes in the caller's, and points at the gateway")
{
    const auto proxied = [](config::settings& s) { s.agents[0].extended_card = core::extended_card_access::proxy; };
    bridged with{v03_jsonrpc, proxied, [](const auto& seen) {
                     return test_support::answer_json(
                         R"({"jsonrpc":"2.0","id":)" + flow::id_of(seen) + R"(,"result":)" +
                         flow::card_text("A", "http://10.1.2.3/") + "}"
                     );
                 }};
    const auto rpc = with.ask(v1_jsonrpc, call_of("GetExtendedAgentCard", "{}"));
    const auto card = plain_json::parse(rpc.body);
    CHECK(card.at("id") == "q-1");
    CHECK(card.at("result").contains("supportedInterfaces"));
    CHECK(rpc.body.find("10.1.2.3") == std::string::npos);
    CHECK(with.last().body.find("agent/getAuthenticatedExtendedCard") != std::string::npos);
    for (const std::string path : {"/rest/extendedAgentCard", "/rest/v1/card"}) {
        CAPTURE(path);
        const auto got = test_support::request(with.x.port(), "GET", "/agents/a" + path);
        CHECK(got.status == 200);
        CHECK(plain_json::parse(got.body).at("name") == "A");
        CHECK(got.body.find("10.1.2.3") == std::string::npos);
        CHECK(with.last().method == "POST");
    }
}

TEST_CASE("an agent of 0.3 is asked for its extended card without params")
{
    const auto proxied = [](config::settings& s) { s.agents[0].extended_card = core::extended_card_access::proxy; };
    const bridged with{v03_jsonrpc, proxied};
    with.ask(v1_jsonrpc, call_of("GetExtendedAgentCard", "{}"));
    const auto body = plain_json::parse(with.last().body);
    CHECK(body.at("method") == "agent/getAuthenticatedExtendedCard");
    CHECK_FALSE(body.contains("params"));
    CHECK(body.at("id") == "q-1");
}

TEST_CASE("an agent whose card has no flag for an extended card is not asked for one, unless it is said that it has one"
)
{
    using enum core::extended_card_access;
    for (const auto access : {automatic, proxy}) {
        for (const bool flag : {false, true}) {
            CAPTURE(flag);
            const bridged with{v1_jsonrpc, [&](config::settings& s) {
                                   auto own = plain_json::parse(flow::card_text("A", "http://127.0.0.1/"));
                                   own["supportsAuthenticatedExtendedCard"] = flag;
                                   s.agents[0].card = own.dump();
                                   s.agents[0].extended_card = access;
                               }};
            // From here on the card is known.
            const auto card = "/agents/a/.well-known/agent-card.json";
            REQUIRE(test_support::request(with.x.port(), "GET", card).status == 200);
            const bool asks = flag || access == proxy;
            const auto code_of = [&](const auto& caller, const auto& wire) {
                const auto before = with.x.agent.request_count();
                const auto got = with.ask(caller, wire);
                CHECK((with.x.agent.request_count() > before) == asks);
                return got.header("Cardea-Error");
            };
            const auto modern = code_of(v1_jsonrpc, call_of("GetExtendedAgentCard", "{}"));
            const auto old = code_of(v03_jsonrpc, call_of("agent/getAuthenticatedExtendedCard", "{}"));
            const auto rest = code_of(v1_rest, wire_request{"GET", "/extendedAgentCard", ""});
            if (!asks) {
                CHECK(modern == "extended_card_unsupported");
                CHECK(old == "extended_card_not_configured");
                CHECK(rest == "extended_card_unsupported");
                const auto got = with.ask(v1_jsonrpc, call_of("GetExtendedAgentCard", "{}"));
                CHECK(error_of(got).at("code") == -32004);
            }
        }
    }
}

TEST_CASE("an answer of HTTP+JSON that is neither task nor message is the agent's fault")
{
    for (const std::string answer :
         {R"({"ok":true})",
          R"([])",
          R"("task")",
          R"({"task":5})",
          R"({"task":{}})",
          R"({"message":"x"})",
          "{}",
          R"({"statusUpdate":{"taskId":"t","status":{}}})",
          R"({"status":"ok"})"}) {
        CAPTURE(answer);
        const bridged with{v1_rest, {}, [&](const auto&) { return test_support::answer_json(answer); }};
        for (const auto what : {asked::send, asked::get, asked::cancel}) {
            const auto got = with.ask(v1_jsonrpc, what);
            CHECK(error_of(got).at("code") == -32006);
            CHECK(got.header("Cardea-Error") == "answer_untranslatable");
        }
    }
}

TEST_CASE("a path of HTTP+JSON that is refused is told in the words of HTTP+JSON")
{
    const bridged with{v1_rest};
    const auto refused = with.ask(v1_rest, {"GET", "/tasks/a%2Fb", ""});
    CHECK(refused.status == 400);
    CHECK(error_of(refused).at("status") == "INVALID_ARGUMENT");
    CHECK(error_of(refused).at("details").at(0).at("reason") == "bad_request");
    const auto old = with.ask(v03_rest, {"GET", "/v1/tasks/a%2Fb", ""});
    CHECK(old.status == 400);
    CHECK(plain_json::parse(old.body).contains("code"));
    CHECK(with.x.agent.request_count() == 0);
}

TEST_CASE("extensions go out and come back under the name of each generation")
{
    const bridged with{v03_jsonrpc, {}, [](const auto& seen) {
                           return test_support::answer_json(
                               flow::answer_in(v03_jsonrpc, asked::send, flow::id_of(seen)),
                               {{"X-A2A-Extensions", "https://x.example/on"}}
                           );
                       }};
    const auto got = with.ask(
        v1_jsonrpc,
        flow::request_in(v1_jsonrpc, asked::send),
        {{"A2A-Version", "1.0"}, {"A2A-Extensions", "https://x.example/one"}, {"X-Own", "stays"}}
    );
    const auto seen = with.last();
    CHECK(seen.header("X-A2A-Extensions") == "https://x.example/one");
    CHECK(seen.count("A2A-Extensions") == 0);
    CHECK(seen.count("A2A-Version") == 0);
    CHECK(seen.count("Content-Type") == 1);
    CHECK(seen.header("X-Own") == "stays");
    CHECK(got.header("A2A-Extensions") == "https://x.example/on");
    CHECK(got.count("X-A2A-Extensions") == 0);
}

TEST_CASE("a caller of JSON-RPC that activates the gateway's extension reads that its call was translated")
{
    const std::string own = "urn:cardea:a2a:extension:gateway:v1";
    const bridged with{v03_jsonrpc};
    const test_support::field_list wanting{{"A2A-Version", "1.0"}, {"A2A-Extensions", own}};
    const auto got = with.ask(v1_jsonrpc, flow::request_in(v1_jsonrpc, asked::send), wanting);
    CHECK(got.status == 200);
    CHECK(got.header("A2A-Extensions") == own);
    const auto facts = plain_json::parse(got.body)["result"]["task"]["metadata"][own];
    CHECK(facts["agent"] == "a");
    CHECK(facts["translated"] == true);
    CHECK(with.last().count("X-A2A-Extensions") == 0);
    CHECK(with.last().count("A2A-Extensions") == 0);
    const auto events = with.ask(v1_jsonrpc, flow::request_in(v1_jsonrpc, asked::stream), wanting);
    CHECK(events.header("A2A-Extensions") == own);
    const auto all = flow::data_of(events.body);
    REQUIRE(all.size() == 2);
    for (const auto& each : all) {
        CHECK(plain_json::parse(each)["result"]["statusUpdate"]["metadata"][own]["translated"] == true);
    }
    // HTTP+JSON has none, and does not say so.
    const auto rest = with.ask(v1_rest, flow::request_in(v1_rest, asked::send), wanting);
    CHECK(rest.status == 200);
    CHECK(rest.count("A2A-Extensions") == 0);
    CHECK(rest.body.find(own) == std::string::npos);
}

TEST_CASE("a list in pages is one list for a caller that knows no pages")
{
    const auto page = [](const std::string& id, const std::string& ids, const std::string& next) {
        return test_support::answer_json(
            R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"configs":[)" + ids + R"(],"nextPageToken":")" + next +
            "\"}}"
        );
    };
    const auto config = [](const std::string& id) {
        return R"({"taskId":"t","id":")" + id + R"(","url":"http://c/"})";
    };
    const auto list = call_of("tasks/pushNotificationConfig/list", R"({"id":"t"})");
    const bridged with{v1_jsonrpc, {}, [&](const auto& seen) {
                           const auto id = flow::id_of(seen);
                           if (seen.body.find("\"pageToken\":\"two\"") != std::string::npos) {
                               return page(id, "", "three");
                           }
                           if (seen.body.find("\"pageToken\":\"three\"") != std::string::npos) {
                               return page(id, config("c"), "");
                           }
                           return page(id, config("a") + "," + config("b"), "two");
                       }};
    const auto got = plain_json::parse(with.ask(v03_jsonrpc, list).body);
    CHECK(got.at("id") == "q-1");
    REQUIRE(got.at("result").size() == 3);
    CHECK(got.at("result").at(2).at("pushNotificationConfig").at("id") == "c");
    CHECK(with.x.agent.request_count() == 3);

    const bridged endless{v1_jsonrpc, {}, [&](const auto& seen) {
                              return page(flow::id_of(seen), config("a"), "more");
                          }};
    CHECK(error_of(endless.ask(v03_jsonrpc, list)).at("code") == -32006);
    CHECK(endless.x.agent.request_count() == 100);
}

TEST_CASE("members that a translation drops are counted for the agent")
{
    const bridged with{v03_jsonrpc};
    const auto call = call_of(
        "SendMessage",
        R"({"tenant":"acme","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","filename":"f"}]}})"
    );
    CHECK(with.ask(v1_jsonrpc, call).status == 200);
    CHECK(with.x.gateway.wait_for_metric(R"(cardea_translation_lost_total{agent="a"})", 2));
}

TEST_CASE("a notification is translated, and answered with nothing")
{
    const bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::answer(204, ""); }};
    auto note = flow::request_in(v1_jsonrpc, asked::send);
    note.body.erase(note.body.find(R"("id":"q-1",)"), std::string_view{R"("id":"q-1",)"}.size());
    const auto got = with.ask(v1_jsonrpc, note);
    CHECK(got.status == 204);
    CHECK(got.body.empty());
    const auto seen = plain_json::parse(with.last().body);
    CHECK(seen.at("method") == "message/send");
    CHECK_FALSE(seen.contains("id"));
}

TEST_CASE("a notification that fails is no success")
{
    const bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::answer(503, ""); }};
    auto note = flow::request_in(v1_jsonrpc, asked::send);
    note.body.erase(note.body.find(R"("id":"q-1",)"), std::string_view{R"("id":"q-1",)"}.size());
    CHECK(error_of(with.ask(v1_jsonrpc, note)).at("code") == -31503);
}

TEST_CASE("a long call is translated as well")
{
    const bridged with{v03_jsonrpc};
    const auto text = std::string(600'000, 'x');
    const auto call = call_of(
        "SendMessage",
        R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":")" + text + R"("}]}})"
    );
    CHECK(
        plain_json::parse(with.ask(v1_jsonrpc, call).body) ==
        plain_json::parse(flow::answer_in(v1_jsonrpc, asked::send))
    );
    CHECK(plain_json::parse(with.last().body).at("params").at("message").at("parts").at(0).at("text") == text);
}

TEST_CASE("what a translation holds counts for limits.body_memory")
{
    const auto call = call_of(
        "SendMessage",
        R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":")" + std::string(600'000, 'x') + R"("}]}})"
    );
    for (const std::uint64_t memory : {1'000'000U, 4'000'000U}) {
        CAPTURE(memory);
        const bridged with{v03_jsonrpc, [memory](config::settings& s) { s.limits.body_memory = memory; }};
        const auto got = with.ask(v1_jsonrpc, call);
        const bool fits = memory > 2'000'000;
        CHECK(got.status == (fits ? 200 : 503));
        CHECK(got.header("Cardea-Error") == (fits ? "" : "overloaded"));
        CHECK(with.x.agent.request_count() == (fits ? 1 : 0));
        // Nothing is kept of it.
        CHECK(with.ask(v1_jsonrpc, asked::send).status == 200);
    }
}

TEST_CASE("a translated call passes at the limit of body_memory that it takes, and not at one byte less")
{
    const auto text = std::string(100'000, 'x');
    const std::pair<core::a2a_dialect, wire_request> calls[] = {
        {v1_jsonrpc,
         call_of(
             "SendMessage",
             R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":")" + text + R"("}]}})"
         )},
        {v1_rest,
         {"POST",
          "/message:send",
          R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":")" + text + R"("}]}})"}},
    };
    for (const auto& [caller, call] : calls) {
        CAPTURE(core::name(caller));
        const auto status_with = [&](std::uint64_t memory) {
            const bridged with{v03_jsonrpc, [memory](config::settings& s) { s.limits.body_memory = memory; }};
            const auto got = with.ask(caller, call);
            CHECK(got.header("Cardea-Error") == (got.status == 200 ? "" : "overloaded"));
            return got.status;
        };
        std::uint64_t refused = call.body.size();
        std::uint64_t taken = 8 * call.body.size();
        REQUIRE(status_with(taken) == 200);
        while (taken - refused > 1) {
            const auto middle = refused + (taken - refused) / 2;
            (status_with(middle) == 200 ? taken : refused) = middle;
        }
        MESSAGE(call.body.size() << " bytes take " << taken);
        // What came, and what goes out.
        CHECK(taken >= 2 * text.size());
        for (const auto memory : {taken - 1, taken, taken + 1}) {
            CHECK(status_with(memory) == (memory < taken ? 503 : 200));
        }
    }
}

TEST_SUITE_END();
