// The gateway is killed under load and comes back: sessions with MCP servers over HTTP outlive it, and those with programs do not.
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/plain_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_kill");

namespace {

using flow::reloading_gateway;
using test_support::field_list;
using test_support::http_client;
using test_support::http_response;
using test_support::plain_agent;
using test_support::plain_exchange;
using test_support::request_text;

constexpr std::string_view initialize_body =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
    R"("clientInfo":{"name":"test","version":"1"}}})";
constexpr std::string_view call_body = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one"}})";

// It numbers its sessions, and answers a call with the number.
class numbering_server {
public:
    numbering_server()
        : agent_{[this](const plain_exchange& asked) { return serve(asked); }}
    {
    }

    std::string url() const { return agent_.url("/mcp"); }
    int begun() const { return begun_; }

private:
    bool serve(const plain_exchange& asked)
    {
        if (asked.body.find(R"("method":"initialize")") != std::string::npos) {
            const auto id = std::to_string(++begun_);
            return answer(
                asked,
                R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},)"
                R"("serverInfo":{"name":"s","version":"1"}}})",
                "Mcp-Session-Id: s-" + id + "\r\n"
            );
        }
        constexpr std::string_view name = "Mcp-Session-Id: ";
        const auto at = asked.head.find(name);
        if (at == std::string::npos) {
            return asked.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
        const auto id = asked.head.substr(at + name.size(), asked.head.find('\r', at) - at - name.size());
        return answer(asked, R"({"jsonrpc":"2.0","id":1,"result":{"of":")" + id + R"("}})");
    }

    static bool answer(const plain_exchange& asked, const std::string& body, const std::string& more = {})
    {
        return asked.write(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + more +
            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body
        );
    }

    std::atomic<int> begun_{0};
    plain_agent agent_;
};

http_response post(std::uint16_t port, std::string_view agent, const field_list& session, std::string_view body)
{
    field_list fields{{"Accept", "application/json, text/event-stream"}, {"Content-Type", "application/json"}};
    fields.insert(fields.end(), session.begin(), session.end());
    http_client caller{port};
    caller.send(request_text("POST", "/agents/" + std::string{agent} + "/mcp", fields, body));
    return caller.read_response();
}

field_list begin(std::uint16_t port, std::string_view agent)
{
    const auto got = post(port, agent, {}, initialize_body);
    REQUIRE(got.status == 200);
    return {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}};
}

struct tally {
    std::atomic<std::uint16_t> port{0};
    std::atomic<bool> over{false};
    std::atomic<int> answered{0};
    std::atomic<int> cut{0};
    std::atomic<int> wrong{0};
};

// In one session, whose calls are all answered with the same number.
void keep_calling(const field_list& session, const std::string& wanted, tally& count)
{
    while (!count.over) {
        try {
            const auto got = post(count.port, "http", session, call_body);
            const bool right = got.status == 200 && got.body == wanted;
            ++(right ? count.answered : count.wrong);
        } catch (const std::exception&) {
            ++count.cut;
        }
    }
}

bool answers_more(const tally& count, int more)
{
    const auto wanted = count.answered + more;
    return flow::becomes_true([&] { return count.answered >= wanted; });
}

}  // namespace

TEST_CASE("A gateway that is killed under load and comes back serves every session over HTTP, and none with a program")
{
    constexpr int sessions = 6;
    const numbering_server server;
    const test_support::scratch_directory here;
    test_support::write_whole(here.file("key"), std::string(64, 'a'));
    test_support::write_whole(
        here.file("c.yml"),
        "log: {level: error}\nmcp: {session_keys: [" + here.file("key") + "]}\nagents:\n  http: {url: \"" +
            server.url() +
            "\", protocol: mcp, start: lazy}\n  program: {start: lazy, transport: {type: stdio, command: sh, args: "
            "[-c, "
            R"('read -r line; echo "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",)"
            R"(\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}"; cat > /dev/null')"
            "]}}\n"
    );
    auto gateway = std::make_unique<reloading_gateway>(here.file("c.yml"));
    tally count;
    count.port = gateway->port;
    const auto of_program = begin(gateway->port, "program");
    std::vector<std::thread> callers;
    for (int i = 0; i < sessions; ++i) {
        const auto session = begin(gateway->port, "http");
        const auto wanted = post(gateway->port, "http", session, call_body).body;
        callers.emplace_back([session, wanted, &count] { keep_calling(session, wanted, count); });
    }
    for (int kill = 0; kill < 3; ++kill) {
        CHECK(answers_more(count, 100));
        gateway->process.signal(SIGKILL);
        CHECK(gateway->process.wait() == -SIGKILL);
        gateway = std::make_unique<reloading_gateway>(here.file("c.yml"));
        count.port = gateway->port;
        CHECK(answers_more(count, 100));
        CHECK(post(gateway->port, "program", of_program, call_body).status == 404);
    }
    count.over = true;
    for (auto& each : callers) {
        each.join();
    }
    CHECK(count.wrong == 0);
    CHECK(count.cut > 0);
    CHECK(server.begun() == sessions);
}

TEST_SUITE_END();
