// What an agent's relay_paths let through: any method, any body, as it comes.
#include "net/http1/chunked.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/completion_condition.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

using namespace std::chrono_literals;
using test_support::answer;
using test_support::http_client;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("flow/relay_opaque");

namespace {

config::settings settings_for(const scripted_agent& agent, const std::string& path = "/base")
{
    auto settings = flow::quick_settings();
    auto record = flow::a2a_agent("a", agent.url(path));
    record.relay_paths = {"/**"};
    settings.agents.push_back(std::move(record));
    return settings;
}

std::string pattern(std::size_t size)
{
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = test_support::pattern_byte(i);
    }
    return text;
}

}  // namespace

TEST_CASE("method, path, query and body reach the agent as they were sent, below its URL")
{
    scripted_agent agent{[](const auto&) { return answer(200, "ok"); }};
    const flow::running_gateway gateway{settings_for(agent, "/base/")};
    struct row {
        const char* method;
        const char* below;
        const char* target;
    };
    for (const auto& each : {
             row{"GET", "/x/y?q=%2f", "/base/x/y?q=%2f"},
             row{"PUT", "/a%20b", "/base/a%20b"},
             row{"DELETE", "/z", "/base/z"},
             row{"GET", "", "/base/"},
             row{"PATCH", "/", "/base/"},
         }) {
        CAPTURE(each.below);
        const auto got = test_support::request(gateway.port(), each.method, std::string("/agents/a") + each.below);
        CHECK(got.status == 200);
        const auto seen = agent.request(agent.request_count() - 1);
        CHECK(seen.method == each.method);
        CHECK(seen.target == each.target);
    }
    CHECK(test_support::request(gateway.port(), "HEAD", "/agents/a/h").body.empty());
}

TEST_CASE("a large body passes as it comes, whatever room the head leaves in the buffer, with a length and chunked")
{
    const auto body = pattern(1024 * 1024);
    for (const std::size_t padding : {0U, 8000U, 16200U, 16279U, 16280U, 16281U}) {
        for (const bool chunked : {false, true}) {
            CAPTURE(padding);
            CAPTURE(chunked);
            scripted_agent agent{[](const auto&) { return answer(200, "ok"); }};
            auto settings = settings_for(agent);
            settings.limits.header = 64 * 1024;
            settings.limits.header_value = 64 * 1024;
            const flow::running_gateway gateway{std::move(settings)};
            http_client caller{gateway.port()};
            std::string head =
                "PUT /agents/a/up HTTP/1.1\r\nHost: localhost\r\nX-Pad: " + std::string(padding, 'p') + "\r\n";
            if (chunked) {
                caller.send(head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(body, 70'000));
            } else {
                caller.send(head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
            }
            CHECK(caller.read_response().status == 200);
            REQUIRE(agent.request_count() == 1);
            CHECK(agent.request(0).body == body);
        }
    }
}

TEST_CASE("an interim answer does not end an upload")
{
    for (const std::string interim :
         {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"}) {
        CAPTURE(interim);
        namespace asio = boost::asio;
        asio::io_context io;
        asio::ip::tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
        constexpr std::size_t size = 300'000;
        std::string got;
        // Says something as soon as it has the head, and answers when it has the body.
        std::thread agent{[&] {
            auto socket = acceptor.accept();
            const auto head = asio::read_until(socket, asio::dynamic_buffer(got), "\r\n\r\n");
            asio::write(socket, asio::buffer(interim));
            asio::read(socket, asio::dynamic_buffer(got), asio::transfer_exactly(head + size - got.size()));
            got.erase(0, head);
            asio::write(socket, asio::buffer(std::string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")));
        }};
        auto settings = flow::quick_settings();
        auto record = flow::a2a_agent("a", "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()));
        record.relay_paths = {"/**"};
        settings.agents.push_back(std::move(record));
        const flow::running_gateway gateway{std::move(settings)};
        const auto body = pattern(size);
        http_client caller{gateway.port()};
        caller.send(
            "POST /agents/a/up HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n" + body.substr(0, 70'000)
        );
        caller.send(body.substr(70'000));
        CHECK(caller.read_response().status == 200);
        agent.join();
        CHECK(got == body);
    }
}

TEST_CASE("a passed body is limited exactly")
{
    for (const std::size_t size : {200'000U - 1, 200'000U, 200'000U + 1}) {
        for (const bool chunked : {false, true}) {
            CAPTURE(size);
            CAPTURE(chunked);
            scripted_agent agent{[](const auto&) { return answer(200, "ok"); }};
            auto settings = settings_for(agent);
            settings.limits.stream_body = 200'000;
            const flow::running_gateway gateway{std::move(settings)};
            http_client caller{gateway.port()};
            const std::string head = "PUT /agents/a/up HTTP/1.1\r\nHost: localhost\r\n";
            const auto body = pattern(size);
            caller.try_send(
                chunked ? head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(body, 30'000)
                        : head + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body
            );
            CHECK(caller.read_response().status == (size <= 200'000 ? 200 : 413));
        }
    }
}

TEST_CASE("a chunk that is larger than what is left of the limit is refused before its data")
{
    scripted_agent agent{[](const auto&) { return answer(200, "ok"); }};
    auto settings = settings_for(agent);
    settings.limits.stream_body = 200'000;
    settings.limits.body = 50'000;
    const flow::running_gateway gateway{std::move(settings)};
    struct row {
        std::string target;
        std::size_t limit;
        std::size_t
            before;  // what has come before that chunk: nothing, something that is held, something that was passed
    };
    for (const auto& r :
         {row{"", 50'000, 0}, row{"", 50'000, 20'000}, row{"/up", 200'000, 0}, row{"/up", 200'000, 150'000}}) {
        CAPTURE(r.target);
        CAPTURE(r.before);
        for (const auto over : {-1, 0, 1}) {
            CAPTURE(over);
            http_client caller{gateway.port()};
            caller.send(
                "POST /agents/a" + r.target +
                " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n"
            );
            if (r.before > 0) {
                const auto coded = flow::chunked(pattern(r.before), 10'000);
                caller.send(std::string_view{coded}.substr(0, coded.size() - 5));
            }
            const auto size = r.limit - r.before + static_cast<std::size_t>(over + 1) - 1;
            const net::http1::chunk_header header{size};
            caller.send(header.text());
            if (over > 0) {
                CHECK(caller.read_response().status == 413);  // though not a byte of its data has come
            } else {
                caller.send(pattern(size) + "\r\n0\r\n\r\n");
                const auto got = caller.read_response();
                CHECK(got.status == 200);
                CHECK(got.header("Cardea-Error") == (r.target.empty() ? "parse_error" : ""));  // it is no JSON
            }
        }
    }
}

TEST_CASE("an upload that meets the end of a used connection is not sent again, whatever it asks for")
{
    for (const std::string method : {"GET", "OPTIONS", "PUT"}) {
        for (const bool chunked : {false, true}) {
            CAPTURE(method);
            CAPTURE(chunked);
            scripted_agent agent{test_support::closing_on_reuse(answer(200, "ok"))};
            const flow::running_gateway gateway{settings_for(agent)};
            CHECK(test_support::request(gateway.port(), "GET", "/agents/a/x").status == 200);
            http_client caller{gateway.port()};
            const auto body = pattern(200'000);
            const auto head = method + " /agents/a/up HTTP/1.1\r\nHost: localhost\r\n";
            caller.try_send(
                chunked ? head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(body, 30'000)
                        : head + "Content-Length: 200000\r\n\r\n" + body
            );
            const auto got = caller.read_response();
            flow::check_plain_error(got, flow::cut_off, "a");
            CHECK(agent.accepted_connections() == 1);
        }
    }
}

TEST_CASE("OPTIONS of /mcp goes to an agent that has it among its relay_paths, and what a browser asks does not")
{
    scripted_agent agent{[](const auto&) { return answer(200, "the agent's"); }};
    auto settings = settings_for(agent);
    settings.agents[0].relay_paths = {"/mcp"};
    auto& other = settings.agents.emplace_back(settings.agents[0]);
    other.id = "b";
    other.relay_paths = {"/x"};
    const flow::running_gateway gateway{settings};
    const test_support::field_list origin{{"Origin", "http://localhost:1"}};
    const auto passed = test_support::request(gateway.port(), "OPTIONS", "/agents/a/mcp?x=1", origin);
    CHECK(passed.status == 200);
    CHECK(passed.body == "the agent's");
    CHECK(passed.header("Access-Control-Allow-Methods").empty());
    REQUIRE(agent.request_count() == 1);
    CHECK(agent.request(0).method == "OPTIONS");
    CHECK(agent.request(0).target.ends_with("/mcp?x=1"));
    CHECK(agent.request(0).header("Origin") == "http://localhost:1");
    for (const auto* id : {"b", "nobody"}) {
        CHECK(
            test_support::request(gateway.port(), "OPTIONS", std::string{"/agents/"} + id + "/mcp", origin).status ==
            204
        );
    }
    auto preflight = origin;
    preflight.emplace_back("Access-Control-Request-Method", "PUT");
    CHECK(test_support::request(gateway.port(), "OPTIONS", "/agents/a/mcp", preflight).status == 204);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("a path that no pattern fits is nowhere")
{
    scripted_agent agent{[](const auto&) { return answer(200, "ok"); }};
    auto settings = settings_for(agent);
    settings.agents[0].relay_paths = {"/v1/*"};
    const flow::running_gateway gateway{std::move(settings)};
    CHECK(test_support::request(gateway.port(), "GET", "/agents/a/v1/x").status == 200);
    CHECK(test_support::request(gateway.port(), "GET", "/agents/a/v1/x/y").status == 404);
    CHECK(test_support::request(gateway.port(), "PUT", "/agents/a").status == 405);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("304 answers those who only read, and nobody else")
{
    const std::string head = "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n";
    scripted_agent agent{[&](const auto&) { return test_support::raw({head}); }};
    const flow::running_gateway gateway{settings_for(agent)};
    http_client caller{gateway.port()};
    for (const std::string verb : {"GET", "HEAD", "POST", "PUT", "GET"}) {
        CAPTURE(verb);
        const bool reads = verb == "GET" || verb == "HEAD";
        caller.send(test_support::request_text(verb, "/agents/a/x", {{"If-None-Match", "\"x\""}}));
        const auto got = caller.read_response(/*to_head=*/verb == "HEAD");
        CHECK(got.status == (reads ? 304 : 502));
        CHECK(got.header("ETag") == (reads ? "\"x\"" : ""));
        CHECK(got.header("Cardea-Error") == (reads ? "" : "upstream_status"));
    }
}

TEST_CASE("a stream whose caller takes nothing is cut when streams end, and by the gateway")
{
    scripted_agent agent{[](const auto&) {
        return test_support::then(test_support::event_stream(), test_support::script{});
    }};
    auto settings = flow::quick_settings();
    settings.timeouts.drain = 30s;
    settings.agents.push_back(flow::a2a_agent("a", agent.url()));
    flow::running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(flow::call_text(flow::call_body("1", "message/stream")));
    REQUIRE(agent.wait_for_streams(1));
    caller.read_head();
    const std::string event(64 * 1024, 'e');
    for (int i = 0; i < 200; ++i) {
        agent.send_event(event);  // far more than the sockets hold
    }
    gateway.stop();
    CHECK(gateway.wait_until_stopped(10s));
    const auto line = gateway.log().wait_for([](std::string_view text) {
        return text.find("\"route\":\"call\"") != std::string_view::npos;
    });
    REQUIRE(line.has_value());
    CHECK(line->find("\"code\":\"draining\"") != std::string::npos);
    CHECK(line->find("\"stream\":\"drain\"") != std::string::npos);
}

TEST_CASE("a stream that relay_paths let through is counted for as long as it is open")
{
    flow::relayed x{test_support::event_stream(), [](config::settings& s) { s.agents[0].relay_paths = {"/**"}; }};
    http_client caller{x.port()};
    caller.send(test_support::request_text("GET", "/agents/a/events"));
    CHECK(caller.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(1));
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 1));
    caller.reset();
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 0));
    CHECK(x.gateway.metric(R"(cardea_streams_ended_total{agent="a",reason="caller"})") == 1);
}

TEST_SUITE_END();
