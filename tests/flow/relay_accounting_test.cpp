// One access line and one set of counters per request, whatever becomes of it.
#include "tests/flow/relay_fixture.hpp"

using namespace std::chrono_literals;
using flow::access_lines;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/relay");

namespace {

// What a line says between its id and its times.
std::string line(std::string_view middle, bool answered = true, std::string_view last = {})
{
    std::string out = R"({"ts":_,"level":"info","event":"request","id":_,)";
    out.append(middle).append(answered ? R"(,"ttfb_ms":_,"ms":_,"peer":"127.0.0.1")" : R"(,"ms":_,"peer":"127.0.0.1")");
    return out.append(last).append("}");
}

// Of a call that was sent once.
constexpr std::string_view sent_once = R"(,"endpoint":1,"attempts":1)";

std::string bytes_of(std::size_t in, std::size_t out)
{
    return R"(,"bytes_in":)" + std::to_string(in) + R"(,"bytes_out":)" + std::to_string(out);
}

struct exchange {
    std::string sent;
    std::string got;
};

// Sends it on a connection of its own that ends after it.
exchange send_once(const relayed& x, std::string text)
{
    http_client caller{x.port()};
    caller.send(text);
    return {std::move(text), caller.read_until_closed()};
}

std::string closing_call(std::string_view target, std::string_view body)
{
    return test_support::request_text("POST", target, {{"Connection", "close"}}, body);
}

std::string http_series(std::string_view route, std::string_view method, unsigned code)
{
    return "cardea_http_requests_total{route=\"" + std::string(route) + "\",method=\"" + std::string(method) +
           "\",code=\"" + std::to_string(code) + "\"}";
}

std::string call_series(std::string_view method, std::string_view outcome)
{
    return R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method=")" + std::string(method) +
           R"(",outcome=")" + std::string(outcome) + "\"}";
}

}  // namespace

TEST_CASE("each request has exactly one line with what it was and what became of it")
{
    relayed x{test_support::answer_json("{}")};
    x.agent.next(test_support::answer_json("{\"n\":1}"));
    x.agent.next(test_support::answer(429, "slow down"));
    x.agent.next(test_support::close_unanswered());
    std::vector<exchange> done;
    for (const auto& text : {
             closing_call("/agents/a", call_body("1")),
             closing_call("/agents/a/", call_body("2", "tasks/get")),
             closing_call("/agents/a", call_body("3", "x/unknown")),
             closing_call("/agents/a", "{"),
             closing_call("/agents/a", "[]"),
             closing_call("/agents/nobody", call_body("4")),
             closing_call("/nowhere", ""),
             test_support::request_text("PUT", "/agents/a", {{"Connection", "close"}}),
             test_support::request_text(
                 "POST",
                 "/agents/a",
                 {{"Connection", "close"}, {"Content-Type", "text/plain"}},
                 "x"
             ),
         }) {
        done.push_back(send_once(x, text));
    }
    const auto bytes = [&](std::size_t i) { return bytes_of(done[i].sent.size(), done[i].got.size()); };
    const auto head_only = [&](std::size_t i) {
        return bytes_of(done[i].sent.find("\r\n\r\n") + 4, done[i].got.size());
    };
    const std::string call = R"("route":"call","http":"1.1","method":"POST")";

    const auto lines = access_lines(x.gateway, done.size());

    REQUIRE(lines.size() == done.size());
    CHECK(lines[0] == line(call + R"(,"agent":"a","rpc":"message/send","status":200)" + bytes(0), true, sent_once));
    CHECK(lines[1] == line(call + R"(,"agent":"a","rpc":"tasks/get","status":429)" + bytes(1), true, sent_once));
    CHECK(
        lines[2] == line(
                        call + R"(,"agent":"a","rpc":"other","status":502,"code":"upstream_reset","from":"upstream",)" +
                            R"("detail":"End of file")" + bytes(2),
                        true,
                        sent_once
                    )
    );
    CHECK(lines[3].starts_with(
        R"({"ts":_,"level":"info","event":"request","id":_,)" + call +
        R"(,"agent":"a","status":200,"code":"parse_error","from":"caller",)"
    ));
    CHECK(lines[3].ends_with(bytes(3) + R"(,"ttfb_ms":_,"ms":_,"peer":"127.0.0.1"})"));
    CHECK(
        lines[4] ==
        line(call + R"(,"agent":"a","status":200,"code":"invalid_request","from":"caller","detail":"batch")" + bytes(4))
    );
    CHECK(
        lines[5] ==
        line(call + R"(,"rpc":"message/send","status":404,"code":"agent_not_found","from":"caller")" + bytes(5))
    );
    CHECK(
        lines[6] ==
        line(
            R"("route":"none","http":"1.1","method":"POST","status":404,"code":"not_found","from":"caller")" + bytes(6)
        )
    );
    CHECK(
        lines[7] ==
        line(
            R"("route":"call","http":"1.1","method":"PUT","agent":"a","status":405,"code":"method_not_allowed","from":"caller")" +
            bytes(7)
        )
    );
    CHECK(
        lines[8] ==
        line(call + R"(,"agent":"a","status":415,"code":"unsupported_media_type","from":"caller")" + head_only(8))
    );
}

TEST_CASE("requests are counted by what became of them")
{
    relayed x{test_support::answer_json("{}")};
    x.agent.next(test_support::answer_json("{}"));
    x.agent.next(test_support::answer(401, "who?"));
    x.agent.next(test_support::answer(500, "oh"));
    x.agent.next(test_support::close_unanswered());
    std::size_t sent = 0;
    std::size_t got = 0;
    for (int i = 0; i < 4; ++i) {
        const auto done = send_once(x, closing_call("/agents/a", call_body("1", "tasks/cancel")));
        sent += done.sent.size();
        got += done.got.size();
    }
    const auto refused = send_once(x, closing_call("/agents/a", "{"));
    sent += refused.sent.size();
    got += refused.got.size();

    CHECK(x.gateway.wait_for_metric(http_series("call", "POST", 200), 2));  // what is no JSON among them
    CHECK(x.gateway.metric(http_series("call", "POST", 401)) == 1);
    CHECK(x.gateway.metric(http_series("call", "POST", 500)) == 1);
    CHECK(x.gateway.metric(http_series("call", "POST", 502)) == 1);
    CHECK(x.gateway.metric(call_series("tasks/cancel", "ok")) == 1);
    CHECK(x.gateway.metric(call_series("tasks/cancel", "caller_error")) == 1);
    CHECK(x.gateway.metric(call_series("tasks/cancel", "upstream_error")) == 2);
    CHECK(x.gateway.metric(call_series("other", "caller_error")) == 1);
    CHECK(x.gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_reset"})") == 1);
    CHECK(x.gateway.metric(R"(cardea_request_bytes_total{route="call"})") == static_cast<double>(sent));
    CHECK(x.gateway.metric(R"(cardea_response_bytes_total{route="call"})") == static_cast<double>(got));
    CHECK(x.gateway.metric(R"(cardea_agent_request_duration_seconds_count{agent="a"})") == 5);
    CHECK(x.gateway.metric(R"(cardea_agent_time_to_first_byte_seconds_count{agent="a"})") == 3);
}

TEST_CASE("a head that is refused has a line and a count of its own")
{
    struct row {
        std::string text;
        unsigned status;
        std::string_view code;
    };
    const row rows[] = {
        {"GET\r\n\r\n", 400, "bad_request"},
        {"POST /agents/a HTTP/1.1\r\n\r\n", 400, "bad_request"},
        {"POST /agents/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         400,
         "bad_request"},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "http_version_not_supported"},
        {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501, "not_implemented"},
        {"GET /" + std::string(9000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414, "target_too_long"},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(17'000, 'x') + "\r\n\r\n", 431, "header_too_large"},
        {"POST /agents/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: y\r\n\r\n", 417, "expectation_failed"},
        {"\x16\x03\x01\x02\x05\x01", 400, "bad_request"},
        {"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text.substr(0, 60));
        const relayed x{test_support::answer_json("{}")};
        const auto done = send_once(x, row.text);
        CHECK(done.got.starts_with("HTTP/1.1 " + std::to_string(row.status) + " "));
        CHECK(done.got.find("Cardea-Error: " + std::string(row.code) + "\r\n") != std::string::npos);
        CHECK(done.got.find("Connection: close\r\n") != std::string::npos);
        const auto lines = access_lines(x.gateway, 1);
        REQUIRE(lines.size() == 1);
        CHECK(
            lines[0].find(
                R"("route":"none","status":)" + std::to_string(row.status) + R"(,"code":")" + std::string(row.code) +
                R"(","from":"caller")"
            ) != std::string::npos
        );
        CHECK(lines[0].find(R"("bytes_out":)" + std::to_string(done.got.size()) + ",") != std::string::npos);
        CHECK(x.gateway.metric(http_series("none", "none", row.status)) == 1);
    }
}

TEST_CASE("a caller that leaves has one line with status 499, wherever it leaves")
{
    relayed x{test_support::silence(), [](config::settings& s) { s.timeouts.upstream_head = 1h; }};
    const auto left = R"(,"status":499,"code":"caller_gone","from":"caller","detail":)";
    SUBCASE("in its body")
    {
        const auto text = call_text(call_body());
        http_client caller{x.port()};
        caller.send(std::string_view{text}.substr(0, text.size() - 1));
        caller.close();
        const auto lines = access_lines(x.gateway, 1);
        REQUIRE(lines.size() == 1);
        CHECK(
            lines[0].find(
                R"("route":"call","http":"1.1","method":"POST","agent":"a")" + std::string(left) + "\"body\""
            ) != std::string::npos
        );
        CHECK(lines[0].find(R"("bytes_out":0,"ms")") != std::string::npos);
    }
    SUBCASE("while the agent thinks")
    {
        http_client caller{x.port()};
        const auto text = call_text(call_body());
        caller.send(text);
        REQUIRE(x.agent.wait_for_requests(1));
        caller.reset();
        const auto lines = access_lines(x.gateway, 1);
        REQUIRE(lines.size() == 1);
        CHECK(
            lines[0] == line(
                            R"("route":"call","http":"1.1","method":"POST","agent":"a","rpc":"message/send")" +
                                std::string(left) + "\"answer\"" + bytes_of(text.size(), 0),
                            /*answered=*/false,
                            sent_once
                        )
        );
        CHECK(x.gateway.metric(call_series("message/send", "caller_error")) == 1);
    }
    SUBCASE("in its stream")
    {
        x.agent.otherwise([](const auto&) { return test_support::event_stream(); });
        http_client caller{x.port()};
        caller.send(call_text(call_body("1", "message/stream")));
        CHECK(caller.read_head().status == 200);
        caller.reset();
        const auto lines = access_lines(x.gateway, 1);
        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find(R"("rpc":"message/stream")" + std::string(left)) != std::string::npos);
        CHECK(lines[0].ends_with(R"("peer":"127.0.0.1","stream":"caller","endpoint":1,"attempts":1})"));
    }
    CHECK(x.gateway.metric(http_series("call", "POST", 499)) == 1);
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
}

TEST_CASE("a stream has one line when it has ended, with how it ended")
{
    relayed x{test_support::event_stream()};
    http_client caller{x.port()};
    const auto text = call_text(call_body("1", "message/stream"));
    caller.send(text);
    auto got = caller.read_until("\r\n\r\n");
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 1));
    CHECK(access_lines(x.gateway, 0).empty());
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event("one");
    got += caller.read_until("one\n\n\r\n");
    x.agent.end_streams();
    got += caller.read_until("0\r\n\r\n");
    const auto lines = access_lines(x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(
        lines[0] ==
        line(
            R"("route":"call","http":"1.1","method":"POST","agent":"a","rpc":"message/stream","status":200)" +
                bytes_of(text.size(), got.size()),
            /*answered=*/true,
            R"(,"stream":"complete","endpoint":1,"attempts":1)"
        )
    );
    CHECK(x.gateway.metric(call_series("message/stream", "ok")) == 1);
    // How long a stream lasts is no delay.
    CHECK(x.gateway.metric(R"(cardea_agent_request_duration_seconds_count{agent="a"})") == 0);
    CHECK(x.gateway.metric(R"(cardea_agent_time_to_first_byte_seconds_count{agent="a"})") == 1);
    // What cannot be read behind it has a line of its own, without the stream's bytes.
    caller.send("GET\r\n\r\n");
    CHECK(caller.read_response().status == 400);
    const auto both = access_lines(x.gateway, 2);
    REQUIRE(both.size() == 2);
    CHECK(both[1].find(R"("bytes_in":0,)") != std::string::npos);
}

TEST_CASE("an answer that was cut keeps its status, and its line says why")
{
    const relayed x{test_support::half_body()};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK_THROWS_WITH_AS(caller.read_response(), flow::cut_answer, std::runtime_error);
    const auto lines = access_lines(x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(
        lines[0].find(R"("status":200,"code":"upstream_reset","from":"upstream","detail":"End of file")") !=
        std::string::npos
    );
    CHECK(x.gateway.metric(call_series("message/send", "upstream_error")) == 1);
}

TEST_CASE("a connection that never asks anything has no line")
{
    const relayed x{test_support::answer_json("{}")};
    for (int i = 0; i < 3; ++i) {
        http_client caller{x.port()};
        caller.close();
    }
    CHECK(flow::call(x.port(), call_body()).status == 200);
    CHECK(access_lines(x.gateway, 1).size() == 1);
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
    CHECK(access_lines(x.gateway, 1).size() == 1);
}

TEST_CASE("The line of a request for a disabled agent names it and says why, and the caller hears of no agent")
{
    const relayed x{test_support::answer_json("{}"), [](config::settings& s) {
                        s.agents.push_back(flow::a2a_agent("off", "http://127.0.0.1:1/"));
                        s.agents[1].disabled = true;
                        s.agents[1].hosts = {"off.test"};
                        s.agents[0].hosts = {"a.test"};
                    }};
    const auto ask = [&](std::string_view verb, const std::string& target, const std::string& host = "127.0.0.1") {
        const bool posts = verb == "POST";
        test_support::field_list fields{{"Host", host}};
        if (posts) {
            fields.emplace_back("Content-Type", "application/json");
        }
        return test_support::request(x.port(), verb, target, fields, posts ? call_body() : std::string{});
    };
    const auto series = [&] {
        const auto page = test_support::request(x.gateway.admin_port(), "GET", "/metrics").body;
        std::size_t count = 0;
        for (auto at = page.find(R"(agent="off")"); at != std::string::npos; at = page.find(R"(agent="off")", at + 1)) {
            ++count;
        }
        return count;
    };
    const auto before = series();
    const auto card = std::string{"/.well-known/agent-card.json"};
    std::size_t asked = 0;
    for (const auto& [verb, below] :
         {std::pair<std::string_view, std::string>{"POST", ""}, {"GET", ""}, {"GET", card}}) {
        CAPTURE(verb);
        CAPTURE(below);
        for (const bool by_name : {false, true}) {
            const auto off =
                by_name ? ask(verb, below.empty() ? "/" : below, "off.test") : ask(verb, "/agents/off" + below);
            const auto none = ask(verb, "/agents/non" + below);
            CHECK(off.status == 404);
            CHECK(off.header("Cardea-Error") == "agent_not_found");
            if (!by_name) {
                auto same = none.body;
                if (const auto at = same.find("\"non\""); at != std::string::npos) {
                    same.replace(at, 5, "\"off\"");
                }
                CHECK(off.body == same);
                CHECK(off.headers.size() == none.headers.size());
            }
            asked += 2;
            const auto lines = flow::access_lines(x.gateway, asked);
            REQUIRE(lines.size() == asked);
            const auto& line = lines[asked - 2];
            CAPTURE(line);
            CHECK(line.find(R"("agent":"off")") != std::string::npos);
            CHECK(line.find(R"("detail":"the agent is disabled")") != std::string::npos);
            CHECK(lines[asked - 1].find(R"("agent":)") == std::string::npos);
            CHECK(lines[asked - 1].find("disabled") == std::string::npos);
        }
    }
    CHECK(series() == before);
}

TEST_SUITE_END();
