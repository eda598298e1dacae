// Calls whose callers and agents speak different dialects of A2A, over real sockets: each pair of the four dialects.
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/unit/net/sse/sse_reader.hpp"

#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/bridge");

namespace {

using enum core::a2a_dialect;
using flow::asked;
using flow::bridged;
using flow::plain_json;
using flow::wire_request;

// The error of an answer, whatever the dialect: "-32001 no".
std::string error_of(core::a2a_dialect caller, const std::string& body)
{
    auto said = plain_json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (said.is_object() && said.contains("error")) {
        said = said["error"];
    }
    if (!said.is_object() || !said.contains("code")) {
        return "no error: " + body;
    }
    const auto message = said.value("message", "");
    if (caller == v1_rest) {
        return said.value("status", "") + ' ' + said.at("details").at(0).value("reason", "") + ' ' + message;
    }
    return std::to_string(said["code"].get<int>()) + ' ' + message;
}

// "working", "completed final": what an event says, and that nothing of another generation is in it.
std::string told(core::a2a_dialect caller, const std::string& data)
{
    const auto said = plain_json::parse(data);
    if (!flow::is_rest(caller)) {
        CHECK(said.at("id") == "q-1");
    }
    const auto& result = flow::is_rest(caller) ? said : said.at("result");
    const auto& update = caller == v03_jsonrpc ? result : result.at("statusUpdate");
    CHECK((data.find("\"kind\"") != std::string::npos) == (caller == v03_jsonrpc));
    CHECK((data.find("\"final\"") == std::string::npos || !flow::is_1(caller)));
    auto state = update.at("status").at("state").get<std::string>();
    const std::string prefix = "TASK_STATE_";
    CHECK(state.starts_with(prefix) == (caller != v03_jsonrpc));
    state = state.starts_with(prefix) ? state.substr(prefix.size()) : state;
    for (auto& c : state) {
        c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return state + (update.value("final", false) ? " final" : "");
}

std::string error_in(core::a2a_dialect agent, const std::string& id)
{
    const std::string info =
        R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"})";
    switch (agent) {
        case v03_jsonrpc:
            return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32001,"message":"no"}})";
        case v1_jsonrpc:
            return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32001,"message":"no","data":[)" + info +
                   "]}}";
        case v03_rest:
            return R"({"code":-32001,"message":"no"})";
        case v1_rest:
            break;
    }
    return R"({"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[)" + info + "]}}";
}

std::string told_not_found(core::a2a_dialect caller)
{
    return caller == v1_rest ? "NOT_FOUND TASK_NOT_FOUND no" : "-32001 no";
}

std::vector<std::string> data_of(const std::string& stream)
{
    std::vector<std::string> all;
    for (const auto& each : tests::events_of(stream)) {
        all.push_back(each.substr(each.find('|', each.find('|') + 1) + 1));
    }
    return all;
}

}  // namespace

TEST_CASE("a call of any dialect reaches an agent of any dialect, and its answer comes in the caller's")
{
    for (const auto agent : flow::dialects) {
        const bridged with{agent};
        for (const auto caller : flow::dialects) {
            for (const auto what : {asked::send, asked::get, asked::cancel}) {
                CAPTURE(core::name(caller));
                CAPTURE(core::name(agent));
                CAPTURE(flow::method_name(caller, what));
                const auto got = with.ask(caller, what);
                CHECK(got.status == 200);
                CHECK(got.header("Content-Type") == "application/json");
                CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(caller, what)));
                const auto seen = with.last();
                const auto wanted = flow::request_in(agent, what);
                CHECK(seen.method == wanted.verb);
                CHECK(seen.target == "/base" + wanted.path);
                if (what == asked::send) {
                    const auto sent = plain_json::parse(seen.body);
                    const auto& params = flow::is_rest(agent) ? sent : sent.at("params");
                    CHECK(params.at("message") == plain_json::parse(flow::message_in(agent)));
                }
                if (agent != caller) {
                    CHECK(seen.header("A2A-Version") == (flow::is_1(agent) ? "1.0" : ""));
                }
            }
        }
        const auto lines = flow::access_lines(with.x.gateway, 12);
        REQUIRE(lines.size() == 12);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CAPTURE(lines[i]);
            CHECK((lines[i].find(R"("translated":true)") != std::string::npos) == (flow::dialects[i / 3] != agent));
            CHECK(lines[i].find(R"("route":"call")") != std::string::npos);
        }
    }
}

TEST_CASE("a call between equal dialects passes byte for byte, also over HTTP+JSON")
{
    const std::string answer = "{ \"task\" :\t{\"id\":\"t\", \"x\":1.50e+1}}\r\n";
    const bridged with{
        v1_rest,
        {},
        [&](const auto&) {
            return test_support::answer(200, answer, {{"Content-Type", "application/a2a+json"}, {"ETag", "\"e\""}});
        }
    };
    const wire_request odd{"POST", "/acme/message:send?x=%20y", "{ \"message\":{} , \"unknown\":1.0}"};
    const auto got = with.ask(v1_rest, odd, {{"A2A-Version", "1.0"}, {"A2A-Extensions", "https://x.example/e"}});
    CHECK(got.status == 200);
    CHECK(got.body == answer);
    CHECK(got.header("Content-Type") == "application/a2a+json");
    CHECK(got.header("ETag") == "\"e\"");
    const auto seen = with.last();
    CHECK(seen.target == "/base/acme/message:send?x=%20y");
    CHECK(seen.body == odd.body);
    CHECK(seen.header("A2A-Version") == "1.0");
    CHECK(seen.header("A2A-Extensions") == "https://x.example/e");
}

TEST_CASE("each event of a stream is translated, with its id and its comments")
{
    for (const auto agent : flow::dialects) {
        const bridged with{agent};
        for (const auto caller : flow::dialects) {
            CAPTURE(core::name(caller));
            CAPTURE(core::name(agent));
            const auto got = with.ask(caller, asked::stream);
            CHECK(got.status == 200);
            CHECK(got.header("Content-Type") == "text/event-stream");
            CHECK(got.body.starts_with(": hello\n\n"));
            const auto events = tests::events_of(got.body);
            REQUIRE(events.size() == 2);
            CHECK(events[0].find("|1|") != std::string::npos);
            CHECK(events[1].starts_with("message|2|"));
            const auto data = data_of(got.body);
            CHECK(told(caller, data[0]) == "working");
            CHECK(told(caller, data[1]) == (flow::is_1(caller) ? "completed" : "completed final"));
            CHECK(with.last().target == "/base" + flow::request_in(agent, asked::stream).path);
        }
    }
}

TEST_CASE("events are the same however the agent cuts its stream")
{
    const bridged with{v03_jsonrpc, {}, [](const auto& seen) {
                           return test_support::chunked_byte_by_byte(
                               flow::stream_in(v03_jsonrpc, flow::id_of(seen)),
                               "text/event-stream"
                           );
                       }};
    for (const auto caller : {v03_rest, v1_jsonrpc, v1_rest}) {
        CAPTURE(core::name(caller));
        const auto data = data_of(with.ask(caller, asked::stream).body);
        REQUIRE(data.size() == 2);
        CHECK(told(caller, data[0]) == "working");
        CHECK(told(caller, data[1]) == (flow::is_1(caller) ? "completed" : "completed final"));
    }
}

TEST_CASE("each event goes out when it came, and the head before the first one")
{
    bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::event_stream(); }};
    test_support::http_client caller{with.x.port()};
    const auto wire = flow::request_in(v1_jsonrpc, asked::stream);
    caller.send(flow::call_text(wire.body));
    CHECK(caller.read_head().status == 200);
    REQUIRE(with.x.agent.wait_for_streams(1));
    for (const std::string state : {"working", "completed"}) {
        with.x.agent.send_event(flow::enveloped(v03_jsonrpc, "\"q-1\"", flow::update_in(v03_jsonrpc, state)));
        const auto got = caller.read_until("\n\n");
        CHECK(told(v1_jsonrpc, got.substr(got.find("data: ") + 6)) == state);
    }
    with.x.agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n").size() < 20);
}

TEST_CASE("an error of the agent's has its code and its message in every dialect")
{
    for (const auto agent : flow::dialects) {
        const bridged with{agent, {}, [agent](const auto& seen) {
                               return test_support::answer(
                                   flow::is_rest(agent) ? 404 : 200,
                                   error_in(agent, flow::id_of(seen)),
                                   {{"Content-Type", "application/json"}}
                               );
                           }};
        for (const auto caller : flow::dialects) {
            for (const auto what : {asked::get, asked::stream}) {
                CAPTURE(core::name(caller));
                CAPTURE(core::name(agent));
                const auto got = with.ask(caller, what);
                CHECK(got.status == (flow::is_rest(caller) ? 404 : 200));
                CHECK(got.header("Content-Type") == "application/json");
                CHECK(error_of(caller, got.body) == told_not_found(caller));
                CHECK((flow::is_rest(caller) || plain_json::parse(got.body).at("id") == "q-1"));
            }
        }
    }
}

TEST_CASE("an error status without a body of A2A is an error of A2A for the caller")
{
    bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::html(503); }};
    const auto rpc = with.ask(v1_jsonrpc, asked::send);
    CHECK(rpc.status == 200);
    CHECK(error_of(v1_jsonrpc, rpc.body).starts_with("-31503 "));
    const auto rest = with.ask(v1_rest, asked::send);
    CHECK(rest.status == 503);
    CHECK(plain_json::parse(rest.body).at("error").at("code") == 503);
    CHECK(with.ask(v03_jsonrpc, asked::send).status == 503);
}

TEST_CASE("a subscription of 1.0 begins with the task, which an agent of 0.3 is asked for")
{
    for (const auto agent : {v03_jsonrpc, v03_rest}) {
        const bridged with{agent};
        for (const auto caller : {v1_jsonrpc, v1_rest}) {
            CAPTURE(core::name(caller));
            CAPTURE(core::name(agent));
            const auto before = with.x.agent.request_count();
            const auto got = with.ask(caller, asked::subscribe);
            CHECK(got.status == 200);
            const auto data = data_of(got.body);
            REQUIRE(data.size() == 3);
            const auto first = plain_json::parse(data[0]);
            const auto& event = flow::is_rest(caller) ? first : first.at("result");
            CHECK(event == plain_json::parse(R"({"task":)" + flow::task_in(caller, "completed") + "}"));
            CHECK(told(caller, data[1]) == "working");
            CHECK(with.x.agent.request_count() == before + 2);
            const auto asked_for = with.last();
            CHECK(asked_for.target == "/base" + flow::request_in(agent, asked::get).path);
            CHECK(asked_for.method == flow::request_in(agent, asked::get).verb);
        }
    }
    const bridged modern{v1_jsonrpc};
    const auto old = modern.ask(v03_jsonrpc, asked::subscribe);
    CHECK(data_of(old.body).size() == 2);
    CHECK(modern.x.agent.request_count() == 1);
}

TEST_CASE("a subscription to a task that cannot be read ends with the agent's error")
{
    const bridged with{
        v03_jsonrpc,
        {},
        [](const auto& seen) {
            const auto id = flow::id_of(seen);
            if (seen.body.find("tasks/get") != std::string::npos) {
                return test_support::answer_json(error_in(v03_jsonrpc, id));
            }
            return test_support::answer(200, flow::stream_in(v03_jsonrpc, id), {{"Content-Type", "text/event-stream"}});
        }
    };
    const auto data = data_of(with.ask(v1_jsonrpc, asked::subscribe).body);
    REQUIRE(data.size() == 1);
    CHECK(error_of(v1_jsonrpc, data[0]) == "-32001 no");
}

TEST_CASE("a subscription goes out as POST, and as GET to an agent of HTTP+JSON that takes no POST")
{
    const auto only_get = [](const test_support::recorded_request& seen) {
        return seen.method == "GET"
                   ? test_support::answer(200, flow::stream_in(v1_rest), {{"Content-Type", "text/event-stream"}})
                   : test_support::answer(405, "", {{"Allow", "GET"}});
    };
    const bridged with{v1_rest, {}, only_get};
    const auto got = with.ask(v1_jsonrpc, asked::subscribe);
    CHECK(data_of(got.body).size() == 2);
    REQUIRE(with.x.agent.request_count() == 2);
    CHECK(with.x.agent.request(0).method == "POST");
    CHECK(with.x.agent.request(1).method == "GET");
    CHECK(with.x.agent.request(1).target == "/base/tasks/t:subscribe");
    // Callers of HTTP+JSON may use either.
    const bridged old{v03_jsonrpc};
    CHECK(data_of(old.ask(v03_rest, {"GET", "/v1/tasks/t:subscribe", ""}).body).size() == 2);
}

TEST_CASE("a stream that breaks off within an event is cut for the caller, who has the events before")
{
    const auto whole = "data: " + flow::enveloped(v03_jsonrpc, "1", flow::update_in(v03_jsonrpc, "working")) + "\n\n";
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n";
    bridged with{v03_jsonrpc, {}, [&](const auto&) {
                     return test_support::then(
                         test_support::raw({head + whole + "data: {\"jsonrpc\":"}),
                         {test_support::close_now{}}
                     );
                 }};
    test_support::http_client caller{with.x.port()};
    caller.send(flow::call_text(flow::request_in(v1_jsonrpc, asked::stream).body));
    const auto got = caller.read_until_closed();
    CHECK(got.find("TASK_STATE_WORKING") != std::string::npos);
    CHECK(got.find("0\r\n\r\n") == std::string::npos);
    const auto lines = flow::access_lines(with.x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(R"("stream":"upstream")") != std::string::npos);
    CHECK(lines[0].find(R"("code":"upstream_reset")") != std::string::npos);
}

TEST_CASE("an agent that breaks off within a unary answer is upstream_reset, in the caller's words")
{
    bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::half_body(); }};
    CHECK(with.ask(v1_jsonrpc, asked::send).header("Cardea-Error") == "upstream_reset");
    const auto rest = with.ask(v1_rest, asked::send);
    CHECK(rest.status == 502);
    CHECK(
        plain_json::parse(rest.body) ==
        plain_json::parse(R"({"error":{"code":502,"status":"INTERNAL",)"
                          R"("message":"The agent closed the connection before its answer was complete.",)"
                          R"("details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"upstream_reset",)"
                          R"("domain":"cardea","metadata":{"agent":"a"}}]}})")
    );
    const auto old = with.ask(v03_rest, asked::send);
    CHECK(old.status == 502);
    CHECK(plain_json::parse(old.body).at("data").at("code") == "upstream_reset");
}

TEST_CASE("what is no answer of A2A, or none that the caller's dialect has, is -32006")
{
    for (const std::string body : {"", "[]", "not JSON", R"({"jsonrpc":"2.0","id":1,"result":{"kind":"poem"}})"}) {
        CAPTURE(body);
        const bridged with{v03_jsonrpc, {}, [&](const auto&) { return test_support::answer_json(body); }};
        const auto rpc = with.ask(v1_jsonrpc, asked::send);
        CHECK(rpc.status == 200);
        CHECK(error_of(v1_jsonrpc, rpc.body).starts_with("-32006 "));
        const auto rest = with.ask(v1_rest, asked::send);
        CHECK(rest.status >= 500);
        CHECK(error_of(v1_rest, rest.body).find("INVALID_AGENT_RESPONSE") != std::string::npos);
        const auto lines = flow::access_lines(with.x.gateway, 2);
        REQUIRE(lines.size() == 2);
        CHECK(lines[0].find(R"("code":"answer_untranslatable","from":"upstream")") != std::string::npos);
    }
}

TEST_CASE("an event that cannot be translated is an error, and the last one of its stream")
{
    const auto good = flow::enveloped(v03_jsonrpc, "\"q-1\"", flow::update_in(v03_jsonrpc, "working"));
    const std::string stream = "data: " + good + "\n\ndata: {\"result\":{\"kind\":\"poem\"}}\n\ndata: " + good + "\n\n";
    const bridged with{v03_jsonrpc, {}, [&](const auto&) {
                           return test_support::answer(200, stream, {{"Content-Type", "text/event-stream"}});
                       }};
    const auto data = data_of(with.ask(v1_jsonrpc, asked::stream).body);
    REQUIRE(data.size() == 2);
    CHECK(told(v1_jsonrpc, data[0]) == "working");
    CHECK(error_of(v1_jsonrpc, data[1]).starts_with("-32006 "));
}

TEST_CASE("of several interfaces a caller gets its own dialect, else its generation, else a translation")
{
    const auto both = [](config::settings& s) { s.agents[0].dialects = {v03_jsonrpc, v1_rest}; };
    const bridged with{v03_jsonrpc, both, [](const auto& seen) {
                           const bool rpc = seen.target == "/base";
                           return flow::speaking(rpc ? v03_jsonrpc : v1_rest)(seen);
                       }};
    for (const auto& [caller, target] :
         {std::pair{v03_jsonrpc, "/base"},
          {v03_rest, "/base"},
          {v1_rest, "/base/message:send"},
          {v1_jsonrpc, "/base/message:send"}}) {
        CAPTURE(core::name(caller));
        const auto got = with.ask(caller, asked::send);
        CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(caller, asked::send)));
        CHECK(with.last().target == target);
    }
}

TEST_CASE("without bridge calls of JSON-RPC pass as they are, and HTTP+JSON is only there if the agent has it")
{
    const auto alone = [](config::settings& s) { s.agents[0].bridge = false; };
    const bridged rpc{v03_jsonrpc, alone, [](const auto&) { return test_support::answer_json("{}"); }};
    CHECK(rpc.ask(v1_jsonrpc, flow::request_in(v1_jsonrpc, asked::send), {{"A2A-Version", "7"}}).body == "{}");
    CHECK(rpc.last().body == flow::request_in(v1_jsonrpc, asked::send).body);
    CHECK(rpc.ask(v03_rest, asked::send).status == 404);
    const bridged rest{v1_rest, alone};
    CHECK(rest.ask(v1_rest, asked::send).status == 200);
    CHECK(rest.ask(v03_rest, asked::send).status == 404);
}

TEST_CASE("an agent of which nothing is known speaks JSON-RPC of its callers' generation")
{
    const auto unknown = [](config::settings& s) { s.agents[0].dialects.clear(); };
    const bridged with{v1_jsonrpc, unknown};
    const auto got = with.ask(v1_rest, asked::send);
    CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(v1_rest, asked::send)));
    CHECK(with.last().target == "/base");
    CHECK(with.ask(v03_jsonrpc, asked::send).status == 404);
    CHECK(with.last().body == flow::request_in(v03_jsonrpc, asked::send).body);
}

TEST_SUITE_END();
