// What operators ask for to contain agents and principals, and what the gateway itself does no more.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/containment");

namespace {

using namespace flow;
using namespace std::chrono_literals;
using core::json;

// The error of a call as an operator with a credential.
json refusal_of(const running_gateway& gateway, std::string_view method, const json& params, const field_list& whose)
{
    auto headers = whose;
    headers.emplace_back("Content-Type", "application/json");
    const json call{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    const auto answer = parsed(request(gateway.admin_port(), "POST", "/rpc", headers, call.dump()).body);
    REQUIRE_MESSAGE(answer.contains("error"), answer.dump());
    return answer.at("error");
}

std::string problem_of(const json& error)
{
    if (error.at("code") != -32602 || error.at("data").at("problems").size() != 1) {
        return error.dump();
    }
    const auto& problem = error.at("data").at("problems").at(0);
    return problem.at("path").get<std::string>() + ": " + problem.at("what").get<std::string>();
}

std::string text_of(std::size_t size)
{
    return std::string(size, 'x');
}

}  // namespace

TEST_CASE("A request that cannot be carried out says what is wrong, and contains nothing")
{
    auto settings = guarded("http://127.0.0.1:1/");
    settings.admin_access = core::admin_access::scopes;
    settings.agents.push_back(a2a_agent("mine", "http://127.0.0.1:1/"));
    settings.agents.back().acts_as = {{"operator", "operator"}};
    const running_gateway gateway{settings};
    const auto id = settings.agents.front().id;
    const auto of_agent = [&](const json& further) {
        json params{{"id", id}, {"reason", "leak"}};
        params.update(further);
        return problem_of(refusal_of(gateway, "agents/contain", params, operators));
    };
    const auto of_principal = [&](const json& further) {
        json params{{"provider", "keys"}, {"principal", "ci"}, {"reason", "leak"}};
        params.update(further);
        return problem_of(refusal_of(gateway, "principals/contain", params, operators));
    };
    const auto bytes = std::string{"expected 1 to 256 bytes of text without line breaks"};
    CHECK(of_agent({{"reason", nullptr}}) == "reason: is missing; " + bytes);
    CHECK(of_agent({{"reason", ""}}) == "reason: " + bytes);
    CHECK(of_agent({{"reason", text_of(257)}}) == "reason: " + bytes);
    CHECK(of_agent({{"reason", "a\nb"}}) == "reason: " + bytes);
    CHECK(of_agent({{"notice", text_of(257)}}) == "notice: " + bytes);
    CHECK(of_agent({{"notice", 1}}) == "notice: " + bytes);
    CHECK(of_agent({{"until", "2020-01-01T00:00:00Z"}}) == "until: is in the past");
    CHECK(of_agent({{"until", "999ms"}}) == "until: is not between 1s and 365d");
    CHECK(of_agent({{"until", "365d1ms"}}) == "until: is not between 1s and 365d");
    const std::string form = "until: expected a time such as 2027-01-31T12:00:00Z, or a duration such as 2h";
    for (const auto* wrong :
         {"soon",
          "2199-01-31",
          "2199-01-31T12:00:00",
          "2199-01-31T12:00:00+1:00",
          "2199-01-31T12:00:00.Z",
          "2199-02-30T12:00:00Z"}) {
        CAPTURE(wrong);
        CHECK(of_agent({{"until", wrong}}) == form);
    }
    CHECK(of_agent({{"dryRun", 1}}) == "dryRun: is not a boolean; expected true or false");
    CHECK(of_agent({{"why", "x"}}).starts_with("why: is not a known key"));
    for (const auto* only_to_contain : {"reason", "until", "notice"}) {
        const json params{{"id", id}, {only_to_contain, "1h"}};
        const auto said = problem_of(refusal_of(gateway, "agents/release", params, operators));
        CHECK(said.starts_with(std::string{only_to_contain} + ": is not a known key"));
    }
    CHECK(
        of_agent({{"id", "mine"}}) ==
        "id: acts as the principal that asks, or was registered by it; let another operator contain it"
    );
    CHECK(
        of_principal({{"provider", "nobody"}}) ==
        "provider: is not the name of a provider; expected one of access.providers"
    );
    CHECK(
        of_principal({{"provider", "register"}}) ==
        "provider: is not the name of a provider; expected one of access.providers"
    );
    CHECK(of_principal({{"principal", nullptr}}).starts_with("principal: is missing; "));
    CHECK(
        of_principal({{"provider", "operator"}, {"principal", "operator"}}) ==
        "principal: is the one that asks; expected another"
    );
    CHECK(
        refusal_of(gateway, "agents/contain", {{"id", "no"}, {"reason", "r"}}, operators).at("data").at("code") ==
        "agent_not_found"
    );
    CHECK(refusal_of(gateway, "agents/release", {{"id", "no"}}, operators).at("data").at("code") == "agent_not_found");
    CHECK(
        refusal_of(gateway, "agents/contain", {{"id", id}, {"reason", "r"}}, reader).at("data").at("code") ==
        "admin_only"
    );
    const auto page = request(gateway.admin_port(), "GET", "/metrics", operators).body;
    CHECK(page.find("cardea_contained{kind=\"agent\"} 0\n") != std::string::npos);
    CHECK(page.find("cardea_contained{kind=\"principal\"} 0\n") != std::string::npos);
}

TEST_CASE("Terms are taken as they are written, up to their limits")
{
    test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url("/")));
    const running_gateway gateway{settings};
    for (const auto& [given, shown] : std::vector<std::pair<std::string, std::string>>{
             {"2199-01-31T12:00:00Z", "2199-01-31T12:00:00.000Z"},
             {"2199-01-31t12:00:00.75z", "2199-01-31T12:00:00.000Z"},
             {"2199-01-31T12:00:00+01:30", "2199-01-31T10:30:00.000Z"},
             {"2199-01-31T12:00:00-12:00", "2199-02-01T00:00:00.000Z"}
         }) {
        CAPTURE(given);
        const auto done = contain(gateway, "a", {{"until", given}, {"reason", text_of(256)}, {"notice", text_of(256)}});
        CHECK(done.at("contained").at("until") == shown);
        CHECK(done.at("contained").at("reason") == text_of(256));
        CHECK(done.at("contained").at("notice") == text_of(256));
        CHECK(done.at("contained").at("by") == "admin 127.0.0.1");
        CHECK(done.at("durable") == false);  // the store is in memory
    }
    for (const auto* lasts : {"1s", "365d"}) {
        CHECK(contain(gateway, "a", {{"until", lasts}}).at("contained").contains("until"));
    }
    const auto dry = contain(gateway, "a", {{"dryRun", true}, {"reason", "other"}});
    CHECK(dry.at("dryRun") == true);
    CHECK(dry.at("contained").at("reason") == "other");
    CHECK(manage(gateway, "agents/get", {{"id", "a"}}).at("containment").at("reason") == "a test");
}

TEST_CASE("A contained agent is shown as such, and left out of catalogs")
{
    test_support::scripted_agent agent{[](const auto&) {
        return test_support::answer_json(card_text("A", "http://x/"));
    }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url("/")));
    settings.agents.back().acts_as = {};
    const running_gateway gateway{settings};
    const auto get = [&](std::string_view path) { return request(gateway.port(), "GET", std::string{path}).body; };
    REQUIRE(get_card(gateway, "a").status == 200);
    REQUIRE(get("/.well-known/api-catalog").find("/agents/a") != std::string::npos);
    contain(gateway, "a");
    CHECK(parsed(get("/agents")).at("agents").at(0).at("state") == "contained");
    CHECK(get("/.well-known/api-catalog").find("/agents/a") == std::string::npos);
    CHECK(get("/.well-known/ai-catalog.json").find("/agents/a") == std::string::npos);
    const auto health = manage(gateway, "agents/health", {{"status", "contained"}});
    CHECK(health.at("agents").size() == 1);
    CHECK(health.at("agents").at(0).at("status") == "contained");
    CHECK(health.at("agents").at(0).at("reason") == "agent_contained");
    CHECK(health.at("summary").at("contained") == 1);
    CHECK(gateway.metric(R"(cardea_agent_status{agent="a",status="contained"})") == 1);
    const auto info = manage(gateway, "gateway/info", json::object());
    CHECK(info.at("counts").at("contained") == 1);
    const auto& attention = info.at("attention").at(0);
    CHECK(attention.at("agent") == "a");
    CHECK(attention.at("why").get<std::string>().starts_with("Contained since "));
    CHECK(attention.at("why").get<std::string>().ends_with(": a test."));
    release(gateway, "a");
    CHECK(parsed(get("/agents")).at("agents").at(0).at("state") != "contained");
    CHECK(get("/.well-known/api-catalog").find("/agents/a") != std::string::npos);
    CHECK(get_card(gateway, "a").status == 200);
}

TEST_CASE("The gateway asks a contained agent for nothing, and goes on after the release")
{
    test_support::scripted_agent agent{[](const auto&) {
        return test_support::answer_json(card_text("A", "http://x/"));
    }};
    auto settings = quick_settings();
    settings.cards.ttl = 20ms;
    settings.agents.push_back(a2a_agent("a", agent.url("/")));
    auto& rules = settings.agents.back().rules.emplace();
    rules.upstreams = {agent.url("/"), agent.url("/two")};
    rules.check = core::health_check::http;
    rules.health_interval = 20ms;
    const running_gateway gateway{settings};
    REQUIRE(get_card(gateway, "a").status == 200);
    REQUIRE(agent.wait_for_requests(5));
    contain(gateway, "a");
    std::this_thread::sleep_for(100ms);  // what was under way
    const auto asked = agent.request_count();
    for (const auto* method : {"agents/refreshCard", "agents/card", "agents/restart"}) {
        CAPTURE(method);
        CHECK(error_of(gateway, method, R"({"id":"a"})").at("data").at("code") == "agent_contained");
    }
    CHECK(get_card(gateway, "a").status == 403);
    CHECK(request(gateway.port(), "GET", "/agents").status == 200);
    std::this_thread::sleep_for(300ms);
    CHECK(agent.request_count() == asked);
    release(gateway, "a");
    CHECK(get_card(gateway, "a").status == 200);
    CHECK(agent.wait_for_requests(asked + 4));
}

TEST_CASE("The gateway's own session with an MCP server ends without a word, and begins again after the release")
{
    test_support::scripted_agent server{[](const test_support::recorded_request& asked) {
        if (asked.body.find("\"initialize\"") == std::string::npos) {
            return mcp_calls::listing_server(asked);
        }
        auto begun = parsed(mcp_calls::initialized);
        begun["id"] = parsed(asked.body)["id"];
        return test_support::answer_json(begun.dump(), {{"Mcp-Session-Id", "own"}});
    }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("m", server.url("/mcp")));
    mcp_calls::make_mcp(settings);
    settings.agents.back().mcp->start = core::mcp_start::eager;
    settings.agents.back().mcp->era = core::mcp_era::legacy;
    settings.agents.back().mcp->ping_interval = 30ms;
    const running_gateway gateway{settings};
    const auto ready = [&] {
        const auto found = manage(gateway, "agents/get", {{"id", "m"}});
        return found.contains("session") && found.at("session").at("state") == "ready";
    };
    REQUIRE(becomes_true(ready));
    REQUIRE(server.wait_for_requests(server.request_count() + 3));
    contain(gateway, "m");
    std::this_thread::sleep_for(50ms);  // what was under way
    const auto asked = server.request_count();
    std::this_thread::sleep_for(300ms);
    CHECK(server.request_count() == asked);
    for (const auto& each : server.requests()) {
        CHECK(each.method != "DELETE");
    }
    const auto found = manage(gateway, "agents/get", {{"id", "m"}});
    CHECK_FALSE(found.contains("session"));
    CHECK(found.at("card_status").at("state") == "contained");
    release(gateway, "m");
    CHECK(becomes_true(ready));
    CHECK(server.request_count() > asked);
}

TEST_CASE("An id stays contained when its agent is deleted and comes back")
{
    const running_gateway gateway{quick_settings()};
    const json params{{"id", "a"}, {"agent", {{"url", "http://127.0.0.1:1/"}}}};
    manage(gateway, "agents/upsert", params);
    contain(gateway, "a");
    manage(gateway, "agents/delete", {{"id", "a"}});
    CHECK(manage(gateway, "gateway/info", json::object()).at("attention").at(0).at("subject") == "a");
    manage(gateway, "agents/upsert", params);
    CHECK(
        post_json(gateway.port(), "/agents/a", R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})")
            .status == 403
    );
    manage(gateway, "agents/delete", {{"id", "a"}});
    CHECK(contain(gateway, "a", {{"reason", "again"}}).at("contained").at("reason") == "again");
    release(gateway, "a");
    CHECK(error_of(gateway, "agents/release", R"({"id":"a"})").at("data").at("code") == "agent_not_found");
}

TEST_CASE("An end lifts a containment by itself")
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", "http://127.0.0.1:1/"));
    const running_gateway gateway{settings};
    contain(gateway, "a", {{"until", "1s"}});
    CHECK(gateway.metric("cardea_contained{kind=\"agent\"}") == 1);
    CHECK(gateway.wait_for_metric("cardea_contained{kind=\"agent\"}", 0));
    CHECK_FALSE(manage(gateway, "agents/get", {{"id", "a"}}).contains("containment"));
}

TEST_CASE("principals/list has pages of all principals that are contained, and readers may see it")
{
    auto settings = guarded("http://127.0.0.1:1/");
    settings.agents.front().acts_as = {{"keys", "ci"}, {"certs", "spiffe://a b"}};
    const auto id = settings.agents.front().id;
    const running_gateway gateway{settings};
    contain(gateway, id, {{"reason", "of the agent"}});
    contain_principal(gateway, "keys", "ci", {{"reason", "own"}});
    contain_principal(gateway, "mallory", "mallory");
    std::vector<std::string> seen;
    json page{{"next", ""}};
    while (page.contains("next")) {
        page = manage(gateway, "principals/list", {{"limit", 1}, {"after", page.at("next")}});
        REQUIRE(page.at("principals").size() == 1);
        const auto& each = page.at("principals").at(0);
        seen.push_back(
            each.at("provider").get<std::string>() + '/' + each.at("principal").get<std::string>() + ' ' +
            each.value("agent", "alone") + ' ' + each.at("contained").at("reason").get<std::string>()
        );
    }
    CHECK(
        seen ==
        std::vector<std::string>{
            "certs/spiffe://a b " + id + " of the agent",
            "keys/ci alone own",
            "mallory/mallory alone a test"
        }
    );
    release(gateway, id);
    CHECK(manage(gateway, "principals/list", json::object()).at("principals").size() == 2);
    release_principal(gateway, "keys", "ci");
    release_principal(gateway, "mallory", "mallory");
    CHECK(manage(gateway, "principals/list", json::object()).at("principals").empty());
    release_principal(gateway, "keys", "ci");  // again
}

TEST_SUITE_END();
