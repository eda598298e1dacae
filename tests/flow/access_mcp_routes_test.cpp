// Routes of MCP servers and the pages that name agents, for callers that may not know of the server.
#include "tests/flow/access_mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/access_mcp_routes");

namespace {

using namespace flow;
using namespace flow::mcp_states;

struct row {
    std::string method;
    std::string below;      // the server's address
    std::string body = {};  // of POST
    bool for_all = false;   // a browser asks before it has a credential
};

std::string message(std::string_view method, std::string_view params = "{}")
{
    return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":)" + std::string{params} + "}";
}

// All that is sent to a server: its routes, and the messages of both eras.
std::vector<row> rows()
{
    std::vector<row> all{
        {"GET", ""},
        {"POST", "", message("message/send")},
        {"GET", "/.well-known/agent-card.json"},
        {"HEAD", "/.well-known/agent-card.json"},
        {"GET", "/.well-known/agent.json"},
        {"GET", "/rest/v1/card"},
        {"GET", "/rest/extendedAgentCard"},
        {"GET", "/agent/authenticatedExtendedCard"},
        {"GET", "/rest/v1/tasks/t"},
        {"GET", "/mcp"},
        {"DELETE", "/mcp"},
        {"PUT", "/mcp"},
        {"OPTIONS", "/mcp", {}, true},
        {"POST", "/push/c2VhbGVk", "{}"},
        {"GET", "/nothing"},
    };
    for (const auto* method :
         {"initialize",
          "ping",
          "tools/list",
          "tools/call",
          "prompts/list",
          "prompts/get",
          "resources/list",
          "resources/templates/list",
          "resources/read",
          "resources/subscribe",
          "completion/complete",
          "logging/setLevel",
          "tasks/get",
          "tasks/result",
          "tasks/list",
          "tasks/cancel",
          "tasks/update",
          "server/discover",
          "subscriptions/listen",
          "x/own"}) {
        all.push_back({"POST", "/mcp", message(method)});
        all.push_back(
            {"POST", "/mcp", message(method, R"({"name":"gold","uri":"file:///x","taskId":"t1","requestState":"s"})")}
        );
        all.push_back(
            {"POST", "/mcp", message(method, R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})")}
        );
    }
    all.push_back({"POST", "/mcp", "not JSON"});
    return all;
}

http_response ask(std::uint16_t port, const row& what, std::string_view agent, field_list fields)
{
    fields.emplace_back("Accept", "application/json, text/event-stream");
    if (what.method == "POST") {
        fields.emplace_back("Content-Type", "application/json");
    }
    test_support::http_client client{port};
    const auto target = "/agents/" + std::string{agent} + what.below;
    client.send(test_support::request_text(what.method, target, fields, what.body));
    return client.read_response(what.method == "HEAD");
}

config::settings with_vault(const mcp_servers& servers)
{
    auto settings = servers.settings();
    auto& vault = settings.agents.front();
    vault.id = "vault";
    vault.discover = only({.principals = {"ci"}});
    vault.call = vault.discover;
    return settings;
}

}  // namespace

TEST_CASE("A server that a caller may not know of cannot be told from one that does not exist, whatever is asked of it")
{
    const mcp_servers servers;
    const running_gateway gateway{with_vault(servers)};
    for (const auto& each : rows()) {
        CAPTURE(each.method);
        CAPTURE(each.below);
        CAPTURE(each.body);
        for (const auto& who : {nobody, unknown, mallory}) {
            const auto hidden = ask(gateway.port(), each, "vault", who);
            const auto missing = ask(gateway.port(), each, "nobod", who);
            CHECK(hidden.status == missing.status);
            auto body = hidden.body;
            for (auto at = body.find("vault"); at != std::string::npos; at = body.find("vault")) {
                body.replace(at, 5, "nobod");
            }
            CHECK(body == missing.body);
            CHECK(hidden.status == (each.for_all ? 204 : who == mallory ? 404 : 401));
        }
        const auto known = ask(gateway.port(), each, "vault", ci);
        CHECK(known.status != 401);
        CHECK(known.status != 403);
    }
}

TEST_CASE("No page names a server that its reader may not know of")
{
    const mcp_servers servers;
    const running_gateway gateway{with_vault(servers)};
    for (const auto* page :
         {"/",
          "/agents",
          "/agents?limit=1",
          "/agents?limit=1000",
          "/agents?text=vault",
          "/agents?id=vault",
          "/.well-known/api-catalog",
          "/.well-known/ai-catalog.json",
          "/.well-known/agent-card.json",
          "/.well-known/jwks.json",
          "/.well-known/oauth-protected-resource",
          "/.well-known/oauth-protected-resource/agents/nobod/mcp"}) {
        CAPTURE(page);
        for (const auto& who : {nobody, unknown, mallory}) {
            CHECK(request(gateway.port(), "GET", page, who).body.find("vault") == std::string::npos);
        }
    }
    for (const auto* page : {"/agents", "/.well-known/api-catalog"}) {
        CHECK(request(gateway.port(), "GET", page, ci).body.find("vault") != std::string::npos);
    }
}

TEST_SUITE_END();
