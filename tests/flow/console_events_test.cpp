// GET /events: the log, live.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/flow/reload_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/console/events");

using flow::call_body;
using flow::check_refusal;
using flow::relayed;
using test_support::answer_json;
using test_support::field_list;
using test_support::http_client;
using test_support::request;
using test_support::request_text;

namespace {

// A viewer that has got everything that was there before it.
http_client
viewer_of(const flow::running_gateway& gateway, const std::string& query = "", const field_list& fields = {})
{
    http_client viewer{gateway.admin_port()};
    viewer.send(request_text("GET", "/events" + query, fields));
    const auto head = viewer.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    return viewer;
}

constexpr const char* live = ": live\n\n\r\n";

}  // namespace

TEST_CASE("a viewer sees each request, as the log does, with its number and its name")
{
    relayed x{answer_json("{}")};
    auto viewer = viewer_of(x.gateway, "?event=request&agent=a");
    viewer.read_until(live);
    for (int i = 0; i < 3; ++i) {
        CHECK(flow::call(x.port(), call_body()).status == 200);
    }
    CHECK(request(x.port(), "GET", "/nothing").status == 404);
    std::string got;
    for (int i = 0; i < 3; ++i) {
        got += viewer.read_until("}\n\n");
    }
    const auto at = got.find("data: ");
    REQUIRE(at != std::string::npos);
    const auto line = got.substr(at + 6, got.find('\n', at) - at - 6);
    CHECK(flow::parsed(line)["agent"] == "a");
    CHECK(got.find("event: request\n") != std::string::npos);
    CHECK(got.find("id: ") != std::string::npos);
    CHECK(x.gateway.log().wait_for([&](std::string_view each) { return each == line; }).has_value());
}

TEST_CASE("with a level that has no access lines they are made for viewers alone")
{
    relayed x{answer_json("{}"), [](auto& settings) { settings.log_level = core::log_level::warn; }};
    CHECK(flow::call(x.port(), call_body("0")).status == 200);
    auto viewer = viewer_of(x.gateway, "?event=request&last=1000");
    CHECK(viewer.read_until(live).find("event: ") == std::string::npos);
    CHECK(flow::call(x.port(), call_body("1")).status == 200);
    CHECK(viewer.read_until("}\n\n").find("event: request\n") != std::string::npos);
    for (const auto& line : x.gateway.log().all()) {
        CHECK(line.find("\"request\"") == std::string::npos);
    }
}

TEST_CASE("what a program says on stderr and changes of state are in it")
{
    auto settings = flow::quick_settings();
    core::agent server;
    server.id = "files";
    server.speaks = core::protocol::mcp;
    core::mcp_server program;
    program.transport = core::mcp_transport::stdio;
    program.command = "sh";
    program.arguments = {"-c", "echo TOKEN is missing >&2; exit 3"};
    server.mcp = std::move(program);
    settings.agents.push_back(std::move(server));
    const flow::running_gateway gateway{std::move(settings)};
    auto viewer = viewer_of(gateway, "?agent=files&last=1000");
    const auto said = viewer.read_until("TOKEN is missing");
    CHECK(said.find("event: ") != std::string::npos);
}

TEST_CASE("a viewer that comes again gets what it has missed")
{
    relayed x{answer_json("{}")};
    const auto id_of = [](const std::string& event) {
        const auto at = event.rfind("id: ") + 4;
        return event.substr(at, event.find('\n', at) - at);
    };
    std::string last;
    {
        auto viewer = viewer_of(x.gateway, "?event=request");
        viewer.read_until(live);
        flow::call(x.port(), call_body());
        last = id_of(viewer.read_until("}\n\n"));
    }
    flow::call(x.port(), call_body());
    flow::call(x.port(), call_body());
    const auto request_lines = [](std::string_view line) { return line.find("\"request\"") != line.npos; };
    CHECK(flow::becomes_true([&] { return std::ranges::count_if(x.gateway.log().all(), request_lines) == 3; }));
    auto viewer = viewer_of(x.gateway, "?event=request", {{"Last-Event-ID", last}});
    const auto missed = viewer.read_until(live);
    CHECK(missed.find("id: " + last + '\n') == std::string::npos);
    std::size_t events = 0;
    for (auto at = missed.find("event: request"); at != std::string::npos; at = missed.find("event: request", at + 1)) {
        ++events;
    }
    CHECK(events == 2);
}

TEST_CASE("eight viewers have a place, and one more is told to wait")
{
    const flow::running_gateway gateway{flow::quick_settings()};
    std::list<http_client> viewers;
    for (int i = 0; i < 8; ++i) {
        viewers.push_back(viewer_of(gateway));
    }
    check_refusal(request(gateway.admin_port(), "GET", "/events"), 503, "overloaded", "");
    viewers.pop_front();
    CHECK(flow::becomes_true([&] {
        http_client next{gateway.admin_port()};
        next.send(request_text("GET", "/events"));
        return next.read_head().status == 200;
    }));
}

TEST_CASE("a wrong filter and another method are refused, and HEAD has no body")
{
    const flow::running_gateway gateway{flow::quick_settings()};
    const auto port = gateway.admin_port();
    for (const std::string query : {"?foo=1", "?status=600", "?last=1001", "?level=loud", "?agent=a&agent=b"}) {
        CAPTURE(query);
        const auto answer = request(port, "GET", "/events" + query);
        CHECK(answer.status == 400);
        CHECK(answer.header("Cardea-Error") == "invalid_params");
    }
    check_refusal(request(port, "POST", "/events"), 405, "method_not_allowed", "");
    http_client asks{port};
    asks.send(request_text("HEAD", "/events"));
    CHECK(asks.read_response(/*to_head=*/true).status == 200);
    asks.send(request_text("GET", "/healthz"));
    CHECK(asks.read_response().body == "alive\n");
}

TEST_CASE("who may see agents may watch the log")
{
    test_support::scripted_agent agent{flow::answer_of_agent};
    auto settings = flow::guarded(agent.url("/rpc"));
    settings.admin_access = core::admin_access::scopes;
    const flow::running_gateway gateway{settings};
    const auto port = gateway.admin_port();
    CHECK(request(port, "GET", "/events").status == 401);
    CHECK(request(port, "GET", "/events", flow::mallory).status == 403);
    auto viewer = viewer_of(gateway, "", flow::reader);
    CHECK(viewer.read_until(live).ends_with(live));
    // The page itself has no secret in it, and asks for the credential.
    CHECK(request(port, "GET", "/console/").status == 200);
    CHECK(request(port, "GET", "/", {{"Accept", "text/html"}}).status == 303);
    CHECK(request(port, "GET", "/").status == 401);
}

TEST_CASE("viewers see the end of the gateway, and do not hold it up")
{
    flow::running_gateway gateway{flow::quick_settings()};
    auto viewer = viewer_of(gateway);
    auto deaf = viewer_of(gateway);
    viewer.read_until(live);
    const auto since = std::chrono::steady_clock::now();
    gateway.stop();
    const auto last = viewer.read_until_closed();
    CHECK(last.find("event: draining") != std::string::npos);
    CHECK(last.ends_with("0\r\n\r\n"));
    CHECK(gateway.wait_until_stopped());
    CHECK(std::chrono::steady_clock::now() - since < std::chrono::seconds{5});
}

TEST_CASE("a viewer of HTTP/1.0 gets the same without chunks")
{
    const flow::running_gateway gateway{flow::quick_settings()};
    http_client viewer{gateway.admin_port()};
    viewer.send("GET /events HTTP/1.0\r\n\r\n");
    const auto got = viewer.read_until(": live\n\n");
    CHECK(got.find("chunked") == std::string::npos);
    CHECK(got.ends_with("\r\n\r\n: live\n\n"));
}

TEST_CASE("a viewer goes on getting access lines when a reload takes them out of the log, and when it brings them back")
{
    const test_support::scratch_directory scratch;
    const auto file = scratch.file("c.yml");
    const auto agents = "agents:\n" + flow::inline_agent("a", "A");
    test_support::write_whole(file, agents);
    flow::reloading_gateway gateway{file};
    http_client viewer{gateway.admin_port};
    viewer.send(request_text("GET", "/events?route=card&level=info"));
    viewer.read_until(live);
    for (const std::string level : {"", "log: {level: warn}\n", "log: {level: debug}\n"}) {
        CAPTURE(level);
        if (!level.empty()) {
            test_support::write_whole(file, level + agents);
            CHECK(gateway.reload().status == 200);
        }
        CHECK(gateway.card("a").status == 200);
        CHECK(viewer.read_until("}\n\n").find("event: request\n") != std::string::npos);
    }
}

TEST_CASE("numbers of lines count up from process to process")
{
    const test_support::scratch_directory scratch;
    const auto file = scratch.file("c.yml");
    test_support::write_whole(file, "agents:\n" + flow::inline_agent("a", "A"));
    const auto first_of_new_process = [&] {
        const flow::reloading_gateway gateway{file};
        http_client viewer{gateway.admin_port};
        viewer.send(request_text("GET", "/events?event=listening&last=1"));
        const auto got = viewer.read_until("event: listening\n");
        return std::stoull(got.substr(got.find("id: ") + 4));
    };
    const auto before = first_of_new_process();
    CHECK(first_of_new_process() > before + 1000);
    CHECK(before < (1ULL << 53U));  // a number of JavaScript has it exactly
}
