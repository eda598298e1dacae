// Agents at the origins of names of their own, beside their paths: cards, calls, MCP, access and TLS there.
#include "core/ascii.hpp"
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/mcp_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/agent_hosts");

namespace {

using core::json;
using flow::card_target;
using flow::parsed;
using flow::quick_settings;
using flow::relayed;
using flow::running_gateway;
using test_support::answer_json;
using test_support::certificate_spec;
using test_support::field_list;
using test_support::http_client;
using test_support::http_response;
using test_support::request;
using test_support::test_ca;
using test_support::tls_caller;

constexpr std::string_view card_place = "/.well-known/agent-card.json";

field_list at(std::string_view name, field_list more = {})
{
    more.emplace_back("Host", name);
    return more;
}

// Agent `a` is at a.test and at a.agents.test.
void name_it(config::settings& settings)
{
    settings.agents[0].hosts = {"a.test"};
    settings.agent_hosts = "{id}.agents.test";
}

// The agent has a card of 0.3 and answers each call alike.
test_support::script card_or_answer(const test_support::recorded_request& asked)
{
    if (asked.method == "GET") {
        return asked.target.ends_with("agent-card.json") ? answer_json(flow::card_text("A", "http://x/"))
                                                         : test_support::answer(404, "");
    }
    return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

http_response call_at(const relayed& x, std::string_view name, std::string_view target = "/")
{
    return request(x.port(), "POST", target, at(name, {{"Content-Type", "application/json"}}), flow::call_body());
}

std::string origin(const relayed& x, std::string_view name)
{
    return "http://" + std::string{name} + ':' + std::to_string(x.port());
}

// What does not change from one answer to the next.
std::string shown(const http_response& answer)
{
    auto text = std::to_string(answer.status) + ' ' + answer.reason + '\n';
    for (const auto& [name, value] : answer.headers) {
        text += name == "Date" ? "" : name + ": " + value + '\n';
    }
    return text + answer.body;
}

std::string certificate_of(const http_client& caller)
{
    char name[128] = {};
    auto* const subject = X509_get_subject_name(SSL_get0_peer_certificate(caller.tls()));
    X509_NAME_get_text_by_NID(subject, NID_commonName, name, sizeof name);
    return name;
}

}  // namespace

TEST_CASE("A card that is asked for at a name of its agent names that origin, and has an ETag of its own")
{
    const relayed x{card_or_answer, name_it};
    const auto by_path = flow::get_card(x.gateway, "a");
    REQUIRE(by_path.status == 200);
    CHECK(parsed(by_path.body)["url"] == x.gateway.base() + "/agents/a");
    std::vector<std::string> tags{by_path.header("ETag")};
    for (const auto* name : {"a.test", "a.agents.test"}) {
        CAPTURE(name);
        const auto got = request(x.port(), "GET", card_place, at(name));
        CHECK(got.status == 200);
        CHECK(parsed(got.body)["url"] == origin(x, name));
        CHECK(got.body.find("/agents/") == std::string::npos);
        CHECK(got.header("Content-Length") == std::to_string(got.body.size()));
        CHECK(std::ranges::find(tags, got.header("ETag")) == tags.end());
        tags.push_back(got.header("ETag"));

        CHECK(request(x.port(), "GET", card_place, at(name)).body == got.body);
        const auto known = request(x.port(), "GET", card_place, at(name, {{"If-None-Match", tags.back()}}));
        CHECK(known.status == 304);
        CHECK(request(x.port(), "GET", card_place, at(name, {{"If-None-Match", tags.front()}})).status == 200);
        CHECK(request(x.port(), "HEAD", card_place, at(name)).header("ETag") == tags.back());
    }
    // The agent was asked once.
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("The card's name of 0.2 is there too, with a link to the other on the same origin")
{
    const relayed x{card_or_answer, name_it};
    const auto got = request(x.port(), "GET", "/.well-known/agent.json", at("a.test"));
    CHECK(got.status == 200);
    CHECK(parsed(got.body)["url"] == origin(x, "a.test"));
    CHECK(got.header("Deprecation") == "true");
    CHECK(got.header("Link") == "</.well-known/agent-card.json>; rel=\"successor-version\"");
}

TEST_CASE("Each version of the card names the origin")
{
    const relayed x{card_or_answer, name_it};
    const auto modern = request(x.port(), "GET", card_place, at("a.test", {{"A2A-Version", "1.0"}}));
    REQUIRE(modern.status == 200);
    CHECK(parsed(modern.body)["supportedInterfaces"][0]["url"].get<std::string>().starts_with(origin(x, "a.test")));
    CHECK(modern.body.find("/agents/") == std::string::npos);
    CHECK(modern.header("Vary") == "A2A-Version");
}

TEST_CASE("A new card of the agent is the new one at its name too")
{
    relayed x{card_or_answer, name_it};
    REQUIRE(request(x.port(), "GET", card_place, at("a.test")).status == 200);
    x.agent.otherwise([](const auto&) { return answer_json(flow::card_text("B", "http://x/")); });
    REQUIRE(flow::manage(x.gateway, "agents/refreshCard", {{"id", "a"}})["changed"] == true);
    CHECK(flow::becomes_true([&] {
        return parsed(request(x.port(), "GET", card_place, at("a.test")).body)["name"] == "B";
    }));
}

TEST_CASE("A call at the root of a name reaches its agent, whatever the case and the port of the name")
{
    const relayed x{card_or_answer, name_it};
    const std::vector<std::string> names{"a.test", "A.Test", "a.test:443", "a.test.", "A.AGENTS.test:1"};
    for (const auto& name : names) {
        CAPTURE(name);
        const auto got = call_at(x, name);
        CHECK(got.status == 200);
        CHECK(got.body == R"({"jsonrpc":"2.0","id":1,"result":{}})");
    }
    const auto lines = flow::access_lines(x.gateway, names.size());
    REQUIRE(lines.size() == names.size());
    for (const auto& line : lines) {
        CHECK(line.find(R"("agent":"a")") != std::string::npos);
    }
    for (const auto& asked : x.agent.requests()) {
        CHECK((asked.method == "GET" || asked.target == "/rpc"));
    }
}

TEST_CASE("Below a name is what is below the path of the agent, and nothing of the gateway")
{
    const relayed x{card_or_answer, [](config::settings& s) {
                        name_it(s);
                        s.agents[0].relay_paths = {"/files/*"};
                    }};
    const auto relayed_there = request(x.port(), "PUT", "/files/x?y=1", at("a.test"), "z");
    CHECK(relayed_there.status == 200);
    CHECK(x.agent.requests().back().target == "/rpc/files/x?y=1");
    const auto described = request(x.port(), "GET", "/", at("a.test"));
    CHECK(described.status == 200);
    CHECK(parsed(described.body)["id"] == "a");
    CHECK(parsed(described.body)["url"] == origin(x, "a.test") + "/");
    CHECK(parsed(described.body)["cardUrl"] == origin(x, "a.test") + std::string{card_place});
    for (const auto* target :
         {"/agents", "/agents/a", "/.well-known/jwks.json", "/.well-known/ai-catalog.json", "/other"}) {
        CAPTURE(target);
        CHECK(request(x.port(), "GET", target, at("a.test")).status == 404);
    }
    CHECK(call_at(x, "a.test", "/rpc").status == 404);
    CHECK(call_at(x, "a.test", "/agents/a").status == 404);
    CHECK(request(x.port(), "GET", "//x", at("a.test")).status == 400);
}

TEST_CASE("A name that is no agent's is 421, and one that the pattern may give is an agent that is not known")
{
    const relayed x{card_or_answer, name_it};
    for (const auto* name : {"b.test", "agents.test", "x.a.test", "a.test.evil.example", "b_c.agents.test"}) {
        CAPTURE(name);
        CHECK(request(x.port(), "GET", card_place, at(name)).header("Cardea-Error") == "misdirected_request");
        CHECK(call_at(x, name).status == 421);
    }
    const auto card = request(x.port(), "GET", card_place, at("b.agents.test"));
    CHECK(card.status == 404);
    CHECK(card.header("Cardea-Error") == "agent_not_found");
    CHECK(call_at(x, "b.agents.test").header("Cardea-Error") == "agent_not_found");
    CHECK(call_at(x, "127.0.0.1", "/agents/a").status == 200);
}

TEST_CASE("An agent whose id has capitals is not at the name that the pattern makes of its id")
{
    const relayed x{card_or_answer, [](config::settings& s) {
                        s.agents[0].id = "A";
                        s.agents[0].hosts = {"a.test"};
                        s.agent_hosts = "{id}.agents.test";
                    }};
    CHECK(call_at(x, "a.test").status == 200);
    for (const auto* name : {"A.agents.test", "a.agents.test"}) {
        CAPTURE(name);
        CHECK(call_at(x, name).header("Cardea-Error") == "agent_not_found");
        CHECK(request(x.port(), "GET", card_place, at(name)).header("Cardea-Error") == "agent_not_found");
    }
}

TEST_CASE("An extended card inside an answer names the origin that it was asked for at")
{
    const relayed x{
        [](const auto& asked) {
            const auto card = flow::card_text("A", "http://x/");
            return asked.method == "GET" ? answer_json(card)
                                         : answer_json(R"({"jsonrpc":"2.0","id":1,"result":)" + card + "}");
        },
        name_it
    };
    const auto body = flow::call_body("1", "agent/getAuthenticatedExtendedCard");
    const field_list json_type{{"Content-Type", "application/json"}};
    const auto by_name = request(x.port(), "POST", "/", at("a.test", json_type), body);
    REQUIRE(by_name.status == 200);
    CHECK(parsed(by_name.body)["id"] == 1);
    CHECK(parsed(by_name.body)["result"]["url"] == origin(x, "a.test"));
    const auto by_rest = request(x.port(), "GET", "/v1/card", at("a.test"));
    REQUIRE(by_rest.status == 200);
    CHECK(parsed(by_rest.body)["url"] == origin(x, "a.test"));
    const auto by_path = request(x.port(), "POST", "/agents/a", json_type, body);
    CHECK(parsed(by_path.body)["result"]["url"] == x.gateway.base() + "/agents/a");
}

TEST_CASE("An extended card that is translated for its caller names the origin that it was asked for at")
{
    const relayed x{
        [](const auto& asked) {
            const auto card = flow::card_text("A", "http://x/");
            return asked.method == "GET"
                       ? answer_json(card)
                       : answer_json(R"({"jsonrpc":"2.0","id":)" + flow::id_of(asked) + R"(,"result":)" + card + "}");
        },
        [](config::settings& s) {
            name_it(s);
            s.agents[0].bridge = true;
            s.agents[0].dialects = {core::a2a_dialect::v03_jsonrpc};
            s.agents[0].extended_card = core::extended_card_access::proxy;
        }
    };
    for (const auto* target : {"/extendedAgentCard", "/rest/extendedAgentCard", "/rest/v1/card"}) {
        CAPTURE(target);
        const auto got = request(x.port(), "GET", target, at("a.test"));
        CHECK(got.status == 200);
        CHECK(got.body.find(origin(x, "a.test")) != std::string::npos);
        CHECK(got.body.find("/agents/") == std::string::npos);
        const auto by_path = request(x.port(), "GET", "/agents/a/rest/extendedAgentCard");
        CHECK(by_path.body.find(x.gateway.base() + "/agents/a") != std::string::npos);
    }
    const field_list modern{{"Content-Type", "application/json"}, {"A2A-Version", "1.0"}};
    const auto got = request(x.port(), "POST", "/", at("a.test", modern), flow::call_body("1", "GetExtendedAgentCard"));
    CHECK(parsed(got.body)["result"]["supportedInterfaces"][0]["url"] == origin(x, "a.test"));
    CHECK(got.body.find("/agents/") == std::string::npos);
}

TEST_CASE("TLS shows each name its certificate, and the card there has https")
{
    test_ca ca;
    const auto files = [&](const std::string& name, const std::string& shown_as) {
        const auto made = ca.issue(certificate_spec{.names = {name}, .common_name = shown_as});
        return config::certificate_files{made.cert_file, made.key_file, {}};
    };
    const relayed x{card_or_answer, [&](config::settings& s) {
                        name_it(s);
                        s.tls = {files("localhost", "gateway"), files("a.test", "own"), files("*.agents.test", "all")};
                    }};
    for (const auto& [name, certificate] :
         {std::pair{"localhost", "gateway"}, std::pair{"a.test", "own"}, std::pair{"a.agents.test", "all"}}) {
        CAPTURE(name);
        http_client caller{x.port(), tls_caller{ca.ca_file(), name}};
        CHECK(certificate_of(caller) == certificate);
        if (certificate == std::string_view{"gateway"}) {
            continue;
        }
        caller.send(test_support::request_text("GET", card_place, at(name)));
        const auto card = caller.read_response();
        CHECK(card.status == 200);
        CHECK(parsed(card.body)["url"] == "https://" + std::string{name} + ':' + std::to_string(x.port()));
        // The name of the request decides, not that of the handshake; over HTTP/2 the certificate has to be for it.
        caller.send(test_support::request_text("GET", "/agents", at("127.0.0.1")));
        CHECK(caller.read_response().status == (test_support::over_http2() ? 421 : 200));
    }
}

TEST_CASE("A name tells no more of an agent that the caller may not know of than of one that is not there")
{
    test_support::scripted_agent agent{flow::answer_of_agent};
    auto settings = flow::guarded(agent.url("/rpc"));
    settings.agent_hosts = "{id}.agents.test";
    settings.agents[3].hosts = {"hidden.test"};
    REQUIRE(settings.agents[3].id == "secret");
    const running_gateway gateway{settings};
    const auto ask = [&](std::string_view name, const field_list& as, std::string_view method, std::string_view target
                     ) {
        auto fields = at(name, as);
        fields.emplace_back("Content-Type", "application/json");
        return request(gateway.port(), method, target, fields, method == "POST" ? flow::call_body() : "");
    };
    for (const auto& caller : {flow::nobody, flow::mallory, flow::unknown}) {
        for (const auto& [method, target] :
             {std::pair{"GET", card_place},
              std::pair{"POST", std::string_view{"/"}},
              std::pair{"GET", std::string_view{"/"}},
              std::pair{"GET", std::string_view{"/files/x"}},
              std::pair{"POST", std::string_view{"/mcp"}},
              std::pair{"GET", std::string_view{"/v1/card"}}}) {
            CAPTURE(method);
            CAPTURE(target);
            const auto hidden = ask("secret.agents.test", caller, method, target);
            CHECK(hidden.status != 200);
            CHECK(shown(hidden) == shown(ask("nobody.agents.test", caller, method, target)));
            CHECK(ask("hidden.test", caller, method, target).body.find("secret") == std::string::npos);
        }
    }
    CHECK(ask("secret.agents.test", flow::ci, "POST", "/").status == 200);
    CHECK(ask("hidden.test", flow::ci, "POST", "/").status == 200);
    CHECK(ask("seen.agents.test", flow::mallory, "POST", "/").status == 403);
    CHECK(ask("seen.agents.test", flow::mallory, "GET", card_place).status == 200);
}

TEST_CASE("A refused caller finds the metadata of the resource at the origin that it has asked")
{
    const relayed x{card_or_answer, [](config::settings& s) {
                        name_it(s);
                        core::access_provider idp{"idp", core::jwt_provider{}};
                        auto& jwt = std::get<core::jwt_provider>(idp.type);
                        jwt.issuer = "https://idp.example";
                        jwt.audiences = {"cardea"};
                        jwt.key_set_url = "https://127.0.0.1:9/keys";
                        s.access.providers = {idp};
                        s.agents[0].discover = flow::everybody_known;
                        s.agents[0].call = flow::everybody_known;
                        s.public_url = "https://gw.test";
                        s.hosts = {"127.0.0.1"};
                    }};
    for (const std::string below : {"", "/mcp"}) {
        const auto refused = call_at(x, "a.test", below.empty() ? "/" : below);
        CHECK(refused.status == 401);
        const auto metadata = "/.well-known/oauth-protected-resource" + below;
        CHECK(refused.header("WWW-Authenticate").ends_with("resource_metadata=\"https://a.test" + metadata + "\""));
        const auto got = request(x.port(), "GET", metadata, at("a.test"));
        CHECK(got.status == 200);
        CHECK(parsed(got.body)["resource"] == "https://a.test" + below);
        const auto by_path = request(x.port(), "GET", "/.well-known/oauth-protected-resource/agents/a" + below);
        CHECK(parsed(by_path.body)["resource"] == "https://gw.test/agents/a" + below);
    }
    // The spelling does not tell which names have an agent.
    for (const auto* name : {"A.Agents.Test", "Nobody.Agents.Test"}) {
        CAPTURE(name);
        const auto shown_name = core::in_lower_case(name);
        const auto refused = call_at(x, name);
        CHECK(refused.status == 401);
        CHECK(refused.header("WWW-Authenticate").find("https://" + shown_name + "/.well-known/") != std::string::npos);
        const auto got = request(x.port(), "GET", "/.well-known/oauth-protected-resource", at(name));
        CHECK(parsed(got.body)["resource"] == "https://" + shown_name);
    }
}

TEST_CASE("An MCP server is called at /mcp of its name, by its own pages too")
{
    const auto x = flow::mcp_calls::mcp_gateway([](config::settings& s) {
        s.agents[0].hosts = {"a.test"};
        s.public_url = "https://gw.test";
    });
    const auto begin = [&](std::string_view name, const std::string& page) {
        auto fields = flow::mcp_calls::usual_fields();
        fields.emplace_back("Content-Type", "application/json");
        if (!page.empty()) {
            fields.emplace_back("Origin", page);
        }
        const auto target = name == "a.test" ? "/mcp" : "/agents/a/mcp";
        return request(x.port(), "POST", target, at(name, fields), flow::mcp_calls::initialize_body);
    };
    const auto began = begin("a.test", "");
    CHECK(began.status == 200);
    CHECK_FALSE(began.header("Mcp-Session-Id").empty());
    CHECK(begin("a.test", "https://a.test").status == 200);
    CHECK(begin("a.test", "https://gw.test").status == 403);
    CHECK(begin("127.0.0.1", "https://gw.test").status == 200);
    CHECK(begin("127.0.0.1", "https://a.test").status == 403);
}

TEST_CASE("A reload moves a name from one agent to another, and refuses one that two agents would have")
{
    const test_support::scratch_directory here;
    const auto file = here.file("c.yml");
    const auto agents = [](const std::string& of_a, const std::string& of_b) {
        return "reload: {watch: false}\nagents:\n" + flow::inline_agent("a", "A", ", hosts: [" + of_a + "]") +
               flow::inline_agent("b", "B", ", hosts: [" + of_b + "]");
    };
    test_support::write_whole(file, agents("x.test", "y.test"));
    const flow::reloading_gateway gateway{file};
    const auto name_at = [&](std::string_view host) {
        const auto answer = request(gateway.port, "GET", card_place, at(host));
        return answer.status == 200 ? parsed(answer.body)["name"].get<std::string>() : std::to_string(answer.status);
    };
    CHECK(name_at("x.test") == "A");
    CHECK(name_at("y.test") == "B");

    test_support::write_whole(file, agents("", "x.test"));
    CHECK(
        gateway.reloaded()["agents"]["changed"] ==
        parsed(R"([{"id":"a","keys":["hosts"]},{"id":"b","keys":["hosts"]}])")
    );
    CHECK(flow::becomes_true([&] { return name_at("x.test") == "B" && name_at("y.test") == "421"; }));

    test_support::write_whole(file, agents("x.test", "x.test"));
    const auto refused = gateway.reload();
    CHECK(refused.status == 422);
    CHECK(refused.body.find("agents.b.hosts") != std::string::npos);
    CHECK(name_at("x.test") == "B");
}

TEST_CASE("At the names of an agent that is disabled there is no agent, and nothing of the gateway")
{
    const test_support::scratch_directory here;
    const auto file = here.file("c.yml");
    const auto agents = [](const std::string& more) {
        return "reload: {watch: false}\nhosts: [\"*\"]\nagents:\n" +
               flow::inline_agent("a", "A", ", hosts: [x.test]" + more) + flow::inline_agent("b", "B");
    };
    test_support::write_whole(file, agents(", disabled: true"));
    const flow::reloading_gateway gateway{file};
    const auto check_nothing = [&] {
        for (const std::string_view target :
             {card_place, {"/"}, {"/agents"}, {"/agents/b/.well-known/agent-card.json"}}) {
            CAPTURE(target);
            CHECK(request(gateway.port, "GET", target, at("x.test")).status == 404);
        }
    };
    check_nothing();
    test_support::write_whole(file, agents(""));
    static_cast<void>(gateway.reloaded());
    CHECK(flow::becomes_true([&] { return request(gateway.port, "GET", card_place, at("x.test")).status == 200; }));
    test_support::write_whole(file, agents(", disabled: true"));
    static_cast<void>(gateway.reloaded());
    CHECK(flow::becomes_true([&] { return request(gateway.port, "GET", card_place, at("x.test")).status == 404; }));
    check_nothing();
}

TEST_CASE("Agents of the management API have names, which end with them, and none that is taken")
{
    auto settings = quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", "http://127.0.0.1:9/"));
    settings.agents[0].card = std::string{flow::words_card};
    settings.agents[0].hosts = {"a.test"};
    settings.public_url = "https://gw.test";
    const running_gateway gateway{settings};
    const auto upsert = [](const std::string& hosts) {
        return R"({"id":"b","agent":{"url":"http://127.0.0.1:9/","card":{"name":"B"},"hosts":[)" + hosts + "]}}";
    };
    const auto status = [&](std::string_view name) {
        return request(gateway.port(), "GET", card_place, at(name)).status;
    };
    for (const auto* taken : {R"("a.test")", R"("gw.test")", R"("b.test","A.test")", R"("localhost")"}) {
        CAPTURE(taken);
        const auto error = flow::error_of(gateway, "agents/upsert", upsert(taken));
        CHECK(error["data"]["problems"][0]["path"] == "agent.hosts");
    }
    CHECK(status("b.test") == 421);
    CHECK(flow::error_of(gateway, "agents/upsert", upsert(R"("b.test")")).is_null());
    CHECK(flow::becomes_true([&] { return status("b.test") == 200; }));
    CHECK(flow::manage(gateway, "agents/delete", {{"id", "b"}})["deleted"] == true);
    CHECK(flow::becomes_true([&] { return status("b.test") == 421; }));
    CHECK(status("a.test") == 200);
}

TEST_SUITE_END();
