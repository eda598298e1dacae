// Connections on both sides: which are used again, which end, and what is repeated.
#include "tests/flow/relay_fixture.hpp"

using namespace std::chrono_literals;
using flow::call;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::bytes;
using test_support::http_client;
using test_support::recorded_request;

TEST_SUITE_BEGIN("flow/relay");

namespace {

test_support::script echo(const recorded_request& request)
{
    return test_support::answer_json(request.body);
}

}  // namespace

TEST_CASE("calls one after the other share a connection to the agent, from one caller or from several")
{
    relayed x{echo};
    http_client caller{x.port()};
    for (const std::string id : {"1", "2"}) {
        caller.send(call_text(call_body(id)));
        CHECK(caller.read_response().body == call_body(id));
    }
    CHECK(call(x.port(), call_body("3")).body == call_body("3"));

    const auto seen = x.agent.requests();
    REQUIRE(seen.size() == 3);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        CHECK(seen[i].connection == 1);
        CHECK(seen[i].number_on_connection == i + 1);
    }
    CHECK(x.gateway.metric("cardea_upstream_connections_idle") == 1);
}

TEST_CASE("calls at the same time have a connection each, and each caller gets the answer to its own")
{
    test_support::gate both;
    relayed x{[&](const recorded_request& request) {
        return test_support::then({test_support::pass_gate{both.shared()}}, echo(request));
    }};
    http_client first{x.port()};
    http_client second{x.port()};
    http_client third{x.port()};
    first.send(call_text(call_body("1")));
    second.send(call_text(call_body("2")));
    third.send(call_text(call_body("3")));
    REQUIRE(both.wait_until_reached(3));
    CHECK(x.agent.open_connections() == 3);
    both.release(3);
    CHECK(third.read_response().body == call_body("3"));
    CHECK(second.read_response().body == call_body("2"));
    CHECK(first.read_response().body == call_body("1"));
    CHECK(x.gateway.wait_for_metric("cardea_upstream_connections_idle", 3));
}

TEST_CASE("two agents never share a connection")
{
    test_support::scripted_agent one{echo};
    test_support::scripted_agent other{echo};
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", one.url("/x")));
    settings.agents.push_back(flow::a2a_agent("b", other.url("/y?z=1")));
    const flow::running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    for (int i = 0; i < 4; ++i) {
        caller.send(test_support::request_text("POST", i % 2 == 0 ? "/agents/a" : "/agents/b", {}, call_body()));
        CHECK(caller.read_response().status == 200);
    }
    CHECK(one.request_count() == 2);
    CHECK(one.accepted_connections() == 1);
    CHECK(other.request_count() == 2);
    CHECK(other.accepted_connections() == 1);
    CHECK(other.request(0).target == "/y?z=1");
    CHECK(other.request(0).header("Host") == "127.0.0.1:" + std::to_string(other.port()));
}

TEST_CASE("an agent that closes after its answer without a word costs the next call nothing")
{
    relayed x{test_support::answer_then_close(200, "{}")};
    http_client caller{x.port()};
    for (std::size_t i = 1; i <= 20; ++i) {
        caller.send(call_text(call_body()));
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.body == "{}");
        CHECK(x.agent.request(i - 1).connection == i);
        REQUIRE(x.agent.wait_for_open_connections(0));
        REQUIRE(x.gateway.metric("cardea_ready") == 1);  // a round through its loops: the end has been seen
    }
}

TEST_CASE("a call that crosses the agent's end of the connection is processed once or not at all")
{
    for (const std::string_view method : {"tasks/get", "message/send"}) {
        CAPTURE(method);
        const bool reading = method == "tasks/get";
        const auto any_number = [](config::settings& settings) { settings.defaults.endpoints.retry.budget = 1; };
        relayed x{test_support::answer_then_close(200, "{}"), any_number};
        http_client caller{x.port()};
        std::size_t answered = 0;
        for (std::size_t i = 0; i < 200; ++i) {
            const auto id = std::to_string(i);
            caller.send(call_text(call_body(id, method)));
            const auto got = caller.read_response();
            if (got.status == 200) {
                ++answered;
                REQUIRE(x.agent.request_count() == answered);
                CHECK(x.agent.request(answered - 1).body == call_body(id, method));
            } else {
                // The agent's kernel had taken the call before the agent closed: nobody can know what became of it.
                REQUIRE_FALSE(reading);
                flow::check_jsonrpc_error(got, flow::cut_off, id);
                REQUIRE(x.agent.request_count() == answered);
            }
        }
        CHECK(answered >= (reading ? 200 : 1));
    }
}

TEST_CASE("an agent that announces the end of the connection is not called on it again")
{
    relayed x{test_support::answer_json("{}", {{"Connection", "close"}})};
    http_client caller{x.port()};
    for (int i = 0; i < 3; ++i) {
        caller.send(call_text(call_body()));
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.count("Connection") == 0);  // of that hop, not of this one
    }
    CHECK(x.agent.accepted_connections() == 3);
    CHECK(x.gateway.metric("cardea_upstream_connections_idle") == 0);
}

TEST_CASE("an agent of HTTP/1.0 is not called again on its connection")
{
    relayed x{{bytes{"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"}}};
    CHECK(call(x.port(), call_body()).body == "{}");
    CHECK(call(x.port(), call_body()).body == "{}");
    CHECK(x.agent.accepted_connections() == 2);
}

TEST_CASE("when an agent closes on a second call, a reading one is repeated once and a writing one is not")
{
    struct row {
        std::string_view method;
        bool repeated;
    };
    const row rows[] = {
        {"tasks/get", true},
        {"GetTask", true},
        {"tasks/list", true},
        {"message/send", false},
        {"SendMessage", false},
        {"message/stream", false},
        {"tasks/cancel", false},
        {"x/unknown", false},
    };
    for (const auto& row : rows) {
        CAPTURE(row.method);
        for (const bool reset : {false, true}) {
            CAPTURE(reset);
            relayed x{[&](const recorded_request& request) {
                const auto leave = reset ? test_support::reset() : test_support::close_unanswered();
                return request.number_on_connection == 1 ? test_support::answer_json("{}") : leave;
            }};
            http_client caller{x.port()};
            caller.send(call_text(call_body("1", row.method)));
            CHECK(caller.read_response().status == 200);
            caller.send(call_text(call_body("2", row.method)));
            const auto got = caller.read_response();
            if (row.repeated) {
                CHECK(got.status == 200);
                CHECK(got.body == "{}");
                REQUIRE(x.agent.request_count() == 3);
                CHECK(x.agent.request(2).body == x.agent.request(1).body);
                CHECK(x.agent.request(2).connection == 2);
            } else {
                flow::check_jsonrpc_error(got, flow::cut_off, "2");
                CHECK(x.agent.request_count() == 2);
            }
        }
    }
}

TEST_CASE("a call is repeated once at most, on a first connection too")
{
    relayed x{test_support::close_unanswered()};
    x.agent.next(test_support::answer_json("{}"));
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", "tasks/get")));
    CHECK(caller.read_response().status == 200);
    caller.send(call_text(call_body("2", "tasks/get")));  // on the used connection, then on a fresh one
    flow::check_jsonrpc_error(caller.read_response(), flow::cut_off, "2");
    CHECK(x.agent.request_count() == 3);
    caller.send(call_text(call_body("3", "tasks/get")));  // on two fresh ones
    flow::check_jsonrpc_error(caller.read_response(), flow::cut_off, "3");
    CHECK(x.agent.request_count() == 5);
    caller.send(call_text(call_body("4")));  // a writing call is not repeated
    flow::check_jsonrpc_error(caller.read_response(), flow::cut_off, "4");
    CHECK(x.agent.request_count() == 6);
}

TEST_CASE("a call is not repeated once a byte of an answer has come")
{
    relayed x{[](const recorded_request& request) {
        return request.number_on_connection == 1 ? test_support::answer_json("{}")
                                                 : test_support::script{bytes{"H"}, test_support::close_now{}};
    }};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", "tasks/get")));
    CHECK(caller.read_response().status == 200);
    caller.send(call_text(call_body("2", "tasks/get")));
    flow::check_jsonrpc_error(caller.read_response(), flow::cut_off, "2");
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("bytes after an answer are nobody's answer, and end their connection")
{
    const std::string poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    const std::string answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    };
    for (const auto& answer : answers) {
        CAPTURE(answer);
        for (const bool later : {false, true}) {
            CAPTURE(later);
            relayed x{test_support::answer_json("{\"fresh\":1}")};
            test_support::gate go;
            x.agent.next(
                later ? test_support::then({bytes{answer}}, test_support::raw({poison}, go))
                      : test_support::raw({answer + poison})
            );
            http_client caller{x.port()};
            caller.send(call_text(call_body()));
            CHECK(caller.read_response().status < 205);
            if (later) {
                REQUIRE(x.gateway.wait_for_metric("cardea_upstream_connections_idle", 1));
                go.release();
                CHECK(x.gateway.wait_for_metric("cardea_upstream_connections_idle", 0));
            }
            caller.send(call_text(call_body()));
            CHECK(caller.read_response().body == "{\"fresh\":1}");
            REQUIRE(x.agent.request_count() == 2);
            CHECK(x.agent.request(1).connection == 2);
        }
    }
}

TEST_CASE("pipelined calls are answered in their order, each with its own answer")
{
    relayed x{echo};
    http_client caller{x.port()};
    std::string text;
    constexpr int calls = 50;
    for (int i = 0; i < calls; ++i) {
        text += call_text(call_body(std::to_string(i) + std::string(static_cast<std::size_t>(i), '0')));
    }
    caller.send(text);
    for (int i = 0; i < calls; ++i) {
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.body == call_body(std::to_string(i) + std::string(static_cast<std::size_t>(i), '0')));
    }
    CHECK(x.agent.accepted_connections() == 1);
}

TEST_CASE("pipelined calls keep their order around refusals")
{
    relayed x{echo};
    http_client caller{x.port()};
    caller.send(
        call_text(call_body("1")) + test_support::request_text("GET", "/nowhere") + call_text("[]") +
        test_support::request_text("POST", "/agents/b", {}, call_body("4")) + call_text(call_body("5"))
    );
    CHECK(caller.read_response().body == call_body("1"));
    CHECK(caller.read_response().status == 404);
    flow::check_jsonrpc_error(caller.read_response(), flow::not_a_call, "null");
    flow::check_jsonrpc_error(caller.read_response(), flow::no_agent, "4", "b");
    CHECK(caller.read_response().body == call_body("5"));
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("nothing after a call that ends its connection is looked at")
{
    relayed x{echo};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1"), {{"Connection", "close"}}) + call_text(call_body("2")));
    const auto got = caller.read_response();
    CHECK(got.body == call_body("1"));
    CHECK(got.header("Connection") == "close");
    CHECK(caller.closed_by_peer());
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("a caller of HTTP/1.0 gets its answer as it understands it, and the end of the connection")
{
    struct row {
        std::string answer;
        std::string framing;
    };
    const row rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "Content-Length: 5\r\n"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.answer);
        const relayed x{{bytes{row.answer}}};
        http_client caller{x.port()};
        const auto body = call_body();
        caller.send(
            "POST /agents/a HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body
        );
        const auto raw = caller.read_until_closed();
        CHECK(raw.starts_with("HTTP/1.1 200 OK\r\n"));
        CHECK(raw.ends_with("\r\n\r\nhello"));
        CHECK(raw.find("Connection: close\r\n") != std::string::npos);
        CHECK(raw.find("Transfer-Encoding") == std::string::npos);
        CHECK((raw.find("Content-Length") != std::string::npos) == !row.framing.empty());
        CHECK(raw.find(row.framing) != std::string::npos);
    }
}

TEST_CASE("a call and its connection go on after a caller has left another one")
{
    relayed x{test_support::silence()};
    {
        http_client leaver{x.port()};
        leaver.send(call_text(call_body()));
        REQUIRE(x.agent.wait_for_requests(1));
        leaver.reset();
    }
    CHECK(x.agent.wait_until_peer_closed());
    x.agent.otherwise(echo);
    CHECK(call(x.port(), call_body("2")).body == call_body("2"));
    CHECK(x.agent.request(1).connection == 2);
}

TEST_CASE("an unused connection to an agent is closed after its time")
{
    relayed x{echo, [](config::settings& s) { s.timeouts.upstream_keep = 50ms; }};
    CHECK(call(x.port(), call_body()).status == 200);
    CHECK(x.agent.wait_until_peer_closed());
    CHECK(call(x.port(), call_body()).status == 200);
    CHECK(x.agent.accepted_connections() == 2);
}

TEST_CASE("a connection that has dozed is used again, and its end noticed")
{
    relayed x{echo};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1")));
    CHECK(caller.read_response().status == 200);
    // Both sides give their buffers back after a few sweeps of nothing.
    CHECK_FALSE(caller.closed_by_peer(500ms));
    caller.send(call_text(call_body("2")));
    CHECK(caller.read_response().body == call_body("2"));
    CHECK(x.agent.accepted_connections() == 1);
    CHECK_FALSE(caller.closed_by_peer(500ms));
    caller.close();
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
}

TEST_CASE("no more idle connections are kept than the limit says")
{
    test_support::gate all;
    relayed x{
        [&](const recorded_request& request) {
            return test_support::then({test_support::pass_gate{all.shared()}}, echo(request));
        },
        [](config::settings& s) { s.limits.upstream_connections = 2; }
    };
    std::vector<http_client> callers;
    for (int i = 0; i < 4; ++i) {
        callers.emplace_back(x.port()).send(call_text(call_body()));
    }
    REQUIRE(all.wait_until_reached(4));
    all.release(4);
    for (auto& caller : callers) {
        CHECK(caller.read_response().status == 200);
    }
    CHECK(x.agent.wait_until_peer_closed(test_support::patience, 2));
    CHECK(x.gateway.metric("cardea_upstream_connections_idle") == 2);
}

TEST_SUITE_END();
