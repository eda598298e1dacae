// Cards in events: agents may answer any call with a stream.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/unit/net/sse/sse_reader.hpp"

#include <chrono>

using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/extended_card");

namespace {

constexpr std::string_view method = "agent/getAuthenticatedExtendedCard";
constexpr flow::error_answer
    revealing{502, -32603, "card_unrewritable", "The agent's card cannot be made to point at this gateway.", false};
constexpr flow::error_answer no_json{502, -32603, "card_not_json", "The agent's card is not a JSON object.", false};
constexpr flow::error_answer
    long_event{502, -32603, "event_too_large", "An event of the agent's stream is over the limit.", false};

std::string card(std::string_view name)
{
    return R"({"protocolVersion":"0.3.0","name":")" + std::string(name) +
           R"(","description":"d","url":"http://10.1.2.3:9000/","preferredTransport":"JSONRPC","version":"1","capabilities":{},)"
           R"("defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]})";
}

std::string served(const relayed& x, std::string_view name)
{
    auto text = card(name);
    const std::string hidden = "http://10.1.2.3:9000/";
    const auto base = x.gateway.base() + "/agents/a";
    text.replace(text.find(hidden), hidden.size(), base);
    const std::string none = R"("capabilities":{})";
    text.replace(text.find(none), none.size(), R"("capabilities":{"extensions":[)" + flow::own_extension("a") + "]}");
    text.replace(text.size() - 1, 1, R"(,"additionalInterfaces":)" + flow::both_bindings(base) + "}");
    return text;
}

std::string answer_of(const std::string& result)
{
    return R"({"jsonrpc":"2.0","id" : 1,"result":)" + result + R"(,"x":1.0})";
}

std::string leaking(const relayed& x)
{
    const auto at = x.agent.url("/rpc");
    return R"({"name":"n","supportedInterfaces":[{"url":")" + at + R"(","protocolBinding":"JSONRPC","tenant":")" + at +
           R"("}]})";
}

std::string stream_head(std::size_t length)
{
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nETag: \"a\"\r\nContent-Length: " +
           std::to_string(length) + "\r\n\r\n";
}

}  // namespace

TEST_CASE("a card in an event points at the gateway, each event goes out when it came, and other events pass")
{
    relayed x{test_support::event_stream({{"ETag", "\"agent\""}, {"Cache-Control", "no-cache"}})};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", method)));
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_stream(": ping\n\nid: 7\nevent: message\n");
    x.agent.send_event(answer_of(card("one")));
    const auto head = caller.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    CHECK(head.header("Cache-Control") == "private, no-store");
    CHECK(head.count("ETag") == 0);
    const auto first = caller.read_until("\"x\":1.0}\n\n");
    CHECK(
        first.find(": ping\n\nid: 7\nevent: message\ndata: " + answer_of(served(x, "one")) + "\n\n") !=
        std::string::npos
    );
    const std::string error = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"m","data":1.50}})";
    x.agent.send_event(error);
    CHECK(caller.read_until("1.50}}\n\n").find("data: " + error + "\n\n") != std::string::npos);
    const std::string note = R"({"jsonrpc":"2.0","method":"x/note","params":{"url":"u"}})";
    x.agent.send_event(note);
    CHECK(caller.read_until("\"u\"}}\n\n").find("data: " + note + "\n\n") != std::string::npos);
    x.agent.send_stream("data:{\"result\":\r\ndata: " + card("two") + "\r\ndata:}\r\n\r\n");
    CHECK(caller.read_until("}\n\r\n").find("data: {\"result\": " + served(x, "two") + " }\n") != std::string::npos);
    x.agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n").size() < 20);
    caller.send(call_text(call_body("1", method)));  // the connection goes on
    REQUIRE(x.agent.wait_for_requests(2));           // until then the stream that counts may be the first
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.end_streams();
    CHECK(caller.read_response().body.empty());
    const auto lines = flow::access_lines(x.gateway, 2);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].find(R"("stream":"complete")") != std::string::npos);
}

TEST_CASE("however a stream is sent, its events are the same")
{
    relayed x{test_support::answer(404, "")};
    const std::string stream = "\xef\xbb\xbf: c\r\n\r\nid: 1\r\ndata: " + answer_of(card("one")) +
                               "\r\n\r\ndata: " + answer_of(card("two")) + "\n\ndata: " + answer_of(card("not ended"));
    const auto wanted = std::vector<std::string>{
        "|1|" + answer_of(served(x, "one")) + "\n",
        "|1|" + answer_of(served(x, "two")) + "\n"
    };
    const std::string until_close = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n";
    const test_support::script sent[] = {
        test_support::chunked_byte_by_byte(stream, "text/event-stream"),
        test_support::raw({stream_head(stream.size()) + stream}),
        test_support::then(test_support::raw({until_close, stream}), {test_support::close_now{}}),
    };
    for (const auto& each : sent) {
        x.agent.next(each);
        const auto got = flow::call(x.port(), call_body("1", method));
        CHECK(got.status == 200);
        CHECK(tests::events_of(got.body) == wanted);
        CHECK(got.body.find("10.1.2.3") == std::string::npos);
        CHECK(got.body.find("not ended") != std::string::npos);
    }
}

TEST_CASE("a caller of HTTP/1.0 gets the events until the connection ends")
{
    const auto stream = "data: " + answer_of(card("one")) + "\n\n";
    relayed x{test_support::raw({stream_head(stream.size()) + stream})};
    http_client caller{x.port()};
    const auto body = call_body("1", method);
    caller.send(
        "POST /agents/a HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body
    );
    const auto got = caller.read_until_closed();
    CHECK(got.find("Content-Length") == std::string::npos);
    CHECK(got.ends_with("\r\n\r\ndata: " + answer_of(served(x, "one")) + "\n\n"));
}

TEST_CASE("before the first event has gone out a failure is told, whatever it is")
{
    relayed x{test_support::answer(404, ""), [](config::settings& s) {
                  s.timeouts.upstream_head = std::chrono::milliseconds{300};
                  s.limits.sse_event = 3000;
              }};
    struct row {
        std::string name;
        test_support::script answer;
        flow::error_answer what;
    };
    const auto whole = [](const std::string& stream) {
        return test_support::raw({stream_head(stream.size()) + stream});
    };
    const row rows[] = {
        {"a leak", whole(": c\n\ndata: " + answer_of(leaking(x)) + "\n\n"), revealing},
        {"a leak at the end", whole("data: " + answer_of(leaking(x))), revealing},
        {"no JSON", whole("data: x\n\n"), no_json},
        {"cut", test_support::raw({stream_head(100) + "data: {\"result\":"}), flow::cut_off},
        {"too large", whole("data: " + std::string(3000, 'x') + "\n\n"), long_event},
        {"too many comments",
         whole([] {
             std::string all;
             while (all.size() < 3100) {
                 all += ": comment\n\n";
             }
             return all;
         }()),
         long_event},
        {"silence",
         test_support::then(test_support::raw({stream_head(100) + ": c\n\n"}), {test_support::hold{}}),
         flow::late},
        {"a coding",
         test_support::raw({"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: "
                            "gzip\r\nContent-Length: 4\r\n\r\nabcd"}),
         revealing},
    };
    for (const auto& each : rows) {
        CAPTURE(each.name);
        auto answer = each.answer;
        if (each.name == "cut") {
            answer.push_back(test_support::close_now{});
        }
        x.agent.next(answer);
        flow::check_jsonrpc_error(flow::call(x.port(), call_body("\"i\"", method)), each.what, "\"i\"");
    }
    x.agent.next(whole("data: " + card("one") + "\n\n"));
    const auto got = test_support::request(x.port(), "GET", "/agents/a/rest/v1/card");
    flow::check_rest_error(got, no_json, /*of_1=*/false, "a");
    CHECK(x.gateway.metric(R"(cardea_streams_active{agent="a"})").value_or(0) == 0);
}

TEST_CASE("behind the first event a failure cuts the stream")
{
    relayed x{test_support::event_stream()};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", method)));
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event(answer_of(card("one")));
    CHECK(caller.read_head().status == 200);
    caller.read_until("\"x\":1.0}\n\n");
    x.agent.send_event(answer_of(leaking(x)));
    const auto rest = caller.read_until_closed();
    CHECK(rest.find("data") == std::string::npos);
    CHECK(rest.find("0\r\n\r\n") == std::string::npos);
    const auto lines = flow::access_lines(x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(R"("status":200,"code":"card_unrewritable","from":"upstream")") != std::string::npos);
    CHECK(lines[0].find(R"("stream":"upstream")") != std::string::npos);
}

TEST_CASE("what was edited before a failure goes out, and then the stream is cut")
{
    relayed x{test_support::answer(404, "")};
    const auto first = "data: " + answer_of(card("one")) + "\n\n";
    const auto second = "data: " + answer_of(card("two")) + "\n\n";
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    const std::string chunked_head = head + "Transfer-Encoding: chunked\r\n\r\n";
    const auto chunks = [](const std::string& text) {
        const auto coded = flow::chunked(text, text.size());
        return coded.substr(0, coded.size() - 5);
    };
    const std::string endings[] = {
        chunks(first + second + "data: " + answer_of(leaking(x)) + "\n\n"),
        chunks(first + second) + "no chunk\r\n",
        chunks(first + second + "data: " + std::string(5000, 'x')),
        chunks(first + second + "data: {"),
    };
    for (const auto& ending : endings) {
        relayed y{{test_support::bytes{chunked_head + ending}, test_support::close_now{}}, [&](config::settings& s) {
                      s.agents[0].card_url = x.agent.url("/");
                      s.limits.sse_event = 3000;
                  }};
        http_client caller{y.port()};
        caller.send(call_text(call_body("1", method)));
        const auto got = caller.read_until_closed();
        CHECK(got.find(served(y, "one")) != std::string::npos);
        CHECK(got.find(served(y, "two")) != std::string::npos);
        CHECK(got.find("10.1.2.3") == std::string::npos);
        CHECK_FALSE(got.ends_with("0\r\n\r\n"));
    }
}

TEST_CASE("a stream that is silent behind its first event gets comments, and ends with the gateway")
{
    relayed x{test_support::event_stream(), [](config::settings& s) {
                  s.timeouts.stream_keep_alive = std::chrono::milliseconds{100};
              }};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", method)));
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event(answer_of(card("one")));
    CHECK(caller.read_head().status == 200);
    caller.read_until("\"x\":1.0}\n\n");
    caller.read_until(": keep-alive\n\n");
    caller.read_until(": keep-alive\n\n");
    x.agent.send_event(answer_of(card("two")));
    CHECK(caller.read_until("\"x\":1.0}\n\n").find("data: " + answer_of(served(x, "two"))) != std::string::npos);
    x.gateway.stop();
    CHECK(caller.read_until_closed().find("0\r\n\r\n") == std::string::npos);
}

TEST_CASE("events that wait for the first with a card take their room from that of all bodies")
{
    constexpr std::size_t comments = 20'000;
    std::string stream;
    while (stream.size() < comments) {
        stream += ": " + std::string(96, 'c') + "\n\n";
    }
    stream += "data: " + answer_of(card("one")) + "\n\n";
    for (const bool fits : {false, true}) {
        CAPTURE(fits);
        relayed x{test_support::chunked_byte_by_byte(stream, "text/event-stream"), [&](config::settings& s) {
                      s.limits.body_memory = fits ? comments + 100'000 : comments - 1000;
                  }};
        const auto got = flow::call(x.port(), call_body("1", method));
        if (fits) {
            CHECK(got.status == 200);
        } else {
            constexpr flow::error_answer overloaded{503, -31503, "overloaded", "The gateway is at its limit.", true};
            flow::check_jsonrpc_error(got, overloaded, "1");
        }
    }
}

TEST_SUITE_END();
