// What limits do to messages for MCP servers that are programs: no call is refused after the program has got it, and whoever is
// idle takes nothing from others.
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/mcp_program_limits");

using namespace flow::mcp_programs;

namespace {

std::string notification_of(std::size_t size)
{
    return R"({"jsonrpc":"2.0","method":"notifications/x","params":{"a":")" + std::string(size, 'x') + R"("}})";
}

}  // namespace

TEST_CASE("Calls that may become streams take limits.streams places, and the next one never reaches its program")
{
    const program_gateway x{[](config::settings& settings) { settings.limits.streams = 2; }};
    const auto session = x.begin();
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    listener.read_head();
    http_client waiting{x.port()};
    waiting.send(program_gateway::text("POST", session, call_of("wait")));
    x.got(R"("name":"wait")");

    const auto refused = x.post(call_of("one", "2"), session);
    check_error(refused, 503, -31503, "overloaded");
    CHECK_FALSE(refused.header("Retry-After").empty());
    CHECK(x.send("GET", session).status == 503);
    CHECK(x.post(initialize_body).status == 503);
    CHECK(x.post(call_of("one", "3")).status == 503);
    CHECK(x.post(notification_of(1), session).status == 202);

    x.touch("go");
    waiting.read_until(done_of("1"));
    CHECK(x.becomes_true([&] { return x.post(call_of("tell", "4"), session).status == 200; }));
    // The second GET has not taken the place of the first.
    listener.read_until("list_changed");
    const auto all = x.got(R"("id":4)");
    CHECK(all.find(R"("id":2)") == std::string::npos);
    CHECK(x.programs().size() == 1);
}

TEST_CASE("A stream that has sent a message holds no part of limits.body_memory while it is idle")
{
    const program_gateway x{[](config::settings& settings) {
        settings.limits.body_memory = 4096;
        std::string script = shell_server;
        const std::string before = "*hang*) ;;";
        script.insert(
            script.find(before),
            R"(*large*) echo "$done"; printf '{"jsonrpc":"2.0","method":"notifications/y","params":{"a":"%03000d"}}\n' 0;;)"
            "\n    "
        );
        settings.agents[0].mcp->arguments = {"-c", script};
    }};
    const auto session = x.begin();
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    listener.read_head();
    CHECK(x.post(call_of("large"), session).status == 200);
    listener.read_until("notifications/y");
    listener.read_until("\n\n");
    CHECK(x.becomes_true([&] { return x.post(notification_of(2000), session).status == 202; }));
    CHECK(x.post(notification_of(4096), session).status == 503);
}

TEST_CASE("A call to a program that does not read is 503 within a session too, since nothing of it was sent")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client waiting{x.port()};
    waiting.send(program_gateway::text("POST", session, call_of("wait")));
    x.got(R"("name":"wait")");
    // What the pipe and the queue hold.
    const auto filler = notification_of(200'000);
    CHECK(x.becomes_true([&] { return x.post(filler, session).status == 503; }));
    auto call = call_of("one", "2");
    call.insert(call.size() - 1, std::string(200'000, ' '));
    const auto got = x.post(call, session);
    check_error(got, 503, -31503, "overloaded");
    CHECK_FALSE(got.header("Retry-After").empty());
    CHECK(json::parse(got.body)["id"] == 2);
    x.touch("go");
    waiting.read_until(done_of("1"));
    CHECK(x.becomes_true([&] { return x.post(call_of("one", "3"), session).status == 200; }));
}

TEST_CASE("A caller who waits for less time than a program is silent hears in time that there is no answer")
{
    const program_gateway x;
    const auto session = x.begin();
    const auto in_time = [&](std::string_view time) {
        auto fields = session;
        fields.emplace_back("X-Request-Timeout-Ms", time);
        return fields;
    };
    const auto begun = std::chrono::steady_clock::now();
    const auto got = x.post(call_of("hang", "1"), in_time("50"));
    CHECK(std::chrono::steady_clock::now() - begun < patience / 2);
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.header("Cardea-Error") == "upstream_timeout");
    CHECK(json::parse(got.body)["id"] == 1);

    // As of a caller that has left: its session goes on, and the call until the client cancels it.
    const std::string cancel = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})";
    CHECK(x.post(cancel, session).status == 202);
    CHECK(x.got("notifications/cancelled").find("notifications/cancelled") != std::string::npos);
    CHECK(x.post(call_of("one", "2"), in_time("60000")).status == 200);
    // The beginning of a stream is that of an answer.
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", in_time("60000"), call_of("wait", "3")));
    CHECK(caller.read_head().header("Content-Type") == "text/event-stream");
    x.touch("go");
    CHECK_FALSE(caller.read_until(done_of("3")).empty());
}

TEST_CASE("A caller who waits for less time than a program needs to begin a session gets no session")
{
    const program_gateway x{[](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", "cat > /dev/null"};
    }};
    const auto begun = std::chrono::steady_clock::now();
    check_error(x.post(initialize_body, {{"X-Request-Timeout-Ms", "50"}}), 504, -32603, "upstream_timeout");
    CHECK(std::chrono::steady_clock::now() - begun < patience / 2);
}

TEST_CASE("An initialize without an id is refused before a program starts")
{
    const program_gateway x;
    auto notification = initialize_body;
    notification.erase(notification.find(R"("id":0,)"), 7);
    check_error(x.post(notification), 400, -32600, "invalid_request");
    check_error(x.post(notification, x.begin()), 400, -32600, "invalid_request");
    CHECK(x.programs().size() == 1);
}

TEST_CASE("Sessions of callers and programs that wait for them are counted while they are there")
{
    program_gateway x{[](config::settings& settings) {
        settings.agents[0].mcp->warm = 2;
        settings.agents[0].mcp->max_sessions = 4;
    }};
    const std::string sessions = R"(cardea_mcp_client_sessions{agent="a"})";
    CHECK(x.gateway().wait_for_metric(sessions, 0));
    const auto session = x.begin();
    x.begin();
    CHECK(x.gateway().wait_for_metric(sessions, 2));
    CHECK(x.gateway().wait_for_metric(R"(cardea_mcp_warm_programs{agent="a"})", 2));
    CHECK(x.send("DELETE", session).status == 200);
    CHECK(x.gateway().wait_for_metric(sessions, 1));
}

TEST_SUITE_END();
