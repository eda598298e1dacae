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
        {"GET", "/mcp/server-card"},
        {"HEAD", "/mcp/server-card"},
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
          "/v0.1/servers",
          "/v0.1/servers?search=va&limit=1",
          "/v0.1/servers/127.0.0.1%2Fnobod/versions",
          "/.well-known/agent-card.json",
          "/.well-known/jwks.json",
          "/.well-known/oauth-protected-resource",
          "/.well-known/oauth-protected-resource/agents/nobod/mcp"}) {
        CAPTURE(page);
        for (const auto& who : {nobody, unknown, mallory}) {
            CHECK(request(gateway.port(), "GET", page, who).body.find("vault") == std::string::npos);
        }
    }
    for (const auto* page :
         {"/agents", "/.well-known/api-catalog", "/.well-known/ai-catalog.json", "/v0.1/servers?search=va"}) {
        CHECK(request(gateway.port(), "GET", page, ci).body.find("vault") != std::string::npos);
    }
}

TEST_CASE(
    "A server is found in the catalog, the registry and its card by those who may know of it, and can be asked for "
    "again"
)
{
    const mcp_servers servers;
    const running_gateway gateway{with_vault(servers)};
    const auto port = gateway.port();
    const auto base = "http://127.0.0.1:" + std::to_string(port);
    const auto get = [&](const std::string& target, field_list headers = ci) {
        return request(port, "GET", target, headers);
    };
    const std::string of_agent = "/agents/vault/.well-known/agent-card.json";
    REQUIRE(becomes_true([&] { return get(of_agent).status == 200; }));
    const auto versions_spoken = parsed(get(of_agent).body)["mcp"]["versions"];

    const auto catalog = parsed(get("/.well-known/ai-catalog.json").body);
    CHECK(catalog["specVersion"] == "0.9");
    const auto is_vault = [](const json& each) { return each["identifier"] == "urn:air:127.0.0.1:vault:mcp"; };
    const auto entry = std::ranges::find_if(catalog["entries"], is_vault);
    REQUIRE(entry != catalog["entries"].end());
    CHECK((*entry)["type"] == "application/mcp-server-card+json");
    CHECK((*entry)["url"] == base + "/agents/vault/mcp/server-card");

    const auto card = get("/agents/vault/mcp/server-card");
    CHECK(card.status == 200);
    CHECK(card.header("Content-Type") == "application/mcp-server-card+json");
    CHECK(card.header("Cache-Control") == "private, no-cache");
    const auto remotes = parsed(card.body)["remotes"];
    REQUIRE(remotes.size() == 1);
    CHECK(remotes[0]["type"] == "streamable-http");
    CHECK(remotes[0]["url"] == base + "/agents/vault/mcp");
    CHECK(remotes[0]["supportedProtocolVersions"] == versions_spoken);
    CHECK(get("/agents/vault/mcp/server-card/").body == card.body);

    const auto list = parsed(get("/v0.1/servers?search=vault").body);
    REQUIRE(list["servers"].size() == 1);
    CHECK(list["metadata"] == json{{"count", 1}});
    const auto& server = list["servers"][0]["server"];
    CHECK(server["name"] == "127.0.0.1/vault");
    CHECK(server["version"] == parsed(card.body)["version"]);
    CHECK(server["remotes"][0]["url"] == base + "/agents/vault/mcp");
    const std::string versions = "/v0.1/servers/127.0.0.1%2Fvault/versions";
    CHECK(parsed(get(versions).body) == list);
    CHECK(parsed(get(versions + "/latest").body) == list["servers"][0]);
    CHECK(parsed(get(versions + "/" + server["version"].get<std::string>()).body) == list["servers"][0]);
    CHECK(get(versions + "/9.9").status == 404);
    CHECK(get("/v0.1/servers/com.example%2Fvault/versions").status == 404);
    CHECK(get("/v0.1/servers?updated_since=2026-01-01T00:00:00Z&include_deleted=true&version=latest").status == 200);
    CHECK(parsed(get("/v0.1/servers?version=9.9").body)["servers"].empty());
    CHECK(get("/v0.1/servers?limit=0").status == 400);

    const auto first = parsed(get("/v0.1/servers?limit=1").body);
    CHECK(first["metadata"]["count"] == 1);
    const auto next = first["metadata"]["nextCursor"].get<std::string>();
    CHECK(parsed(get("/v0.1/servers?limit=100&cursor=" + next).body)["servers"].size() == 3);

    for (const auto& target : {std::string{"/agents/vault/mcp/server-card"}, versions, std::string{"/v0.1/servers"}}) {
        CAPTURE(target);
        auto again = ci;
        again.emplace_back("If-None-Match", get(target).header("ETag"));
        const auto kept = get(target, again);
        CHECK(kept.status == 304);
        CHECK(kept.body.empty());
        CHECK(request(port, "HEAD", target, ci).status == 200);
    }
}

TEST_CASE("The card of a server that anyone may know of is public, at the gateway and at a name of its own")
{
    const mcp_servers servers;
    auto settings = with_vault(servers);
    settings.agent_hosts = "{id}.agents.example";
    settings.agents[1].discover = anyone;
    const running_gateway gateway{std::move(settings)};
    const auto card =
        request(gateway.port(), "GET", "/agents/free/mcp/server-card", {{"Origin", "https://app.example"}});
    CHECK(card.status == 200);
    CHECK(card.header("Cache-Control") == "public, no-cache");
    CHECK(card.header("Access-Control-Allow-Origin") == "*");
    const auto hidden =
        request(gateway.port(), "GET", "/agents/vault/mcp/server-card", {{"Origin", "https://app.example"}});
    CHECK(hidden.status == 401);
    CHECK(hidden.header("Access-Control-Allow-Origin").empty());
    const auto there = request(gateway.port(), "GET", "/mcp/server-card", {{"Host", "free.agents.example"}});
    CHECK(there.status == 200);
    CHECK(
        parsed(there.body)["remotes"][0]["url"] ==
        "http://free.agents.example:" + std::to_string(gateway.port()) + "/mcp"
    );
}

TEST_SUITE_END();
