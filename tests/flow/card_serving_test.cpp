#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/cards/serving");

namespace {

using namespace std::chrono_literals;
using flow::a2a_agent;
using flow::card_target;
using flow::card_text;
using flow::get_card;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::request;
using test_support::scripted_agent;

constexpr const char* legacy_target = "/agents/a/.well-known/agent.json";

config::settings settings_for(const scripted_agent& agent)
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    return settings;
}

// What does not change from one answer to the next.
test_support::field_list stable_fields(const test_support::http_response& answer)
{
    test_support::field_list out;
    for (const auto& field : answer.headers) {
        if (field.first != "Date" && field.first != "Cache-Control") {
            out.push_back(field);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("A card of 90 kB whose requirements name 990 schemes is served, and so is another agent's meanwhile")
{
    std::string demand = "{";
    for (int i = 0; i < 990; ++i) {
        demand += (i == 0 ? "\"" : ",\"") + std::string(i < 4 ? "o" : "s") + std::to_string(i) + "\":[]";
    }
    demand += "}";
    std::string demands = demand;
    while (demands.size() + demand.size() < 90000) {
        demands += "," + demand;
    }
    std::string schemes = R"("s":{"type":"mutualTLS"})";
    for (int i = 0; i < 4; ++i) {
        schemes += ",\"o" + std::to_string(i) + R"(":{"type":"oauth2","flows":{"implicit":{},"password":{}}})";
    }
    const auto text = R"({"name":"H","protocolVersion":"0.3.0","url":"http://x/","skills":[],"securitySchemes":{)" +
                      schemes + R"(},"security":[)" + demands + "]}";
    scripted_agent hostile{[&](const auto&) { return answer_json(text); }};
    scripted_agent agent{[](const auto&) { return answer_json(card_text("A", "http://x/")); }};
    auto settings = settings_for(agent);
    settings.agents.push_back(a2a_agent("hostile", hostile.url()));
    const running_gateway gateway{settings};
    const auto got = get_card(gateway, "hostile");
    CHECK(got.status == 200);
    // What the agent asks for would not reach it.
    CHECK_FALSE(parsed(got.body).contains("security"));
    CHECK(get_card(gateway, "a").status == 200);
    CHECK(request(gateway.admin_port(), "GET", "/healthz").status == 200);
}

TEST_CASE("a card comes with a type, a length, a strong ETag and how long it is good")
{
    scripted_agent agent{[](const auto&) { return answer_json(card_text("A", "http://x/")); }};
    const running_gateway gateway{settings_for(agent)};
    const auto got = get_card(gateway, "a");
    CHECK(got.status == 200);
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.header("Content-Length") == std::to_string(got.body.size()));
    CHECK(got.header("ETag").starts_with('"'));
    CHECK(got.header("ETag").ends_with('"'));
    CHECK(flow::max_age_of(got) > 290);
    CHECK(flow::max_age_of(got) <= 300);
    CHECK(got.count("Date") == 1);
    CHECK(got.count("Cardea-Error") == 0);
    CHECK(got.count("Server") == 0);
}

TEST_CASE("the ETag is the same from another gateway, and another for another card")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = settings_for(agent);
    settings.public_url = "https://agents.example.com";
    const running_gateway one{settings};
    const running_gateway two{settings};
    const auto etag = get_card(one, "a").header("ETag");
    CHECK(get_card(two, "a").header("ETag") == etag);
    agent.otherwise([](const auto&) { return answer_json(R"({"name":"B"})"); });
    CHECK(flow::manage(one, "agents/refreshCard", {{"id", "a"}})["changed"] == true);
    CHECK(get_card(one, "a").header("ETag") != etag);
    CHECK(parsed(get_card(one, "a").body)["name"] == "B");
}

TEST_CASE("HEAD has the fields of GET and no body, and the connection goes on")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    const running_gateway gateway{settings_for(agent)};
    const auto got = get_card(gateway, "a");
    test_support::http_client caller{gateway.port()};
    for (int i = 0; i < 2; ++i) {
        caller.send(test_support::request_text("HEAD", card_target("a")));
        const auto head = caller.read_response(/*to_head=*/true);
        CHECK(head.status == 200);
        CHECK(stable_fields(head) == stable_fields(got));
        CHECK(head.count("Cache-Control") == 1);
    }
    caller.send(test_support::request_text("GET", card_target("a")));
    CHECK(caller.read_response().body == got.body);
}

TEST_CASE("HEAD of a card that cannot be had is the refusal without its body")
{
    scripted_agent agent;
    const running_gateway gateway{settings_for(agent)};
    const auto got = request(gateway.port(), "HEAD", card_target("a"));
    CHECK(got.status == 502);
    CHECK(got.header("Cardea-Error") == "upstream_status");
    CHECK(got.body.empty());
}

TEST_CASE("who has the card already gets 304 and no body")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    const running_gateway gateway{settings_for(agent)};
    const auto etag = get_card(gateway, "a").header("ETag");
    for (const auto* method : {"GET", "HEAD"}) {
        for (const auto& field :
             {etag, "W/" + etag, std::string{"*"}, "\"other\", " + etag, "\"a\",W/" + etag + ",\"b\""}) {
            CAPTURE(field);
            const auto got = request(gateway.port(), method, card_target("a"), {{"If-None-Match", field}});
            CHECK(got.status == 304);
            CHECK(got.body.empty());
            CHECK(got.header("ETag") == etag);
            CHECK(flow::max_age_of(got) >= 0);
            CHECK(got.count("Content-Type") == 0);
            CHECK(got.count("Content-Length") == 0);
        }
    }
    for (const auto& field :
         {std::string{"\"other\""}, etag.substr(0, etag.size() - 1), etag.substr(1), std::string{}}) {
        CAPTURE(field);
        CHECK(get_card(gateway, "a", {{"If-None-Match", field}}).status == 200);
    }
    CHECK(agent.request_count() == 1);
}

TEST_CASE("a card says since when it is so, and who has it from then gets 304")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    const running_gateway gateway{settings_for(agent)};
    const auto got = get_card(gateway, "a");
    const auto date = got.header("Last-Modified");
    CHECK(date.size() == std::string_view{"Sun, 22 Nov 2026 08:00:00 GMT"}.size());
    CHECK(date <= got.header("Date"));
    const auto again = get_card(gateway, "a", {{"If-Modified-Since", date}});
    CHECK(again.status == 304);
    CHECK(again.header("Last-Modified") == date);
    CHECK(again.header("ETag") == got.header("ETag"));
    const std::string another = "Sat, 21 Nov 2020 08:00:00 GMT";
    CHECK(get_card(gateway, "a", {{"If-Modified-Since", another}}).status == 200);
    CHECK(get_card(gateway, "a", {{"If-Modified-Since", date}, {"If-None-Match", "\"x\""}}).status == 200);
}

TEST_CASE("after a 304 the connection goes on")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    const running_gateway gateway{settings_for(agent)};
    test_support::http_client caller{gateway.port()};
    caller.send(test_support::request_text("GET", card_target("a")));
    const auto first = caller.read_response();
    caller.send(test_support::request_text("GET", card_target("a"), {{"If-None-Match", first.header("ETag")}}));
    CHECK(caller.read_response().status == 304);
    caller.send(test_support::request_text("GET", card_target("a")));
    CHECK(caller.read_response().body == first.body);
}

TEST_CASE("agent.json is the same card with a hint to its proper place")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    const running_gateway gateway{settings_for(agent)};
    const auto proper = get_card(gateway, "a");
    CHECK(proper.count("Deprecation") == 0);
    CHECK(proper.count("Link") == 0);
    const auto alias = request(gateway.port(), "GET", legacy_target);
    CHECK(alias.status == 200);
    CHECK(alias.body == proper.body);
    CHECK(alias.header("ETag") == proper.header("ETag"));
    CHECK(alias.header("Deprecation") == "true");
    CHECK(alias.header("Link") == R"(</agents/a/.well-known/agent-card.json>; rel="successor-version")");
    CHECK(alias.header("Content-Type") == "application/json");

    const auto unchanged = request(gateway.port(), "GET", legacy_target, {{"If-None-Match", proper.header("ETag")}});
    CHECK(unchanged.status == 304);
    CHECK(unchanged.header("Deprecation") == "true");
    const auto head = request(gateway.port(), "HEAD", legacy_target);
    CHECK(head.status == 200);
    CHECK(head.count("Link") == 1);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("the hint keeps the path that a proxy has put in front of the gateway")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = settings_for(agent);
    settings.public_url = "https://agents.example.com/a2a/gateway";
    const running_gateway gateway{std::move(settings)};
    CHECK(
        request(gateway.port(), "GET", legacy_target).header("Link") ==
        R"(</a2a/gateway/agents/a/.well-known/agent-card.json>; rel="successor-version")"
    );
}

TEST_CASE("an inline card is served rewritten, always fresh, and its agent is never asked for one")
{
    scripted_agent agent;
    auto settings = settings_for(agent);
    settings.cards.ttl = 1ms;
    settings.agents.back().card = card_text("Written", agent.url("/rpc"));
    const running_gateway gateway{std::move(settings)};
    for (int i = 0; i < 20; ++i) {
        const auto got = get_card(gateway, "a");
        REQUIRE(got.status == 200);
        CHECK(got.count("Cardea-Card") == 0);
        CHECK(parsed(got.body)["name"] == "Written");
        CHECK(parsed(got.body)["url"] == gateway.base() + "/agents/a");
    }
    CHECK(flow::manage(gateway, "agents/refreshCard", {{"id", "a"}})["changed"] == false);
    CHECK(agent.accepted_connections() == 0);
    CHECK(gateway.metric(R"(cardea_card_cache_total{agent="a",result="hit"})") == 20);
}

TEST_CASE("the card of an MCP agent without a session says when to come again, and a call that there is no use in it")
{
    scripted_agent agent;
    auto settings = settings_for(agent);
    settings.agents.back().speaks = core::protocol::mcp;
    const running_gateway gateway{std::move(settings)};
    flow::check_refusal(get_card(gateway, "a"), 503, "session_not_started", "a");

    const auto call =
        flow::post_json(gateway.port(), "/agents/a", R"({"jsonrpc":"2.0","id":7,"method":"message/send","params":{}})");
    CHECK(call.status == 501);
    CHECK(call.header("Cardea-Error") == "not_implemented");
    CHECK(call.count("Retry-After") == 0);
    CHECK(
        parsed(call.body) ==
        parsed(
            R"({"jsonrpc":"2.0","id":7,"error":{"code":-31501,"message":"This agent is an MCP server: it takes messages of MCP, at the path /mcp below its address.",
          "data":{"code":"not_implemented","agent":"a","retryable":false}}})"
        )
    );
    CHECK(agent.accepted_connections() == 0);
}

TEST_CASE("an MCP agent with an inline card serves it")
{
    scripted_agent agent;
    auto settings = settings_for(agent);
    settings.agents.back().speaks = core::protocol::mcp;
    settings.agents.back().card = R"({"name":"Tools"})";
    const running_gateway gateway{std::move(settings)};
    const auto got = get_card(gateway, "a");
    CHECK(got.status == 200);
    CHECK(parsed(got.body)["name"] == "Tools");
}

TEST_CASE("cards of several agents are kept apart")
{
    std::vector<std::unique_ptr<scripted_agent>> agents;
    auto settings = quick_settings();
    for (int i = 0; i < 5; ++i) {
        const auto id = "agent-" + std::to_string(i);
        agents.push_back(std::make_unique<scripted_agent>([id](const auto&) {
            return answer_json(card_text(id, "http://x/"));
        }));
        settings.agents.push_back(a2a_agent(id, agents.back()->url()));
    }
    const running_gateway gateway{std::move(settings)};
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 5; ++i) {
            const auto id = "agent-" + std::to_string(i);
            const auto card = parsed(get_card(gateway, id).body);
            CHECK(card["name"] == id);
            CHECK(card["url"] == gateway.base() + "/agents/" + id);
        }
    }
    for (const auto& each : agents) {
        CHECK(each->request_count() == 1);
    }
}

TEST_SUITE_END();
