// MCP servers that log callers in themselves, by OAuth.
#include "tests/flow/access_mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/access_mcp_login");

using namespace flow;
using namespace flow::mcp_states;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::script;

namespace {

constexpr std::string_view metadata_path = "/.well-known/oauth-protected-resource/agents/m/mcp";

const std::string init =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
    R"("clientInfo":{"name":"test","version":"1"}}})";

const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

// Takes `Bearer of-user`, and for lists also `Bearer of-operator`.
class login_server {
public:
    bool needs_more = false;  // 403 to whoever has logged in

    test_support::handler as_handler()
    {
        return [this](const recorded_request& request) { return serve(request); };
    }

private:
    script serve(const recorded_request& request)
    {
        const auto origin = "http://" + request.header("Host");
        if (request.target == "/.well-known/oauth-protected-resource/mcp") {
            return answer_json(
                R"({"resource":")" + origin +
                R"(/mcp","authorization_servers":["https://as.example/"],)"
                R"("scopes_supported":["tools.read"]})"
            );
        }
        const auto shown = request.header("Authorization");
        if (shown != "Bearer of-user" && shown != "Bearer of-operator") {
            const auto challenge = R"(Bearer error="invalid_token", scope="tools.read", resource_metadata=")" + origin +
                                   R"(/.well-known/oauth-protected-resource/mcp")";
            return answer(401, R"({"error":"invalid_token"})", {{"WWW-Authenticate", challenge}});
        }
        if (needs_more) {
            return answer(403, "", {{"WWW-Authenticate", R"(Bearer error="insufficient_scope", scope="tools.write")"}});
        }
        const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
        if (!body.is_object() || !body.contains("id")) {
            return answer(request.method == "POST" ? 202 : 405, "");
        }
        json result = json::object();
        field_list fields;
        if (body["method"] == "initialize") {
            result = json::parse(
                R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"
            );
            fields.emplace_back("Mcp-Session-Id", "s-1");
        } else if (body["method"] == "tools/list") {
            result = json::parse(R"({"tools":[{"name":"echo","inputSchema":{}}]})");
        }
        return answer_json(json{{"jsonrpc", "2.0"}, {"id", body["id"]}, {"result", result}}.dump(), fields);
    }
};

struct login_rig {
    using adjustment = std::function<void(config::settings& settings)>;

    explicit login_rig(const adjustment& adjust = {})
        : gateway{settings_for(agent.url("/mcp"), adjust)}
    {
    }

    static config::settings settings_for(const std::string& url, const adjustment& adjust)
    {
        auto settings = quick_settings();
        settings.public_url = "https://agents.example";
        auto record = mcp_agent("m", core::mcp_era::legacy);
        record.url = url;
        record.of_callers.names = {"Authorization"};
        settings.agents = {record};
        if (adjust) {
            adjust(settings);
        }
        return settings;
    }

    http_response post(std::string_view body, field_list fields = {}) const
    {
        fields.emplace_back("Accept", "application/json, text/event-stream");
        fields.emplace_back("Content-Type", "application/json");
        return request(gateway.port(), "POST", "/agents/m/mcp", fields, body);
    }

    http_response metadata() const { return request(gateway.port(), "GET", metadata_path); }

    std::vector<recorded_request> seen(std::string_view method) const
    {
        auto all = agent.requests();
        std::erase_if(all, [&](const auto& each) {
            return each.body.find("\"" + std::string{method} + "\"") == each.body.npos;
        });
        return all;
    }

    login_server server;
    test_support::scripted_agent agent{server.as_handler()};
    running_gateway gateway;
};

const field_list user = bearer("of-user");

}  // namespace

TEST_CASE(
    "A server's own 401 is a challenge that names the gateway's metadata, which says where the server logs callers in"
)
{
    const login_rig x;
    const auto got = x.post(init);
    CHECK(got.status == 401);
    CHECK(
        got.header("WWW-Authenticate") == "Bearer resource_metadata=\"https://agents.example" +
                                              std::string{metadata_path} +
                                              "\", error=\"invalid_token\", scope=\"tools.read\""
    );
    CHECK(got.count("WWW-Authenticate") == 1);
    const auto body = json::parse(got.body);
    CHECK(body["id"] == 0);
    CHECK(body["error"]["data"]["retryable"] == false);
    const auto document = x.metadata();
    CHECK(document.status == 200);
    CHECK(document.header("Content-Type") == "application/json");
    CHECK(
        json::parse(document.body) ==
        json::parse(R"({"resource":"https://agents.example/agents/m/mcp",)"
                    R"("authorization_servers":["https://as.example/"],)"
                    R"("scopes_supported":["tools.read"],"bearer_methods_supported":["header"]})")
    );
    const auto fetches = x.agent.request_count();
    CHECK(x.metadata().body == document.body);
    CHECK(x.agent.request_count() == fetches);
    const auto all = x.agent.requests();
    CHECK(std::ranges::none_of(all, [](const auto& each) { return each.count("Authorization") > 0; }));
}

TEST_CASE("A caller that has logged in has a session, whose messages have its own Authorization")
{
    const login_rig x;
    const auto begun = x.post(init, user);
    REQUIRE(begun.status == 200);
    field_list session{{"Mcp-Session-Id", begun.header("Mcp-Session-Id")}};
    auto both = session;
    both.insert(both.end(), user.begin(), user.end());
    CHECK(x.post(ping, both).status == 200);
    const auto seen = x.seen("ping");
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].header("Authorization") == "Bearer of-user");
    CHECK(seen[0].header("Mcp-Session-Id") == "s-1");
    const auto again = x.post(ping, session);
    CHECK(again.status == 401);
    CHECK(again.header("WWW-Authenticate").starts_with("Bearer resource_metadata=\"https://agents.example/"));
    // The session is still its caller's.
    CHECK(x.post(ping, both).status == 200);
}

TEST_CASE("A server's 403 tells its caller which scope it needs")
{
    login_rig x;
    x.server.needs_more = true;
    const auto got = x.post(init, user);
    CHECK(got.status == 403);
    CHECK(got.header("WWW-Authenticate").ends_with(R"(, error="insufficient_scope", scope="tools.write")"));
    CHECK(json::parse(got.body)["error"]["data"]["retryable"] == false);
}

TEST_CASE(
    "The 401 of a server that does not get its callers' credentials is the operator's: 502, which is not retryable"
)
{
    const login_rig x{[](config::settings& settings) { settings.agents[0].of_callers = {}; }};
    for (const auto& fields : {field_list{}, user}) {
        const auto got = x.post(init, fields);
        CHECK(got.status == 502);
        CHECK(got.count("WWW-Authenticate") == 0);
        const auto error = json::parse(got.body)["error"];
        CHECK(error["data"]["retryable"] == false);
        CHECK(error["data"]["status"] == 401);
        CHECK(error["message"].get<std::string>().find("caller_credentials: [Authorization]") != std::string::npos);
    }
    const login_rig refused{[](config::settings& settings) {
        settings.agents[0].of_callers = {};
        settings.agents[0].bearer = core::secret{"unknown-to-the-server"};
    }};
    const auto said = json::parse(refused.post(init).body)["error"]["message"].get<std::string>();
    CHECK(said == "The MCP server refuses the credential that Cardea has for it.");
    CHECK(x.metadata().status == 404);
    CHECK(std::ranges::none_of(x.agent.requests(), [](const auto& each) { return each.count("Authorization") > 0; }));
}

TEST_CASE(
    "The Authorization of such a server is no credential for the gateway, which knows the caller by a key beside it"
)
{
    login_rig x{[](config::settings& settings) {
        settings.access = guarded("http://unused").access;
        settings.limits.failed_credentials = 100'000;
        settings.agents[0].discover = anyone;
        settings.agents[0].call = everybody_known;
    }};
    auto both = ci;
    both.insert(both.end(), user.begin(), user.end());
    const auto begun = x.post(init, both);
    REQUIRE(begun.status == 200);
    // A token that a provider of the gateway knows is the server's alone here.
    const auto refused = x.post(init, operators);
    CHECK(refused.status == 401);
    CHECK(refused.header("WWW-Authenticate").find("agents.example") == std::string::npos);
    CHECK(x.seen("initialize").back().header("Authorization") == "Bearer of-user");
    // The session is of its principal, and not of whoever has the server's token.
    auto stolen = user;
    stolen.emplace_back("Mcp-Session-Id", begun.header("Mcp-Session-Id"));
    CHECK(x.post(ping, stolen).status == 401);
    both.emplace_back("Mcp-Session-Id", begun.header("Mcp-Session-Id"));
    CHECK(x.post(ping, both).status == 200);
    CHECK(x.metadata().status == 200);
}

TEST_CASE(
    "A server with logins that a caller may not know of answers as one which does not exist, whatever the caller shows"
)
{
    const login_rig x{[](config::settings& settings) {
        settings.access = guarded("http://unused").access;
        settings.limits.failed_credentials = 100'000;
        settings.agents[0].discover = only({.principals = {"ci"}});
        settings.agents[0].call = only({.principals = {"ci"}});
    }};
    auto two = ci;
    two.insert(two.end(), mallory.begin(), mallory.end());
    auto bad = expired;
    bad.insert(bad.end(), user.begin(), user.end());
    for (const auto& shown : {nobody, user, unknown, mallory, reader, expired, bad}) {
        auto fields = shown;
        fields.emplace_back("Content-Type", "application/json");
        const auto hidden = request(x.gateway.port(), "POST", "/agents/m/mcp", fields, init);
        const auto absent = request(x.gateway.port(), "POST", "/agents/n/mcp", fields, init);
        CHECK(hidden.status == absent.status);
        CHECK(hidden.header("Cardea-Error") == absent.header("Cardea-Error"));
        CHECK(hidden.header("WWW-Authenticate") == absent.header("WWW-Authenticate"));
    }
    // Whoever may know of it by its key has the other field for the server.
    CHECK(x.post(init, two).status == 401);
    CHECK(x.seen("initialize").back().header("Authorization") == mallory[0].second);
}

TEST_CASE("No provider judges the Authorization for a server with logins that is disabled, if its caller may know of it"
)
{
    test_support::scripted_agent verifier{[](const auto&) { return answer_json(R"({"active":false})"); }};
    const login_rig x{[&](config::settings& settings) {
        settings.access = guarded("http://unused").access;
        settings.access.providers.push_back(
            {"check",
             core::http_verifier_provider{
                 .url = verifier.url("/v"),
                 .timeout = std::chrono::seconds{5},
                 .cache = std::chrono::seconds{60}
             }}
        );
        settings.limits.failed_credentials = 100'000;
        settings.agents[0].disabled = true;
        settings.agents.push_back(settings.agents[0]);
        settings.agents[1].id = "h";
        settings.agents[1].discover = only({.principals = {"ci"}});
    }};
    const auto ask = [&](const std::string& method, const std::string& path, field_list fields) {
        fields.emplace_back("Content-Type", "application/json");
        return request(x.gateway.port(), method, "/agents/" + path, fields, method == "POST" ? init : "");
    };
    // The id is the one that was asked for.
    const auto body_of = [](const http_response& got) {
        const auto at = got.body.find(R"("agent":")");
        return at == got.body.npos ? got.body : got.body.substr(0, at) + got.body.substr(got.body.find(',', at));
    };
    const auto check_same = [&](const http_response& a, const http_response& b) {
        CHECK(a.status == b.status);
        CHECK(body_of(a) == body_of(b));
        CHECK(a.header("Cardea-Error") == b.header("Cardea-Error"));
        CHECK(a.header("WWW-Authenticate") == b.header("WWW-Authenticate"));
    };
    auto two = ci;
    two.insert(two.end(), user.begin(), user.end());
    for (const std::string method : {"POST", "GET", "DELETE"}) {
        for (const std::string path : {"/mcp", "/mcp/"}) {
            check_same(ask(method, "m" + path, user), ask(method, "n" + path, nobody));
            check_same(ask(method, "m" + path, two), ask(method, "n" + path, ci));
            check_same(ask(method, "h" + path, two), ask(method, "n" + path, ci));
        }
    }
    CHECK(verifier.request_count() == 0);
    // To the others it is one that does not exist, whatever they show.
    for (const auto& shown : {nobody, user, unknown, mallory, reader, expired}) {
        check_same(ask("POST", "h/mcp", shown), ask("POST", "n/mcp", shown));
    }
    CHECK(x.agent.request_count() == 0);
}

TEST_CASE("The gateway's own 401 for a server with logins asks for no bearer token")
{
    const login_rig x{[](config::settings& settings) {
        settings.access = guarded("http://unused").access;
        settings.agents[0].discover = anyone;
        settings.agents[0].call = everybody_known;
    }};
    const auto got = x.post(init, user);
    CHECK(got.status == 401);
    CHECK(got.count("WWW-Authenticate") == 1);
    CHECK(got.header("WWW-Authenticate").starts_with("ApiKey "));
}

TEST_CASE("The metadata of a server that not everybody may know of is that of an agent which does not exist")
{
    const login_rig x{[](config::settings& settings) {
        settings.access = guarded("http://unused").access;
        settings.agents[0].discover = everybody_known;
    }};
    const auto hidden = x.metadata();
    const auto absent = request(x.gateway.port(), "GET", "/.well-known/oauth-protected-resource/agents/n/mcp");
    CHECK(hidden.status == absent.status);
    CHECK(hidden.body == absent.body);
}

TEST_CASE("The card of such a server comes from `card_headers`, else its status says that it needs a login")
{
    const auto eager = [](config::settings& settings) { settings.agents[0].mcp->start = core::mcp_start::eager; };
    const login_rig without{eager};
    CHECK(becomes_true([&] {
        const auto record = manage(without.gateway, "agents/get", {{"id", "m"}});
        return record.dump().find("needs login") != std::string::npos;
    }));
    const login_rig with{[&](config::settings& settings) {
        eager(settings);
        settings.agents[0].card_headers = {{"Authorization", core::secret{"Bearer of-operator"}}};
    }};
    CHECK(becomes_true([&] {
        const auto card = request(with.gateway.port(), "GET", "/agents/m/.well-known/agent-card.json");
        return card.status == 200 && card.body.find("echo") != std::string::npos;
    }));
    // What the card is made with is for no caller.
    CHECK(with.post(init).status == 401);
}

TEST_SUITE_END();
