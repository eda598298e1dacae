// Clients of the legacy era in front of a server over streamable HTTP that speaks only the modern one.
#include "jose/digest.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_modern_http");

using namespace flow;
using namespace flow::mcp_calls;

namespace {

script error(unsigned status, const json& id, int code)
{
    return answer(
        status,
        R"({"jsonrpc":"2.0","id":)" + id.dump() + R"(,"error":{"code":)" + std::to_string(code) +
            R"(,"message":"no"}})",
        {{"Content-Type", "application/json"}}
    );
}

script events(const std::vector<std::string>& messages)
{
    std::string body;
    for (const auto& each : messages) {
        body += "data: " + each + "\n\n";
    }
    return answer(200, body, {{"Content-Type", "text/event-stream"}});
}

// It refuses what does not have the header of its era. `log` is logged, `hang` gets no answer, `need` asks for roots.
script modern_server(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    if (!body.is_object() || !body.contains("id")) {
        return answer(405, "");
    }
    const auto method = body.value("method", "");
    const auto& id = body["id"];
    const auto meta = body.value("params", json::object()).value("_meta", json::object());
    if (method == "initialize" || meta.value("io.modelcontextprotocol/protocolVersion", "") != "2026-07-28") {
        return error(400, id, -32022);
    }
    if (request.header("MCP-Protocol-Version") != "2026-07-28" || request.header("Mcp-Method") != method) {
        return error(400, id, -32020);
    }
    const auto result = [&id](std::string_view text) {
        return R"({"jsonrpc":"2.0","id":)" + id.dump() + R"(,"result":)" + std::string{text} + '}';
    };
    if (method == "server/discover") {
        return answer_json(
            result(R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
                   R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1.50"}}})")
        );
    }
    if (method == "tools/list") {
        return answer_json(result(
            R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"echo","inputSchema":{"type":"object",)"
            R"("properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]})"
        ));
    }
    if (method != "tools/call") {
        return error(404, id, -32601);
    }
    const auto name = body["params"].value("name", "");
    if (name == "hang") {
        return silence();
    }
    if (name == "unknown") {
        return error(200, id, -32602);
    }
    if (name == "need" && !body["params"].contains("inputResponses")) {
        return answer_json(result(
            R"({"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},"requestState":"s"})"
        ));
    }
    const auto done = result(R"({"resultType":"complete","content":[]})");
    if (name == "log" && meta.contains("io.modelcontextprotocol/logLevel")) {
        return events(
            {R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.50}})", done}
        );
    }
    return answer_json(done);
}

relayed modern_gateway(core::mcp_era era, const relayed::adjustment& adjust = {})
{
    return relayed{modern_server, [era, adjust](config::settings& settings) {
                       make_mcp(settings);
                       settings.agents[0].mcp->era = era;
                       settings.agents[0].mcp->start = core::mcp_start::eager;
                       if (adjust) {
                           adjust(settings);
                       }
                   }};
}

// The gateway's own session knows what the server lists.
void wait_for_card(const relayed& x)
{
    const auto by = std::chrono::steady_clock::now() + patience;
    unsigned status = 0;
    while (status != 200 && std::chrono::steady_clock::now() < by) {
        http_client caller{x.port()};
        caller.send(request_text("GET", "/agents/a/.well-known/agent-card.json", {}));
        status = caller.read_response().status;
    }
    REQUIRE(status == 200);
}

constexpr std::string_view open_with_roots =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},)"
    R"("clientInfo":{"name":"test","version":"1"}}})";

field_list begin_translated(const relayed& x)
{
    const auto got = post(x, open_with_roots);
    REQUIRE(got.status == 200);
    CHECK(
        got.body ==
        R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1.50"}}})"
    );
    return {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2025-06-18"}};
}

std::string call_named(std::string_view name, std::string_view id = "1", std::string_view arguments = R"({"n":1.50})")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":"tools/call","params":{"name":")" +
           std::string{name} + R"(","arguments":)" + std::string{arguments} + "}}";
}

std::string completed(std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"result":{"resultType":"complete","content":[]}})";
}

std::vector<recorded_request> calls(const relayed& x)
{
    auto all = x.agent.requests();
    std::erase_if(all, [](const auto& each) { return each.header("Mcp-Method") != "tools/call"; });
    return all;
}

}  // namespace

TEST_CASE("A client of the legacy era uses a server that speaks only the modern one, configured or found out")
{
    for (const auto era : {core::mcp_era::modern, core::mcp_era::automatic}) {
        const auto x = modern_gateway(era);
        wait_for_card(x);
        const auto session = begin_translated(x);
        CHECK(post(x, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session).status == 202);
        CHECK(
            post(x, R"({"jsonrpc":"2.0","id":"p","method":"ping"})", session).body ==
            R"({"jsonrpc":"2.0","id":"p","result":{}})"
        );
        const auto got = post(x, call_named("echo", R"("i")", R"({"region":"K\u00f6ln","n":1.50})"), session);
        CHECK(got.status == 200);
        CHECK(got.body == completed(R"("i")"));
        const auto all = calls(x);
        REQUIRE(all.size() == 1);
        CHECK(all[0].header("Mcp-Name") == "echo");
        CHECK(all[0].header("Mcp-Param-Region") == "=?base64?S8O2bG4=?=");
        CHECK(all[0].count("Mcp-Session-Id") == 0);
        CHECK(all[0].header("Traceparent") == usual_fields()[1].second);
        CHECK(all[0].body.find(R"("arguments":{"region":"K\u00f6ln","n":1.50})") != std::string::npos);
        CHECK(all[0].body.find(R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}})") != std::string::npos);
        check_error(post(x, call_named("unknown"), session), 200, -32602, "");
        CHECK(send(x, "DELETE", with(usual_fields(), session)).status == 200);
        check_error(post(x, call_named("echo"), session), 404, -32001, "session_not_found");
    }
}

TEST_CASE("The first call to a lazy server repeats what its tool wants repeated, in a session or without one")
{
    for (const bool alone : {true, false}) {
        CAPTURE(alone);
        const auto x = modern_gateway(core::mcp_era::modern, [](config::settings& settings) {
            settings.agents[0].mcp->start = core::mcp_start::lazy;
        });
        const auto session = alone ? field_list{} : begin_translated(x);
        CHECK(post(x, call_named("echo", "1", R"({"region":"eu"})"), session).body == completed("1"));
        const auto all = calls(x);
        REQUIRE(all.size() == 1);
        CHECK(all[0].header("Mcp-Param-Region") == "eu");
    }
}

TEST_CASE("A client's deadline ends its wait until it is known whether a server speaks the legacy era")
{
    const relayed x{
        [](const recorded_request& request) {
            const bool begins = request.body.find(R"("method":"initialize")") != std::string::npos;
            return begins ? silence() : modern_server(request);
        },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->era = core::mcp_era::automatic;
            settings.agents[0].mcp->start = core::mcp_start::eager;
            settings.agents[0].mcp->initialize_timeout = 2 * patience;
        }
    };
    wait_for_card(x);
    const auto begun = std::chrono::steady_clock::now();
    const auto got = post(x, open_with_roots, {{"X-Request-Timeout-Ms", "200"}});
    check_error(got, 504, -32603, "upstream_timeout");
    CHECK(json::parse(got.body)["id"] == 0);
    CHECK(std::chrono::steady_clock::now() - begun < patience);
}

TEST_CASE("Whether a server speaks the legacy era is asked once, and not by each client")
{
    const auto x = modern_gateway(core::mcp_era::automatic);
    wait_for_card(x);
    begin_translated(x);
    begin_translated(x);
    std::size_t asked = 0;
    for (const auto& each : x.agent.requests()) {
        asked += each.body.find(R"("method":"initialize")") == std::string::npos ? 0 : 1;
    }
    CHECK(asked == 1);
}

TEST_CASE("What a modern server asks for reaches the client as a request, and its answer goes up with the call")
{
    const auto x = modern_gateway(core::mcp_era::modern);
    const auto session = begin_translated(x);
    http_client caller{x.port()};
    caller.send(request_text(
        "POST",
        "/agents/a/mcp",
        with(with(usual_fields(), session), {{"Content-Type", "application/json"}}),
        call_named("need")
    ));
    caller.read_until(R"(data: {"jsonrpc":"2.0","id":1,"method":"roots/list"})");
    CHECK(post(x, R"({"jsonrpc":"2.0","id":1,"result":{"roots":[1.50]}})", session).status == 202);
    caller.read_until(completed("1"));
    const auto all = calls(x);
    REQUIRE(all.size() == 2);
    CHECK(all[1].body.find(R"("inputResponses":{"r":{"roots":[1.50]}},"requestState":"s")") != std::string::npos);
    CHECK(all[1].header("Mcp-Name") == "need");
    CHECK(all[1].header("Traceparent") == usual_fields()[1].second);
}

TEST_CASE("What a server logs during a call reaches its client once that has set a level")
{
    const auto x = modern_gateway(core::mcp_era::modern);
    const auto session = begin_translated(x);
    CHECK(post(x, call_named("log"), session).body == completed("1"));
    CHECK(
        post(x, R"({"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}})", session).body ==
        R"({"jsonrpc":"2.0","id":2,"result":{}})"
    );
    const auto got = post(x, call_named("log", "3"), session);
    CHECK(got.body.find(R"("data":1.50)") != std::string::npos);
    CHECK(got.body.find(completed("3")) != std::string::npos);
}

TEST_CASE("A call that is cancelled closes its connection, and one whose client leaves does not")
{
    auto x = modern_gateway(core::mcp_era::modern);
    const auto session = begin_translated(x);
    const auto hang = [&](std::string_view id) {
        http_client caller{x.port()};
        caller.send(request_text(
            "POST",
            "/agents/a/mcp",
            with(with(usual_fields(), session), {{"Content-Type", "application/json"}}),
            call_named("hang", id)
        ));
        return caller;
    };
    auto left = hang("1");
    REQUIRE(x.agent.wait_for([](const auto& all) {
        return std::ranges::count_if(all, [](const auto& each) { return each.header("Mcp-Name") == "hang"; }) == 1;
    }));
    left.close();
    auto cancelled = hang("2");
    REQUIRE(x.agent.wait_for([](const auto& all) {
        return std::ranges::count_if(all, [](const auto& each) { return each.header("Mcp-Name") == "hang"; }) == 2;
    }));
    const auto before = x.agent.closed_by_peer();
    CHECK(
        post(x, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})", session).status ==
        202
    );
    CHECK(cancelled.read_response().status == 200);
    CHECK(x.agent.wait_until_peer_closed(patience, before + 1));
    CHECK(post(x, call_named("echo", "3"), session).body == completed("3"));
    CHECK(x.agent.closed_by_peer() == before + 1);
}

TEST_CASE("A translated call that the server does not answer fails after timeouts.call")
{
    const auto x = modern_gateway(core::mcp_era::modern, [](config::settings& settings) {
        settings.agents[0].mcp->call_timeout = std::chrono::milliseconds{500};
    });
    const auto got = post(x, call_named("hang"), begin_translated(x));
    CHECK(got.status == 200);
    CHECK(got.body.find("upstream_timeout") != std::string::npos);
}

TEST_CASE("A call without a session is translated too, and forwarded fields reach the server")
{
    const auto x = modern_gateway(core::mcp_era::modern, [](config::settings& settings) {
        settings.agents[0].mcp->forward_headers = {"X-Tenant"};
    });
    const auto alone = post(x, call_named("echo"), {{"X-Tenant", "t1"}, {"X-Other", "o"}});
    CHECK(alone.body == completed("1"));
    CHECK(alone.count("Mcp-Session-Id") == 0);
    post(x, call_named("echo"), with(begin_translated(x), {{"X-Tenant", "t2"}}));
    const auto all = calls(x);
    REQUIRE(all.size() == 2);
    CHECK(all[0].header("X-Tenant") == "t1");
    CHECK(all[0].count("X-Other") == 0);
    CHECK(all[1].header("X-Tenant") == "t2");
}

TEST_CASE("A translated call takes a key that `forward_headers` names to the server, unless a provider reads it")
{
    const auto keys_of = [](bool reads) {
        const auto x = modern_gateway(core::mcp_era::modern, [reads](config::settings& settings) {
            settings.agents[0].mcp->forward_headers = {"X-API-Key", "X-Tenant"};
            if (reads) {
                const core::principal
                    ann{.id = "ann", .provider = "keys", .tenant = {}, .scopes = {}, .groups = {}, .claims = {}};
                const core::api_key owned{
                    .sha256 = jose::sha256_hex("key-of-ann"),
                    .expires = {},
                    .disabled = false,
                    .owner = ann
                };
                settings.access.providers = {{"keys", core::api_key_provider{.keys = {owned}}}};
                settings.agents[0].discover = core::access_policy{.anyone = true, .any_of = {}};
                settings.agents[0].call = settings.agents[0].discover;
            }
        });
        CHECK(post(x, call_named("echo"), {{"X-API-Key", "key-of-ann"}, {"X-Tenant", "t"}}).body == completed("1"));
        const auto all = calls(x);
        REQUIRE(all.size() == 1);
        CHECK(all[0].header("X-Tenant") == "t");
        return all[0].header("X-API-Key");
    };
    CHECK(keys_of(false) == "key-of-ann");
    CHECK(keys_of(true).empty());
}

TEST_CASE("A server that does not answer, or with what is no answer, fails the call and not the session")
{
    auto mode = std::make_shared<std::atomic<int>>(0);
    const relayed x{
        [mode](const recorded_request& request) {
            if (*mode == 1 && request.header("Mcp-Method") == "tools/call") {
                return close_unanswered();
            }
            if (*mode == 2 && request.header("Mcp-Method") == "tools/call") {
                return answer_json(R"({"jsonrpc":"2.0","id":987654321,"result":{}})");
            }
            return *mode == 3 ? answer(401, "{}") : modern_server(request);
        },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->era = core::mcp_era::modern;
        }
    };
    const auto session = begin_translated(x);
    *mode = 1;
    check_error(post(x, call_named("echo"), session), 200, -32603, "upstream_reset");
    *mode = 2;
    check_error(post(x, call_named("echo"), session), 200, -32603, "upstream_protocol");
    *mode = 3;
    CHECK(post(x, call_named("echo"), session).body.find(R"("error":{"code":)") != std::string::npos);
    *mode = 0;
    CHECK(post(x, call_named("echo"), session).body == completed("1"));
}

TEST_SUITE_END();
