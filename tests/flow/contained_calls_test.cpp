// Calls to contained agents: what each dialect hears, and how calls and streams under way end.
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using core::json;
using flow::call_body;
using flow::call_text;
using flow::check_contained;
using flow::contain;
using flow::contained_plain;
using flow::contained_rpc;
using flow::relayed;
using flow::release;
using test_support::bytes;
using test_support::field_list;
using test_support::http_client;
using test_support::http_response;
using test_support::request;
using test_support::request_text;

TEST_SUITE_BEGIN("flow/contained_calls");

namespace {

constexpr std::string_view code = "agent_contained";
constexpr auto soon = 1000ms;  // far more than the 100 ms that it may take, for a machine that is busy

relayed agent_with_paths(std::size_t in_flight = 0)
{
    return relayed{
        test_support::answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})"),
        [=](config::settings& settings) {
            auto& record = settings.agents[0];
            record.relay_paths = {"/files/*"};
            record.bridge = true;
            if (in_flight > 0) {
                record.most_in_flight = in_flight;
                record.most_queued = 10;
                record.queue_wait = test_support::patience;
            }
        }
    };
}

http_response post(std::uint16_t port, std::string_view target, std::string_view body, field_list fields = {})
{
    fields.emplace_back("Content-Type", "application/json");
    return request(port, "POST", target, fields, body);
}

const std::string stream_call = call_body("7", "message/stream");

// A stream of events that has begun, with one event at the caller.
struct open_stream {
    explicit open_stream(relayed& x, const std::string& text = call_text(stream_call))
        : caller{x.port()}
    {
        x.agent.next(test_support::event_stream());
        caller.send(text);
        REQUIRE(x.agent.wait_for_streams(1));
        x.agent.send_event("1");
        const auto head = caller.read_head();
        CHECK(head.status == 200);
        caller.read_until("data: 1\n\n");
    }

    // The rest of the body, behind the head of its chunk.
    std::string rest() { return caller.read_until("\r\n0\r\n\r\n"); }

    http_client caller;
};

}  // namespace

TEST_CASE("a contained agent is a plain 403 in the dialect of each caller, and gets no byte")
{
    relayed x = agent_with_paths();
    const auto connections = x.agent.accepted_connections();
    const auto done = contain(x.gateway, "a");
    CHECK(done["id"] == "a");
    CHECK(done["cut"] == json{{"calls", 0}, {"streams", 0}, {"sessions", 0}});

    check_contained(flow::call(x.port(), call_body("1")), contained_rpc("1", code));
    check_contained(flow::call(x.port(), call_body(R"("x")", "SendMessage")), contained_rpc(R"("x")", code));
    check_contained(flow::call(x.port(), stream_call), contained_rpc("7", code));
    check_contained(
        flow::call(x.port(), R"({"jsonrpc":"2.0","method":"message/send","params":{}})"),
        contained_plain(code)
    );
    check_contained(flow::call(x.port(), "{"), contained_plain(code));
    for (const std::string_view target :
         {"/.well-known/agent-card.json", "/.well-known/agent.json", "/files/x", "/agent/authenticatedExtendedCard", ""
         }) {
        CAPTURE(target);
        check_contained(request(x.port(), "GET", "/agents/a" + std::string{target}), contained_plain(code));
    }
    check_contained(post(x.port(), "/agents/a/files/x", "any"), contained_plain(code));
    check_contained(
        post(x.port(), "/agents/a/rest/v1/message:send", "{}"),
        R"({"code":-31403,"message":"An operator has stopped this agent for now.",)"
        R"("data":{"code":"agent_contained","agent":"a","retryable":false}})"
    );
    check_contained(
        post(x.port(), "/agents/a/rest/message:send", "{}"),
        R"({"error":{"code":403,"status":"PERMISSION_DENIED","message":"An operator has stopped this agent for now.",)"
        R"("details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"agent_contained","domain":"cardea",)"
        R"("metadata":{"agent":"a"}}]}})"
    );
    CHECK(x.agent.accepted_connections() == connections);
    CHECK(x.gateway.wait_for_metric(R"(cardea_denied_total{reason="contained"})", 13));

    release(x.gateway, "a");
    CHECK(flow::call(x.port(), call_body()).status == 200);
}

TEST_CASE("the notice and the end of a containment are in the answer, in each dialect")
{
    relayed x = agent_with_paths();
    const auto done = contain(x.gateway, "a", {{"notice", "Back \"soon\"."}, {"until", "1h"}});
    const auto until = done["contained"]["until"].get<std::string>();

    const auto rpc = flow::parsed(flow::call(x.port(), call_body()).body)["error"];
    CHECK(rpc["message"] == "Back \"soon\".");
    CHECK(rpc["data"] == json{{"code", code}, {"agent", "a"}, {"retryable", false}, {"until", until}});
    const auto plain = flow::parsed(request(x.port(), "GET", "/agents/a/files/x").body)["error"];
    CHECK(plain["message"] == "Back \"soon\".");
    CHECK(plain["until"] == until);
    const auto of_03 = flow::parsed(post(x.port(), "/agents/a/rest/v1/message:send", "{}").body);
    CHECK(of_03["data"]["until"] == until);
    const auto of_1 = flow::parsed(post(x.port(), "/agents/a/rest/message:send", "{}").body)["error"];
    CHECK(of_1["details"][0]["metadata"] == json{{"agent", "a"}, {"until", until}});
}

TEST_CASE("a call without a head gets the 403, wherever it is, and the agent's connection ends")
{
    relayed x = agent_with_paths(1);

    SUBCASE("it waits for the agent")
    {
        x.agent.next(test_support::silence());
        http_client caller{x.port(), soon};
        caller.send(call_text(call_body("5")));
        REQUIRE(x.agent.wait_for_requests(1));
        CHECK(contain(x.gateway, "a")["cut"]["calls"] == 1);
        check_contained(caller.read_response(), contained_rpc("5", code));
        CHECK(x.agent.wait_until_peer_closed());
        release(x.gateway, "a");
        caller.send(call_text(call_body("6")));
        CHECK(caller.read_response().status == 200);  // its connection goes on
    }
    SUBCASE("it waits in the agent's queue")
    {
        x.agent.next(test_support::silence());
        http_client first{x.port(), soon};
        first.send(call_text(call_body("5")));
        REQUIRE(x.agent.wait_for_requests(1));
        http_client second{x.port(), soon};
        second.send(call_text(call_body("6")));
        REQUIRE(x.gateway.wait_for_metric(R"(cardea_queue_length{agent="a"})", 1));
        CHECK(contain(x.gateway, "a")["cut"]["calls"] == 2);
        check_contained(first.read_response(), contained_rpc("5", code));
        check_contained(second.read_response(), contained_rpc("6", code));
        CHECK(x.agent.request_count() == 1);
    }
    SUBCASE("its body is being read")
    {
        http_client caller{x.port(), soon};
        const auto text = call_text(call_body("5"));
        caller.send(std::string_view{text}.substr(0, text.size() - 5));
        REQUIRE(x.gateway.wait_for_metric("cardea_requests_in_flight", 1));
        CHECK(contain(x.gateway, "a")["cut"]["calls"] == 1);
        check_contained(caller.read_response(), contained_plain(code));
        CHECK(x.agent.request_count() == 0);
    }
    SUBCASE("its body is passed on piece by piece")
    {
        http_client caller{x.port(), soon};
        caller.send(
            "POST /agents/a/files/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" +
            std::string(200'000, 'x')
        );
        REQUIRE(x.agent.wait_for_connections(1));
        CHECK(contain(x.gateway, "a")["cut"]["calls"] == 1);
        check_contained(caller.read_response(), contained_plain(code));
        CHECK(x.agent.wait_until_peer_closed());
    }
    SUBCASE("an answer is read whole for its caller")
    {
        x.agent.next(test_support::half_chunked());
        x.agent.next(test_support::then(
            test_support::raw({"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"}),
            {test_support::hold{}}
        ));
        http_client ignored{x.port()};
        ignored.send(call_text(call_body("4", "tasks/list")));
        ignored.read_head();
        http_client caller{x.port(), soon};
        caller.send(request_text(
            "POST",
            "/agents/a/rest/message:send",
            {{"Content-Type", "application/json"}},
            R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}})"
        ));
        REQUIRE(x.agent.wait_for_requests(2));
        contain(x.gateway, "a");
        const auto got = caller.read_response();
        CHECK(got.status == 403);
        CHECK(flow::parsed(got.body)["error"]["status"] == "PERMISSION_DENIED");
    }
}

TEST_CASE("a stream of HTTP+JSON ends with an event of the type that its clients know as an error")
{
    relayed x{test_support::answer_json("{}"), [](config::settings& settings) {
                  settings.agents[0].dialects = {core::a2a_dialect::v1_rest};
              }};
    constexpr std::string_view message = R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}})";
    open_stream stream{
        x,
        request_text("POST", "/agents/a/rest/message:stream", {{"Content-Type", "application/json"}}, message)
    };
    contain(x.gateway, "a");
    const auto rest = stream.rest();
    CHECK(rest.find("event: error\ndata: {\"error\":{\"code\":403,") != std::string::npos);
}

TEST_CASE("a stream of events ends between two events with an error in its caller's dialect")
{
    relayed x = agent_with_paths();

    SUBCASE("of JSON-RPC")
    {
        open_stream stream{x};
        CHECK(contain(x.gateway, "a")["cut"]["streams"] == 1);
        CHECK(stream.rest().ends_with("data: " + contained_rpc("7", code) + "\n\n\r\n0\r\n\r\n"));
        CHECK(x.agent.wait_until_peer_closed());
        CHECK(x.gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 0));
        release(x.gateway, "a");
        stream.caller.send(call_text(call_body()));
        CHECK(stream.caller.read_response().status == 200);
    }
    SUBCASE("of JSON-RPC of 1.0, with the notice")
    {
        open_stream stream{x, call_text(call_body("7", "SendStreamingMessage"))};
        contain(x.gateway, "a", {{"notice", "n"}});
        CHECK(stream.rest().find(R"("id":7,"error":{"code":-31403,"message":"n")") != std::string::npos);
    }
    SUBCASE("within an event that goes on")
    {
        open_stream stream{x};
        x.agent.send_stream("data: tw");
        stream.caller.read_until("data: tw");
        CHECK(contain(x.gateway, "a")["cut"]["streams"] == 1);
        x.agent.send_stream("o\n\ndata: three\n\ndata: fo");
        const auto rest = stream.rest();
        CHECK(rest.find("o\n\n") != std::string::npos);
        CHECK(rest.find("three") == std::string::npos);
        CHECK(rest.find(contained_rpc("7", code)) != std::string::npos);
    }
    SUBCASE("within an event that does not go on")
    {
        open_stream stream{x};
        x.agent.send_stream("data: tw");
        stream.caller.read_until("data: tw");
        const auto begun = std::chrono::steady_clock::now();
        CHECK(contain(x.gateway, "a")["cut"]["streams"] == 1);
        const auto rest = stream.caller.read_until_closed();
        CHECK(std::chrono::steady_clock::now() - begun < soon);
        CHECK(rest.find("0\r\n\r\n") == std::string::npos);
        CHECK(x.agent.wait_until_peer_closed());
    }
}

TEST_CASE("a body that is no stream of events is cut, and never looks whole")
{
    relayed x = agent_with_paths();
    for (const std::string_view head : {"Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"}) {
        CAPTURE(head);
        x.agent.next(test_support::then(
            test_support::raw(
                {"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" + std::string{head} +
                 "\r\n5\r\nxxxxx\r\n"}
            ),
            {test_support::hold{}}
        ));
        http_client caller{x.port(), soon};
        caller.send(request_text("GET", "/agents/a/files/x"));
        CHECK(caller.read_head().status == 200);
        CHECK(contain(x.gateway, "a")["cut"]["streams"] == 1);
        CHECK(caller.read_until_closed().find("0\r\n\r\n") == std::string::npos);
        release(x.gateway, "a");
    }
}

TEST_CASE("an agent that does not stop talking, and callers that do not read, do not put the end off")
{
    relayed x = agent_with_paths();
    x.agent.otherwise([](const test_support::recorded_request&) {
        return test_support::then(
            test_support::raw(
                {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"}
            ),
            {test_support::pattern{1ULL << 32U, true}}
        );
    });
    http_client deaf{x.port(), soon};
    deaf.send(call_text(stream_call));
    CHECK(deaf.read_head().status == 200);
    std::this_thread::sleep_for(100ms);  // until its socket is full
    const auto begun = std::chrono::steady_clock::now();
    CHECK(contain(x.gateway, "a")["cut"]["streams"] == 1);
    CHECK(x.agent.wait_until_peer_closed());
    CHECK(std::chrono::steady_clock::now() - begun < soon);
}

TEST_CASE("a try from the console is refused like any other call")
{
    relayed x = agent_with_paths();
    const field_list json_type{{"Content-Type", "application/json"}};
    REQUIRE(request(x.gateway.admin_port(), "POST", "/try/agents/a", json_type, call_body()).status == 200);
    contain(x.gateway, "a");
    check_contained(
        request(x.gateway.admin_port(), "POST", "/try/agents/a", json_type, call_body()),
        contained_rpc("1", code)
    );
}

TEST_CASE("a stream in HTTP/1.0 ends with its connection, behind the error")
{
    relayed x = agent_with_paths();
    x.agent.next(test_support::event_stream());
    http_client caller{x.port()};
    caller.send(
        "POST /agents/a HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(stream_call.size()) + "\r\n\r\n" + stream_call
    );
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event("1");
    caller.read_until("data: 1\n\n");
    contain(x.gateway, "a");
    CHECK(caller.read_until_closed() == "data: " + contained_rpc("7", code) + "\n\n");
}

TEST_CASE("a dry run counts and cuts nothing")
{
    relayed x = agent_with_paths();
    open_stream stream{x};
    const auto would = contain(x.gateway, "a", {{"dryRun", true}});
    CHECK(would["cut"] == json{{"calls", 0}, {"streams", 1}, {"sessions", 0}});
    CHECK(would["dryRun"] == true);
    x.agent.send_event("2");
    stream.caller.read_until("data: 2\n\n");
    CHECK(flow::call(x.port(), call_body()).status == 200);
}

TEST_SUITE_END();
