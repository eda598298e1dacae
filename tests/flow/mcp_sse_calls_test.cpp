// Calls to MCP servers that speak HTTP+SSE of 2024-11-05: what becomes of the POST of one message concerns that message alone.
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/mcp_sse_calls");

namespace {

using namespace flow;
using namespace test_support;
using namespace std::chrono_literals;
using nlohmann::json;

const std::string initialize_body =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05",)"
    R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";

const std::string initialized_text =
    R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"s","version":"1"}}})";

std::string call_of(std::string_view tool, int id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
           std::string{tool} + R"("}})";
}

std::string done_of(int id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"content":[]}})";
}

// Names its endpoint at once; `posts` says what becomes of each POST.
handler sse_server(handler posts)
{
    return [posts = std::move(posts)](const recorded_request& asked) {
        if (asked.method != "GET") {
            return posts(asked);
        }
        auto stream = event_stream();
        // One chunk of 32 bytes.
        stream.insert(stream.begin() + 1, bytes{"20\r\nevent: endpoint\ndata: /message\n\n\r\n"});
        return stream;
    };
}

script taken(const recorded_request& /*asked*/)
{
    return answer(202, "Accepted");
}

class sse_gateway {
public:
    using adjustment = std::function<void(core::agent&)>;

    explicit sse_gateway(handler posts, const adjustment& adjust = {})
        : server{sse_server(std::move(posts))},
          gateway{settings(adjust)}
    {
    }

    std::string text(const field_list& fields, std::string_view body) const
    {
        field_list all{{"Accept", "application/json, text/event-stream"}, {"Content-Type", "application/json"}};
        all.insert(all.end(), fields.begin(), fields.end());
        return request_text("POST", "/agents/a/mcp", all, body);
    }

    http_client post(const field_list& fields, std::string_view body) const
    {
        http_client caller{gateway.port()};
        caller.send(text(fields, body));
        return caller;
    }

    bool posted(std::string_view part)
    {
        return server.wait_for([part](const auto& all) {
            return std::ranges::any_of(all, [part](const auto& each) {
                return each.body.find(part) != each.body.npos;
            });
        });
    }

    // The fields of a new session.
    field_list begin()
    {
        auto caller = post({}, initialize_body);
        REQUIRE(posted(R"("initialize")"));
        REQUIRE(server.wait_for_streams(1));
        server.send_event(initialized_text);
        const auto got = caller.read_response();
        REQUIRE(got.status == 200);
        return {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2024-11-05"}};
    }

    std::size_t connections() const
    {
        const auto all = server.requests();
        return static_cast<std::size_t>(std::ranges::count(all, "GET", &recorded_request::method));
    }

    scripted_agent server;
    running_gateway gateway;

private:
    config::settings settings(const adjustment& adjust) const
    {
        auto all = quick_settings();
        all.log_level = core::log_level::debug;
        core::agent record;
        record.id = "a";
        record.url = server.url("/sse");
        record.speaks = core::protocol::mcp;
        record.trust = core::card_trust::never;
        auto& mcp = record.mcp.emplace();
        mcp.transport = core::mcp_transport::sse;
        mcp.start = core::mcp_start::lazy;
        if (adjust) {
            adjust(record);
        }
        all.agents = {std::move(record)};
        return all;
    }
};

bool has(const recorded_request& asked, std::string_view part)
{
    return asked.body.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("A call whose POST is answered only after it may take longer than timeouts.request")
{
    sse_gateway x{
        [](const recorded_request& asked) { return has(asked, "slow") ? silence() : taken(asked); },
        [](core::agent& record) { record.mcp->request_timeout = 100ms; }
    };
    const auto session = x.begin();
    auto caller = x.post(session, call_of("slow", 1));
    REQUIRE(x.posted("slow"));
    // After a second it is a stream.
    CHECK(caller.read_head().header("Content-Type") == "text/event-stream");
    x.server.send_event(done_of(1));
    CHECK(caller.read_until("0\r\n\r\n").find(done_of(1)) != std::string::npos);
    CHECK(x.connections() == 1);
}

TEST_CASE("Callers of a server over streamable HTTP that turns out to speak HTTP+SSE reach it that way")
{
    sse_gateway x{
        [](const recorded_request& asked) { return asked.target == "/sse" ? answer(405, "") : taken(asked); },
        [](core::agent& record) {
            record.mcp->transport = core::mcp_transport::streamable_http;
            record.mcp->era = core::mcp_era::legacy;
            record.mcp->start = core::mcp_start::eager;
        }
    };
    const auto initialized_at = [&x](std::size_t times) {
        return x.server.wait_for([times](const auto& all) {
            return std::ranges::count_if(all, [](const auto& each) {
                       return each.target == "/message" && has(each, R"("initialize")");
                   }) == static_cast<std::ptrdiff_t>(times);
        });
    };
    REQUIRE(initialized_at(1));
    REQUIRE(x.server.wait_for_streams(1));
    const auto own = json::parse(x.server.requests().back().body);
    auto agreed = json::parse(initialized_text);
    agreed["id"] = own["id"];
    x.server.send_event(agreed.dump());
    REQUIRE(x.gateway.wait_for_metric(R"(cardea_mcp_session_up{agent="a"})", 1));

    auto caller = x.post({}, initialize_body);
    REQUIRE(initialized_at(2));
    REQUIRE(x.server.wait_for_streams(2));
    x.server.send_event(initialized_text);
    const auto got = caller.read_response();
    REQUIRE(got.status == 200);
    const field_list session{{"Mcp-Session-Id", got.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2024-11-05"}};
    auto call = x.post(session, call_of("one", 1));
    REQUIRE(x.posted("one"));
    x.server.send_event(done_of(1));
    CHECK(call.read_response().body.find(done_of(1)) != std::string::npos);
    CHECK(x.gateway.wait_for_metric(R"(cardea_mcp_client_sessions{agent="a"})", 1));
}

TEST_CASE("A call whose POST is not answered within timeouts.call fails, and the server is told")
{
    sse_gateway x{
        [](const recorded_request& asked) { return has(asked, "slow") ? silence() : taken(asked); },
        [](core::agent& record) { record.mcp->call_timeout = 100ms; }
    };
    const auto session = x.begin();
    const auto got = x.post(session, call_of("slow", 1)).read_response();
    CHECK(got.status == 200);
    CHECK(got.body.find(R"("code":"upstream_timeout")") != std::string::npos);
    CHECK(x.posted("notifications/cancelled"));
    CHECK(x.connections() == 1);
}

TEST_CASE("A POST that is refused fails its own call, and neither other calls nor the connection")
{
    sse_gateway x{[](const recorded_request& asked) {
        return has(asked, "refused") ? answer(500, "no") : has(asked, "forbidden") ? answer(401, "no") : taken(asked);
    }};
    const auto session = x.begin();
    auto other = x.post(session, call_of("other", 1));
    REQUIRE(x.posted("other"));
    for (const std::string tool : {"refused", "forbidden"}) {
        CAPTURE(tool);
        const auto got = x.post(session, call_of(tool, 2)).read_response();
        CHECK(got.status == 200);
        CHECK(got.header("Cardea-Error") == "upstream_status");
        CHECK(json::parse(got.body)["id"] == 2);
    }
    const std::string notification = R"({"jsonrpc":"2.0","method":"notifications/refused"})";
    CHECK(x.post(session, notification).read_response().status == 202);
    REQUIRE(x.posted("notifications/refused"));
    x.server.send_event(done_of(1));
    CHECK(other.read_response().body.find(done_of(1)) != std::string::npos);
    CHECK(x.connections() == 1);
}

TEST_CASE("A refusal of a POST that comes after the call's answer changes nothing")
{
    gate late;
    sse_gateway x{[&late](const recorded_request& asked) {
        return has(asked, "slow") ? script{pass_gate{late.shared()}, message{500, {}, "no"}} : taken(asked);
    }};
    const auto session = x.begin();
    auto caller = x.post(session, call_of("slow", 1));
    REQUIRE(late.wait_until_reached());
    x.server.send_event(done_of(1));
    CHECK(caller.read_response().body == done_of(1));
    late.release();
    auto next = x.post(session, call_of("next", 2));
    REQUIRE(x.posted("next"));
    x.server.send_event(done_of(2));
    CHECK(next.read_response().body == done_of(2));
    CHECK(x.connections() == 1);
}

TEST_CASE("An initialize that is refused is no session, and its caller hears why")
{
    sse_gateway x{[](const recorded_request& /*asked*/) { return answer(500, "no"); }};
    const auto got = x.post({}, initialize_body).read_response();
    CHECK(got.status == 502);
    CHECK(got.header("Cardea-Error") == "upstream_status");
    CHECK(got.count("Mcp-Session-Id") == 0);
}

TEST_CASE("A token that was renewed during a session is in no log line, whatever the server repeats")
{
    std::atomic<int> given{0};
    scripted_agent tokens{[&given](const recorded_request& /*asked*/) {
        return answer_json(
            R"({"access_token":"planted-token-)" + std::to_string(++given) +
            R"(","token_type":"Bearer","expires_in":3600})"
        );
    }};
    sse_gateway x{
        [](const recorded_request& asked) {
            return has(asked, "refused")
                       ? answer(401, "", {{"WWW-Authenticate", "Bearer is=" + asked.header("Authorization")}})
                       : taken(asked);
        },
        [&tokens](core::agent& record) {
            core::oauth_client client;
            client.token_url = tokens.url("/token");
            client.client_id = "cardea";
            client.client_secret = core::secret{"planted-secret"};
            record.credentials = std::move(client);
        }
    };
    const auto session = x.begin();
    // The first refusal brings another token.
    for (int id = 1; id <= 2; ++id) {
        const auto got = x.post(session, call_of("refused", id)).read_response();
        CHECK(got.header("Cardea-Error") == "upstream_status");
    }
    CHECK(given == 2);
    CHECK(x.gateway.log().wait_for([](std::string_view line) {
        return line.find("WWW-Authenticate: Bearer is=Bearer ********") != line.npos;
    }));
    x.gateway.stop();
    CHECK(x.gateway.wait_until_stopped());
    for (const auto& line : x.gateway.log().all()) {
        CAPTURE(line);
        CHECK(line.find("planted") == std::string::npos);
    }
}

TEST_SUITE_END();
