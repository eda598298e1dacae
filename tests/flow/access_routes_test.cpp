#include "gateway/model/version.hpp"
#include "gateway/request/router.hpp"
#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/access routes");

namespace {

using namespace flow;

// A request of the traffic listener, and what each caller gets.
struct row {
    std::string method;
    std::string target;
    unsigned anonymous;
    unsigned stranger;  // with a good credential that no rule names
    unsigned ci;
    bool for_all = false;  // whatever credential comes with it: nobody is asked
};

const std::vector<row> rows{
    {"GET", "/agents/open/.well-known/agent-card.json", 200, 200, 200},
    {"GET", "/agents/open/.well-known/agent.json", 200, 200, 200},
    {"GET", "/agents/open", 200, 200, 200},
    {"POST", "/agents/open", 200, 200, 200},
    {"GET", "/agents/open/files/a", 200, 200, 200},
    {"GET", "/agents/open/rest/v1/card", 401, 200, 200},
    {"GET", "/agents/open/rest/extendedAgentCard", 401, 200, 200},
    {"GET", "/agents/open/agent/authenticatedExtendedCard", 401, 200, 200},
    {"GET", "/agents/open/nothing", 404, 404, 404},
    {"GET", "/agents/seen/.well-known/agent-card.json", 401, 200, 200},
    {"GET", "/agents/seen/.well-known/agent.json", 401, 200, 200},
    {"GET", "/agents/seen", 401, 200, 200},
    {"POST", "/agents/seen", 401, 403, 200},
    {"GET", "/agents/seen/files/a", 401, 403, 200},
    {"PUT", "/agents/seen/files/a", 401, 403, 200},
    {"GET", "/agents/seen/rest/v1/card", 401, 403, 200},
    {"GET", "/agents/seen/rest/extendedAgentCard", 401, 403, 200},
    {"GET", "/agents/seen/agent/authenticatedExtendedCard", 401, 403, 200},
    {"GET", "/agents/sends/rest/v1/card", 401, 404, 403},
    {"GET", "/agents/secret/.well-known/agent-card.json", 401, 404, 200},
    {"GET", "/agents/secret/.well-known/agent.json", 401, 404, 200},
    {"HEAD", "/agents/secret/.well-known/agent-card.json", 401, 404, 200},
    {"GET", "/agents/secret", 401, 404, 200},
    {"POST", "/agents/secret", 401, 404, 200},
    {"GET", "/agents/secret/files/a", 401, 404, 200},
    {"POST", "/agents/secret/files/a", 401, 404, 200},
    {"GET", "/agents/secret/rest/v1/card", 401, 404, 200},
    {"GET", "/agents/secret/rest/extendedAgentCard", 401, 404, 200},
    {"GET", "/agents/secret/agent/authenticatedExtendedCard", 401, 404, 200},
    {"POST", "/agents/sends", 401, 404, 200},
    {"GET", "/agents/sends/files/a", 401, 404, 403},
    {"GET", "/agents/denied/.well-known/agent-card.json", 401, 404, 404},
    {"POST", "/agents/denied", 401, 404, 404},
    {"GET", "/agents/none/.well-known/agent-card.json", 401, 404, 404},
    {"POST", "/agents/none", 401, 404, 404},
    {"GET", "/agents", 401, 200, 200},
    {"GET", "/.well-known/api-catalog", 401, 200, 200},
    {"GET", "/.well-known/ai-catalog.json", 401, 200, 200},
    {"GET", "/v0.1/servers", 401, 200, 200},
    {"POST", "/v0.1/servers", 405, 405, 405, true},
    {"GET", "/v0.1/servers/127.0.0.1%2Fopen/versions", 404, 404, 404},
    {"GET", "/v0.1/servers/127.0.0.1%2Fsecret/versions", 401, 404, 404},
    {"GET", "/v0.1/servers/127.0.0.1/secret/versions/latest", 401, 404, 404},
    {"GET", "/v0.1/servers/127.0.0.1%2Fnone/versions", 401, 404, 404},
    {"POST", "/rpc", 401, 200, 200},
    {"POST", "/agent/register", 401, 403, 403},
    {"GET", "/", 200, 200, 200, true},
    {"HEAD", "/", 200, 200, 200, true},
    {"GET", "/?x", 200, 200, 200, true},
    {"POST", "/", 405, 405, 405, true},
    {"GET", "/.well-known/agent-card.json", 401, 404, 404},
    {"GET", "/metrics", 401, 404, 404},
    {"GET", "/agents/../agents/open", 401, 400, 400},
    {"OPTIONS", "/agents/seen/files/a", 401, 403, 200},
    // HTTP+JSON. What is wrong with the body, or with what the agent answers, comes behind the rules.
    {"GET", "/agents/open/rest/v1/tasks/t", 500, 500, 500},
    {"GET", "/agents/seen/rest/v1/tasks/t", 401, 403, 500},
    {"GET", "/agents/seen/rest/tasks/t", 401, 403, 500},
    {"POST", "/agents/seen/rest/v1/nothing", 401, 404, 404},
    {"GET", "/agents/secret/rest/v1/tasks/t", 401, 404, 500},
    {"GET", "/agents/secret/rest/tasks/t", 401, 404, 500},
    {"DELETE", "/agents/secret/rest/v1/tasks/t/pushNotificationConfigs/p", 401, 404, 200},
    {"POST", "/agents/secret/rest/v1/tasks/t:cancel", 401, 404, 400},
    {"POST", "/agents/secret/rest/v1/nothing", 401, 404, 404},
    {"GET", "/agents/sends/rest/v1/tasks/t", 401, 404, 403},
    {"GET", "/agents/none/rest/v1/tasks/t", 401, 404, 404},
    // Agents of A2A as servers of MCP. A browser asks before it has a credential.
    {"POST", "/agents/open/mcp", 200, 200, 200},
    {"GET", "/agents/seen/mcp", 401, 403, 405},
    {"POST", "/agents/secret/mcp", 401, 404, 200},
    {"GET", "/agents/secret/mcp", 401, 404, 405},
    {"DELETE", "/agents/secret/mcp", 401, 404, 405},
    {"OPTIONS", "/agents/secret/mcp", 204, 204, 204, true},
    {"GET", "/agents/open/mcp/server-card", 404, 404, 404},
    {"POST", "/agents/open/mcp/server-card", 405, 405, 405},
    {"GET", "/agents/secret/mcp/server-card", 401, 404, 404},
    {"POST", "/agents/secret/mcp/server-card", 401, 405, 405},
    {"POST", "/agents/none/mcp/server-card", 401, 405, 405},
    {"OPTIONS", "/agents/none/mcp", 204, 204, 204, true},
    // A bundle that there is not.
    {"POST", "/mcp", 401, 404, 404},
    {"GET", "/mcp/none", 401, 404, 404},
    {"DELETE", "/mcp", 401, 404, 404},
    {"OPTIONS", "/mcp", 204, 204, 204, true},
    {"GET", "/.well-known/oauth-protected-resource/mcp", 404, 404, 404, true},
    // An address of a callback that the gateway has not made.
    {"POST", "/agents/open/push/c2VhbGVk", 404, 404, 404},
    {"POST", "/agents/seen/push/c2VhbGVk", 401, 404, 404},
    {"POST", "/agents/secret/push/c2VhbGVk", 401, 404, 404},
    {"GET", "/agents/secret/push/c2VhbGVk", 401, 404, 404},
    // There are no keys and no issuer.
    {"GET", "/.well-known/jwks.json", 404, 404, 404, true},
    {"GET", "/.well-known/oauth-protected-resource", 404, 404, 404, true},
    {"GET", "/.well-known/oauth-protected-resource/agents/secret", 404, 404, 404, true},
    {"POST", "/.well-known/jwks.json", 405, 405, 405, true},
    {"POST", "/handover", 401, 404, 404},
    {"POST", "/reload", 401, 404, 404},
};

// The same at a name of the agent's own; empty: it is not a route of an agent.
std::string below_its_name(const row& of, std::string& host)
{
    constexpr std::string_view prefix = "/agents/";
    if (!of.target.starts_with(prefix) || of.target.find("..") != std::string::npos) {
        return {};
    }
    const auto id = of.target.substr(prefix.size(), of.target.find('/', prefix.size()) - prefix.size());
    host = id + ".agents.example";
    const auto below = of.target.substr(prefix.size() + id.size());
    return below.empty() ? "/" : below;
}

// Fails to compile when a route is new: then it needs rows.
constexpr bool belongs_to_agent(gateway::model::route where)
{
    using enum gateway::model::route;
    switch (where) {
        case card:
        case call:
        case mcp:
        case relay:
        case push:
            return true;
        case bundle:
        case management:
        case registration:
        case key_set:
        case resource_metadata:
        case directory:
        case index:
        case none:
            return false;
    }
    return false;
}

http_response ask(std::uint16_t port, const row& asked, field_list headers)
{
    const bool posts = asked.method == "POST";
    if (posts) {
        headers.emplace_back("Content-Type", "application/json");
    }
    const auto* body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
    test_support::http_client client{port};
    client.send(test_support::request_text(asked.method, asked.target, headers, posts ? body : ""));
    return client.read_response(asked.method == "HEAD");
}

}  // namespace

TEST_CASE("every route has a row")
{
    using gateway::model::route;
    for (auto number = 0U; number <= static_cast<unsigned>(route::none); ++number) {
        const auto where = static_cast<route>(number);
        CAPTURE(gateway::model::name(where));
        const auto is_there = [&](const row& each) {
            return gateway::request::find_destination(each.target).where == where;
        };
        CHECK(std::ranges::any_of(rows, is_there));
        if (belongs_to_agent(where)) {
            // One that a caller without a rule does not learn of.
            CHECK(std::ranges::any_of(rows, [&](const row& each) {
                return is_there(each) && each.target.find("/secret") != std::string::npos;
            }));
        }
    }
}

TEST_CASE("every route of an agent answers every caller at the agent's own name as at its path")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = guarded(agent.url("/rpc"));
    settings.agent_hosts = "{id}.agents.example";
    const running_gateway gateway{settings};
    unsigned asked = 0;
    for (const auto& each : rows) {
        std::string host;
        const row there{each.method, below_its_name(each, host), each.anonymous, each.stranger, each.ci, each.for_all};
        if (there.target.empty()) {
            continue;
        }
        ++asked;
        CAPTURE(each.method);
        CAPTURE(each.target);
        const auto status = [&](field_list headers) {
            headers.emplace_back("Host", host);
            return ask(gateway.port(), there, std::move(headers)).status;
        };
        CHECK(status(nobody) == each.anonymous);
        CHECK(status(mallory) == each.stranger);
        CHECK(status(ci) == each.ci);
        CHECK(status(unknown) == (each.for_all ? each.anonymous : 401));
        CHECK(status(expired) == (each.for_all ? each.anonymous : 401));
    }
    CHECK(asked > 50);
}

TEST_CASE("every route answers every caller as its rules say")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    for (const auto& each : rows) {
        CAPTURE(each.method);
        CAPTURE(each.target);
        CHECK(ask(port, each, nobody).status == each.anonymous);
        CHECK(ask(port, each, mallory).status == each.stranger);
        CHECK(ask(port, each, ci).status == each.ci);
        // A credential that is not good is never taken for none.
        CHECK(ask(port, each, unknown).status == (each.for_all ? each.anonymous : 401));
        CHECK(ask(port, each, expired).status == (each.for_all ? each.anonymous : 401));
        const field_list basic{{"Authorization", "Basic bWFsbG9yeTp4"}};
        CHECK(ask(port, each, basic).status == (each.for_all ? each.anonymous : 401));
        auto two = ci;
        two.push_back(mallory.front());
        CHECK(ask(port, each, two).status == (each.for_all ? each.anonymous : 400));
        const auto keyed = each.target + (each.target.find('?') == std::string::npos ? '?' : '&');
        const row in_query{each.method, keyed + "access_token=key-of-ci", 0, 0, 0};
        CHECK(ask(port, in_query, nobody).status == (each.for_all ? each.anonymous : 400));
    }
}

TEST_CASE("the index is the same for every caller, and tells of no agent and no version")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    const auto page = request(port, "GET", "/", nobody);
    CHECK(page.status == 200);
    CHECK(page.header("Content-Type") == "text/plain; charset=utf-8");
    CHECK(page.body.starts_with("Cardea, a gateway for A2A agents and MCP servers\n\nGET   /agents "));
    CHECK(page.body.find("\nPOST  /agents/<id> ") != std::string::npos);
    for (const auto& who : {mallory, ci, operators, unknown}) {
        CHECK(request(port, "GET", "/", who).body == page.body);
    }
    for (const auto* word : {"open", "seen", "secret", "127.0.0.1", gateway::model::version().data()}) {
        CAPTURE(word);
        CHECK(page.body.find(word) == std::string::npos);
    }
    const auto described = request(port, "GET", "/", {{"Accept", "application/json"}});
    CHECK(described.header("Content-Type") == "application/json");
    CHECK_FALSE(parsed(described.body).contains("version"));
    CHECK(request(port, "POST", "/", ci).header("Allow") == "GET, HEAD");
}

TEST_CASE("OPTIONS of /mcp at an agent that relays it is held to the agent's rules, and tells nobody else of the agent")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = guarded(agent.url("/rpc"));
    // Anybody may know of it, and a browser asks without the credential that its call will have.
    settings.agents.push_back(flow::agent("shop", agent.url("/rpc"), anyone, only({.principals = {"ci"}})));
    for (auto& each : settings.agents) {
        each.relay_paths = {"/mcp"};
    }
    const running_gateway gateway{settings};
    const auto status = [&](const std::string& id, const field_list& headers) {
        return request(gateway.port(), "OPTIONS", "/agents/" + id + "/mcp", headers).status;
    };
    for (const auto* id : {"open", "seen", "secret"}) {
        CHECK(status(id, ci) == 200);
    }
    CHECK(agent.request_count() == 3);
    CHECK(status("open", nobody) == 200);
    CHECK(status("open", unknown) == 401);
    CHECK(status("seen", mallory) == 403);
    CHECK(status("shop", nobody) == 204);
    CHECK(status("shop", mallory) == 403);
    CHECK(agent.request_count() == 4);
    for (const auto* id : {"secret", "denied", "nobody"}) {
        for (const auto& who : {nobody, mallory, unknown}) {
            CHECK(status(id, who) == 204);
        }
    }
    CHECK(agent.request_count() == 4);
}

TEST_CASE("an agent that a caller may not know of cannot be told from one that does not exist")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    for (const auto& each : rows) {
        if (each.target.find("/secret") == std::string::npos) {
            continue;
        }
        CAPTURE(each.method);
        CAPTURE(each.target);
        auto none = each;
        none.target.replace(none.target.find("secret"), 6, "nobody");
        const auto hidden = ask(port, each, mallory);
        const auto missing = ask(port, none, mallory);
        CHECK(hidden.status == missing.status);
        auto body = hidden.body;
        const auto named = body.find("secret");
        CHECK((named == std::string::npos ? body : body.replace(named, 6, "nobody")) == missing.body);
        REQUIRE(hidden.headers.size() == missing.headers.size());
        for (std::size_t i = 0; i < hidden.headers.size(); ++i) {
            CHECK(hidden.headers[i].first == missing.headers[i].first);
            CHECK(hidden.headers[i].second.size() == missing.headers[i].second.size());
        }
    }
}

TEST_SUITE_END();
