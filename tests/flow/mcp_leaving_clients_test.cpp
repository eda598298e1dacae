// Clients of MCP servers that leave at any byte of an answer, and one that begins 1,000 sessions over HTTP.
#include "tests/flow/mcp_session_server.hpp"
#include "tests/support/plain_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_leaving_clients");

using namespace flow::mcp_calls;
using flow::a2a_agent;
using flow::quick_settings;
using flow::running_gateway;

namespace {

// A server of one session that sends the answer to a call byte by byte, as JSON, or as events if the call asks for those.
class slow_server {
public:
    slow_server()
        : agent_{[this](const plain_exchange& asked) { return serve(asked); }}
    {
    }

    std::string url() const { return agent_.url("/mcp"); }
    std::size_t cancelled() const { return cancelled_; }

private:
    bool serve(const plain_exchange& asked)
    {
        const auto body = json::parse(asked.body, nullptr, /*allow_exceptions=*/false);
        const auto method = body.is_object() ? body.value("method", "") : std::string{};
        if (method == "initialize") {
            return asked.write(answer("application/json", initialized, "Mcp-Session-Id: s-1\r\n"));
        }
        if (!body.contains("id")) {
            cancelled_ += method == "notifications/cancelled" ? 1 : 0;
            return asked.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        }
        const auto said = R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":{"content":[]}})";
        if (asked.body.find("events") == std::string::npos) {
            return asked.write_bytewise(answer("application/json", said));
        }
        const std::string progress = R"(data: {"jsonrpc":"2.0","method":"notifications/progress"})";
        return asked.write_bytewise(answer("text/event-stream", progress + "\n\ndata: " + said + "\n\n"));
    }

    static std::string answer(std::string_view type, const std::string& body, std::string_view more = {})
    {
        return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string{type} + "\r\n" + std::string{more} +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }

    std::atomic<std::size_t> cancelled_{0};
    plain_agent agent_;
};

std::string call_text(const field_list& session, std::string_view tool)
{
    const auto body =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + std::string{tool} + R"("}})";
    const auto fields = with(with(usual_fields(), session), {{"Content-Type", "application/json"}});
    return request_text("POST", "/agents/a/mcp", fields, body);
}

// All that comes of one call.
std::string whole_answer(std::uint16_t port, const std::string& text)
{
    http_client caller{port};
    caller.send(text);
    return caller.read_until(R"("result":{"content":[]}})");
}

std::string body_of(std::uint16_t port, const std::string& text)
{
    http_client caller{port};
    caller.send(text);
    return caller.read_response().body;
}

// The id of each of so many sessions that one client has begun.
std::vector<field_list> begin_sessions(std::uint16_t port, std::size_t count)
{
    std::vector<field_list> sessions;
    while (sessions.size() < count) {
        const auto got = send_to(port, "POST", usual_fields(), initialize_body);
        REQUIRE(got.status == 200);
        sessions.push_back({{"Mcp-Session-Id", got.header("Mcp-Session-Id")}});
    }
    return sessions;
}

}  // namespace

TEST_CASE("A client that leaves at any byte of an answer, JSON or events, cancels nothing and keeps its session")
{
    slow_server server;
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", server.url()));
    make_mcp(settings);
    const running_gateway x{std::move(settings)};
    const auto begun = send_to(x.port(), "POST", usual_fields(), initialize_body);
    REQUIRE(begun.status == 200);
    const field_list session{{"Mcp-Session-Id", begun.header("Mcp-Session-Id")}};
    for (const std::string_view tool : {"plain", "events"}) {
        CAPTURE(tool);
        const auto text = call_text(session, tool);
        const auto whole = whole_answer(x.port(), text);
        const auto body = body_of(x.port(), text);
        // More than a session may have in flight: whoever has left holds no place.
        REQUIRE(whole.size() > 64);
        for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
            http_client caller{x.port()};
            caller.send(text);
            for (std::size_t got = 0; got < bytes;) {
                const auto some = caller.read_some();
                REQUIRE_FALSE(some.empty());
                got += some.size();
            }
            bytes % 2 == 0 ? caller.close() : caller.reset();
        }
        CHECK(body_of(x.port(), text) == body);
    }
    CHECK(server.cancelled() == 0);
    CHECK(x.wait_for_metric("cardea_requests_in_flight", 0));
}

TEST_CASE(
    "1,000 sessions over HTTP that one client has begun are served, and begin again when the server loses them all"
)
{
    constexpr std::size_t count = 1000;
    session_rig r{[](config::settings& settings) { settings.workers = 2; }};
    const auto port = r.x->port();
    const auto sessions = begin_sessions(port, count);
    std::set<std::string> ids;
    for (const auto& each : sessions) {
        ids.insert(each.front().second);
    }
    CHECK(ids.size() == count);
    std::set<std::string> upstream;
    r.server->calls = [&upstream](const auto& request) {
        upstream.insert(request.header("Mcp-Session-Id"));
        return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    };
    const auto each_called = [&] {
        upstream.clear();
        for (const auto& each : sessions) {
            const auto got = send_to(port, "POST", with(usual_fields(), each), call_of("1"));
            REQUIRE(got.status == 200);
        }
        return upstream.size();
    };
    CHECK(each_called() == count);
    r.server->forget();
    CHECK(each_called() == count);
    CHECK(r.x->gateway.wait_for_metric("cardea_mcp_recoveries_total", static_cast<double>(count)));
    CHECK(each_called() == count);
    CHECK(r.x->gateway.wait_for_metric("cardea_mcp_recoveries_total", static_cast<double>(count)));
}

TEST_CASE("Sessions that are lost at once and used at once begin again, each of them once, and no call fails")
{
    constexpr std::size_t count = 200;
    constexpr std::size_t threads = 8;
    session_rig r{[](config::settings& settings) { settings.workers = 2; }};
    const auto port = r.x->port();
    const auto sessions = begin_sessions(port, count);
    r.server->forget();
    std::atomic<std::size_t> served{0};
    std::vector<std::thread> callers;
    for (std::size_t each = 0; each < threads; ++each) {
        callers.emplace_back([&, each] {
            for (auto at = each; at < count; at += threads) {
                const auto got = send_to(port, "POST", with(usual_fields(), sessions[at]), call_of("1"));
                served += got.status == 200 ? 1 : 0;
            }
        });
    }
    for (auto& each : callers) {
        each.join();
    }
    CHECK(served == count);
    CHECK(r.x->gateway.wait_for_metric("cardea_mcp_recoveries_total", static_cast<double>(count)));
}

TEST_CASE("A server that takes no further session says so to the client itself, and the sessions before go on")
{
    session_rig r;
    const auto sessions = begin_sessions(r.x->port(), 3);
    r.server->initialize_status = 503;
    CHECK(post(*r.x, initialize_body).status == 503);
    for (const auto& each : sessions) {
        CHECK(post(*r.x, call_of("1"), each).status == 200);
    }
    r.server->initialize_status = 200;
    CHECK(post(*r.x, initialize_body).status == 200);
}

TEST_SUITE_END();
