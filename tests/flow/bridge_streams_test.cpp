// Streams whose callers and agents speak different dialects of A2A: each event, the first one of a subscription, and ends.
#include "tests/flow/bridge_fixture.hpp"
#include "tests/unit/net/sse/sse_reader.hpp"

#include <string>

TEST_SUITE_BEGIN("flow/bridge/streams");

namespace {

using enum core::a2a_dialect;
using flow::asked;
using flow::bridged;
using flow::plain_json;
using test_support::field_list;

}  // namespace

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
            const auto data = flow::data_of(got.body);
            CHECK(flow::told(caller, data[0]) == "working");
            CHECK(flow::told(caller, data[1]) == (flow::is_1(caller) ? "completed" : "completed final"));
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
        const auto data = flow::data_of(with.ask(caller, asked::stream).body);
        REQUIRE(data.size() == 2);
        CHECK(flow::told(caller, data[0]) == "working");
        CHECK(flow::told(caller, data[1]) == (flow::is_1(caller) ? "completed" : "completed final"));
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
        CHECK(flow::told(v1_jsonrpc, got.substr(got.find("data: ") + 6)) == state);
    }
    with.x.agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n").size() < 20);
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
            const auto data = flow::data_of(got.body);
            REQUIRE(data.size() == 3);
            const auto first = plain_json::parse(data[0]);
            const auto& event = flow::is_rest(caller) ? first : first.at("result");
            CHECK(event == plain_json::parse(R"({"task":)" + flow::task_in(caller, "working") + "}"));
            CHECK(flow::told(caller, data[1]) == "working");
            CHECK(with.x.agent.request_count() == before + 2);
            const auto asked_for = with.last();
            const auto query = agent == v03_rest ? flow::whole_history : std::string_view{};
            CHECK(asked_for.target == "/base" + flow::request_in(agent, asked::get).path + std::string{query});
            const bool in_params = asked_for.body.find(R"("historyLength":2147483647)") != std::string::npos;
            CHECK(in_params == (agent == v03_jsonrpc));
            CHECK(asked_for.method == flow::request_in(agent, asked::get).verb);
        }
    }
    const bridged modern{v1_jsonrpc};
    const auto old = modern.ask(v03_jsonrpc, asked::subscribe);
    CHECK(flow::data_of(old.body).size() == 2);
    CHECK(modern.x.agent.request_count() == 1);
}

TEST_CASE("a subscription of 1.0 to a task that has ended is refused, whether its agent of 0.3 streams or answers")
{
    for (const auto agent : {v03_jsonrpc, v03_rest}) {
        for (const bool streams : {true, false}) {
            const bridged with{
                agent,
                {},
                [&](const auto& seen) {
                    const auto id = flow::id_of(seen);
                    const bool asks = seen.body.find("tasks/get") != std::string::npos || seen.method == "GET";
                    if (streams && !asks) {
                        const field_list fields{{"Content-Type", "text/event-stream"}};
                        return test_support::answer(200, flow::stream_in(agent, id), fields);
                    }
                    const auto task = flow::task_in(agent, "completed");
                    return test_support::answer_json(
                        flow::enveloped(agent, id, flow::is_rest(agent) && !asks ? "{\"task\":" + task + "}" : task)
                    );
                }
            };
            for (const auto caller : {v1_jsonrpc, v1_rest}) {
                CAPTURE(core::name(caller));
                CAPTURE(core::name(agent));
                CAPTURE(streams);
                const auto got = with.ask(caller, asked::subscribe);
                CHECK(got.header("Content-Type") == "application/json");
                CHECK(got.status == (caller == v1_rest ? 400 : 200));
                const auto said = flow::said_error(caller, got.body);
                CHECK(said.starts_with(caller == v1_rest ? "FAILED_PRECONDITION UNSUPPORTED_OPERATION" : "-32004"));
            }
        }
    }
}

TEST_CASE("a subscription begins with one event, however long the task is and however the agent breaks its lines")
{
    const std::string note(300'000, 'x');
    const bridged with{
        v03_jsonrpc,
        {},
        [&note](const auto& seen) {
            const auto id = flow::id_of(seen);
            if (seen.body.find("tasks/get") != std::string::npos) {
                return test_support::answer_json(
                    "{\r\n\"jsonrpc\":\"2.0\",\"id\":" + id +
                    R"(,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"metadata":{)" +
                    "\r\n\r\n\"a\":1,\r\"b\":\"" + note + "\"\n}}}"
                );
            }
            return test_support::answer(200, flow::stream_in(v03_jsonrpc, id), {{"Content-Type", "text/event-stream"}});
        }
    };
    const auto data = flow::data_of(with.ask(v1_jsonrpc, asked::subscribe).body);
    REQUIRE(data.size() == 3);
    const auto task = plain_json::parse(data[0]).at("result").at("task");
    CHECK(task.at("metadata").at("a") == 1);
    CHECK(task.at("metadata").at("b") == note);
}

TEST_CASE("a subscription to a task that cannot be read is the agent's error, and no stream")
{
    const bridged with{
        v03_jsonrpc,
        {},
        [](const auto& seen) {
            const auto id = flow::id_of(seen);
            if (seen.body.find("tasks/get") != std::string::npos) {
                return test_support::answer_json(flow::error_in(v03_jsonrpc, id));
            }
            return test_support::answer(200, flow::stream_in(v03_jsonrpc, id), {{"Content-Type", "text/event-stream"}});
        }
    };
    for (const auto caller : {v1_jsonrpc, v1_rest}) {
        const auto got = with.ask(caller, asked::subscribe);
        CHECK(got.status == (caller == v1_rest ? 404 : 200));
        CHECK(got.header("Content-Type") == "application/json");
        CHECK(flow::said_error(caller, got.body) == (caller == v1_rest ? "NOT_FOUND TASK_NOT_FOUND no" : "-32001 no"));
    }
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
    CHECK(flow::data_of(got.body).size() == 2);
    REQUIRE(with.x.agent.request_count() == 2);
    CHECK(with.x.agent.request(0).method == "POST");
    CHECK(with.x.agent.request(1).method == "GET");
    CHECK(with.x.agent.request(1).target == "/base/tasks/t:subscribe");
    // Callers of HTTP+JSON may use either.
    const bridged old{v03_jsonrpc};
    CHECK(flow::data_of(old.ask(v03_rest, {"GET", "/v1/tasks/t:subscribe", ""}).body).size() == 2);
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

TEST_CASE("an event that cannot be translated is an error, and the last one of its stream")
{
    const auto good = flow::enveloped(v03_jsonrpc, "\"q-1\"", flow::update_in(v03_jsonrpc, "working"));
    const std::string stream = "data: " + good + "\n\ndata: {\"result\":{\"kind\":\"poem\"}}\n\ndata: " + good + "\n\n";
    const bridged with{v03_jsonrpc, {}, [&](const auto&) {
                           return test_support::answer(200, stream, {{"Content-Type", "text/event-stream"}});
                       }};
    const auto data = flow::data_of(with.ask(v1_jsonrpc, asked::stream).body);
    REQUIRE(data.size() == 2);
    CHECK(flow::told(v1_jsonrpc, data[0]) == "working");
    CHECK(flow::said_error(v1_jsonrpc, data[1]).starts_with("-32006 "));
}

TEST_SUITE_END();
