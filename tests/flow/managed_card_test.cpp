// Extended cards that the gateway makes: over every route, for principals of different plans, and none of them ever for another.
#include "tests/flow/access_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/managed_card");

namespace {

using core::json;
using flow::bearer;
using flow::nobody;
using flow::parsed;
using flow::running_gateway;
using test_support::field_list;
using test_support::http_response;
using test_support::request;

const field_list gold = bearer("gold-token-0123456789");
const field_list plain = bearer("plain-token-0123456789");
const field_list operators = bearer("operator-token-0123456789");

constexpr std::string_view skills =
    R"("skills":[{"id":"free","name":"F","description":"d","tags":["t"]},)"
    R"({"id":"gold-1","name":"G","description":"d","tags":["of-gold"]},{"id":"silver-1","name":"S","description":"d","tags":["t"]}],)";

std::string old_card(const std::string& url)
{
    return R"({"name":"Words","description":"d","version":"1","protocolVersion":"0.3.0","capabilities":{"streaming":true},)" +
           std::string{skills} + R"("defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"url":")" +
           url + R"("})";
}

std::string new_card(const std::string& url)
{
    return R"({"name":"Words","description":"d","version":"1","capabilities":{"streaming":true},)" +
           std::string{skills} +
           R"("defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"supportedInterfaces":[{"url":")" +
           url + R"(","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})";
}

// The tools of an MCP server, in the shell's own words.
constexpr const char* shell_server = R"(
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[!0-9]*}
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.5"}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"free","inputSchema":{}},{"name":"gold-1","inputSchema":{}},{"name":"silver-1","inputSchema":{}}]}}';;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
  esac
done
)";

core::agent shell_agent()
{
    core::agent record;
    record.id = "tools";
    record.speaks = core::protocol::mcp;
    auto& server = record.mcp.emplace();
    server.transport = core::mcp_transport::stdio;
    server.command = "sh";
    server.arguments = {"-c", shell_server};
    server.era = core::mcp_era::legacy;
    return record;
}

core::access_provider token(const std::string& id, std::vector<std::string> scopes, std::vector<core::claim> claims)
{
    auto owner = flow::known_as(id, id, std::move(scopes));
    owner.claims = std::move(claims);
    return {id, core::static_token_provider{core::secret{id + "-token-0123456789"}, std::move(owner)}};
}

// All agents extend their cards here: `old` is fetched and of 0.3, `new` is written and of 1.0, `tools` is an MCP server.
config::settings managed(const std::string& url)
{
    auto settings = flow::quick_settings();
    settings.access.providers = {
        token("gold", {"gold"}, {{"plan", "gold"}}),
        token("plain", {}, {}),
        token("operator", {core::scope_read}, {}),
    };
    auto old = flow::a2a_agent("old", url + "/old");
    auto modern = flow::a2a_agent("new", url + "/new");
    modern.card = new_card(url + "/new");
    settings.agents = {old, modern, shell_agent()};
    for (auto& each : settings.agents) {
        each.discover = flow::anyone;
        each.call = flow::everybody_known;
        each.extended_card = core::extended_card_access::managed;
        each.skills = {
            {"gold-*", core::skill_visibility::extended, {"gold"}},
            {"silver-*", core::skill_visibility::extended, {"silver"}}
        };
        each.overlays = {
            {flow::only({.claims = {{"plan", "gold"}}}), R"({"documentationUrl":"https://docs.example/gold"})"},
        };
        each.patch.emplace().description = "patched";
    }
    return settings;
}

struct managed_gateway {
    explicit managed_gateway(const std::function<void(config::settings&)>& change = [](auto&) {})
        : gateway{[&] {
              auto settings = managed(agent.url());
              change(settings);
              return settings;
          }()}
    {
        for (const auto* id : {"old", "new", "tools"}) {
            CHECK(flow::becomes_true([&] { return flow::get_card(gateway, id, gold).status == 200; }));
        }
    }

    std::uint16_t port() const { return gateway.port(); }

    test_support::scripted_agent agent{[this](const auto&) {
        return test_support::answer_json(old_card(agent.url("/old")));
    }};
    running_gateway gateway;
};

struct route {
    std::string method;  // of JSON-RPC; empty: a GET
    std::string path;
    bool modern;
};

const std::vector<route> routes{
    {"", "/agent/authenticatedExtendedCard", false},
    {"", "/rest/v1/card", false},
    {"", "/rest/extendedAgentCard", true},
    {"agent/authenticatedExtendedCard", "", false},
    {"agent/getAuthenticatedExtendedCard", "", false},
    {"GetExtendedAgentCard", "", true},
};

http_response
ask(std::uint16_t port, std::string_view agent, const route& over, field_list headers, const field_list& further = {})
{
    headers.insert(headers.end(), further.begin(), further.end());
    const auto target = "/agents/" + std::string{agent} + over.path;
    if (over.method.empty()) {
        return request(port, "GET", target, headers);
    }
    headers.emplace_back("Content-Type", "application/json");
    return request(port, "POST", target, headers, R"({"jsonrpc":"2.0","id":"q","method":")" + over.method + R"("})");
}

// The card in the answer, or the test has failed.
json card_in(const http_response& got, const route& over)
{
    REQUIRE(got.status == 200);
    CHECK(got.header("Cache-Control") == "private, no-store");
    CHECK(got.header("Vary") == "*");
    CHECK(got.count("ETag") == 0);
    auto body = parsed(got.body);
    if (over.method.empty()) {
        return body;
    }
    CHECK(body.at("id") == "q");
    return body.at("result");
}

std::vector<std::string> ids_of(const json& card)
{
    std::vector<std::string> ids;
    for (const auto& each : card.at("skills")) {
        ids.push_back(each.at("id").get<std::string>());
    }
    return ids;
}

using ids = std::vector<std::string>;

void check_flags(const json& card, bool modern)
{
    if (modern) {
        CHECK(card.at("capabilities").at("extendedAgentCard") == true);
        CHECK_FALSE(card.contains("supportsAuthenticatedExtendedCard"));
        CHECK_FALSE(card.contains("url"));
    } else {
        CHECK(card.at("supportsAuthenticatedExtendedCard") == true);
        CHECK_FALSE(card.at("capabilities").contains("extendedAgentCard"));
    }
}

}  // namespace

TEST_CASE("each principal gets the skills and overlays that are its own, over every route, in the words of the route")
{
    managed_gateway x;
    for (const std::string agent : {"old", "new", "tools"}) {
        for (const auto& over : routes) {
            CAPTURE(agent);
            CAPTURE(over.method);
            CAPTURE(over.path);
            for (int round = 0; round < 2; ++round) {
                const auto of_gold = card_in(ask(x.port(), agent, over, gold), over);
                CHECK(ids_of(of_gold) == ids{"free", "gold-1"});
                CHECK(of_gold.at("documentationUrl") == "https://docs.example/gold");
                CHECK(of_gold.at("description") == "patched");
                check_flags(of_gold, over.modern);
                const auto of_plain = card_in(ask(x.port(), agent, over, plain), over);
                CHECK(ids_of(of_plain) == ids{"free"});
                CHECK_FALSE(of_plain.contains("documentationUrl"));
                check_flags(of_plain, over.modern);
                const auto text = core::to_text(of_gold) + core::to_text(of_plain);
                CHECK(text.find(x.agent.url()) == std::string::npos);
                CHECK(text.find(x.gateway.base() + "/agents/" + agent) != std::string::npos);
                CHECK(text.find("silver-1") == std::string::npos);
                CHECK(core::to_text(of_plain).find("gold-1") == std::string::npos);
            }
            const auto refused = ask(x.port(), agent, over, nobody);
            CHECK(refused.status == 401);
            CHECK(refused.count("WWW-Authenticate") > 0);
            CHECK(refused.body.find("skills") == std::string::npos);
        }
    }
    // The agent was asked for its card, never for an extended one.
    for (const auto& each : x.agent.requests()) {
        CHECK(each.target.ends_with(".well-known/agent-card.json"));
    }
}

TEST_CASE("public cards, catalogs and agents/get have public skills only, in every shape")
{
    managed_gateway x;
    const auto no_secret = [](const std::string& text) {
        return text.find("gold-1") == std::string::npos && text.find("silver-1") == std::string::npos &&
               text.find("docs.example") == std::string::npos;
    };
    for (const std::string agent : {"old", "new", "tools"}) {
        for (const auto& headers : {field_list{}, {{"A2A-Version", "1.0"}}, {{"A2A-Version", "0.3"}}}) {
            for (auto caller : {nobody, gold}) {
                CAPTURE(agent);
                caller.insert(caller.end(), headers.begin(), headers.end());
                const auto got = flow::get_card(x.gateway, agent, caller);
                REQUIRE(got.status == 200);
                CHECK(no_secret(got.body));
                const auto card = parsed(got.body);
                CHECK(ids_of(card) == ids{"free"});
                CHECK(card.at("description") == "patched");
                const bool old_flag = card.value("supportsAuthenticatedExtendedCard", false);
                const bool new_flag = card.at("capabilities").value("extendedAgentCard", false);
                CHECK((old_flag || new_flag));
            }
        }
        const auto record = flow::rpc(x.port(), operators, "agents/get", R"({"agentId":")" + agent + R"("})");
        CHECK(record.status == 200);
        CHECK(ids_of(parsed(record.body).at("result").at("card")) == ids{"free"});
    }
    for (const std::string target : {"/agents", "/.well-known/api-catalog", "/.well-known/ai-catalog.json"}) {
        CAPTURE(target);
        const auto page = request(x.port(), "GET", target, operators);
        CHECK(page.status == 200);
        CHECK(no_secret(page.body));
    }
    const auto with_tag = [&](const std::string& tag) {
        const auto list = flow::rpc(x.port(), operators, "agents/list", R"({"tag":")" + tag + R"("})");
        return parsed(list.body).at("result").at("agents").size();
    };
    CHECK(with_tag("t") == 2);
    CHECK(with_tag("of-gold") == 0);
}

TEST_CASE("what an overlay brings is still filtered by the rules for skills")
{
    const std::string more = R"({"skills":[{"id":"gold-2","name":"n","description":"d","tags":["t"]},)"
                             R"({"id":"silver-2","name":"n","description":"d","tags":["t"]},)"
                             R"({"id":"new","name":"n","description":"d","tags":["t"]}],)"
                             R"("agentCard":{"skills":[{"id":"silver-3"}]}})";
    managed_gateway x{[&](config::settings& s) {
        for (auto& each : s.agents) {
            each.overlays.push_back({flow::everybody_known, more});
        }
    }};
    for (const std::string agent : {"old", "new", "tools"}) {
        for (const auto& over : routes) {
            CAPTURE(agent);
            CAPTURE(over.method);
            CAPTURE(over.path);
            const auto of_gold = card_in(ask(x.port(), agent, over, gold), over);
            CHECK(ids_of(of_gold) == ids{"gold-2", "new"});
            CHECK(core::to_text(of_gold).find("silver") == std::string::npos);
            CHECK(ids_of(card_in(ask(x.port(), agent, over, plain), over)) == ids{"new"});
        }
    }
}

TEST_CASE("overlays apply in their order, and one that takes the name away ends in -32603")
{
    managed_gateway x{[&](config::settings& s) {
        for (auto& each : s.agents) {
            each.overlays = {
                {flow::everybody_known, R"({"version":"2","capabilities":{"pushNotifications":true}})"},
                {flow::only({.principals = {"plain"}}), R"({"version":"3"})"},
                {flow::only({.principals = {"gold"}}), R"({"name":null})"},
            };
        }
    }};
    for (const std::string agent : {"old", "new", "tools"}) {
        for (const auto& over : routes) {
            CAPTURE(agent);
            CAPTURE(over.method);
            CAPTURE(over.path);
            const auto card = card_in(ask(x.port(), agent, over, plain), over);
            CHECK(card.at("version") == "3");
            CHECK(card.at("capabilities").at("pushNotifications") == true);
            const auto lost = ask(x.port(), agent, over, gold);
            CHECK(lost.status == 500);
            CHECK(lost.header("Cardea-Error") == "extended_card_incomplete");
            if (!over.method.empty()) {
                CHECK(parsed(lost.body).at("error").at("code") == -32603);
                CHECK(parsed(lost.body).at("id") == "q");
            }
        }
    }
}

TEST_CASE("answers come in this order: authenticate, call, capability, configured")
{
    managed_gateway x{[&](config::settings& s) {
        s.agents[0].extended_card = core::extended_card_access::off;
        s.agents[1].call = flow::only({.principals = {"gold"}});
        s.agents[2].extended_card = core::extended_card_access::automatic;
        for (auto& each : s.agents) {
            each.overlays.clear();
        }
    }};
    struct row {
        std::string agent;
        field_list caller;
        unsigned get;  // the status of a GET
        int code;      // of JSON-RPC; 0: refused with this status
        std::string error;
    };
    const row rows[] = {
        {"old", nobody, 401, 0, "unauthenticated"},
        {"old", plain, 404, -32007, "extended_card_not_configured"},
        {"new", nobody, 401, 0, "unauthenticated"},
        {"new", plain, 403, 0, "forbidden"},
        {"tools", nobody, 401, 0, "unauthenticated"},
        {"tools", plain, 404, -32004, "extended_card_unsupported"},
    };
    for (const auto& each : rows) {
        for (const auto& over : routes) {
            CAPTURE(each.agent);
            CAPTURE(over.method);
            CAPTURE(over.path);
            const auto got = ask(x.port(), each.agent, over, each.caller);
            CHECK(got.header("Cardea-Error") == each.error);
            // HTTP+JSON has a status of its own for the errors of A2A.
            const unsigned told = over.path.starts_with("/rest") ? 400 : over.method.empty() ? each.get : 200;
            CHECK(got.status == (each.code == 0 ? each.get : told));
            if (!over.method.empty() && each.code != 0) {
                CHECK(parsed(got.body).at("error").at("code") == each.code);
            }
        }
    }
    for (const std::string agent : {"old", "tools"}) {
        const auto card = parsed(flow::get_card(x.gateway, agent).body);
        CHECK_FALSE(card.value("supportsAuthenticatedExtendedCard", false));
        CHECK_FALSE(card.at("capabilities").value("extendedAgentCard", false));
    }
}

TEST_CASE("a change of extended skills alone reaches their principals, and the public card keeps its ETag")
{
    managed_gateway x;
    const auto before = flow::get_card(x.gateway, "old").header("ETag");
    auto changed = old_card(x.agent.url("/old"));
    changed.replace(changed.find("gold-1"), 6, "gold-7");
    x.agent.otherwise([changed](const auto&) { return test_support::answer_json(changed); });
    flow::manage(x.gateway, "agents/refreshCard", {{"agentId", "old"}});
    CHECK(flow::get_card(x.gateway, "old").header("ETag") == before);
    CHECK(ids_of(card_in(ask(x.port(), "old", routes[0], gold), routes[0])) == ids{"free", "gold-7"});
    CHECK(ids_of(card_in(ask(x.port(), "old", routes[0], plain), routes[0])) == ids{"free"});
}

TEST_CASE("without providers nobody is a principal, so that no extended card is made")
{
    managed_gateway x{[&](config::settings& s) {
        s.access.providers.clear();
        for (auto& each : s.agents) {
            each.discover.reset();
            each.call.reset();
        }
    }};
    const auto got = ask(x.port(), "old", routes[5], nobody);
    CHECK(parsed(got.body).at("error").at("code") == -32007);
    const auto card = parsed(flow::get_card(x.gateway, "new").body);
    CHECK_FALSE(card.at("capabilities").value("extendedAgentCard", false));
    CHECK(ids_of(card) == ids{"free"});
}

TEST_CASE("a proxied extended card is for principals, without the skills that they may not see, also with a bearer")
{
    test_support::scripted_agent agent{[&](const test_support::recorded_request& asked) {
        const auto card = new_card("http://127.0.0.1:9/");
        return test_support::answer_json(
            asked.method == "POST" ? R"({"jsonrpc":"2.0","id":"q","result":)" + card + "}" : card
        );
    }};
    auto settings = managed(agent.url());
    auto& proxied = settings.agents[0];
    proxied.extended_card = core::extended_card_access::automatic;
    proxied.overlays.clear();
    proxied.bearer = core::secret{"s3cret"};
    settings.agents.resize(1);
    running_gateway gateway{settings};
    for (const auto& over : routes) {
        CAPTURE(over.method);
        CAPTURE(over.path);
        const auto before = agent.request_count();
        CHECK(ask(gateway.port(), "old", over, nobody).status == 401);
        CHECK(agent.request_count() == before);
        const auto body = [&](const field_list& caller) {
            const auto got = ask(gateway.port(), "old", over, caller);
            REQUIRE(got.status == 200);
            CHECK(got.header("Cache-Control") == "private, no-store");
            CHECK(agent.requests().back().header("Authorization") == "Bearer s3cret");
            auto card = parsed(got.body);
            return over.method.empty() ? card : card.at("result");
        };
        CHECK(ids_of(body(gold)) == ids{"free", "gold-1"});
        CHECK(ids_of(body(plain)) == ids{"free"});
        CHECK(body(plain).at("description") == "patched");
    }
}

TEST_CASE("a notification that asks for an extended card has no answer, and HEAD has no body")
{
    managed_gateway x;
    auto headers = gold;
    headers.emplace_back("Content-Type", "application/json");
    const auto got =
        request(x.port(), "POST", "/agents/new", headers, R"({"jsonrpc":"2.0","method":"GetExtendedAgentCard"})");
    CHECK(got.status == 204);
    CHECK(got.body.empty());
    test_support::http_client caller{x.port()};
    caller.send(test_support::request_text("HEAD", "/agents/new/rest/extendedAgentCard", gold));
    const auto head = caller.read_response(/*to_head=*/true);
    CHECK(head.status == 200);
    CHECK(head.header("Cache-Control") == "private, no-store");
}

TEST_CASE("an agent whose card cannot be had has no extended one either")
{
    test_support::scripted_agent agent{[](const auto&) { return test_support::answer(500, ""); }};
    auto settings = managed(agent.url());
    settings.agents.resize(1);
    running_gateway gateway{settings};
    for (const auto& over : routes) {
        const auto got = ask(gateway.port(), "old", over, gold);
        CHECK(got.status == 502);
        CHECK(got.header("Cardea-Error") == "upstream_status");
    }
}

TEST_CASE("with errors.a2x callers of 0.3 are told as A2X does that they need a credential, and callers of 1.0 are not")
{
    for (const bool a2x : {true, false}) {
        managed_gateway x{[&](config::settings& s) {
            s.errors.a2x = a2x;
            s.agents[0].discover = flow::everybody_known;
            s.agents[1].call = flow::anyone;
        }};
        struct row {
            std::string agent;
            std::string method;
            field_list version;
            field_list credential;
            bool told;
            std::string id;
        };
        const field_list none;
        const field_list of_1{{"A2A-Version", "1.0"}};
        const field_list of_03{{"A2A-Version", "0.3"}};
        const row rows[] = {
            {"old", "agent/getAuthenticatedExtendedCard", none, nobody, true, "null"},
            {"old", "message/send", of_03, nobody, true, "null"},
            {"old", "message/send", of_1, nobody, false, ""},
            {"new", "agent/getAuthenticatedExtendedCard", none, nobody, true, R"("q")"},
            {"tools", "message/send", none, nobody, true, "null"},
            {"new", "GetExtendedAgentCard", none, nobody, false, ""},
            {"new", "GetExtendedAgentCard", of_1, nobody, false, ""},
            {"new", "agent/getAuthenticatedExtendedCard", of_1, nobody, false, ""},
            {"new", "agent/getAuthenticatedExtendedCard", none, bearer("no-such-token-0123456789"), false, ""},
        };
        for (const auto& each : rows) {
            CAPTURE(a2x);
            CAPTURE(each.agent);
            CAPTURE(each.method);
            const auto got = ask(x.port(), each.agent, {each.method, "", false}, each.credential, each.version);
            CHECK(got.status == 401);
            CHECK(got.count("WWW-Authenticate") > 0);
            CHECK(got.header("Cardea-Error") == "unauthenticated");
            const auto body = parsed(got.body);
            const bool told = body.at("error").at("code") == -32008;
            CHECK(told == (a2x && each.told));
            if (told) {
                CHECK(core::to_text(body.at("id")) == each.id);
            }
        }
        CHECK(ask(x.port(), "new", routes[0], nobody).body.find("-32008") == std::string::npos);
    }
}

TEST_SUITE_END();
