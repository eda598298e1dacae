// Calls by gRPC to an agent that speaks the caller's service: what passes as it came, and how they end.
#include "tests/flow/grpc_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

TEST_SUITE_BEGIN("flow/grpc_relay");

namespace {

using namespace std::chrono_literals;
namespace raw = test_support::http2;
namespace h2 = test_support::h2;
using flow::get_request;
using flow::grpc_answer;
using flow::grpc_call;
using flow::grpc_message;
using flow::grpc_relayed;
using flow::http2_caller;
using flow::pb_field;
using flow::v1_get;
using flow::v1_stream;

constexpr std::string_view task = "\x0A\x03t-1";

std::string stream_request()
{
    return grpc_message(pb_field(2, pb_field(1, "m")));
}

}  // namespace

TEST_CASE("Messages, metadata and trailers pass byte for byte")
{
    const auto answer = grpc_message(std::string{task} + pb_field(15, "unknown"));
    grpc_relayed relayed{[&](const auto&) {
        return grpc_answer(
            answer,
            {{"grpc-status", "0"}, {"x_trailer", "1"}, {"y-bin", "AAEC"}},
            {{"x_head", "2"}, {"grpc-encoding", "identity"}}
        );
    }};
    http2_caller caller{relayed.port()};
    const auto sent = grpc_message(get_request({}) + pb_field(14, "unknown"));
    caller.send(grpc_call(1, v1_get, sent, {{"x_under", "3"}, {"z-bin", "AAE"}, {"grpc-accept-encoding", "gzip"}}));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, ":status") == "200");
    CHECK(caller.field(1, "content-type") == "application/grpc");
    CHECK(caller.body(1) == answer);
    CHECK(caller.field(1, "grpc-status") == "0");
    CHECK(caller.field(1, "x_trailer") == "1");
    CHECK(caller.field(1, "y-bin") == "AAEC");
    CHECK(caller.field(1, "x_head") == "2");
    const auto request = relayed.agent.request(0);
    CHECK(request.header(":path") == v1_get);
    CHECK(request.header("te") == "trailers");
    CHECK(request.header("content-type") == "application/grpc");
    CHECK(request.header("x_under") == "3");
    CHECK(request.header("z-bin") == "AAE");
    CHECK(request.header("grpc-accept-encoding") == "gzip");
    CHECK(request.header("content-length").empty());
    CHECK(request.body == sent);
    CHECK(relayed.gateway.wait_for_metric(R"(cardea_grpc_calls_total{agent="a",method="GetTask",status="OK"})", 1));
    CHECK(relayed.gateway.log().wait_for([](auto line) { return line.find(R"("grpc_status":"OK")") != line.npos; }));
}

TEST_CASE("A compressed message passes to the agent that speaks the caller's service")
{
    grpc_relayed relayed{[](const auto&) { return grpc_answer(grpc_message("zipped", '\1')); }};
    http2_caller caller{relayed.port()};
    caller.send(grpc_call(1, v1_get, grpc_message("packed", '\1'), {{"grpc-encoding", "gzip"}, {"cardea-agent", "a"}}));
    REQUIRE(caller.answered(1));
    CHECK(caller.body(1) == grpc_message("zipped", '\1'));
    CHECK(relayed.agent.request(0).body == grpc_message("packed", '\1'));
    CHECK(relayed.agent.request(0).header("grpc-encoding") == "gzip");
    CHECK(relayed.agent.request(0).header("cardea-agent").empty());
}

TEST_CASE("The tenant names the agent, and the agent gets the rest of it")
{
    grpc_relayed relayed{
        [](const auto&) { return grpc_answer(grpc_message(task)); },
        [](auto& settings) { settings.grpc.default_agent.clear(); }
    };
    CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(get_request("a"))) == "0");
    CHECK(relayed.agent.request(0).body == grpc_message(get_request({})));
    CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(get_request("a/acme"))) == "0");
    const auto moved = relayed.agent.request(1).body;
    CHECK(moved.find(pb_field(1, "acme")) != std::string::npos);
    CHECK(moved.size() == grpc_message(get_request("acme")).size());
}

TEST_CASE("Calls that name no agent, two, or an unknown one do not reach an agent")
{
    grpc_relayed relayed{
        [](const auto&) { return grpc_answer(grpc_message(task)); },
        [](auto& settings) { settings.grpc.default_agent.clear(); }
    };
    const auto port = relayed.port();
    CHECK(flow::status_of(port, v1_get, grpc_message(get_request({}))) == "3");
    CHECK(flow::status_of(port, v1_get, grpc_message(get_request("a")), {{"cardea-agent", "b"}}) == "3");
    CHECK(flow::status_of(port, v1_get, grpc_message(get_request("a") + pb_field(1, "a"))) == "3");
    CHECK(flow::status_of(port, v1_get, grpc_message(get_request({})), {{"cardea-agent", "b"}}) == "12");
    CHECK(flow::status_of(port, v1_get, grpc_message(get_request("b/a"))) == "12");
    CHECK(flow::status_of(port, "/lf.a2a.v1.A2AService/Other", grpc_message("")) == "12");
    CHECK(flow::status_of(port, "/pkg.Service/Method", grpc_message(""), {{"cardea-agent", "a"}}) == "12");
    CHECK(flow::status_of(port, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", grpc_message("")) == "12");
    CHECK(relayed.agent.requests().empty());
}

TEST_CASE("Broken framing and a malformed timeout are invalid arguments")
{
    grpc_relayed relayed{[](const auto&) { return grpc_answer(grpc_message(task)); }};
    const auto port = relayed.port();
    const auto good = grpc_message(get_request({}));
    CHECK(flow::status_of(port, v1_get, good + "x") == "3");
    CHECK(flow::status_of(port, v1_get, good.substr(0, good.size() - 1)) == "3");
    CHECK(flow::status_of(port, v1_get, grpc_message(get_request({}), '\2')) == "3");
    CHECK(flow::status_of(port, v1_get, "") == "3");
    CHECK(flow::status_of(port, v1_get, grpc_message("\x0A\x7F")) == "3");
    for (const auto path : {v1_get, std::string_view{"/a2a.v1.A2AService/SendMessage"}}) {
        http2_caller caller{port};
        caller.send(grpc_call(1, path, grpc_message("\xFF\xFF\xFF")));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "3");
        CHECK(caller.field(1, "grpc-message").find("JSON") == std::string::npos);
        CHECK(caller.field(1, "grpc-message").find("protocol buffers") != std::string::npos);
    }
    CHECK(flow::status_of(port, v1_get, good, {{"grpc-timeout", "1s"}}) == "3");
    CHECK(flow::status_of(port, v1_get, good, {{"grpc-timeout", "123456789n"}}) == "3");
    CHECK(relayed.agent.requests().empty());
}

TEST_CASE("An error of the gateway's is a head alone, with a sentence and details")
{
    grpc_relayed relayed{[](const auto&) { return grpc_answer(grpc_message(task)); }};
    http2_caller caller{relayed.port()};
    caller.send(grpc_call(1, v1_get, grpc_message(get_request("b"))));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, ":status") == "200");
    CHECK(caller.field(1, "content-type") == "application/grpc");
    CHECK(caller.field(1, "grpc-message") == "No such agent.");
    CHECK_FALSE(caller.field(1, "grpc-status-details-bin").empty());
    CHECK(caller.body(1).empty());
    caller.send(grpc_call(3, "/a2a.v1.A2AService/GetTask", grpc_message(pb_field(1, "nothing"))));
    REQUIRE(caller.answered(3));
    CHECK(caller.field(3, "grpc-status") == "3");
    CHECK(caller.field(3, "grpc-message").starts_with("InvalidParamsError: "));
}

TEST_CASE("Other types, HTTP/1.1 and other methods than POST are refused by HTTP")
{
    grpc_relayed relayed{[](const auto&) { return grpc_answer(grpc_message(task)); }};
    const auto http_status = [&](std::string_view type, const std::string& path) {
        http2_caller caller{relayed.port()};
        caller.send(raw::headers_frame(1, flow::at_gateway(raw::post(path, {{"content-type", std::string{type}}}))));
        return caller.answered(1) ? caller.field(1, ":status") : "reset";
    };
    const std::string path{v1_get};
    CHECK(http_status("application/grpc-web", path) == "415");
    CHECK(http_status("application/connect+proto", path) == "415");
    CHECK(http_status("application/grpc+json", path) == "415");
    CHECK(http_status("application/json", path) == "415");
    CHECK(http_status("application/grpc-web+proto", "/pkg.Service/Method") == "415");
    http2_caller caller{relayed.port()};
    caller.send(raw::headers_frame(1, flow::at_gateway(raw::get(path, {{"content-type", "application/grpc"}}))));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, ":status") == "405");
    test_support::http_client old{relayed.port()};
    old.send(
        "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/grpc\r\nContent-Length: 0\r\n\r\n"
    );
    CHECK(old.read_response().status == 415);
}

TEST_CASE("A message is measured by its prefix, both ways")
{
    constexpr std::size_t limit = 2'000;
    std::string answer;
    grpc_relayed relayed{
        [&](const auto&) { return grpc_answer(answer); },
        [](auto& settings) { settings.limits.grpc_message = limit; }
    };
    answer = grpc_message(task);
    const auto of_size = [](std::size_t size) { return get_request({}, std::string(size - 3, 'x')); };
    REQUIRE(of_size(limit).size() == limit);
    CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(of_size(limit - 1))) == "0");
    CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(of_size(limit))) == "0");
    CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(of_size(limit + 1))) == "8");
    CHECK(relayed.agent.requests().size() == 2);
    {
        http2_caller caller{relayed.port()};
        caller.send(raw::headers_frame(1, flow::grpc_fields(v1_get), raw::end_headers));
        caller.send(raw::frame(raw::data, 0, 1, grpc_message(of_size(limit + 1)).substr(0, 5)));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "8");
    }
    answer = grpc_message(std::string(limit, 'x'));
    CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(get_request({}))) == "0");
    answer = grpc_message(std::string(limit + 1, 'x'));
    CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(get_request({}))) == "8");
}

TEST_CASE("A deadline ends a call with 4, and resets the agent's stream within 100 ms")
{
    grpc_relayed relayed{[](const auto&) { return h2::script{}; }};
    std::size_t calls = 0;
    CHECK(flow::once_within(300ms, [&] {
        http2_caller caller{relayed.port()};
        const auto begun = std::chrono::steady_clock::now();
        caller.send(grpc_call(1, v1_get, grpc_message(get_request({})), {{"grpc-timeout", "200m"}}));
        REQUIRE(caller.answered(1));
        CHECK(std::chrono::steady_clock::now() - begun >= 200ms);
        CHECK(caller.field(1, "grpc-status") == "4");
        REQUIRE(relayed.agent.wait_for_resets(++calls));
    }));
    const auto told = relayed.agent.request(0).header("grpc-timeout");
    CHECK(told.size() > 1);
    CHECK(told.back() == 'u');
}

TEST_CASE("A deadline bounds a stream that has begun")
{
    grpc_relayed relayed{[](const auto&) {
        return h2::script{
            h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}},
            h2::data{grpc_message(flow::working("t"))}
        };
    }};
    std::size_t calls = 0;
    CHECK(flow::once_within(300ms, [&] {
        http2_caller caller{relayed.port()};
        caller.send(grpc_call(1, v1_stream, stream_request(), {{"grpc-timeout", "200m"}}));
        REQUIRE(caller.answered(1));
        CHECK(caller.body(1) == grpc_message(flow::working("t")));
        CHECK(caller.field(1, "grpc-status") == "4");
        REQUIRE(relayed.agent.wait_for_resets(++calls));
    }));
}

TEST_CASE("A deadline ends a call whose message has not begun, and one that waits for a stream to its agent")
{
    test_support::http2_agent_options options;
    options.streams = 1;
    grpc_relayed relayed{
        [](const auto&) { return h2::script{}; },
        [](auto& settings) { settings.limits.upstream_http2_connections = 1; },
        std::move(options)
    };
    http2_caller caller{relayed.port()};
    const auto fields = flow::grpc_fields(v1_get, {{"grpc-timeout", "100m"}});
    caller.send(raw::headers_frame(1, fields, raw::end_headers));
    caller.send(raw::headers_frame(3, fields, raw::end_headers) + raw::frame(raw::data, 0, 3, "\0\0"));
    REQUIRE(caller.until([&](const auto&) {
        return !caller.field(1, "grpc-status").empty() && !caller.field(3, "grpc-status").empty();
    }));
    CHECK(caller.field(1, "grpc-status") == "4");
    CHECK(caller.field(3, "grpc-status") == "4");
    caller.send(grpc_call(5, v1_get, grpc_message(get_request({}))));
    REQUIRE(relayed.agent.wait_for_requests(1));
    caller.send(grpc_call(7, v1_get, grpc_message(get_request({})), {{"grpc-timeout", "100m"}}));
    REQUIRE(caller.answered(7));
    CHECK(caller.field(7, "grpc-status") == "4");
}

TEST_CASE("A deadline ends a stream whose caller takes nothing, and the agent's")
{
    grpc_relayed relayed{[](const auto&) {
        return h2::script{
            h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}},
            h2::data{grpc_message(flow::working("t"))}
        };
    }};
    std::size_t calls = 0;
    CHECK(flow::once_within(300ms, [&] {
        http2_caller caller{relayed.port()};
        caller.send(raw::settings_frame({{4, 0}}));
        const auto begun = std::chrono::steady_clock::now();
        caller.send(grpc_call(1, v1_stream, stream_request(), {{"grpc-timeout", "200m"}}));
        CHECK(caller.was_reset(1, 2));
        REQUIRE(relayed.agent.wait_for_resets(++calls));
        CHECK(std::chrono::steady_clock::now() - begun >= 200ms);
    }));
    CHECK(relayed.gateway.log().wait_for([](auto line) { return line.find(R"("detail":"deadline")") != line.npos; }));
}

TEST_CASE("An answer whose end comes while its caller is waited for ends in order")
{
    const auto answer = grpc_message(pb_field(1, std::string(100'000, 'x')));
    grpc_relayed relayed{[&](const auto&) {
        return h2::script{h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}}, h2::data{answer}};
    }};
    http2_caller caller{relayed.port()};
    caller.send(grpc_call(1, v1_get, grpc_message(get_request({}))));
    REQUIRE(caller.until([&](const auto&) { return caller.body(1).size() == 65'535; }));
    relayed.agent.say(0, {h2::trailers{{{"grpc-status", "0"}}}});
    http2_caller other{relayed.port()};  // its answer comes behind the trailers of the first
    other.send(grpc_call(1, v1_get, grpc_message(get_request({}))));
    REQUIRE(other.until([&](const auto&) { return !other.body(1).empty(); }));
    caller.send(raw::update_frame(0, 100'000) + raw::update_frame(1, 100'000));
    REQUIRE(caller.answered(1));
    CHECK(caller.body(1) == answer);
    CHECK(caller.field(1, "grpc-status") == "0");
}

TEST_CASE("An agent that breaks off between messages is unavailable, and within one the stream is reset")
{
    const auto half = [](std::size_t size) {
        return [size](const auto&) {
            return h2::script{
                h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}},
                h2::data{grpc_message(flow::working("t")).substr(0, size)},
                h2::reset{2}
            };
        };
    };
    const auto whole = grpc_message(flow::working("t")).size();
    {
        grpc_relayed relayed{half(whole)};
        http2_caller caller{relayed.port()};
        caller.send(grpc_call(1, v1_stream, stream_request()));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "14");
    }
    grpc_relayed relayed{half(whole - 1)};
    http2_caller caller{relayed.port()};
    caller.send(grpc_call(1, v1_stream, stream_request()));
    CHECK(caller.was_reset(1, 2));
}

TEST_CASE("A caller's reset ends the agent's stream")
{
    grpc_relayed relayed{[](const auto&) { return h2::script{}; }};
    http2_caller caller{relayed.port()};
    caller.send(grpc_call(1, v1_get, grpc_message(get_request({}))));
    REQUIRE(relayed.agent.wait_for_requests(1));
    caller.send(raw::reset_frame(1));
    CHECK(relayed.agent.wait_for_resets(1));
}

TEST_CASE("A silent stream gets a PING")
{
    grpc_relayed relayed{
        [](const auto&) {
            return h2::script{
                h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}},
                h2::data{grpc_message(flow::working("t"))}
            };
        },
        [](auto& settings) { settings.timeouts.stream_keep_alive = 50ms; }
    };
    http2_caller caller{relayed.port()};
    caller.send(grpc_call(1, v1_stream, stream_request()));
    for (int pings = 0; pings < 2; ++pings) {
        CHECK(caller.until([](const auto& each) { return each.type == raw::ping && (each.flags & raw::ack) == 0; }));
    }
    CHECK(relayed.agent.pings() == 0);
}

TEST_CASE("An agent's answer that is not gRPC is an error that says so")
{
    const auto of = [](h2::script answer) {
        grpc_relayed relayed{[&](const auto&) { return answer; }};
        return flow::status_of(relayed.port(), v1_get, grpc_message(get_request({})));
    };
    CHECK(of(h2::answer(200, "{}", {{"content-type", "application/json"}})) == "13");
    CHECK(of(h2::answer(401, "", {})) == "16");
    CHECK(of(h2::answer(403, "", {})) == "7");
    CHECK(of(h2::answer(404, "", {})) == "12");
    CHECK(of(h2::answer(429, "", {})) == "14");
    CHECK(of(h2::answer(503, "", {})) == "14");
    for (const unsigned unavailable : {502U, 504U}) {
        CHECK(of(h2::answer(unavailable, "", {})) == "14");
    }
    CHECK(of(h2::answer(400, "", {})) == "13");
    for (const unsigned other : {201U, 204U, 302U, 304U, 409U, 500U}) {
        CAPTURE(other);
        CHECK(of(h2::answer(other, "", {})) == "2");
    }
    CHECK(of(grpc_answer(grpc_message(task), {{"grpc-status", "0"}, {"grpc-status", "5"}})) == "13");
    CHECK(of(grpc_answer(grpc_message(task), {{"grpc-status", "5"}}, {{"grpc-status", "0"}})) == "13");
    CHECK(
        of(h2::script{h2::head{
            {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "5"}, {"grpc-status", "0"}},
            true
        }}) == "13"
    );
    CHECK(of(grpc_answer(grpc_message(task), {{"x", "y"}})) == "13");
    CHECK(of(h2::answer(200, grpc_message(task), {{"content-type", "application/grpc"}})) == "13");
    CHECK(of(flow::grpc_failure("5", "Task not found")) == "5");
}

TEST_CASE("UNAVAILABLE opens the agent's breaker as 503 does")
{
    grpc_relayed relayed{
        [](const auto&) { return flow::grpc_failure("14"); },
        [](auto& settings) { settings.agents[0].breaker_failures = 3; }
    };
    for (int i = 0; i < 3; ++i) {
        CHECK(flow::status_of(relayed.port(), v1_get, grpc_message(get_request({}))) == "14");
    }
    const auto reached = relayed.agent.requests().size();
    http2_caller caller{relayed.port()};
    caller.send(grpc_call(1, v1_get, grpc_message(get_request({}))));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, "grpc-status") == "14");
    CHECK(caller.field(1, "cardea-error") == "circuit_open");
    CHECK(relayed.agent.requests().size() == reached);
}

TEST_CASE("A service among relay_services passes unread, both directions at once")
{
    test_support::http2_agent_options options;
    options.answers_pieces = true;
    std::size_t told = 0;
    grpc_relayed relayed{
        [&](const test_support::recorded_request& request) {
            h2::script out;
            if (told++ == 0) {
                out.push_back(h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}});
            }
            if (!request.body.empty()) {
                out.push_back(h2::data{request.body});
            }
            return out;
        },
        [](auto& settings) { settings.agents[0].relay_services = {"pkg.Service"}; },
        std::move(options)
    };
    http2_caller caller{relayed.port()};
    caller.send(raw::headers_frame(1, flow::grpc_fields("/pkg.Service/Chat", {{"cardea-agent", "a"}}), raw::end_headers)
    );
    caller.send(raw::frame(raw::data, 0, 1, grpc_message(std::string(40'000, 'x')).substr(0, 16'000)));
    for (int i = 1; i < 3; ++i) {
        const auto all = grpc_message(std::string(40'000, 'x'));
        caller.send(
            raw::frame(raw::data, 0, 1, std::string_view{all}.substr(static_cast<std::size_t>(i) * 16'000, 16'000))
        );
    }
    REQUIRE(caller.until([&](const auto&) { return caller.body(1).size() == 40'005; }));
    caller.send(raw::frame(raw::data, 0, 1, grpc_message("more")));
    CHECK(caller.until([&](const auto&) { return caller.body(1).ends_with("more"); }));
}

TEST_SUITE_END();
